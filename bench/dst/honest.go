package dst

import (
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/impair"
)

// machine is the computer of an honest player with its link. It outlives the player's clients.
type machine struct {
	clockOffset [2]time.Duration // virtual time of the last change of drift; the clock then
	drift       float64          // rate error of the clock
	stalls      int              // active faults that stall the machine
	blackholes  int              // active faults that block its link
	badLink     *impair.Profile  // nil: a clean link
	congested   bool
}

// honest is an honest player: one client after another, and the checks' memory of it.
type honest struct {
	machine
	reconnectAt time.Duration // 0 while a client exists
	startedAt   time.Duration // start of the current client
	serverStart int           // number of the server that the current client dialled
	id          netid.ID      // its player; 0 before the client joined

	compared  tick.Tick   // newest snapshot that was checked
	rowTicks  []tick.Tick // by slot: newest snapshot that was checked and had its row
	newest    tick.Tick   // newest snapshot the client had
	view      int64       // instant of the client's last view
	ownTick   tick.Tick   // tick of the last own-player state checked
	kills     int         // 1 + index of the last kill message heard; 0 before the first
	linesSent int         // chat lines, over all of its clients
	lines     [64]lastLines
	settleAt  time.Duration       // from then on the client must play normally
	settled   *client.Stats       // its counters at settleAt; nil before
	ownStates [selfTicks]ownState // the server's, by tick
	held      heldRows
}

// client returns the client of honest player i, nil if there is none or if it belongs to a server
// that was killed.
func (r *run) client(i int) *client.Client {
	if r.honest[i].serverStart != r.starts {
		return nil
	}
	return r.Clients[i]
}

// joined returns client i if it is in the match by its own account, nil otherwise.
func (r *run) joined(i int) *client.Client {
	if c := r.client(i); c != nil {
		if state, _ := c.State(); state == client.Joined {
			return c
		}
	}
	return nil
}

// noteHeld keeps what honest clients hold for the commands that they made in this step.
func (r *run) noteHeld() {
	for i := range r.honest {
		if c := r.joined(i); c != nil {
			r.honest[i].held.note(c, r.cfg.Players)
		}
	}
}

// clock converts virtual time to the clock of client n, with its offset and drift.
func (r *run) clock(n int, now time.Duration) time.Duration {
	s := &r.honest[n]
	passed := now - s.clockOffset[0]
	return s.clockOffset[1] + passed + time.Duration(float64(passed)*s.drift)
}

// reconnect replaces a client that is missing or whose connection failed.
func (r *run) reconnect(i int) {
	s, now := &r.honest[i], r.Now()
	c := r.Clients[i]
	if c != nil {
		state, _ := c.State()
		slow := state < client.Joined && now-s.startedAt > 4*time.Second
		if state > client.Joined || slow && s.stalls == 0 && s.blackholes == 0 {
			r.Crash(i)
			s.reconnectAt = now + time.Second
		}
		return
	}
	if s.reconnectAt != 0 && (now >= s.reconnectAt || now >= r.when.faultsEnd) && s.stalls == 0 {
		if err := r.Connect(i); err != nil {
			r.fail(NoPanic, "client %d cannot connect: %v", i, err)
		}
		*s = honest{machine: s.machine, linesSent: s.linesSent,
			startedAt: now, settleAt: max(r.when.settled, now+time.Second), serverStart: r.starts}
		r.visibility.forget(i)
	}
}

// playHonestClients lets honest players chat now and then. When checks are skipped it also drains
// the messages that they would read.
func (r *run) playHonestClients() {
	for i := range r.honest {
		speaks, hears := r.speaks(i), r.skip.checks && r.checksMessages(i)
		if !speaks && !hears {
			continue
		}
		c := r.joined(i)
		if c == nil {
			continue
		}
		if speaks {
			r.speak(i, c)
		}
		for ok := hears; ok; _, ok = c.NextEvent() {
		}
		for ok := hears; ok; _, ok = c.Chat.Next() {
		}
	}
}

// checksMessages reports whether client i reads its messages in this tick: every fourth, before
// the queue can fill.
func (r *run) checksMessages(i int) bool { return (r.played+tick.Tick(i))%4 == 0 }
