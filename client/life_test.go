package client

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/content"
)

func TestNewSaysWhatIsMissing(t *testing.T) {
	l := newTestServer(t, testServerConfig{})
	good := l.config()
	if _, err := New(good); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		change func(*Config)
		want   error
	}{
		{func(c *Config) { c.Token = nil }, ErrToken},
		{func(c *Config) { c.Token = c.Token[1:] }, ErrToken},
		{func(c *Config) { c.Token = append([]byte("netcode 1.01"), c.Token[12:]...) }, ErrToken},
		{func(c *Config) { c.Token = make([]byte, netcode.TokenSize) }, ErrToken},
		{func(c *Config) { c.SnapshotEvery = 5 }, ErrSnapshotRate},
		{func(c *Config) { c.MaxKbps = 15 }, ErrSnapshotRate},
		{func(c *Config) { c.MaxKbps = 1 << 16 }, ErrSnapshotRate},
	} {
		cfg := good
		c.change(&cfg)
		if _, err := New(cfg); err != c.want {
			t.Errorf("%d: %v, want %v", i, err, c.want)
		}
	}
}

// welcomes changes the Welcome that the server sends.
func (l *testServer) welcomes(change func(*protocol.Welcome)) {
	l.greet = func(w *protocol.Welcome) [][]byte {
		change(w)
		return [][]byte{w.Append(nil)}
	}
}

// other names the game of another content pack.
func other(w *protocol.Welcome) { w.Content, w.Mode = [32]byte{0xab, 0xcd}, "deathmatch" }

// TestOtherContent: a client whose content differs reports both hashes.
func TestOtherContent(t *testing.T) {
	l := newTestServer(t, testServerConfig{})
	l.welcomes(other)
	cfg := l.config()
	cfg.Rules.Game = nil
	s := l.addClient(cfg, link{delay: 5 * time.Millisecond})
	l.run(time.Second)
	ours := content.Default()
	for _, word := range []string{"content abcd", ours.Name, fmt.Sprintf("%x", ours.Shared())[:8]} {
		if err := s.client.Err(); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%v does not say %q", err, word)
		}
	}
}

// A map of the content pack may have a name of its own. A client with the pack has the map.
func TestMapOfThePack(t *testing.T) {
	text := bytes.ReplaceAll(content.Default().Canonical(content.Server), []byte(`name = "arena-16"`),
		[]byte(`name = "canyon"`))
	pack, err := content.LoadFor(fstest.MapFS{"pack.toml": {Data: text}}, content.Server)
	if err != nil {
		t.Fatal(err)
	}
	for _, have := range []bool{true, false} {
		l := newTestServer(t, testServerConfig{})
		l.welcomes(func(w *protocol.Welcome) {
			w.ArenaName, w.Content, w.Mode = "canyon", pack.Shared(), "assault"
		})
		cfg := l.config()
		cfg.Rules.Game, cfg.Arena, cfg.Content = nil, nil, pack
		if !have {
			cfg.Content = nil
		}
		s := l.addClient(cfg, link{delay: 5 * time.Millisecond})
		l.run(time.Second)
		if state, why := s.client.State(); (state == Joined) != have || !have && why != packet.ReasonContent {
			t.Errorf("with the pack: %v; %v, %v, %v", have, state, why, s.client.Err())
		}
	}
}

// TestDenied: for any mismatch the client reports what differs and disconnects instead of
// answering Ready.
func TestDenied(t *testing.T) {
	missing := errors.New("no such map")
	for i, c := range []struct {
		change func(*testServer, *Config)
		reason packet.Reason
		err    error
	}{
		{func(l *testServer, _ *Config) {
			l.netcode.StopAccepting()
		}, packet.ReasonFull, netcode.StateError(netcode.ConnectionDenied)},
		{func(l *testServer, _ *Config) {
			l.welcomes(func(w *protocol.Welcome) { w.Version++ })
		}, packet.ReasonVersion, nil},
		{func(l *testServer, _ *Config) {
			l.welcomes(func(w *protocol.Welcome) { w.Schema++ })
		}, packet.ReasonSchema, nil},
		{func(l *testServer, _ *Config) {
			l.welcomes(func(w *protocol.Welcome) { w.Model++ })
		}, packet.ReasonModel, nil},
		{func(l *testServer, _ *Config) {
			l.welcomes(func(w *protocol.Welcome) { w.ArenaHash[31]++ })
		}, packet.ReasonArena, nil},
		{func(l *testServer, c *Config) { c.Rules.Game = nil; l.welcomes(other) }, packet.ReasonContent, nil},
		{func(l *testServer, c *Config) { l.welcomes(other) }, packet.ReasonContent, nil},
		{func(l *testServer, c *Config) {
			c.Rules.Game = nil
			l.welcomes(func(w *protocol.Welcome) { w.Content, w.Mode = content.Default().Shared(), "chess" })
		}, packet.ReasonContent, nil},
		{func(l *testServer, _ *Config) {
			l.welcomes(func(w *protocol.Welcome) { w.TickRate = 255 })
		}, 0, nil},
		{func(l *testServer, _ *Config) { l.welcomes(func(w *protocol.Welcome) { w.TickRate = 1 }) }, 0, nil},
		{func(l *testServer, _ *Config) {
			l.welcomes(func(w *protocol.Welcome) { w.NetID = 16 << 8 })
		}, 0, nil},
		{func(l *testServer, _ *Config) {
			l.welcomes(func(w *protocol.Welcome) { w.NetID = 1<<32 - 1 })
		}, 0, nil},
		{func(_ *testServer, c *Config) {
			c.Arena = func(string, [32]byte) (*arena.Arena, error) { return nil, missing }
		}, packet.ReasonArena, missing},
		{func(_ *testServer, c *Config) {
			c.Arena = func(string, [32]byte) (*arena.Arena, error) { return arena.Generate(4, 4), nil }
		}, packet.ReasonArena, nil},
	} {
		l := newTestServer(t, testServerConfig{})
		cfg := l.config()
		c.change(l, &cfg)
		s := l.addClient(cfg, link{delay: 5 * time.Millisecond})
		l.run(time.Second)
		state, reason := s.client.State()
		if state != Denied || reason != c.reason || s.client.Err() == nil ||
			c.err != nil && !errors.Is(s.client.Err(), c.err) {
			t.Errorf("%d: %v %v %v, want %v %v", i, state, reason, s.client.Err(), c.reason, c.err)
		}
		if len(l.conns) > 0 && l.conns[0].ready {
			t.Errorf("%d: denied, and Ready", i)
		}
		l.over(t, s, i)
	}
}

// TestMismatchNamesTheField: a client of another build names the field that differs, though every
// third datagram is lost.
func TestMismatchNamesTheField(t *testing.T) {
	for i, c := range []struct {
		change func(*protocol.Welcome)
		reason packet.Reason
		want   string
	}{
		{func(w *protocol.Welcome) {
			w.Schema++
		}, packet.ReasonSchema, "player.yaw: wrap 4096 here, wrap 2048 there"},
		{func(w *protocol.Welcome) { w.Model++ }, packet.ReasonModel, "model: "},
	} {
		l := newTestServer(t, testServerConfig{seed: 3})
		l.welcomes(c.change)
		s := l.addClient(l.config(), link{delay: 5 * time.Millisecond, loss: .33})
		l.run(4 * time.Second)
		state, reason := s.client.State()
		var mismatch *schema.MismatchError
		if err := s.client.Err(); state != Denied || reason != c.reason || !errors.As(err, &mismatch) ||
			mismatch.Here == mismatch.There || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d: %v %v %v", i, state, reason, err)
		}
	}
}

// over checks a client whose session is over: the server knows, and nothing more is sent.
func (l *testServer) over(t *testing.T, s *testClient, i int) {
	t.Helper()
	if len(l.conns) > 1 || len(l.conns) == 1 && l.conns[0].ended != netcode.EventDisconnect {
		t.Errorf("%d: the server's side: %v", i, l.conns[0].ended)
	}
	for range 100 {
		l.now += 10 * time.Millisecond
		if n := s.client.Advance(l.now); n != 0 {
			t.Fatalf("%d: over, and asks for %d commands", i, n)
		}
		if n := s.client.Outgoing(l.now).Len(); n != 0 {
			t.Fatalf("%d: over, and still sends", i)
		}
	}
}

func TestNobodyAnswers(t *testing.T) {
	l := newTestServer(t, testServerConfig{})
	cfg := l.config()
	cfg.Token = l.token(timeout(1))
	s := l.addClient(cfg, link{loss: 1})
	l.run(3 * time.Second)
	if state, why := s.client.State(); state != Lost || why != 0 ||
		!errors.Is(s.client.Err(), netcode.StateError(netcode.RequestTimedOut)) {
		t.Errorf("%v %v %v", state, why, s.client.Err())
	}
	l.over(t, s, 0)
}

// TestToken: a token that the server refuses gets no answer. One that expires during the attempt
// ends it.
func TestToken(t *testing.T) {
	for i, c := range []struct {
		change func(*netcode.Mint)
		drop   netcode.Drop
		state  netcode.State
	}{
		{func(m *netcode.Mint) {
			m.Create, m.Expire = m.Create-45, m.Expire-45
		}, netcode.DropReqExpired, netcode.RequestTimedOut},
		{func(m *netcode.Mint) { m.ProtocolID++ }, netcode.DropReqProtocol, netcode.RequestTimedOut},
		{func(m *netcode.Mint) {
			m.Internal = append(m.Internal, m.Servers[0])
			m.Internal[0] = labElsewhere
		}, netcode.DropReqAddress, netcode.RequestTimedOut},
		{func(m *netcode.Mint) {
			m.Create, m.Expire = m.Create-45, m.Create-43
		}, netcode.DropReqExpired, netcode.TokenExpired},
	} {
		l := newTestServer(t, testServerConfig{})
		cfg := l.config()
		cfg.Token = l.token(c.change)
		s := l.addClient(cfg, link{delay: 5 * time.Millisecond})
		l.run(7 * time.Second)
		if state, why := s.client.State(); state != Lost || why != 0 ||
			!errors.Is(s.client.Err(), netcode.StateError(c.state)) {
			t.Errorf("%d: %v %v %v, want %v", i, state, why, s.client.Err(), c.state)
		}
		if n := l.netcode.Counters().Drops[c.drop]; n < 15 ||
			n != l.netcode.Counters().Received || s.client.Stats().Datagrams.Received != 0 {
			t.Errorf("%d: %+v, %d answers", i, l.netcode.Counters(), s.client.Stats().Datagrams.Received)
		}
		l.over(t, s, i)
	}
}

// TestTokenIsForOneSession: the token of an ended session opens no other.
func TestTokenIsForOneSession(t *testing.T) {
	l := newTestServer(t, testServerConfig{})
	cfg := l.config()
	first := l.addClient(cfg, link{})
	l.run(time.Second)
	first.client.Leave(l.now)
	l.run(100 * time.Millisecond)
	first.stop = true
	second := l.addClient(cfg, link{})
	l.run(6 * time.Second)
	if state, _ := second.client.State(); state != Lost ||
		!errors.Is(second.client.Err(), netcode.StateError(netcode.RequestTimedOut)) || len(l.conns) != 1 {
		t.Errorf("%v %v, %d sessions", state, second.client.Err(), len(l.conns))
	}
}

func TestSilence(t *testing.T) {
	l := newTestServer(t, testServerConfig{})
	cfg := l.config()
	cfg.Token = l.token(timeout(1))
	s := l.addClient(cfg, link{})
	l.run(2 * time.Second)
	s.down.loss = 1
	l.run(2 * time.Second)
	if state, why := s.client.State(); state != Lost || why != packet.ReasonTimeout || s.client.Err() == nil {
		t.Errorf("%v %v %v", state, why, s.client.Err())
	}
	if n := s.client.Advance(l.now + time.Second); n != 0 {
		t.Errorf("lost, and asks for %d commands", n)
	}
}

// closing returns a sealed packet in which the server ends a client's session.
func (l *testServer) closing(g *serverConn, why packet.Reason) []byte {
	pack, _ := g.peer.Append(l.now, nil)
	sealed, err := l.netcode.Seal(l.now, g.client, g.peer.AppendClose(pack, why), nil)
	if err != nil {
		l.t.Fatal(err)
	}
	return sealed
}

func TestServerEndsIt(t *testing.T) {
	l := newTestServer(t, testServerConfig{})
	s := l.addClient(l.config(), link{})
	l.run(time.Second)
	g := l.conns[0]
	bye, again := l.closing(g, packet.ReasonKicked), l.closing(g, packet.ReasonClosing)
	if err := s.client.Receive(l.now, bye); err != nil {
		t.Fatal(err)
	}
	if state, why := s.client.State(); state != Lost || why != packet.ReasonKicked || s.client.Err() == nil {
		t.Errorf("%v %v %v", state, why, s.client.Err())
	}
	if err := s.client.Receive(l.now, again); err != packet.DropClosed {
		t.Errorf("a packet after the end: %v", err)
	}
	for now := l.now; now < l.now+time.Second; now += 10 * time.Millisecond {
		if n := s.client.Outgoing(now).Len(); n != 0 {
			t.Fatalf("over, and sends %d datagrams", n)
		}
	}
	if st := s.client.Stats(); !accounted(&st) {
		t.Errorf("%+v", st)
	}
	if err := l.netcode.Disconnect(l.now, g.client, &l.outbox); err != nil {
		t.Fatal(err)
	}
	l.flushOutbox()
	g.ended = netcode.EventDisconnect
	l.run(100 * time.Millisecond)
	if state, why := s.client.State(); state != Lost || why != packet.ReasonKicked {
		t.Errorf("after the disconnect: %v %v", state, why)
	}
}

// TestRow28ReasonOvertaken: on a link that reorders, the disconnects arrive before the Close with
// the reason. The reason is received all the same, and a final state never changes.
func TestRow28ReasonOvertaken(t *testing.T) {
	l := newTestServer(t, testServerConfig{})
	s := l.addClient(l.config(), link{})
	l.run(time.Second)
	g := l.conns[0]
	bye := l.closing(g, packet.ReasonClosing)
	if err := l.netcode.Disconnect(l.now, g.client, &l.outbox); err != nil {
		t.Fatal(err)
	}
	g.ended = netcode.EventDisconnect
	l.flushOutbox()
	l.run(80 * time.Millisecond)
	if state, _ := s.client.State(); state != Joined {
		t.Fatalf("%v before the reason could come", state)
	}
	if err := s.client.Receive(l.now, bye); err != nil {
		t.Fatal(err)
	}
	if state, why := s.client.State(); state != Lost || why != packet.ReasonClosing {
		t.Errorf("%v for %v: %v", state, why, s.client.Err())
	}
	l.run(time.Second)
	if state, why := s.client.State(); state != Lost || why != packet.ReasonClosing {
		t.Errorf("later %v for %v: %v", state, why, s.client.Err())
	}
	l.over(t, s, 0)
}

// TestServerDisconnectsWithoutReason: the session ends by disconnects of netcode alone.
func TestServerDisconnectsWithoutReason(t *testing.T) {
	l := newTestServer(t, testServerConfig{})
	s := l.addClient(l.config(), link{})
	l.run(time.Second)
	if err := l.netcode.Disconnect(l.now, l.conns[0].client, &l.outbox); err != nil {
		t.Fatal(err)
	}
	l.conns[0].ended = netcode.EventDisconnect
	l.flushOutbox()
	l.run(linger + 20*time.Millisecond)
	if state, why := s.client.State(); state != Lost || why != 0 || s.client.Err() == nil {
		t.Errorf("%v %v %v", state, why, s.client.Err())
	}
	l.over(t, s, 0)
}

// TestLeave: a client sends ten disconnects, and any one of them ends the session.
func TestLeave(t *testing.T) {
	for arrives := range 10 {
		l := newTestServer(t, testServerConfig{})
		s := l.addClient(l.config(), link{})
		l.run(time.Second)
		s.client.Leave(l.now)
		out := s.client.Outgoing(l.now)
		if out.Len() != 10 {
			t.Fatalf("%d goodbyes", out.Len())
		}
		for i := range out.Len() {
			if to, data := out.At(i); netcode.KindOf(data) != netcode.KindDisconnect || to != testAddr {
				t.Errorf("goodbye %d is of kind %d, to %v", i, netcode.KindOf(data), to)
			}
		}
		_, bye := out.At(arrives)
		if l.receive(s, bye); l.conns[0].ended != netcode.EventDisconnect {
			t.Errorf("goodbye %d: server heard %v", arrives, l.conns[0].ended)
		}
		if state, why := s.client.State(); state != Left || why != 0 || s.client.Err() != nil {
			t.Error(state, why, s.client.Err())
		}
		s.client.Leave(l.now)
		if n := s.client.Outgoing(l.now).Len(); n != 0 {
			t.Errorf("left twice: %d datagrams", n)
		}
		l.over(t, s, arrives)
	}
}

// A client that leaves before any answer sends no disconnect.
func TestLeaveEarly(t *testing.T) {
	l := newTestServer(t, testServerConfig{})
	s := l.addClient(l.config(), link{loss: 1})
	l.run(50 * time.Millisecond)
	s.client.Leave(l.now)
	if state, _ := s.client.State(); state != Left || s.client.Outgoing(l.now).Len() != 0 {
		t.Error(state)
	}
	l.over(t, s, 0)
}

// A client that stood still for a second resumes at the server's tick, with its prediction equal to
// what the server ran meanwhile.
func TestAbsence(t *testing.T) {
	l := newTestServer(t, testServerConfig{seed: 11, extras: 2})
	s := l.addClient(l.config(), link{delay: 20 * time.Millisecond})
	l.run(3 * time.Second)
	was := s.client.predict.Newest
	s.stop = true
	l.run(time.Second)
	s.stop, s.next = false, l.now
	l.run(5 * time.Second)
	st, in := s.client.Stats(), l.inbox(s)
	if got := s.client.predict.Newest - was; got < 355 || got > 365 {
		t.Errorf("%d ticks in 6 s", got)
	}
	if st.Prediction.Skipped < 40 || st.Prediction.Skipped > 70 || in.Conflict != 0 || st.HardResets != 0 {
		t.Errorf("skipped %d, conflicts %d, hard resets %d", st.Prediction.Skipped,
			in.Conflict, st.HardResets)
	}
	if st.Prediction.Mispredictions != 0 {
		t.Errorf("%d mispredictions", st.Prediction.Mispredictions)
	}
	if lead := st.Lead; lead < 1 || lead > 4 {
		t.Errorf("lead %d", lead)
	}
}

// TestHardReset: a server clock that jumps by a second is followed at once, and the reset is
// reported.
func TestHardReset(t *testing.T) {
	l := newTestServer(t, testServerConfig{seed: 12, extras: 2})
	s := l.addClient(l.config(), link{delay: 20 * time.Millisecond})
	l.run(3 * time.Second)
	for range 60 {
		l.tick()
	}
	ahead := l.rules.Rate.At(60)
	// as run, but the server is a second ahead
	for end := l.now + 4*time.Second; l.now < end; l.now += labStep {
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
	told := [2]uint64{}
	for e, ok := s.client.NextEvent(); ok; e, ok = s.client.NextEvent() {
		if e.Kind == EventReset {
			told[e.Part] += uint64(e.Amount)
			if e.Actor != s.client.ID() || e.Tick+60 < l.match.Tick() || e.Tick > l.match.Tick()+10 {
				t.Errorf("%+v in tick %d", e, l.match.Tick())
			}
			if _, err := sim.ParseEvent(e.Append(nil)); err == nil {
				t.Error("a server could say so")
			}
		}
	}
	if told != [2]uint64{st.HardResets, st.RenderResets} {
		t.Errorf("%v events of resets, of %d and %d", told, st.HardResets, st.RenderResets)
	}
}
