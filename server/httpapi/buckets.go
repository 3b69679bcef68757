package httpapi

import (
	"math"

	"github.com/tickrate/tickrate/internal/meter"
)

// octave is the number of native buckets in a factor of two.
const octave = 1 << meter.NativeSchema

// nativeBound is the upper bound of the native bucket with an index.
func nativeBound(at int) float64 { return math.Exp2(float64(at) / octave) }

// classic returns which native bounds, by index, are classic buckets of the metric, too.
func (m *metric) classic() func(at int) bool {
	switch {
	case m.fine:
		return nearPeriods
	case m.unit == "seconds":
		return ofSeconds
	}
	return everyFactor4
}

// everyFactor4 has a bound at each power of four.
func everyFactor4(at int) bool { return at%(2*octave) == 0 }

// Bounds of seconds: leastSeconds is 4 µs. From 3.3 to 68 ms are half a period at 144 Hz to two at
// 30 Hz.
const (
	leastSeconds = -18 * octave
	leastPeriod  = -8*octave - 2
	mostPeriod   = -4*octave + 1
)

// nearPeriods has all bounds, 9 % apart, from half a period at 144 Hz to two at 30 Hz; powers of four
// below, and of two above.
func nearPeriods(at int) bool {
	switch {
	case at < leastPeriod:
		return at >= leastSeconds && everyFactor4(at)
	case at <= mostPeriod:
		return true
	}
	return at%octave == 0
}

// ofSeconds has two bounds a factor of two from 4 to 125 ms, and powers of four from 4 µs on.
func ofSeconds(at int) bool {
	if at >= -8*octave && at <= -3*octave {
		return at%(octave/2) == 0
	}
	return at >= leastSeconds && everyFactor4(at)
}
