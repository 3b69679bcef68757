package server

import (
	"strings"
	"testing"
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/session"
	"github.com/tickrate/tickrate/netio/wire"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
)

// What cannot be is refused by a line that names the thing and says what was expected.
func TestConfigIsChecked(t *testing.T) {
	for i, c := range []struct {
		cfg  Config
		want string // "" = no error
	}{
		0:  {Config{}, ""},
		1:  {Config{Rules: sim.Rules{Rate: 19}}, "tick rate 19 Hz: expected 20 to 128"},
		2:  {Config{Rules: sim.Rules{Rate: 129}}, "tick rate 129 Hz: expected 20 to 128"},
		3:  {Config{Players: -1}, "-1 players: expected 1 to 4096"},
		4:  {Config{Players: 4097}, "4097 players: expected 1 to 4096"},
		5:  {Config{Interval: -1}, "snapshot interval of -1 ticks: expected 1 to 20"},
		6:  {Config{Interval: 21}, "snapshot interval of 21 ticks: expected 1 to 20"},
		7:  {Config{Interval: 20, Rules: sim.Rules{Rate: 128}, Players: 1}, ""},
		8:  {Config{ArenaName: strings.Repeat("x", 64)}, ""},
		9:  {Config{ArenaName: strings.Repeat("x", 65)}, "expected 1 to 64 bytes of printable text"},
		10: {Config{ArenaName: "map\n"}, `arena name "map\n"`},
		11: {Config{Rules: sim.Rules{RespawnMillis: 249}}, "respawn after 249 ms: expected no less than the"},
	} {
		c.cfg.Arena = ground()
		if c.cfg.ArenaName == "" {
			c.cfg.ArenaName = "arena-16"
		}
		l, err := NewLobby(c.cfg)
		switch {
		case c.want == "" && (err != nil || l == nil):
			t.Errorf("%d: %v", i, err)
		case c.want != "" && (err == nil || l != nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%d: %v, want %q", i, err, c.want)
		}
		if check := (HostConfig{Lobby: c.cfg}).Check(); (check == nil) != (err == nil) {
			t.Errorf("%d: Check says %v, NewLobby %v", i, check, err)
		}
	}
	if _, err := NewLobby(Config{}); err == nil || err.Error() != "lobby without an arena" {
		t.Errorf("no arena: %v", err)
	}
	if _, err := NewLobby(Config{Arena: ground()}); err == nil || !strings.Contains(err.Error(), `arena name ""`) {
		t.Errorf("no arena name: %v", err)
	}
	if err := (HostConfig{Socket: "tcp", Lobby: Config{Arena: ground()}}).Check(); err == nil || !strings.Contains(err.Error(), `"tcp": expected gnet or mmsg`) {
		t.Errorf("socket: %v", err)
	}
}

func TestDefaults(t *testing.T) {
	for i, c := range []struct {
		rate     tick.Rate
		interval int
	}{{20, 1}, {30, 2}, {60, 3}, {64, 3}, {128, 6}} {
		cfg, err := Config{Rules: sim.Rules{Rate: c.rate}, Arena: ground(), ArenaName: "arena-16"}.withDefaults()
		if err != nil || cfg.Interval != c.interval || cfg.Players != 64 || cfg.Silence != 10*time.Second || cfg.Models.Public == nil {
			t.Errorf("%d: %+v, %v", i, cfg, err)
		}
	}
}

// A full server says so; whoever asks again once somebody has left comes in with the same Response.
func TestFull(t *testing.T) {
	l := newLab(t, Config{Players: 2})
	a, b := l.guest(), l.guest()
	c := l.caller("")
	c.prove()
	c.send(c.response)
	l.tick()
	d, err := wire.ParseDeny(c.kind(wire.KindDeny))
	if err != nil || d.Reason != wire.ReasonFull || d.Nonce != c.nonce || l.drops()[wire.DropFull] != 1 || l.count(Joined) != 2 {
		t.Fatalf("deny %+v, %v; drops %v, %d joined", d, err, l.drops(), l.count(Joined))
	}
	b.send(b.peer.AppendDisconnect(nil, wire.ReasonLeft))
	l.tick()
	if !c.knock() || c.accept.NetID == b.accept.NetID || c.accept.Slot != b.accept.Slot || l.count(Left) != 1 {
		t.Fatalf("after a leave: %+v; the slot was %d", c.accept, b.accept.Slot)
	}
	a.unharmed()
	c.unharmed()
}

// A lost Accept costs nothing: every copy of a Response is answered with the same session.
func TestResponseRepeated(t *testing.T) {
	l := newLab(t, Config{})
	c := l.caller("")
	c.prove()
	for range 3 {
		c.send(c.response)
	}
	l.tick()
	var first wire.Accept
	for i, d := range c.received() {
		a, err := wire.ParseAccept(d)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = a
		}
		if a != first {
			t.Errorf("answer %d: %+v, the first was %+v", i, a, first)
		}
	}
	want := wire.Accept{Nonce: c.nonce, Token: first.Token, Slot: 0, NetID: 0x001, TickRate: 60, SendInterval: 3, Tick: first.Tick,
		MaxPlayers: 8, ArenaHash: ground().Hash(), ArenaName: "arena-16"}
	if first != want {
		t.Errorf("accept %+v, want %+v", first, want)
	}
	l.ticks(30)
	if !c.knock() || c.accept.Token != first.Token || c.accept.NetID != first.NetID || c.accept.Tick <= first.Tick || l.count(Joined) != 1 {
		t.Errorf("half a second later: %+v, %d joined", c.accept, l.count(Joined))
	}
	c.unharmed()
}

// The same address with another attempt: while the old session lives the Response may be a stray copy and is ignored;
// after a second of silence the new one takes its place.
func TestReconnectFromTheSameAddress(t *testing.T) {
	l := newLab(t, Config{})
	c := l.guest()
	old, player := c.accept, c.peer
	l.tick()
	c.play()
	c.prove()
	if c.knock() || l.drops()[wire.DropState] != 1 || l.count(Joined) != 1 {
		t.Fatalf("let in beside itself: %+v, drops %v", c.accept, l.drops())
	}
	l.ticks(55) // less than a second since it was heard
	if c.knock(); l.drops()[wire.DropState] != 2 {
		t.Fatalf("within a second: drops %v", l.drops())
	}
	l.ticks(5)
	if !c.knock() || c.accept.Token == old.Token || c.accept.NetID == old.NetID || l.count(Joined) != 2 || l.count(TimedOut) != 1 {
		t.Fatalf("after a second: %+v, was %+v", c.accept, old)
	}
	l.tick()
	if len(l.lobby.live) != 1 || l.lobby.match.World.Len() != 1 {
		t.Errorf("%d guests, %d players", len(l.lobby.live), l.lobby.match.World.Len())
	}
	d, _ := player.Append(l.now, nil)
	c.send(d) // of the old session
	l.tick()
	if l.drops()[wire.DropToken] != 1 {
		t.Errorf("drops %v", l.drops())
	}
	c.unharmed()
}

// Leaving, coming back with the same Response and playing, all between two ticks: the token is the same, the player
// another, and its commands wait for its first tick.
func TestLeaveJoinAndPlayWithinOneTick(t *testing.T) {
	l := newLab(t, Config{})
	c := l.guest()
	l.tick()
	c.play()
	l.tick()
	old := c.accept
	c.send(c.peer.AppendDisconnect(nil, wire.ReasonLeft))
	c.send(c.response)
	c.peer = session.NewPeer(l.now, session.Config{Token: old.Token})
	c.send(c.pack(c.commands(1)...))
	c.send(c.pack(c.commands(3)...))
	l.tick()
	a, err := wire.ParseAccept(c.kind(wire.KindAccept))
	if err != nil || a.Token != old.Token || a.NetID == old.NetID {
		t.Fatalf("%+v, %v; was %+v", a, err, old)
	}
	if l.count(Accepted) != l.count(Received) {
		t.Errorf("drops %v", l.drops())
	}
	c.accept = a
	l.tick()
	c.unharmed()
	if l.lobby.match.World.Len() != 1 {
		t.Errorf("%d players", l.lobby.match.World.Len())
	}
}

// Ten seconds of silence end a session, to the tick, and its player is told so ten times; a word keeps it.
func TestRow28SilentPeerRemoved(t *testing.T) {
	for _, silence := range []time.Duration{0, 2 * time.Second} {
		l := newLab(t, Config{Silence: silence})
		silent, quiet := l.guest(), l.guest()
		limit := 10 * 60
		if silence != 0 {
			limit = 2 * 60
		}
		heard := int(l.lobby.match.Tick()) - 2 // then silent came in, and quiet after it
		for int(l.lobby.match.Tick()) < heard+limit-1 {
			if l.lobby.match.Tick()%60 == 0 {
				quiet.play()
			}
			l.tick()
			if l.count(TimedOut) != 0 {
				t.Fatalf("silence %v: gone after %d ticks of %d", silence, int(l.lobby.match.Tick())-heard, limit)
			}
		}
		l.ticks(2)
		if l.count(TimedOut) != 1 || l.lobby.match.Vital(silent.id()) != nil || l.lobby.match.Vital(quiet.id()) == nil {
			t.Errorf("silence %v: %d timed out after %d ticks", silence, l.count(TimedOut), limit+2)
		}
		told := 0
		for _, d := range silent.received() {
			if g, err := wire.ParseDisconnect(d); err == nil && g.Reason == wire.ReasonTimeout {
				told++
			}
		}
		if told != wire.DisconnectRepeats {
			t.Errorf("told %d times", told)
		}
		silent.send(silent.pack())
		l.tick()
		if l.drops()[wire.DropUnknown] != 1 {
			t.Errorf("its late package: drops %v", l.drops())
		}
		quiet.unharmed()
	}
}

// A closing lobby tells everybody, often enough, and admits nobody.
func TestClose(t *testing.T) {
	l := newLab(t, Config{})
	a, b, c := l.guest(), l.guest(), l.caller("")
	c.prove()
	a.received()
	if err := l.lobby.Close(l.now, l.conn); err != nil {
		t.Fatal(err)
	}
	for i, who := range []*caller{a, b} {
		n := 0
		for _, d := range who.received() {
			if wire.KindOf(d) != wire.KindDisconnect {
				continue
			}
			if n++; n == 1 {
				if _, err := who.peer.Receive(l.now, d); err != nil {
					t.Fatal(err)
				}
			}
		}
		if why, closed := who.peer.Closed(); n != wire.DisconnectRepeats || !closed || why != wire.ReasonClosing {
			t.Errorf("%d heard %d goodbyes, %v", i, n, why)
		}
	}
	if c.knock() || l.drops()[wire.DropClosing] != 1 {
		t.Errorf("a closing lobby let somebody in: %+v, drops %v", c.accept, l.drops())
	}
}

// table is a lobby with real clients.
type table struct {
	*lab
	players []*client.Client
	ends    []*caller
	mute    bool // nothing that the clients send arrives
	think   func(n int) client.Intent
}

func newTable(t *testing.T, players int, cfg Config) *table {
	b := &table{lab: newLab(t, cfg)}
	b.think = func(n int) client.Intent {
		return client.Intent{MoveMag: 255, MoveYaw: uint8(n * 60), Buttons: sim.Buttons(b.lobby.match.Tick() >> 5)}
	}
	for n := range players {
		p, err := client.New(client.Config{Nonce: uint64(n + 1), Rules: cfg.Rules,
			Arena: func(string, [32]byte) (*arena.Arena, error) { return ground(), nil }})
		if err != nil {
			t.Fatal(err)
		}
		b.players, b.ends = append(b.players, p), append(b.ends, b.caller(""))
	}
	return b
}

func (b *table) play(seconds int) {
	b.t.Helper()
	for range seconds * int(b.lobby.cfg.Rules.Rate) {
		b.turn()
	}
}

// turn is a tick of the lobby and of all clients.
func (b *table) turn() {
	b.t.Helper()
	b.tick()
	for n, p := range b.players {
		for _, d := range b.ends[n].received() {
			if err := p.Receive(b.now, d); err != nil {
				b.t.Fatalf("client %d: %v", n, err)
			}
		}
		for due := p.Advance(b.now); due > 0; due-- {
			p.Command(b.think(n))
		}
		var buf [netio.MaxDatagram]byte
		if out, ok := p.Append(b.now, buf[:0]); ok && !b.mute {
			b.ends[n].send(out)
		}
	}
}

// Real clients play three seconds at every rate: no command is missed once they are in, nothing is mispredicted.
func TestRates(t *testing.T) {
	for i, c := range []struct {
		rate     tick.Rate
		interval int
	}{{20, 0}, {60, 0}, {128, 0}, {60, 1}, {128, 20}} {
		b := newTable(t, 4, Config{Rules: sim.Rules{Rate: c.rate, Seed: 5}, Interval: c.interval})
		b.play(2)
		used, missing := b.count(InputsUsed), b.count(InputsMissing)
		b.play(3)
		want := uint64(3*4*int(c.rate)) - 4
		if got := b.count(InputsUsed) - used; got < want || b.count(InputsMissing) != missing {
			t.Errorf("%d: %d Hz: %d commands used of %d, %d missing", i, c.rate, got, want, b.count(InputsMissing)-missing)
		}
		for n, p := range b.players {
			s := p.Stats()
			if state, _ := p.State(); state != client.Joined || s.Prediction.Mispredictions != 0 || s.Undecoded != 0 || s.Prediction.Rows == 0 {
				t.Errorf("%d: %d Hz, client %d is %v: %+v", i, c.rate, n, state, s)
			}
		}
	}
}

// Clients whose way up is dead for five seconds get probes only; once they are heard again they decode everything:
// baselines count send intervals, also those in which nothing was sent.
func TestChoke(t *testing.T) {
	b := newTable(t, 3, Config{})
	b.play(2)
	sent := b.count(Sent)
	b.mute = true
	b.play(5)
	if n := b.count(Sent) - sent; n > 3*(2*20+4*5+20) {
		t.Errorf("%d datagrams to three who are not heard", n)
	}
	b.mute = false
	sent = b.count(Sent)
	b.play(2)
	if n := b.count(Sent) - sent; n < 3*35 {
		t.Errorf("only %d datagrams once they are heard again", n)
	}
	for n, p := range b.players {
		s := p.Stats()
		if state, _ := p.State(); state != client.Joined || s.Undecoded != 0 || s.Resyncs != 0 {
			t.Errorf("client %d is %v: %+v", n, state, s)
		}
	}
}

// Strangers may cost only so much of a tick; players beside the flood lose nothing.
func TestStrangersHaveABudget(t *testing.T) {
	l := newLab(t, Config{})
	control, flood := l.guest(), l.caller("")
	used := l.lobby.match.Inbox(control.id()).Count.Used
	hello := flood.hello()
	for range 60 {
		control.play()
		for range 300 {
			flood.send(hello.Append(nil))
		}
		l.tick()
	}
	if n := l.drops(); n[wire.DropBudget] != 0 {
		t.Errorf("300 a tick: drops %v", n)
	}
	flood.received()
	if err := l.lobby.receive(l.now, l.conn); err != nil {
		t.Fatal(err)
	}
	for i := range 700 {
		l.lobby.datagram(l.now, netio.Datagram{Addr: flood.conn.LocalAddr(), Data: hello.Append(nil)})
		if l.lobby.out.Full() {
			if err := l.lobby.flush(l.conn); err != nil {
				t.Fatal(err)
			}
		}
		if n := l.drops(); n[wire.DropBudget] != uint64(max(0, i+1-strangersPerTick)) {
			t.Fatalf("after %d in one tick %d were over budget", i+1, n[wire.DropBudget])
		}
	}
	if n := l.lobby.match.Inbox(control.id()).Count.Used - used; n != 60 {
		t.Errorf("of 60 commands beside the flood %d were used", n)
	}
}
