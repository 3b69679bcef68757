package client

import (
	"fmt"

	"github.com/tickrate/tickrate/internal/ringbuf"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/mode"
)

// maxRoundEvents is how many events wait for NextEvent.
const maxRoundEvents = 32

// Round is the status of the round, and what was announced about it.
type Round struct {
	status sim.RoundStatus
	known  bool
	ring   ringbuf.Ring[sim.RoundEvent]
}

// Status is the newest status: phase, scores, the point under attack. False before the first, which
// the server sends at once. Its clock is of RoundStatus.Tick, see Client.SecondsLeft.
func (r *Round) Status() (sim.RoundStatus, bool) { return r.status, r.known }

// NextEvent returns the next announcement, each once and in order. The oldest of more than 32 are
// lost.
func (r *Round) NextEvent() (sim.RoundEvent, bool) { return r.ring.Pop() }

// message takes a message with a status and reports whether it is one.
func (r *Round) message(raw []byte) bool {
	s, ok := sim.ParseRoundStatus(raw)
	if ok {
		r.status, r.known = s, true
	}
	return ok
}

// reset forgets the status for a change of the map. Events that wait stay.
func (r *Round) reset() { r.known = false }

// appendRoundEvent puts an event into words. Points have the letters of maps, in the order of
// attack.
func appendRoundEvent(dst []byte, n *sim.RoundEvent) []byte {
	switch point := 'A' + rune(n.Point); n.What {
	case mode.WaitForPlayers:
		return fmt.Appendf(dst, "the round waits for %d more", n.Value)
	case mode.CountdownBegan:
		return fmt.Appendf(dst, "the round begins in %d s", n.Value)
	case mode.RoundBegan:
		return fmt.Appendf(dst, "the round has begun: %d:%02d", n.Value/60, n.Value%60)
	case mode.PointAttacked:
		return fmt.Appendf(dst, "point %c is attacked", point)
	case mode.PointCaptured:
		return fmt.Appendf(dst, "point %c is captured, %d to go", point, n.Value)
	case mode.RoundWon:
		return fmt.Appendf(dst, "team %d has won the round", n.Team+1)
	case mode.RoundTied:
		return append(dst, "the round is a tie"...)
	}
	return dst
}
