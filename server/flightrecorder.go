package server

import (
	"github.com/tickrate/tickrate/sim/replay"
)

// flightRecorder keeps the newest seconds of the match, for a dump of a lobby that panics.
type flightRecorder struct {
	*core
	rec *replay.FlightRecorder // nil: Config.FlightRecorder is off
}

// install begins with the match of a new map. rec has memory for it.
func (f *flightRecorder) install(rec *replay.FlightRecorder) {
	if f.rec = rec; rec != nil {
		_ = rec.Start(f.match) // or after the next tick
	}
}

// tick records the tick that was just played, before recordings begin or end.
func (f *flightRecorder) tick() {
	switch {
	case f.rec == nil:
	case f.rec.Match() == nil:
		_ = f.rec.Start(f.match)
	default:
		f.rec.Tick()
	}
}

// arm follows recordings that have begun or ended.
func (f *flightRecorder) arm() {
	if f.rec != nil {
		f.rec.Arm()
	}
}

// Flight is what a lobby with Config.FlightRecorder has recorded until it panicked.
type Flight struct {
	Head        replay.Head
	Interrupted bool // the newest tick is the one that panicked; else the panic was between two ticks
	recorder    *replay.FlightRecorder
}

// Chunks encodes the recording: milliseconds of work, for any goroutine, once.
func (f *Flight) Chunks() []*replay.Chunk { return f.recorder.Chunks() }

// EndFlight ends the flight recorder of a lobby that has panicked; nil if it has none. The lobby plays
// no tick any more. Where the panic has torn the match, this may panic, too.
func (l *Lobby) EndFlight() *Flight {
	rec := l.flight.rec
	if rec == nil || rec.Match() == nil {
		return nil
	}
	l.flight.rec = nil
	f := &Flight{Head: replay.HeadOf(l.match, l.cfg.ArenaName, replay.MaxChunkTicks), recorder: rec}
	f.Interrupted = rec.Close()
	return f
}
