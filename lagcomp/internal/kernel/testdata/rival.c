// The nearest hit in C intrinsics: the limit to measure the assembly by. rival_test.go compiles and runs it.
//
//	rival FILE NAME TURNS    file: int32 spheres, rays; columns x, y, z, nr2; rays of ox oy oz dx dy dz max grow widest
//
// It runs all rays TURNS times and prints the nanoseconds that took and, for each ray, the index of what it hits first, or -1.
//
// avx2 and avx512 do what ours do, verdict in double included. fma is the other shape: one test, all columns read, products
// fused (the bits differ), square roots in single precision.
#include <immintrin.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct { float ox, oy, oz, dx, dy, dz, max, grow, widest; } ray;
typedef struct { const float *x, *y, *z, *nr2; int n; } column;
typedef struct { double limit, inverse; int hit; } verdict;

static const float slack = 64.0f / (1 << 24);

static inline int cut(verdict *v, double t) {
	if (!(t < v->limit || (t == v->limit && !v->hit))) return 0;
	v->limit = t;
	v->hit = 1;
	return 1;
}

static int judge(verdict *v, const ray *r, const column *c, int i) {
	double cx = (double)c->x[i] - r->ox, cy = (double)c->y[i] - r->oy, cz = (double)c->z[i] - r->oz;
	double dx = r->dx, dy = r->dy, dz = r->dz, square = (double)r->grow - c->nr2[i];
	if (cx * cx + cy * cy + cz * cz <= square) return cut(v, 0);
	double along = cx * dx + cy * dy + cz * dz;
	if (!(along > 0)) return 0;
	double s = along * v->inverse;
	cx -= s * dx; cy -= s * dy; cz -= s * dz;
	double deep = square - (cx * cx + cy * cy + cz * cz);
	if (!(deep >= 0)) return 0;
	return cut(v, fmax(s - sqrt(deep * v->inverse), 0));
}

static float up(double t) {
	union { float f; uint32_t bits; } u = {(float)t};
	u.bits++;
	return u.f;
}

typedef struct { float sx, sz, lo, hi, max; verdict v; } probe;

static probe prepare(const ray *r) {
	probe p = {-r->dz, r->dx, 0, 0, r->max, {r->max, 0, 0}};
	float level = r->dx * r->dx + r->dz * r->dz;
	if (level < 1e-18f) { p.sx = 1; p.sz = 0; level = 1; }
	float w = r->widest * r->widest + r->grow;
	float half = sqrtf(level * (w + w * (1.0f / 256) + 1.0f / 128)), middle = r->ox * p.sx + r->oz * p.sz;
	p.lo = middle - half;
	p.hi = middle + half;
	p.v.inverse = 1 / ((double)r->dx * r->dx + (double)r->dy * r->dy + (double)r->dz * r->dz);
	return p;
}

#define LOAD(p, m) _mm512_maskz_loadu_ps(m, p)
#define SET(f) _mm512_set1_ps(f)

// full is the full test of 16 rows, of which m count.
static inline __mmask16 full512(const probe *p, const ray *r, __m512 x, __m512 y, __m512 z, __m512 nr2, __mmask16 m) {
	__m512 square = nr2 - SET(r->grow), zero = _mm512_setzero_ps();
	x -= SET(r->ox); y -= SET(r->oy); z -= SET(r->oz);
	__m512 far = x * x + y * y + z * z, along = x * SET(r->dx) + y * SET(r->dy) + z * SET(r->dz);
	__m512 near = far * SET(1 - slack) + square, hair = far * SET(slack), over = along - SET(p->max);
	__mmask16 pass = _mm512_mask_cmp_ps_mask(m, nr2, SET(INFINITY), _CMP_NEQ_UQ);
	pass = _mm512_mask_cmp_ps_mask(pass, along * along, near, _CMP_NLT_UQ);
	__mmask16 behind = _mm512_mask_cmp_ps_mask(m, along, zero, _CMP_LT_OQ);
	behind = _mm512_mask_cmp_ps_mask(behind, near, zero, _CMP_GT_OQ);
	behind = _mm512_mask_cmp_ps_mask(behind, along * along, hair, _CMP_GT_OQ);
	__mmask16 beyond = _mm512_mask_cmp_ps_mask(m, over, zero, _CMP_GT_OQ);
	beyond = _mm512_mask_cmp_ps_mask(beyond, over * over, hair - square, _CMP_GT_OQ);
	return pass & ~(behind | beyond);
}

static inline __mmask16 plane512(__m512 x, __m512 z, __m512 sx, __m512 sz, __m512 lo, __m512 hi) {
	__m512 side = x * sx + z * sz;
	return _mm512_mask_cmp_ps_mask(_mm512_cmp_ps_mask(side, lo, _CMP_NLT_UQ), side, hi, _CMP_NGT_UQ);
}

// Fewer than 32 rows get the full test alone.
static int few_avx512(const ray *r, const column *c) {
	probe p = {.max = r->max, .v = {r->max, 0, 0}};
	p.v.inverse = 1 / ((double)r->dx * r->dx + (double)r->dy * r->dy + (double)r->dz * r->dz);
	int best = -1;
	for (int i = 0; i < c->n; i += 16) {
		int left = c->n - i;
		__mmask16 v = left < 16 ? (1u << left) - 1 : 0xFFFF;
		uint32_t m = full512(&p, r, LOAD(c->x + i, v), LOAD(c->y + i, v), LOAD(c->z + i, v), LOAD(c->nr2 + i, v), v);
		for (; m; m &= m - 1) {
			int row = i + __builtin_ctz(m);
			if (judge(&p.v, r, c, row)) best = row;
		}
	}
	return best;
}

// Fewer than 384 are judged a register at a time.
static int block_avx512(const ray *r, const column *c) {
	probe p = prepare(r);
	__m512 sx = SET(p.sx), sz = SET(p.sz), lo = SET(p.lo), hi = SET(p.hi);
	int best = -1, n = c->n;
	for (int i = 0; i < n; i += 32) {
		int left = n - i;
		uint32_t valid = left < 32 ? (1u << left) - 1 : ~0u;
		__mmask16 ab[2];
		for (int h = 0; h < 2; h++)
			ab[h] = valid >> 16 * h & plane512(LOAD(c->x + i + 16 * h, valid >> 16 * h), LOAD(c->z + i + 16 * h, valid >> 16 * h), sx, sz, lo, hi);
		if (__builtin_expect(_mm512_kortestz(ab[0], ab[1]), 1)) continue;
		for (int h = 0, at = i; h < 2; h++, at += 16) {
			__mmask16 v = ab[h];
			if (!v) continue;
			uint32_t m = full512(&p, r, LOAD(c->x + at, v), LOAD(c->y + at, v), LOAD(c->z + at, v), LOAD(c->nr2 + at, v), v);
			for (; m; m &= m - 1) {
				int row = at + __builtin_ctz(m);
				if (judge(&p.v, r, c, row)) { best = row; p.max = up(p.v.limit); }
			}
		}
	}
	return best;
}

#define GATHER(p) _mm512_mask_i32gather_ps(_mm512_setzero_ps(), v, row, p, 4)

// Rows that pass the cheap test are packed, 1024 at most, then gathered.
static int nearest_avx512(const ray *r, const column *c) {
	if (c->n < 32) return few_avx512(r, c);
	if (c->n < 384) return block_avx512(r, c);
	probe p = prepare(r);
	__m512 sx = SET(p.sx), sz = SET(p.sz), lo = SET(p.lo), hi = SET(p.hi);
	__m512i rising = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
	int best = -1, i = 0, list[1024 + 16];
	while (i < c->n) {
		int count = 0, end = c->n - i > 1024 ? i + 1024 : c->n;
		for (; i + 32 <= end; i += 32) {
			__mmask16 a = plane512(_mm512_loadu_ps(c->x + i), _mm512_loadu_ps(c->z + i), sx, sz, lo, hi);
			__mmask16 b = plane512(_mm512_loadu_ps(c->x + i + 16), _mm512_loadu_ps(c->z + i + 16), sx, sz, lo, hi);
			if (__builtin_expect(_mm512_kortestz(a, b), 1)) continue;
			_mm512_storeu_si512(list + count, _mm512_maskz_compress_epi32(a, _mm512_add_epi32(rising, _mm512_set1_epi32(i))));
			count += __builtin_popcount(a);
			_mm512_storeu_si512(list + count, _mm512_maskz_compress_epi32(b, _mm512_add_epi32(rising, _mm512_set1_epi32(i + 16))));
			count += __builtin_popcount(b);
		}
		for (; i < end; i += 16) {
			int left = end - i;
			__mmask16 v = left < 16 ? (1u << left) - 1 : 0xFFFF;
			__mmask16 a = v & plane512(LOAD(c->x + i, v), LOAD(c->z + i, v), sx, sz, lo, hi);
			_mm512_storeu_si512(list + count, _mm512_maskz_compress_epi32(a, _mm512_add_epi32(rising, _mm512_set1_epi32(i))));
			count += __builtin_popcount(a);
		}
		i = end;
		for (int at = 0; at < count; at += 16) {
			__mmask16 v = count - at < 16 ? (1u << (count - at)) - 1 : 0xFFFF;
			__m512i row = _mm512_maskz_loadu_epi32(v, list + at);
			uint32_t m = full512(&p, r, GATHER(c->x), GATHER(c->y), GATHER(c->z), GATHER(c->nr2), v);
			for (; m; m &= m - 1) {
				int one = list[at + __builtin_ctz(m)];
				if (judge(&p.v, r, c, one)) { best = one; p.max = up(p.v.limit); }
			}
		}
	}
	return best;
}

static inline __m256 plane256(__m256 x, __m256 z, __m256 sx, __m256 sz, __m256 lo, __m256 hi) {
	__m256 side = x * sx + z * sz;
	return _mm256_and_ps(_mm256_cmp_ps(side, lo, _CMP_NLT_UQ), _mm256_cmp_ps(side, hi, _CMP_NGT_UQ));
}

#define SET8(f) _mm256_set1_ps(f)

static inline uint32_t full256(const probe *p, const ray *r, const column *c, int i, uint32_t m, __m256i valid) {
	__m256 x = _mm256_maskload_ps(c->x + i, valid) - SET8(r->ox), y = _mm256_maskload_ps(c->y + i, valid) - SET8(r->oy);
	__m256 z = _mm256_maskload_ps(c->z + i, valid) - SET8(r->oz), nr2 = _mm256_maskload_ps(c->nr2 + i, valid);
	__m256 square = nr2 - SET8(r->grow), zero = _mm256_setzero_ps();
	__m256 far = x * x + y * y + z * z, along = x * SET8(r->dx) + y * SET8(r->dy) + z * SET8(r->dz);
	__m256 near = far * SET8(1 - slack) + square, hair = far * SET8(slack), over = along - SET8(p->max);
	__m256 pass = _mm256_and_ps(_mm256_cmp_ps(nr2, SET8(INFINITY), _CMP_NEQ_UQ), _mm256_cmp_ps(along * along, near, _CMP_NLT_UQ));
	__m256 behind = _mm256_and_ps(_mm256_cmp_ps(along, zero, _CMP_LT_OQ), _mm256_cmp_ps(near, zero, _CMP_GT_OQ));
	behind = _mm256_and_ps(behind, _mm256_cmp_ps(along * along, hair, _CMP_GT_OQ));
	__m256 beyond = _mm256_and_ps(_mm256_cmp_ps(over, zero, _CMP_GT_OQ), _mm256_cmp_ps(over * over, hair - square, _CMP_GT_OQ));
	return m & _mm256_movemask_ps(_mm256_andnot_ps(_mm256_or_ps(behind, beyond), pass));
}

static int nearest_avx2(const ray *r, const column *c) {
	probe p = prepare(r);
	__m256 sx = SET8(p.sx), sz = SET8(p.sz), lo = SET8(p.lo), hi = SET8(p.hi);
	__m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
	int best = -1, i = 0, n = c->n;
	for (; i < n; i += 32) {
		uint32_t passed = 0;
		if (n - i >= 32) {
			__m256 m[4];
			for (int q = 0; q < 4; q++)
				m[q] = plane256(_mm256_loadu_ps(c->x + i + 8 * q), _mm256_loadu_ps(c->z + i + 8 * q), sx, sz, lo, hi);
			if (__builtin_expect(!_mm256_movemask_ps(_mm256_or_ps(_mm256_or_ps(m[0], m[1]), _mm256_or_ps(m[2], m[3]))), 1)) continue;
			for (int q = 0; q < 4; q++) passed |= (uint32_t)_mm256_movemask_ps(m[q]) << 8 * q;
		} else {
			for (int q = 0; q < 4; q++) {
				__m256i valid = _mm256_cmpgt_epi32(_mm256_set1_epi32(n - i - 8 * q), lane);
				__m256 m = plane256(_mm256_maskload_ps(c->x + i + 8 * q, valid), _mm256_maskload_ps(c->z + i + 8 * q, valid), sx, sz, lo, hi);
				passed |= (uint32_t)_mm256_movemask_ps(_mm256_and_ps(m, _mm256_castsi256_ps(valid))) << 8 * q;
			}
		}
		for (int q = 0; passed; passed >>= 8, q += 8) {
			if (!(passed & 255)) continue;
			__m256i valid = _mm256_cmpgt_epi32(_mm256_set1_epi32(n - i - q), lane);
			for (uint32_t m = full256(&p, r, c, i + q, passed & 255, valid); m; m &= m - 1) {
				int row = i + q + __builtin_ctz(m);
				if (judge(&p.v, r, c, row)) { best = row; p.max = up(p.v.limit); }
			}
		}
	}
	return best;
}

static inline __mmask16 line512(const ray *r, const column *c, int i, __mmask16 m, __m512 *tb, __m512 *disc) {
	__m512 x = LOAD(c->x + i, m) - SET(r->ox), y = LOAD(c->y + i, m) - SET(r->oy), z = LOAD(c->z + i, m) - SET(r->oz);
	*tb = _mm512_fmadd_ps(x, SET(r->dx), _mm512_fmadd_ps(y, SET(r->dy), z * SET(r->dz)));
	__m512 q = _mm512_fmadd_ps(x, x, _mm512_fmadd_ps(y, y, _mm512_fmadd_ps(z, z, LOAD(c->nr2 + i, m))));
	*disc = _mm512_fmsub_ps(*tb, *tb, q);
	return _mm512_mask_cmp_ps_mask(m, *disc, _mm512_setzero_ps(), _CMP_GE_OQ);
}

static int nearest_fma(const ray *r, const column *c) {
	int best = -1;
	float limit = r->max;
	for (int i = 0; i < c->n; i += 32) {
		int left = c->n - i;
		uint32_t valid = left < 32 ? (1u << left) - 1 : ~0u;
		__m512 tb[2], disc[2];
		__mmask16 a = line512(r, c, i, valid, &tb[0], &disc[0]), b = line512(r, c, i + 16, valid >> 16, &tb[1], &disc[1]);
		if (__builtin_expect(_mm512_kortestz(a, b), 1)) continue;
		float alongs[32], discs[32];
		for (int h = 0; h < 2; h++) { _mm512_storeu_ps(alongs + 16 * h, tb[h]); _mm512_storeu_ps(discs + 16 * h, disc[h]); }
		for (uint32_t m = (uint32_t)b << 16 | a; m; m &= m - 1) {
			int k = __builtin_ctz(m);
			float t = alongs[k] - sqrtf(discs[k]);
			if (t >= 0 && t < limit) { limit = t; best = i + k; }
		}
	}
	return best;
}

static float *take(FILE *f, int n) {
	float *v = malloc((n + 32) * sizeof *v);
	if (!v || fread(v, sizeof *v, n, f) != (size_t)n) exit(2);
	return v;
}

int main(int argc, char **argv) {
	if (argc != 4) return 2;
	FILE *f = fopen(argv[1], "rb");
	int32_t head[2];
	if (!f || fread(head, 4, 2, f) != 2) return 2;
	column c;
	c.n = head[0];
	c.x = take(f, c.n); c.y = take(f, c.n); c.z = take(f, c.n); c.nr2 = take(f, c.n);
	int rays = head[1];
	ray *r = (ray *)take(f, rays * 9);
	int (*volatile run)(const ray *, const column *) = 0;
	if (!strcmp(argv[2], "avx512") && __builtin_cpu_supports("avx512f")) run = nearest_avx512;
	if (!strcmp(argv[2], "avx2") && __builtin_cpu_supports("avx2")) run = nearest_avx2;
	if (!strcmp(argv[2], "fma") && __builtin_cpu_supports("avx512f")) run = nearest_fma;
	if (!run) return 3;
	int *hit = calloc(rays, sizeof *hit);
	long turns = atol(argv[3]);
	struct timespec from, to;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	for (long turn = 0; turn < turns; turn++)
		for (int i = 0; i < rays; i++) hit[i] = run(&r[i], &c);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	printf("%lld\n", (to.tv_sec - from.tv_sec) * 1000000000LL + to.tv_nsec - from.tv_nsec);
	for (int i = 0; i < rays; i++) printf("%d\n", hit[i]);
	return 0;
}
