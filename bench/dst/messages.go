package dst

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
)

// kill is a kill message that the server sends to every client.
type kill struct {
	at            tick.Tick
	actor, victim netid.ID
}

// decodeErrors are the counters of a client that must stay zero.
type decodeErrors struct{ undecoded, diverged uint64 }

// stats returns the decode errors of a client every eighth tick, and none in the ticks between.
func (r *run) stats(c *client.Client) decodeErrors {
	if r.Lobby.Match().Tick()%8 != 0 { // copying all counters is costly, and these never go back
		return decodeErrors{}
	}
	s := c.Stats()
	return decodeErrors{s.Undecoded, s.Diverged}
}

// recordKills keeps the kill messages of a tick.
func (r *run) recordKills() {
	for _, e := range r.Lobby.Match().Outcome().Events {
		if e.Kind == sim.EventKill {
			r.kills = append(r.kills, kill{e.Tick, e.Actor, e.Victim})
		}
	}
}

// checkKillMessages checks that a client hears every kill after the first it heard of, once each,
// in order.
func (r *run) checkKillMessages(i int, c *client.Client) {
	s := &r.honest[i]
	for e, ok := c.NextEvent(); ok; e, ok = c.NextEvent() {
		if e.Kind != sim.EventKill {
			continue
		}
		at := 0
		for n := len(r.kills); n > 0; n-- {
			if k := r.kills[n-1]; k == (kill{e.Tick, e.Actor, e.Victim}) {
				at = n
				break
			}
		}
		lossy := r.Lobby.Stats.Count[metrics.ReliableDropped].Load() != 0
		switch {
		case at == 0:
			r.fail(Sessions, "client %d heard that %v killed %v in tick %d, which the server did not send",
				i, e.Actor, e.Victim, e.Tick)
		case s.kills != 0 && at <= s.kills:
			r.fail(Sessions, "client %d heard twice that %v killed %v in tick %d",
				i, e.Actor, e.Victim, e.Tick)
		case s.kills != 0 && at > s.kills+1 && !lossy:
			r.fail(Sessions, "client %d did not hear of %d kills before that of tick %d",
				i, at-s.kills-1, e.Tick)
		}
		s.kills = at
	}
}

// lastLines are the numbers of the newest chat lines heard of one speaker, to everybody and to its
// team.
type lastLines struct {
	from netid.ID
	n    [2]int
}

// speaks reports whether client i sends a chat line in this tick.
func (r *run) speaks(i int) bool { return (int(r.played)+i*37)%240 == 0 && r.Now() < r.when.chatEnds }

// speak sends a numbered chat line.
func (r *run) speak(i int, c *client.Client) {
	s := &r.honest[i]
	s.linesSent++
	line := fmt.Sprintf("all %d", s.linesSent)
	if s.linesSent%2 == 0 {
		line = fmt.Sprintf("/team team %d", s.linesSent)
	}
	if r.lobby != nil {
		line += r.lobby.mark
	}
	_ = c.Chat.Say(line) // a full queue may refuse it
}

// checkChat checks that a client hears each line of a speaker once and in order, and none of the
// other team.
func (r *run) checkChat(i int, c *client.Client) {
	s, m := &r.honest[i], r.Lobby.Match()
	for l, ok := c.Chat.Next(); ok; l, ok = c.Chat.Next() {
		if l.Kind != client.LineAll && l.Kind != client.LineTeam {
			continue
		}
		text := l.Text
		if r.lobby != nil {
			if text = strings.TrimSuffix(text, r.lobby.mark); text == l.Text {
				r.fail(NoLeak, "client %d heard %q, which nobody said in its lobby", i, l.Text)
			}
		}
		word, number, _ := strings.Cut(text, " ")
		n, err := strconv.Atoi(number)
		if err != nil || (word == "team") != (l.Kind == client.LineTeam) {
			continue // sent by an attacker
		}
		of, kind := &s.lines[l.From.Index()%len(s.lines)], 0
		if of.from != l.From {
			*of = lastLines{from: l.From}
		}
		if l.Kind == client.LineTeam {
			kind = 1
		}
		if n <= of.n[kind] {
			r.fail(Sessions, "client %d heard line %d of %v after its line %d", i, n, l.From, of.n[kind])
		}
		of.n[kind] = n
		a, b := m.Vital(l.From), m.Vital(c.ID())
		if l.Kind == client.LineTeam && a != nil && b != nil && a.Team != b.Team {
			r.fail(NoLeak, "client %d heard what %v said to the other team", i, l.From)
		}
	}
}
