package server

import (
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/server/chat"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/mode"
)

// roundNews sends how the round stands. A change of the phase or of the point is sent at once.
// Scores and the state of a point may change in every tick: they are sent a few times a second, and
// the progress of a capture each second. Clients count clocks on by themselves, so all else waits:
// on a slow link each message takes the place of rows of a snapshot.
type roundNews struct {
	*core
	sent sim.RoundStatus // the newest that was sent
}

const (
	scoresPerSecond = 4 // messages a second about what changes often
	quietSeconds    = 5 // seconds between two messages while nothing changes
)

// send queues the announcements of the tick with every connection that is ready, and how the round
// stands if that is due. room counts the time of lines from the start of the round.
func (r *roundNews) send(now time.Duration, room *chat.Room) {
	t := r.match.Tick()
	for i := range r.match.Outcome().Announcements {
		a := &r.match.Outcome().Announcements[i]
		if a.Kind == mode.RoundBegan {
			room.Round(now)
		}
		if sim.IsRoundEvent(a.Kind) {
			n := sim.RoundEventOf(t, a)
			r.broadcast(n.Append(r.message[:0]))
		}
	}
	s := r.match.RoundStatus()
	if r.due(&s) {
		r.sent = s
		r.broadcast(s.Append(r.message[:0]))
	}
}

// due reports whether s is to be sent after what was sent.
func (r *roundNews) due(s *sim.RoundStatus) bool {
	was, second := &r.sent, tick.Tick(r.cfg.Rules.Rate)
	since := s.Tick - was.Tick
	switch {
	case was.Phase != s.Phase || was.Round != s.Round || was.Point != s.Point,
		was.Winner != s.Winner || was.Waiting != s.Waiting:
		return true
	case was.Status != s.Status || was.Score != s.Score:
		return since >= second/scoresPerSecond
	case was.Progress != s.Progress || was.Players != s.Players:
		return since >= second
	}
	return since >= quietSeconds*second
}

// sendTo queues how the round stands with a connection that has just got ready.
func (r *roundNews) sendTo(c *conn) {
	s := r.match.RoundStatus()
	if c.session.peer.QueueReliable(s.Append(r.message[:0])) != nil {
		r.Stats.Count[metrics.ReliableDropped].Inc()
	}
}
