package dst

import (
	"math/rand/v2"
	"time"

	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/server"
)

// fault is a drawn fault and its progress.
type fault struct {
	Fault
	started, ended bool
	rng            *rand.Rand
	attacker       *attacker // of kinds with a session, nil of others
}

// updateFaults starts and ends faults and reconnects clients.
func (r *run) updateFaults() {
	now := r.Now()
	for i := range r.faults {
		f := &r.faults[i]
		switch {
		case f.ended || now < f.At:
		case !f.started && now < r.when.faultsEnd:
			f.started = true
			r.startFault(f)
		case now >= f.At+f.For || now >= r.when.faultsEnd:
			f.ended = true
			r.endFault(f)
		default:
			r.runFault(f)
		}
	}
	for i := range r.honest {
		if r.host != nil {
			r.host.reconnect(i)
		} else {
			r.reconnect(i)
		}
	}
}

// setLinkProfile applies the faults that act on a client's links, both directions alike. A
// blackhole wins over congestion, congestion over a drawn profile.
func (r *run) setLinkProfile(i int) {
	s, p := &r.honest[i], cleanLink
	if s.badLink != nil {
		p = *s.badLink
	}
	if s.congested {
		p.Delay, p.Reorder = 500*time.Millisecond, 0
		p.ReorderBy = 0
	}
	if s.blackholes > 0 {
		p = impair.Profile{Loss: 1}
	}
	up, down := r.Links(i)
	up.SetProfile(p)
	down.SetProfile(p)
}

// startFault begins a fault. Faults of attackers without a session begin with their first runFault.
func (r *run) startFault(f *fault) {
	i, now := f.Client, r.Now()
	s := &r.honest[i]
	switch f.Kind {
	case BadLink:
		s.badLink = &f.Link
	case Congestion:
		s.congested = true
	case Blackhole:
		s.blackholes++
	case Rebind:
		if r.Rebind(i); r.host != nil {
			r.host.players[i].unclean = now + migration
		}
	case ClientStall:
		s.stalls++
		r.Suspend(i)
	case ClockDrift:
		s.clockOffset[1], s.clockOffset[0], s.drift = r.clock(i, now), now, f.Amount
	case Leave:
		if c := r.Clients[i]; c != nil && s.stalls == 0 {
			r.Leave(i)
			s.reconnectAt = now + f.For
		}
	case Crash:
		if r.Clients[i] != nil {
			r.Crash(i)
			s.reconnectAt = now + f.For
		}
	case ServerStall:
		r.StallServer(int(f.For / r.rate.Period()))
	case WallJump:
		if r.wallJump += int64(f.Amount); r.host != nil {
			r.host.hinderedAll() // tokens have expired
		}
	case Kill:
		if r.host != nil {
			r.host.kill()
		} else {
			r.kill(f)
		}
	case DiskFull:
		r.recordings.disk.space = int(f.Amount)
	case DiskError:
		r.recordings.disk.failing = true
	case LobbyMade, LobbyEnded, LobbyPanic, ChangeLobby, StrayToken, LobbyMoved:
		r.host.startFault(f)
	default:
		if f.Kind.insider() {
			f.attacker = newAttacker(r, f)
			r.attackers = append(r.attackers, f.attacker)
		}
	}
	if f.Kind <= Blackhole {
		r.setLinkProfile(i)
	}
}

// endFault ends a fault. A client that left or crashed comes back by reconnect, drifted clocks and
// jumped wall clocks stay as they are, and a killed server has been replaced at once.
func (r *run) endFault(f *fault) {
	s := &r.honest[f.Client]
	switch f.Kind {
	case BadLink:
		if s.badLink == &f.Link {
			s.badLink = nil
		}
	case Congestion:
		s.congested = false
	case Blackhole:
		s.blackholes--
	case ClientStall:
		if s.stalls--; s.stalls == 0 {
			r.Resume(f.Client)
		}
	case ServerStall:
		r.StallServer(0)
	case DiskFull:
		r.recordings.disk.space = -1
	case DiskError:
		r.recordings.disk.failing = false
	}
	if f.Kind <= Blackhole {
		r.setLinkProfile(f.Client)
	}
	if f.attacker != nil {
		f.attacker.leave(r)
	}
}

// runFault plays one tick of a fault that acts in every tick.
func (r *run) runFault(f *fault) {
	if f.Kind.outsider() && !r.skip.outsiders {
		r.runOutsider(f)
	}
}

// kill stops the server at once and starts another. Half of the kills model a power loss: an
// unused record of the journal is left half written.
func (r *run) kill(f *fault) {
	if f.rng.IntN(2) == 0 {
		n := f.rng.IntN(len(r.journal) / netcode.JournalRecord)
		record := r.journal[n*netcode.JournalRecord:][:netcode.JournalRecord]
		if allZero(record) {
			for i := range netcode.JournalRecord / 2 {
				record[i] = byte(f.rng.Uint32())
			}
		}
	}
	if !r.skip.checks {
		r.recordings.serverKilled(r)
	}
	r.captured.serverKilled(func(t netcode.TokenTag) bool { return r.wire.windows[t] != nil })
	err := r.Restart(func(cfg *server.Config) {
		r.entropy(cfg)
		cfg.Netcode.StartUnix = r.wallClock(r.Now())
	})
	if err != nil {
		r.fail(NoPanic, "the server does not restart: %v", err)
		return
	}
	r.serverStarted()
}

func allZero(b []byte) bool {
	for _, v := range b {
		if v != 0 {
			return false
		}
	}
	return true
}
