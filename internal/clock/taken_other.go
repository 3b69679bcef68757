//go:build !linux

package clock

import "time"

// Taken would tell what the machine took from a thread; here it is not known.
type Taken struct{}

// NewTaken returns a meter that knows nothing.
func NewTaken() *Taken { return &Taken{} }

// Known is false.
func (t *Taken) Known() bool { return false }

// Look returns 0.
func (t *Taken) Look(time.Duration) time.Duration { return 0 }

// Close does nothing.
func (t *Taken) Close() {}

// Stolen is not known.
func Stolen([]int) (time.Duration, bool) { return 0, false }
