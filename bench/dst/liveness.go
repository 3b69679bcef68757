package dst

import (
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/tick"
)

// checkLife checks at the end of a run that every honest client plays normally and that no other
// session is left.
func (r *run) checkLife() {
	m := r.Lobby.Match()
	for i, c := range r.Clients {
		if c == nil {
			r.fail(Liveness, "client %d is not connected", i)
			continue
		}
		s := c.Stats()
		in := m.CommandBuffer(c.ID())
		state, why := c.State()
		switch {
		case state != client.Joined:
			r.fail(Liveness, "client %d is %v: %v, %v", i, state, why, c.Err())
		case in == nil:
			r.fail(Liveness, "client %d is %v, which is not in the match", i, c.ID())
		case in.Last().Tick+4 < m.Tick():
			r.fail(Liveness, "client %d's last input is for tick %d, now is %d", i, in.Last().Tick, m.Tick())
		case c.Newest()+r.maxSnapshotAge() < m.Tick():
			r.fail(Liveness, "client %d's newest snapshot is %d, now is %d", i, c.Newest(), m.Tick())
		case !s.Datagrams.Balanced() || !s.Packets.Balanced():
			r.fail(Accounts, "client %d received %d datagrams and accounts for another number",
				i, s.Datagrams.Received)
		}
		was := r.honest[i].settled
		if began := r.honest[i].startedAt; began > lost || was == nil {
			r.fail(Liveness, "client %d reconnected at %v", i, began)
			return
		}
		if n := s.InputsMissing - was.InputsMissing; n > 2 {
			r.fail(Liveness, "%d ticks of client %d had no input", n, i)
		}
		if n := s.Prediction.Mispredictions - was.Prediction.Mispredictions; n > 0 {
			r.fail(Liveness, "client %d mispredicted %d rows, the last in tick %d",
				i, n, s.Prediction.LastMispredict)
		}
	}
	if n := r.Lobby.Netcode().Connected(); n != len(r.Clients) {
		r.fail(Liveness, "%d sessions for %d clients", n, len(r.Clients))
	}
}

// maxSnapshotAge is the largest age, in ticks, of a client's newest snapshot: two send intervals
// and 0.2 s on the way, and more under a byte budget.
func (r *run) maxSnapshotAge() tick.Tick {
	if r.drawn.Kbps > 0 {
		return 60
	}
	return tick.Tick(r.rate) / 5
}

// recordSettled saves each client's counters at the time from which it must play normally.
func (r *run) recordSettled() {
	if r.Now() < faultsEnd {
		return
	}
	for i, c := range r.Clients {
		s := &r.honest[i]
		if c == nil {
			continue
		}
		late := s.startedAt >= faultsEnd && r.Now() > s.startedAt+3*time.Second
		if state, _ := c.State(); state < client.Joined && late {
			r.fail(Liveness, "client %d, which started at %v, is still %v", i, s.startedAt, state)
		}
		if s.settled == nil && r.Now() >= s.settleAt {
			st := c.Stats()
			s.settled = &st
		}
	}
}

const (
	// From this time honest clients must play normally (settled): a session that was lost before
	// the faults ended has timed out by then, and its client has reconnected.
	settled        = Length - 4*time.Second
	lost           = faultsEnd + sessionSeconds*time.Second + 300*time.Millisecond
	sessionSeconds = 10 // timeout of the tokens of package lobbysim
)
