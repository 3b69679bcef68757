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
func (w *world) updateFaults() {
	now := w.Now()
	for i := range w.faults {
		f := &w.faults[i]
		switch {
		case f.ended || now < f.At:
		case !f.started && now < faultsEnd:
			f.started = true
			w.startFault(f)
		case now >= f.At+f.For || now >= faultsEnd:
			f.ended = true
			w.endFault(f)
		default:
			w.runFault(f)
		}
	}
	for i := range w.honest {
		w.reconnect(i)
	}
}

// setLinkProfile applies the faults that act on a client's links, both directions alike. A
// blackhole wins over congestion, congestion over a drawn profile.
func (w *world) setLinkProfile(i int) {
	s, p := &w.honest[i], cleanLink
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
	up, down := w.Links(i)
	up.SetProfile(p)
	down.SetProfile(p)
}

// startFault begins a fault. Faults of attackers without a session begin with their first runFault.
func (w *world) startFault(f *fault) {
	i, now := f.Client, w.Now()
	s := &w.honest[i]
	switch f.Kind {
	case BadLink:
		s.badLink = &f.Link
	case Congestion:
		s.congested = true
	case Blackhole:
		s.blackholes++
	case Rebind:
		w.Rebind(i)
	case ClientStall:
		s.stalls++
		w.Suspend(i)
	case ClockDrift:
		s.clockOffset[1], s.clockOffset[0], s.drift = w.clock(i, now), now, f.Amount
	case Leave:
		if c := w.Clients[i]; c != nil && s.stalls == 0 {
			w.Leave(i)
			s.reconnectAt = now + f.For
		}
	case Crash:
		if w.Clients[i] != nil {
			w.Crash(i)
			s.reconnectAt = now + f.For
		}
	case ServerStall:
		w.StallServer(int(f.For / w.rate.Period()))
	case WallJump:
		w.wallJump += int64(f.Amount)
	case Kill:
		w.kill(f)
	case DiskFull:
		w.recordings.disk.space = int(f.Amount)
	case DiskError:
		w.recordings.disk.failing = true
	default:
		if f.Kind.insider() {
			f.attacker = newAttacker(w, f)
			w.attackers = append(w.attackers, f.attacker)
		}
	}
	if f.Kind <= Blackhole {
		w.setLinkProfile(i)
	}
}

// endFault ends a fault. A client that left or crashed comes back by reconnect, drifted clocks and
// jumped wall clocks stay as they are, and a killed server has been replaced at once.
func (w *world) endFault(f *fault) {
	s := &w.honest[f.Client]
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
			w.Resume(f.Client)
		}
	case ServerStall:
		w.StallServer(0)
	case DiskFull:
		w.recordings.disk.space = -1
	case DiskError:
		w.recordings.disk.failing = false
	}
	if f.Kind <= Blackhole {
		w.setLinkProfile(f.Client)
	}
	if f.attacker != nil {
		f.attacker.leave(w)
	}
}

// runFault plays one tick of a fault that acts in every tick.
func (w *world) runFault(f *fault) {
	if f.Kind.outsider() && !w.skip.outsiders {
		w.runOutsider(f)
	}
}

// kill stops the server at once and starts another. Half of the kills model a power loss: an
// unused record of the journal is left half written.
func (w *world) kill(f *fault) {
	if f.rng.IntN(2) == 0 {
		n := f.rng.IntN(len(w.journal) / netcode.JournalRecord)
		r := w.journal[n*netcode.JournalRecord:][:netcode.JournalRecord]
		if allZero(r) {
			for i := range netcode.JournalRecord / 2 {
				r[i] = byte(f.rng.Uint32())
			}
		}
	}
	if !w.skip.checks {
		w.recordings.serverKilled(w)
	}
	w.captured.serverKilled(func(t netcode.TokenTag) bool { return w.wire.windows[t] != nil })
	err := w.Restart(func(cfg *server.Config) {
		w.entropy(cfg)
		cfg.Netcode.StartUnix = w.wallClock(w.Now())
	})
	if err != nil {
		w.fail(NoPanic, "the server does not restart: %v", err)
		return
	}
	w.serverStarted()
}

func allZero(b []byte) bool {
	for _, v := range b {
		if v != 0 {
			return false
		}
	}
	return true
}
