package client

import (
	"errors"
	"testing"
	"time"

	"github.com/tickrate/tickrate/netio/session"
	"github.com/tickrate/tickrate/netio/wire"
	"github.com/tickrate/tickrate/sim/arena"
)

func TestNewSaysWhatIsMissing(t *testing.T) {
	l := newLab(t, labConfig{})
	good := l.config()
	for i, c := range []struct {
		change func(*Config)
		want   error
	}{
		{func(c *Config) { c.Arena = nil }, ErrNoArena},
		{func(c *Config) { c.Nonce = 0 }, ErrNoNonce},
	} {
		cfg := good
		c.change(&cfg)
		if _, err := New(cfg); err != c.want {
			t.Errorf("%d: %v, want %v", i, err, c.want)
		}
	}
	good.Name = "\x00"
	if _, err := New(good); err == nil {
		t.Error("a name that cannot be sent was taken")
	}
}

func TestDenied(t *testing.T) {
	missing := errors.New("no such map")
	for i, c := range []struct {
		change func(*lab, *Config)
		reason wire.Reason
		err    error
	}{
		{func(l *lab, _ *Config) { l.door.Closing = true }, wire.ReasonClosing, session.DeniedError{Reason: wire.ReasonClosing}},
		{func(l *lab, _ *Config) { l.door.Schema++ }, wire.ReasonSchema, session.DeniedError{Reason: wire.ReasonSchema}},
		{func(l *lab, _ *Config) { l.door.Model++ }, wire.ReasonModel, session.DeniedError{Reason: wire.ReasonModel}},
		{func(_ *lab, c *Config) {
			c.Arena = func(string, [32]byte) (*arena.Arena, error) { return nil, missing }
		}, 0, missing},
		{func(_ *lab, c *Config) {
			c.Arena = func(string, [32]byte) (*arena.Arena, error) { return arena.Generate(4, 4), nil }
		}, 0, nil},
	} {
		l := newLab(t, labConfig{})
		cfg := l.config()
		c.change(l, &cfg)
		s := l.seat(cfg, link{delay: 5 * time.Millisecond})
		l.run(time.Second)
		state, reason := s.client.State()
		if state != Denied || reason != c.reason || s.client.Err() == nil || c.err != nil && !errors.Is(s.client.Err(), c.err) {
			t.Errorf("%d: %v %v %v, want %v %v", i, state, reason, s.client.Err(), c.reason, c.err)
		}
		if _, ok := s.client.Append(l.now, nil); ok {
			t.Errorf("%d: denied and still sends", i)
		}
	}
}

func TestNobodyAnswers(t *testing.T) {
	l := newLab(t, labConfig{})
	cfg := l.config()
	cfg.Timeout = time.Second
	s := l.seat(cfg, link{loss: 1})
	l.run(3 * time.Second)
	if state, _ := s.client.State(); state != Lost || !errors.Is(s.client.Err(), session.ErrNoAnswer) {
		t.Errorf("%v %v", state, s.client.Err())
	}
}

func TestSilence(t *testing.T) {
	l := newLab(t, labConfig{})
	cfg := l.config()
	cfg.Timeout = time.Second
	s := l.seat(cfg, link{})
	l.run(2 * time.Second)
	s.down.loss = 1
	l.run(2 * time.Second)
	if state, why := s.client.State(); state != Lost || why != wire.ReasonTimeout {
		t.Errorf("%v %v", state, why)
	}
	if n := s.client.Advance(l.now + time.Second); n != 0 {
		t.Errorf("lost, and asks for %d commands", n)
	}
}

func TestServerEndsIt(t *testing.T) {
	l := newLab(t, labConfig{})
	s := l.seat(l.config(), link{})
	l.run(time.Second)
	bye := l.guests[0].peer.AppendDisconnect(nil, wire.ReasonKicked)
	if err := s.client.Receive(l.now, bye); err != nil {
		t.Fatal(err)
	}
	if state, why := s.client.State(); state != Lost || why != wire.ReasonKicked || s.client.Err() == nil {
		t.Errorf("%v %v %v", state, why, s.client.Err())
	}
	if err := s.client.Receive(l.now, bye); err != wire.DropClosed {
		t.Errorf("a datagram after the end: %v", err)
	}
}

func TestLeave(t *testing.T) {
	l := newLab(t, labConfig{})
	s := l.seat(l.config(), link{})
	l.run(time.Second)
	bye := s.client.Leave(l.now, nil)
	if _, err := l.guests[0].peer.Receive(l.now, bye); err != nil {
		t.Fatal(err)
	}
	if why, closed := l.guests[0].peer.Closed(); !closed || why != wire.ReasonLeft {
		t.Errorf("server heard %v %v", why, closed)
	}
	if again := s.client.Leave(l.now, nil); len(again) != 0 {
		t.Error("left twice")
	}
	if state, _ := s.client.State(); state != Left {
		t.Error(state)
	}
}

// TestAbsence: a caller who was away for a second goes on where the server is, and predicted what the server did
// without it.
func TestAbsence(t *testing.T) {
	l := newLab(t, labConfig{seed: 11, extras: 2})
	s := l.seat(l.config(), link{delay: 20 * time.Millisecond})
	l.run(3 * time.Second)
	was := s.client.predict.newest
	s.stop = true
	l.run(time.Second)
	s.stop, s.next = false, l.now
	l.run(5 * time.Second)
	st, in := s.client.Stats(), l.inbox(s)
	if got := s.client.predict.newest - was; got < 355 || got > 365 {
		t.Errorf("%d ticks in 6 s", got)
	}
	if st.Prediction.Skipped < 40 || st.Prediction.Skipped > 70 || in.Conflict != 0 || st.HardResets != 0 {
		t.Errorf("skipped %d, conflicts %d, hard resets %d", st.Prediction.Skipped, in.Conflict, st.HardResets)
	}
	if st.Prediction.Mispredictions != 0 {
		t.Errorf("%d mispredictions", st.Prediction.Mispredictions)
	}
	if lead := st.Lead; lead < 1 || lead > 4 {
		t.Errorf("lead %d", lead)
	}
}

// TestHardReset: a server whose clock jumps by a second is followed at once, and it is said so.
func TestHardReset(t *testing.T) {
	l := newLab(t, labConfig{seed: 12, extras: 2})
	s := l.seat(l.config(), link{delay: 20 * time.Millisecond})
	l.run(3 * time.Second)
	for range 60 {
		l.tick()
	}
	ahead := l.rules.Rate.At(60)
	for end := l.now + 4*time.Second; l.now < end; l.now += labStep { // as run, but the server is a second ahead
		for data, ok := s.up.pop(l.now); ok; data, ok = s.up.pop(l.now) {
			l.receive(s, data)
		}
		for l.now+ahead >= l.rules.Rate.At(l.match.Tick()+1) {
			l.tick()
		}
		l.frameOf(s)
	}
	st, in := s.client.Stats(), l.inbox(s)
	if st.HardResets+st.RenderResets == 0 || st.HardResets > 1 {
		t.Errorf("%d hard resets, %d of the render clock", st.HardResets, st.RenderResets)
	}
	if st.Lead < 1 || st.Lead > 4 || in.Conflict != 0 {
		t.Errorf("lead %d, inbox %+v", st.Lead, *in)
	}
}
