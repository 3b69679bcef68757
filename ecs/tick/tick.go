// Package tick counts fixed steps of time. A rate and a tick number go in, exact instants come out;
// nothing here reads a clock.
package tick

import "time"

// Tick numbers the fixed steps of a match. The first step is 1; 0 means "none". The type wraps
// after 345 days at 144 Hz.
type Tick uint32

// Rate is a number of ticks a second. The simulation takes 20 to 144.
type Rate uint16

// Rates a lobby may run at, in hertz.
const (
	MinRate     Rate = 20
	MaxRate     Rate = 144
	DefaultRate Rate = 60
)

// Valid reports whether r lies in [MinRate, MaxRate].
func (r Rate) Valid() bool { return r >= MinRate && r <= MaxRate }

// Dt is the length of a tick in seconds, as the simulation uses it.
func (r Rate) Dt() float32 { return 1 / float32(r) }

// Period is the length of a tick rounded down to a nanosecond; use At for instants, which do not
// drift.
func (r Rate) Period() time.Duration { return time.Second / time.Duration(r) }

// At is the exact instant at which tick t begins, counted from the instant of tick 0.
func (r Rate) At(t Tick) time.Duration {
	return time.Duration(uint64(t) * uint64(time.Second) / uint64(r))
}

// Since returns the newest tick that has begun at the instant d, and the part of it that has passed
// in [0, 1). A negative instant gives (0, 0).
func (r Rate) Since(d time.Duration) (Tick, float32) {
	if d < 0 {
		return 0, 0
	}
	n := uint64(d) * uint64(r)
	t := Tick(n / uint64(time.Second))
	if r.At(t+1) <= d { // At rounds down, so the next tick may already have begun
		t++
	}
	return t, min(float32(d-r.At(t))*float32(r)/float32(time.Second), 0.99999994)
}

// View is the instant that a client shows: between the snapshots of two ticks, at a fraction. Both
// ends interpolate with the same numbers, so a shot can be judged by exactly what its shooter saw.
type View struct {
	From, To Tick  // snapshot ticks, From <= To; To-From <= MaxViewSpan
	Frac     uint8 // 1/256 of the way from From to To
}

// MaxViewSpan is the widest gap between a view's two snapshots, in ticks.
const MaxViewSpan = 255

// Fraction is Frac in [0, 1).
func (v View) Fraction() float32 { return float32(v.Frac) / 256 }

// Valid reports whether the view names two ticks in order and near enough.
func (v View) Valid() bool { return v.From != 0 && v.From <= v.To && v.To-v.From <= MaxViewSpan }
