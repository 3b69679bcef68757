package main

import (
	"math"

	"github.com/tickrate/tickrate/bench/capacity"
	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/impair"
)

// lag is what is late between a server and clients whose datagrams take so many ticks. A client's machine acts once a tick, a part of one after the server.
type lag struct {
	way   float64   // ticks that a datagram takes
	every tick.Tick // from a snapshot to the next
}

func lagOf(s scenario.Scenario) lag {
	link, _ := impair.ParseProfile(s.Network.Link)
	return lag{way: (link.Delay + link.Jitter/2 + capacity.VirtualDelay).Seconds() * float64(s.Rates.TickHz), every: tick.Tick(s.Every())}
}

// phase is that part, for the machine of player n.
func phase(n int) float64 { return float64(n%4) / 4 }

// client is when somebody whose machine acts at a phase reads what was sent at a tick, and server in which tick what was sent to the server is.
func (l lag) client(sent tick.Tick, phase float64) float64 {
	return math.Ceil(float64(sent)+l.way-phase) + phase
}
func (l lag) server(sent float64) tick.Tick { return tick.Tick(math.Ceil(sent + l.way)) }

// knock is in which tick somebody comes in who begins to connect with one: a request, a challenge, a response.
func (l lag) knock(from tick.Tick, phase float64) tick.Tick {
	at := float64(from) + phase
	if phase == 0 {
		at++
	}
	return l.server(l.client(l.server(at), phase))
}

// up and round are how many ticks after a machine acts the server reads what it sent, and it what the server answers.
func (l lag) up(phase float64) tick.Tick  { return l.server(phase) }
func (l lag) round(phase float64) float64 { return l.client(l.server(phase), phase) - phase }

// back is how many ticks, and so snapshots at least, are looked back at from one: to where it is heard who is dead, and to what was seen when a command was made.
func (l lag) back() int {
	return min(int(2*math.Ceil(l.way))+4*int(l.every)+16, soloPast)
}

// What clients' clocks keep (package client), in ticks, as was looked up in matches over links: a command is there lagAhead before its tick, or one more; it
// was made by a picture that is two snapshots and lagLook older than the round trip calls for, and, as delays are pledged in half ticks, lagSlack more.
const (
	lagAhead = 1
	lagLook  = 2
	lagSlack = 0.43
)

// enter is what follows for who comes in: it says that it is ready, and is told of a tick when it is its turn.
func (l lag) enter(joins tick.Tick, phase float64, slot int) (h entry) {
	ready := l.server(l.client(joins, phase))
	h.told = ready + (l.every-(ready+tick.Tick(slot))%l.every)%l.every
	h.knows = l.client(h.told, phase)
	h.first = tick.Tick(h.knows) + l.up(phase) + lagAhead
	h.view = int64(256 * (l.round(phase) + lagLook + 2*float64(l.every) + lagSlack))
	return h
}

// entry are the instants of one who comes in.
type entry struct {
	told  tick.Tick // of which it is told first
	knows float64   // when it has that
	first tick.Tick // of its first command
	view  int64     // from what it looks at until its command for that is played, in 1/256 tick
}
