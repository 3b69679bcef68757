package client

import "github.com/tickrate/tickrate/sim"

// newsRing is how much news waits for NextNews.
const newsRing = 32

// rounds is what the server told us of rounds.
type rounds struct {
	in, out uint64
	now     sim.RoundStatus
	known   bool
	ring    [newsRing]sim.RoundEvent
}

// Standing is how the round stands, as the server told us last: phase, scores, the point that is attacked. False before it has, which
// it does as soon as we are in. Its clock is of Standing.Tick: what is left at another tick, Standing.Seconds tells.
func (c *Client) Standing() (sim.RoundStatus, bool) { return c.rounds.now, c.rounds.known }

// SecondsLeft is what the round's phase has left by the server's clock, rounded up; 0 before it is known.
func (c *Client) SecondsLeft() uint32 {
	if !c.rounds.known {
		return 0
	}
	return c.rounds.now.Seconds(c.Newest(), c.rate)
}

// NextNews returns the next thing that was announced, each once and in order. Of more than 32 that nobody asked for the oldest
// are forgotten.
func (c *Client) NextNews() (sim.RoundEvent, bool) {
	r := &c.rounds
	if r.in == r.out {
		return sim.RoundEvent{}, false
	}
	n := r.ring[r.out%newsRing]
	r.out++
	return n, true
}

func (r *rounds) add(n sim.RoundEvent) {
	if r.in-r.out == newsRing {
		r.out++
	}
	r.ring[r.in%newsRing] = n
	r.in++
}

// round takes an event that tells of the round; false if it is none.
func (c *Client) round(raw []byte) bool {
	if s, ok := sim.ParseRoundStatus(raw); ok {
		c.rounds.now, c.rounds.known = s, true
		return true
	}
	n, ok := sim.ParseRoundEvent(raw)
	if ok {
		c.announced(n)
	}
	return ok
}
