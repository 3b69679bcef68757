//go:build !linux

package clock

import "time"

// RunDelay measures nothing on this system.
type RunDelay struct{}

// NewRunDelay returns a meter that knows nothing.
func NewRunDelay() *RunDelay { return &RunDelay{} }

// Known is false.
func (t *RunDelay) Known() bool { return false }

// Read returns 0.
func (t *RunDelay) Read(time.Duration) time.Duration { return 0 }

// Close does nothing.
func (t *RunDelay) Close() {}

// Stolen is not known.
func Stolen([]int) (time.Duration, bool) { return 0, false }
