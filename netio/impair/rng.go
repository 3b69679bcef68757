package impair

import "math/bits"

// rng is SplitMix64 (Steele, Lea, Flood 2014), written out so that a seed always means the same.
type rng uint64

func (d *rng) next() uint64 {
	*d += 0x9e3779b97f4a7c15
	z := uint64(*d)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// float64 returns a uniform number in [0, 1).
func (d *rng) float64() float64 { return float64(d.next()>>11) / (1 << 53) }

// intn returns a uniform number in [0, n), with a bias below n in 2^64.
func (d *rng) intn(n int) int {
	hi, _ := bits.Mul64(d.next(), uint64(n))
	return int(hi)
}
