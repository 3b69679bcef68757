package dst

import (
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/impair"
)

// soul is an honest player, who has one client after another.
type soul struct {
	back    time.Duration // when to connect again; 0: is here
	since   time.Duration // its client's begin
	start   int           // of the server that its client began to dial
	nows    [2]time.Duration
	drift   float64
	sleeps  int // faults that keep it asleep
	dark    int // that keep its link so
	bad     *impair.Profile
	clogged bool
	id      netid.ID

	seen     tick.Tick // newest snapshot that was compared
	newest   tick.Tick
	view     int64
	self     tick.Tick
	heard    int // of kills, and 1; 0: none yet
	said     int
	lines    [64]lines
	settleAt time.Duration // when all should be well with it
	settled  *client.Stats // then; nil: not yet
	selfRing [selfTicks]known
}

// client is the client of soul i; nil if there is none, or if all that it knows is of a server that was killed.
func (w *world) client(i int) *client.Client {
	if w.souls[i].start != w.starts {
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
	s := &w.souls[n]
	passed := now - s.nows[0]
	return s.nows[1] + passed + time.Duration(float64(passed)*s.drift)
}

// soul lets a client that is not there, or comes to nothing, begin anew.
func (w *world) soul(i int) {
	s, now := &w.souls[i], w.Now()
	c := w.Clients[i]
	if c != nil {
		state, _ := c.State()
		if state > client.Joined || state < client.Joined && now-s.since > 4*time.Second && s.sleeps == 0 && s.dark == 0 {
			w.Vanish(i)
			s.back = now + time.Second
		}
		return
	}
	if s.back != 0 && (now >= s.back || now >= calm) && s.sleeps == 0 {
		if err := w.Connect(i); err != nil {
			w.fail(Upright, "client %d cannot connect: %v", i, err)
		}
		*s = soul{since: now, settleAt: max(settled, now+time.Second), start: w.starts, said: s.said, nows: s.nows, drift: s.drift, sleeps: s.sleeps, dark: s.dark, bad: s.bad, clogged: s.clogged}
		w.sight.forget(i)
	}
}

// live lets honest players say something now and then. Where nobody looks at what they hear, they hear it here.
func (w *world) live() {
	for i := range w.souls {
		speaks, hears := w.speaks(i), w.how.bare && w.hears(i)
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

// hears says whether client i takes what has come for it in this tick: each fourth, while there is room for many more.
func (w *world) hears(i int) bool { return (w.played+tick.Tick(i))%4 == 0 }
