package server

import (
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/mode"
)

// round is what was last told of how the round stands. It is told at once when a phase or a point is over. Scores and who stands in a
// point, which may change in every tick, are told a few times a second, and each second while a capture goes on. Clocks go on by
// themselves at the clients, and so all else waits: on the thinnest line each telling takes the place of a snapshot's rows.
type round struct{ told sim.RoundStatus }

// quarter parts of a second lie between two tellings of what changes often, and atRest seconds between two when nothing does.
const (
	quarter = 4
	atRest  = 5
)

// tellRound queues the tick's announcements with all who are in, and how the round stands if that is due.
func (l *Lobby) tellRound(now time.Duration) {
	t := l.match.Tick()
	for i := range l.match.Outcome().Announcements {
		a := &l.match.Outcome().Announcements[i]
		if a.Kind == mode.RoundBegan {
			l.social.room.Round(now)
		}
		if sim.IsRoundEvent(a.Kind) {
			n := sim.RoundEventOf(t, a)
			l.queueAll(n.Append(l.event[:0]))
		}
	}
	s := l.match.RoundStatus()
	if l.round.due(&s, tick.Tick(l.cfg.Rules.Rate)) {
		l.round.told = s
		l.queueAll(s.Append(l.event[:0]))
	}
}

// due reports whether s is worth telling after what was told.
func (r *round) due(s *sim.RoundStatus, second tick.Tick) bool {
	was := &r.told
	since := s.Tick - was.Tick
	switch {
	case was.Phase != s.Phase || was.Round != s.Round || was.Point != s.Point || was.Winner != s.Winner || was.Waiting != s.Waiting:
		return true
	case was.Status != s.Status || was.Score != s.Score:
		return since >= second/quarter
	case was.Progress != s.Progress || was.Players != s.Players:
		return since >= second
	}
	return since >= atRest*second
}

// queueAll queues an event with all who are in. A connection whose queue is full misses it; the next tells it all.
func (l *Lobby) queueAll(event []byte) {
	for _, slot := range l.live {
		if c := &l.conns[slot]; c.session.ready && c.session.peer.QueueReliable(event) != nil {
			l.Stats.Count[metrics.ReliableDropped].Inc()
		}
	}
}

// situate tells a connection that is just in how the round stands.
func (l *Lobby) situate(c *conn) {
	if l.replication.level.Timescale() != protocol.FullTimescale {
		_ = c.session.peer.QueueReliable(protocol.AppendTimescale(l.event[:0], l.replication.level.Timescale())) // a connection that is just in has said little
	}
	s := l.match.RoundStatus()
	if c.session.peer.QueueReliable(s.Append(l.event[:0])) != nil {
		l.Stats.Count[metrics.ReliableDropped].Inc()
	}
}
