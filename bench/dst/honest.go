package dst

import (
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/impair"
)

// reconnect is an honest player, who has one client after another.
type honest struct {
	reconnectAt time.Duration // when to connect again; 0: is here
	startedAt   time.Duration // its client's begin
	serverStart int           // of the server that its client began to dial
	clockOffset [2]time.Duration
	drift       float64
	stalls      int // faults that keep it asleep
	blackholes  int // that keep its link so
	badLink     *impair.Profile
	congested   bool
	id          netid.ID

	compared  tick.Tick // newest snapshot that was compared
	newest    tick.Tick
	view      int64
	ownTick   tick.Tick
	kills     int // of kills, and 1; 0: none yet
	linesSent int
	lines     [64]lastLines
	settleAt  time.Duration // when all should be well with it
	settled   *client.Stats // then; nil: not yet
	ownStates [selfTicks]ownState
}

// client is the client of soul i; nil if there is none, or if all that it knows is of a server that was killed.
func (w *world) client(i int) *client.Client {
	if w.honest[i].serverStart != w.starts {
		return nil
	}
	return w.Clients[i]
}

// joined is client i if it is in the match, as far as it knows; nil otherwise.
func (w *world) joined(i int) *client.Client {
	if c := w.client(i); c != nil {
		if state, _ := c.State(); state == client.Joined {
			return c
		}
	}
	return nil
}

// clock is what client n's own clock shows: it began somewhere and has run at another speed since.
func (w *world) clock(n int, now time.Duration) time.Duration {
	s := &w.honest[n]
	passed := now - s.clockOffset[0]
	return s.clockOffset[1] + passed + time.Duration(float64(passed)*s.drift)
}

// reconnect lets a client that is not there, or comes to nothing, begin anew.
func (w *world) reconnect(i int) {
	s, now := &w.honest[i], w.Now()
	c := w.Clients[i]
	if c != nil {
		state, _ := c.State()
		if state > client.Joined || state < client.Joined && now-s.startedAt > 4*time.Second && s.stalls == 0 && s.blackholes == 0 {
			w.Vanish(i)
			s.reconnectAt = now + time.Second
		}
		return
	}
	if s.reconnectAt != 0 && (now >= s.reconnectAt || now >= faultsEnd) && s.stalls == 0 {
		if err := w.Connect(i); err != nil {
			w.fail(NoPanic, "client %d cannot connect: %v", i, err)
		}
		*s = honest{startedAt: now, settleAt: max(settled, now+time.Second), serverStart: w.starts, linesSent: s.linesSent, clockOffset: s.clockOffset, drift: s.drift, stalls: s.stalls, blackholes: s.blackholes, badLink: s.badLink, congested: s.congested}
		w.visibility.forget(i)
	}
}

// checkHonestClients lets honest players say something now and then. Where nobody looks at what they hear, they hear it here.
func (w *world) checkHonestClients() {
	for i := range w.honest {
		speaks, hears := w.speaks(i), w.checks.none && w.checksMessages(i)
		if !speaks && !hears {
			continue
		}
		c := w.joined(i)
		if c == nil {
			continue
		}
		if speaks {
			w.speak(i, c)
		}
		for ok := hears; ok; _, ok = c.NextEvent() {
		}
		for ok := hears; ok; _, ok = c.NextLine() {
		}
	}
}

// checksMessages says whether client i takes what has come for it in this tick: each fourth, while there is room for many more.
func (w *world) checksMessages(i int) bool { return (w.played+tick.Tick(i))%4 == 0 }
