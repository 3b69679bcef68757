package schema

import (
	"fmt"
	"math/bits"
)

// BaselineSpacing is how far the baselines of a row lie apart, in any unit: only ratios count, and
// they are kept exactly.
type BaselineSpacing struct {
	ahead int64 // from the newest baseline to what is coded
	last  int64 // from the one before to the newest; 0: there is none before
	first int64 // from the oldest to the one before the newest; 0: there are but two
	scale int64 // how often last goes into ahead, at least 1
}

// MaxSpacing bounds each of the spacings, once their common divisor is removed.
const MaxSpacing = 1 << 12

// MakeBaselineSpacing returns the spacing of baselines: from the newest to the coded snapshot,
// from the one before to the newest, 0 if there is none, and from the oldest to that, 0 if there
// is none. It panics if one exceeds MaxSpacing after division by their greatest common divisor: a
// set of baselines spans a window of snapshots.
func MakeBaselineSpacing(ahead, last, first uint32) BaselineSpacing {
	if last == 0 {
		return BaselineSpacing{}
	}
	d := divisor(divisor(ahead, last), first)
	t := BaselineSpacing{ahead: int64(ahead / d), last: int64(last / d), first: int64(first / d)}
	if max(t.ahead, t.last, t.first) > MaxSpacing || ahead == 0 {
		panic(fmt.Sprintf("schema: baselines %d, %d and %d ticks apart, want at least 1 to the newest and "+
			"at most %d times their common divisor", ahead, last, first, MaxSpacing))
	}
	t.scale = max(1, t.ahead/t.last)
	return t
}

func divisor(a, b uint32) uint32 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// WithoutOldest is the spacing without the oldest baseline.
func (t BaselineSpacing) WithoutOldest() BaselineSpacing {
	t.first = 0
	return t
}

// Single reports whether there is at most one baseline.
func (t BaselineSpacing) Single() bool { return t.last == 0 }

// ErrorLevels of surprise: how wrong a field's predictor would have been about the newest baseline,
// had it known the older ones only, times how often the time between them goes into the time ahead.
// Level 1 is not at all, level n+1 a number of n bits.
const (
	LevelUnknown = 0 // there are no older baselines
	LevelExact   = 1
	ErrorLevels  = 16
)

// A signal is what the baselines say of a field: its level, and Falling more if the newest value is
// below the one before, by the shorter way in a field that wraps.
const (
	Falling = ErrorLevels
	Signals = 2 * ErrorLevels
)

// signalOf is the signal of a field that last went by move, with an error of u.
func signalOf(u, scale, move int64) uint8 {
	level := LevelExact + min(bits.Len64(uint64(u*scale)), ErrorLevels-1-LevelExact)
	return uint8(level) | uint8(uint64(move)>>63)*Falling
}

// Predict predicts values from their baselines: v0 are the newest baseline's values, v1 those of
// the one before, v2 the oldest; those that t lacks are not read. dst takes the predictions,
// always in range, and signals how wrong the predictor was about v0. All have the length of v0. The
// arithmetic is that of integers; quotients are cut towards zero:
//
//	hold       v0
//	linear     v0 + (v0-v1)*ahead/last
//	quadratic  linear + bend*ahead*(ahead+last)/(last*first*(last+first))
//	           with bend = (v0-v1)*first - (v1-v2)*last
//	best       linear where it is less wrong about v0 than v1 is, else v0
//
// Differences take the shorter way in a field that wraps, and wrap in 32 bits. The error is
// |v0-v1| for hold and for two baselines; else |(v0-v1) - (v1-v2)*last/first|, the error of
// linear; for best the lesser of the two. With two baselines best is hold, and quadratic is
// linear.
func (c *Coder) Predict(t *BaselineSpacing, dst, v0, v1, v2 []int32, signals []uint8) {
	switch {
	case t.last == 0:
		copy(dst, v0)
		clear(signals[:len(v0)])
	case c.predict == Hold:
		copy(dst, v0)
		c.moves(t, v0, v1, signals)
	case t.first == 0:
		c.two(t, dst, v0, v1, signals)
	case c.predict == Best && c.wrap == 0 && t.last == 1 && t.first == 1:
		c.bestEven(t, dst, v0, v1, v2, signals)
	case c.predict == Best:
		c.best(t, dst, v0, v1, v2, signals)
	default:
		c.three(t, dst, v0, v1, v2, signals)
	}
}

// moves fills signals with the error of hold.
func (c *Coder) moves(t *BaselineSpacing, v0, v1 []int32, signals []uint8) {
	v1, signals = v1[:len(v0)], signals[:len(v0)]
	wrap, half, top, scale := c.wrap, c.half, c.top, t.scale
	for i, v := range v0 { // with Delta written out, so that it stays in registers
		d := v - v1[i]
		d += wrap & ((d + half) >> 31)
		d -= wrap & ((top - d) >> 31)
		signals[i] = signalOf(abs(int64(d)), scale, int64(d))
	}
}

func (c *Coder) two(t *BaselineSpacing, dst, v0, v1 []int32, signals []uint8) {
	c.moves(t, v0, v1, signals)
	if copy(dst, v0); c.predict == Best {
		return
	}
	for i, v := range v0 {
		dst[i] = c.along(v, share(int64(c.Delta(v, v1[i])), t.ahead, t.last))
	}
}

func (c *Coder) best(t *BaselineSpacing, dst, v0, v1, v2 []int32, signals []uint8) {
	dst, v1, v2, signals = dst[:len(v0)], v1[:len(v0)], v2[:len(v0)], signals[:len(v0)]
	for i, v := range v0 {
		move := int64(c.Delta(v, v1[i]))
		u := abs(move - share(int64(c.Delta(v1[i], v2[i])), t.last, t.first))
		if rest := abs(move); u < rest {
			dst[i] = c.along(v, share(move, t.ahead, t.last))
		} else {
			dst[i], u = v, rest
		}
		signals[i] = signalOf(u, t.scale, move)
	}
}

// bestEven is best for evenly spaced baselines of a field that does not go round: the usual case,
// without branches, as which way is a coin toss.
func (c *Coder) bestEven(t *BaselineSpacing, dst, v0, v1, v2 []int32, signals []uint8) {
	dst, v1, v2, signals = dst[:len(v0)], v1[:len(v0)], v2[:len(v0)], signals[:len(v0)]
	ahead, scale, lo := t.ahead, t.scale, int64(c.lo)
	hi := lo + int64(c.span)
	for i, v := range v0 {
		move, before := int64(v-v1[i]), int64(v1[i]-v2[i])
		rest, u := abs(move), abs(move-before)
		x := int64(v) + move*ahead
		if u >= rest {
			x = int64(v)
		}
		dst[i] = int32(min(max(x, lo), hi))
		signals[i] = signalOf(min(u, rest), scale, move)
	}
}

func (c *Coder) three(t *BaselineSpacing, dst, v0, v1, v2 []int32, signals []uint8) {
	dst, v1, v2, signals = dst[:len(v0)], v1[:len(v0)], v2[:len(v0)], signals[:len(v0)]
	for i, v := range v0 {
		move, before := int64(c.Delta(v, v1[i])), int64(c.Delta(v1[i], v2[i]))
		way := share(move, t.ahead, t.last)
		if c.predict == Quadratic {
			way += bend(move*t.first-before*t.last, t)
		}
		dst[i] = c.along(v, way)
		signals[i] = signalOf(abs(move-share(before, t.last, t.first)), t.scale, move)
	}
}

// bend is b*ahead*(ahead+last)/(last*first*(last+first)), the product in 128 bits.
func bend(b int64, t *BaselineSpacing) int64 {
	hi, lo := bits.Mul64(uint64(abs(b)), uint64(t.ahead*(t.ahead+t.last)))
	d := uint64(t.last * t.first * (t.last + t.first))
	const far = 1 << 40 // beyond every field; it would not fit if hi were not less than d
	q := uint64(far)
	if hi < d {
		q, _ = bits.Div64(hi, lo, d)
	}
	w := int64(min(q, far))
	if b < 0 {
		return -w
	}
	return w
}

// share is d*n/of.
func share(d, n, of int64) int64 {
	if of == 1 {
		return d * n
	}
	return d * n / of
}

// along is v moved on by way, in range.
func (c *Coder) along(v int32, way int64) int32 {
	x := int64(v) + way
	if c.wrap != 0 {
		if uint64(x) >= uint64(c.wrap) {
			if x %= int64(c.wrap); x < 0 {
				x += int64(c.wrap)
			}
		}
		return int32(x)
	}
	return int32(min(max(x, int64(c.lo)), int64(c.lo)+int64(c.span)))
}

func abs(x int64) int64 {
	s := x >> 63
	return (x ^ s) - s
}
