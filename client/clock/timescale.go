package clock

import (
	"time"

	"github.com/tickrate/tickrate/protocol"
)

// Timescale maps local time to the server's, which runs slower while the server is overloaded.
type Timescale struct {
	scale uint16        // of protocol.FullTimescale; 0: full speed since the start
	since time.Duration // local time when scale began
	began time.Duration // scaled time at that instant
}

// Set changes the scale at a local time.
func (s *Timescale) Set(now time.Duration, scale uint16) {
	s.began, s.since, s.scale = s.At(now), now, scale
}

// At is a local time, scaled: the server's ticks are measured by it.
func (s *Timescale) At(now time.Duration) time.Duration {
	if s.scale == 0 {
		return now
	}
	return s.began + (now-s.since)*time.Duration(s.scale)/protocol.FullTimescale
}

// Scale is the speed of the server's time, of protocol.FullTimescale.
func (s *Timescale) Scale() uint16 {
	if s.scale == 0 {
		return protocol.FullTimescale
	}
	return s.scale
}
