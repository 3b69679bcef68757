package replay

import (
	"math"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim"
)

// FlightTicks is how many of the newest ticks a FlightRecorder holds at least, once a match is that
// old. If all players turn and move fast all the time, their commands may fill its memory earlier.
const FlightTicks = 600

// FlightRecorder keeps the newest ticks of a match, to be written down if the match panics: two
// states, and the inputs of all ticks since the older one. A tick copies into memory that is made
// once, about 25 KB a slot.
type FlightRecorder struct {
	match   *sim.Match     // nil: it records nothing
	own     sim.TickInputs // of the match, while no Recorder has them logged
	flights [2]flight
	newer   int        // of flights; the other one has no ticks or is right before it
	spare   *sim.State // for the next flight: poses are copied ahead
}

// flight is a state and the inputs of the ticks after it.
type flight struct {
	first tick.Tick
	ticks int
	key   *sim.State
	log   writer
}

// NewFlightRecorder makes the memory for matches with the slots and the map of m. It records nothing
// before Start.
func NewFlightRecorder(m *sim.Match) *FlightRecorder {
	r := &FlightRecorder{spare: newKey(m)}
	for i := range r.flights {
		r.flights[i].key = newKey(m)
		r.flights[i].log.reserveFlight(m.World.Slots())
	}
	return r
}

// newKey makes a state with memory for poses.
func newKey(m *sim.Match) *sim.State {
	s := sim.NewState(m)
	s.CopyPoses(m, m.Tick(), 0)
	return s
}

// Start begins to record a match, right after a tick or before the first. The error is sim.ErrPending:
// then the next tick may call it again.
func (r *FlightRecorder) Start(m *sim.Match) error {
	r.match = nil
	if err := r.spare.CopyAll(m); err != nil {
		return err
	}
	r.match = m
	r.next()
	r.flights[1-r.newer].ticks = 0
	r.Arm()
	return nil
}

// Match is the match that is recorded, nil for none.
func (r *FlightRecorder) Match() *sim.Match { return r.match }

// Arm has the match log its inputs unless it does so for a Recorder. Call it after a Recorder may
// have begun or ended, before anything is done to the match.
func (r *FlightRecorder) Arm() {
	if r.match != nil && r.match.InputLog() == nil {
		r.match.SetInputLog(&r.own)
	}
}

// Tick records the tick that was just played: right after Step, before a Recorder takes it.
func (r *FlightRecorder) Tick() {
	f := &r.flights[r.newer]
	f.log.tick(r.match.InputLog())
	f.ticks++
	r.spare.CopyPoses(r.match, f.first+FlightTicks-1, math.MaxInt)
	switch {
	case f.ticks < FlightTicks && f.log.hasRoom():
	case r.spare.CopyAll(r.match) == nil:
		r.next()
	case f.ticks == MaxChunkTicks: // players have joined or left in every tick for long
		r.match = nil
	}
}

// next begins a flight with the state in spare, in the memory of the older one.
func (r *FlightRecorder) next() {
	r.newer = 1 - r.newer
	f := &r.flights[r.newer]
	f.key, r.spare = r.spare, f.key
	f.first, f.ticks = f.key.Tick()+1, 0
	f.log.reset(f.key.Slots())
}

// Close ends the recording for good, between two ticks or after a panic. Of a tick that a panic has
// ended it takes what had entered the match until then; interrupted says that there is such a tick.
func (r *FlightRecorder) Close() (interrupted bool) {
	if r.match == nil {
		return false
	}
	f := &r.flights[r.newer]
	if d := r.match.InterruptedInputs(); d != nil && d.Tick == f.first+tick.Tick(f.ticks) {
		f.log.tick(d)
		f.ticks++
		interrupted = true
	}
	r.match.SetInputLog(nil)
	return interrupted
}

// Chunks encodes what was recorded until Close, on any goroutine; nothing if the match had no tick.
func (r *FlightRecorder) Chunks() (chunks []*Chunk) {
	for _, f := range [...]*flight{&r.flights[1-r.newer], &r.flights[r.newer]} {
		if f.ticks > 0 {
			chunks = append(chunks,
				&Chunk{First: f.first, Ticks: f.ticks, Key: f.key.Append(nil), Log: f.log.append(nil)})
		}
	}
	return chunks
}

// flightBytes is the memory of each stream for a tick of a slot, as players use it at most on average.
var flightBytes = [streams]int{sFlags: 1, sYaw: 2, sPitch: 1, sMove: 2, sButtons: 1, sView: 3, sLimits: 2}

const (
	slotBytes = 32 // of each stream for a slot beside that
	tickBytes = 3  // of each stream for a tick of all
	longBytes = 11 // of a command in one stream, at most
)

// reserveFlight makes the memory for FlightTicks ticks.
func (w *writer) reserveFlight(slots int) {
	w.reset(slots)
	for s, bytes := range flightBytes {
		w.out[s] = make([]byte, 0, slots*(bytes*FlightTicks+slotBytes)+tickBytes*FlightTicks)
	}
}

// hasRoom reports whether the memory of reserveFlight has room for one more tick. The streams that are
// not of commands are full early, since what a tick adds to them has no useful limit.
func (w *writer) hasRoom() bool {
	for s := range w.out {
		least := cap(w.out[s]) / 8
		if s >= sFlags && s <= sView {
			least = longBytes * len(w.slots)
		}
		if cap(w.out[s])-len(w.out[s]) < least {
			return false
		}
	}
	return true
}
