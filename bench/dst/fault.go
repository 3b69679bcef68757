package dst

import (
	"math/rand/v2"
	"time"

	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/server"
)

// fault is one of the plan, and how far it is.
type fault struct {
	Fault
	begun, over bool
	dice        *rand.Rand
	crook       *crook
}

// happen begins and ends faults, and lets clients come back.
func (w *world) happen() {
	now := w.Now()
	for i := range w.faults {
		f := &w.faults[i]
		switch {
		case f.over || now < f.At:
		case !f.begun && now < calm:
			f.begun = true
			w.befall(f)
		case now >= f.At+f.For || now >= calm:
			f.over = true
			w.relieve(f)
		default:
			w.goOn(f)
		}
	}
	for i := range w.souls {
		w.soul(i)
	}
}

// link gives a client's links the profile that is due.
func (w *world) link(i int) {
	s, p := &w.souls[i], clean
	if s.bad != nil {
		p = *s.bad
	}
	if s.clogged {
		p.Delay, p.Reorder = 500*time.Millisecond, 0
		p.ReorderBy = 0
	}
	if s.dark > 0 {
		p = impair.Profile{Loss: 1}
	}
	up, down := w.Links(i)
	up.Change(p)
	down.Change(p)
}

// befall begins a fault.
func (w *world) befall(f *fault) {
	i, now := f.Client, w.Now()
	s := &w.souls[i]
	switch f.Kind {
	case BadLink:
		s.bad = &f.Link
	case Clog:
		s.clogged = true
	case Blackhole:
		s.dark++
	case Rebind:
		w.Rebind(i)
	case Sleep:
		s.sleeps++
		w.Asleep(i, true)
	case Skew:
		s.nows[1], s.nows[0], s.drift = w.clock(i, now), now, f.Amount
	case Leave:
		if c := w.Clients[i]; c != nil && s.sleeps == 0 {
			w.Leave(i)
			s.back = now + f.For
		}
	case Vanish:
		if w.Clients[i] != nil {
			w.Vanish(i)
			s.back = now + f.For
		}
	case HoldServer:
		w.Hold(int(f.For / w.rate.Period()))
	case WallJump:
		w.wall += int64(f.Amount)
	case Kill:
		w.kill(f)
	case DiskFull:
		w.films.disk.space = int(f.Amount)
	case DiskFails:
		w.films.disk.sick = true
	default:
		if f.Kind.crooked() {
			f.crook = newCrook(w, f)
			w.crooks = append(w.crooks, f.crook)
		}
	}
	if f.Kind <= Blackhole {
		w.link(i)
	}
}

// relieve ends a fault.
func (w *world) relieve(f *fault) {
	s := &w.souls[f.Client]
	switch f.Kind {
	case BadLink:
		if s.bad == &f.Link {
			s.bad = nil
		}
	case Clog:
		s.clogged = false
	case Blackhole:
		s.dark--
	case Sleep:
		if s.sleeps--; s.sleeps == 0 {
			w.Asleep(f.Client, false)
		}
	case HoldServer:
		w.Hold(0)
	case DiskFull:
		w.films.disk.space = -1
	case DiskFails:
		w.films.disk.sick = false
	}
	if f.Kind <= Blackhole {
		w.link(f.Client)
	}
	if f.crook != nil {
		f.crook.leave(w)
	}
}

// goOn is a tick of a fault that does something all the time.
func (w *world) goOn(f *fault) {
	if f.Kind.stranger() && !w.how.deaf {
		w.stranger(f)
	}
}

// kill ends the server, in the midst of whatever it was doing, and starts another. Half of the time the machine loses its power, and
// a record of the journal is torn that no token was let in by.
func (w *world) kill(f *fault) {
	if f.dice.IntN(2) == 0 {
		n := f.dice.IntN(len(w.journal) / netcode.JournalRecord)
		r := w.journal[n*netcode.JournalRecord:][:netcode.JournalRecord]
		if allZero(r) {
			for i := range netcode.JournalRecord / 2 {
				r[i] = byte(f.dice.Uint32())
			}
		}
	}
	if !w.how.bare {
		w.films.killed(w)
	}
	w.captured.killed(func(t netcode.Tag) bool { return w.post.windows[t] != nil })
	err := w.Restart(func(cfg *server.Config) {
		w.entropy(cfg)
		cfg.Gate.Started = epoch + int64(w.Now()/time.Second) + w.wall
	})
	if err != nil {
		w.fail(Upright, "the server does not start again: %v", err)
		return
	}
	w.begin()
}

func allZero(b []byte) bool {
	for _, v := range b {
		if v != 0 {
			return false
		}
	}
	return true
}
