package server

import (
	"bytes"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/session"
	"github.com/tickrate/tickrate/netio/wire"
	"github.com/tickrate/tickrate/sim"
)

// Malformed datagrams of every kind are counted once, by their reason, are answered with nothing but a Deny where the
// protocol says so, and harm nobody.
func TestMalformedDatagrams(t *testing.T) {
	l := newLab(t, Config{})
	control := l.guest()
	control.unharmed()
	head := func(c *caller, f func(h *wire.Header)) []byte {
		d := c.pack()
		h, _, err := wire.ParseHeader(d)
		if err != nil {
			t.Fatal(err)
		}
		f(&h)
		return h.Append(nil)
	}
	hello := func(f func(h *wire.Hello)) func(*caller) []byte {
		return func(c *caller) []byte { h := c.hello(); f(&h); return h.Append(nil) }
	}
	raw := func(b ...byte) func(*caller) []byte { return func(*caller) []byte { return b } }
	sections := func(b ...byte) func(*caller) []byte { return func(c *caller) []byte { return c.pack(b...) } }
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	const stranger, guest = false, true
	for i, c := range []struct {
		name  string
		from  bool // stranger or guest
		make  func(c *caller) []byte
		drop  wire.Drop
		reply wire.Reason // of the Deny; 0: silence
	}{
		{"nothing", stranger, raw(), wire.DropSize, 0},
		{"kind 0", stranger, raw(make([]byte, 128)...), wire.DropKind, 0},
		{"kind 8", stranger, raw(8, 1, 2, 3), wire.DropKind, 0},
		{"kind 255", stranger, raw(bytes.Repeat([]byte{255}, 1200)...), wire.DropKind, 0},
		{"a Challenge", stranger, raw((&wire.Challenge{}).Append(nil)...), wire.DropKind, 0},
		{"an Accept", stranger, raw(append([]byte{4}, make([]byte, 63)...)...), wire.DropKind, 0},
		{"a Deny", stranger, raw((&wire.Deny{Reason: wire.ReasonFull}).Append(nil)...), wire.DropKind, 0},
		{"a Payload", stranger, raw((&wire.Header{}).Append(nil)...), wire.DropUnknown, 0},
		{"a Disconnect", stranger, raw((&wire.Disconnect{Reason: wire.ReasonLeft}).Append(nil)...), wire.DropUnknown, 0},
		{"a Hello cut short", stranger, func(c *caller) []byte { h := c.hello(); return h.Append(nil)[:127] }, wire.DropSize, 0},
		{"a Hello with a byte more", stranger, func(c *caller) []byte { h := c.hello(); return append(h.Append(nil), 0) }, wire.DropSize, 0},
		{"a Hello of another game", stranger, func(c *caller) []byte { h := c.hello(); b := h.Append(nil); b[1]++; return b }, wire.DropMagic, 0},
		{"a Hello of another version", stranger, hello(func(h *wire.Hello) { h.Version = 2 }), wire.DropVersion, wire.ReasonVersion},
		{"a Hello with padding", stranger, func(c *caller) []byte { h := c.hello(); b := h.Append(nil); b[127] = 1; return b }, wire.DropPadding, 0},
		{"a Hello with other schemas", stranger, hello(func(h *wire.Hello) { h.Schema++ }), wire.DropSchema, wire.ReasonSchema},
		{"a Hello with another model", stranger, hello(func(h *wire.Hello) { h.Model++ }), wire.DropModel, wire.ReasonModel},
		{"a Hello for another arena", stranger, hello(func(h *wire.Hello) { h.Arena[0]++ }), wire.DropArena, wire.ReasonArena},
		{"a Response with a forged cookie", stranger, raw((&wire.Response{Nonce: 1}).Append(nil)...), wire.DropCookie, 0},
		{"a Response cut short", stranger, raw((&wire.Response{Nonce: 1}).Append(nil)[:20]...), wire.DropSize, 0},
		{"a Response whose name is no text", stranger, raw(append((&wire.Response{Nonce: 1}).Append(nil)[:25], 1, '\n')...), wire.DropText, 0},

		{"a guest's kind 9", guest, raw(9), wire.DropKind, 0},
		{"a guest's Payload cut short", guest, func(c *caller) []byte { return c.pack()[:24] }, wire.DropSize, 0},
		{"a wrong token", guest, func(c *caller) []byte { return head(c, func(h *wire.Header) { h.Token++ }) }, wire.DropToken, 0},
		{"our own token back", guest, func(c *caller) []byte { return head(c, func(h *wire.Header) { h.Token = ^h.Token }) }, wire.DropToken, 0},
		{"another guest's token", guest, func(c *caller) []byte { return head(c, func(h *wire.Header) { h.Token = control.accept.Token }) }, wire.DropToken, 0},
		{"a sequence far ahead", guest, func(c *caller) []byte { return head(c, func(h *wire.Header) { h.Sequence += 20000 }) }, wire.DropFuture, 0},
		{"an ack of what was never sent", guest, func(c *caller) []byte { return head(c, func(h *wire.Header) { h.Ack = 9999 }) }, wire.DropAck, 0},
		{"ack bits of what was never sent", guest, func(c *caller) []byte { return head(c, func(h *wire.Header) { h.Ack, h.AckBits = 0, 1 }) }, wire.DropAck, 0},
		{"section 0", guest, sections(0), wire.DropSection, 0},
		{"section 9", guest, sections(9, 1, 2, 3), wire.DropSection, 0},
		{"a client's snapshot", guest, sections(byte(wire.SectionSnapshot), 1, 0, 0, 0, 0), wire.DropSection, 0},
		{"events without a count", guest, sections(1), wire.DropEvents, 0},
		{"no events", guest, sections(1, 0), wire.DropEvents, 0},
		{"an event that is cut short", guest, sections(1, 1, 0, 0, 9, 1), wire.DropEvents, 0},
		{"an event far ahead", guest, sections(1, 1, 0, 1, 0, 7), wire.DropEvents, 0},
		{"events twice", guest, sections(1, 1, 0, 0, 0, 7, 1, 1, 1, 0, 0, 7), wire.DropSection, 0},
		{"commands without a head", guest, sections(2), wire.DropCommands, 0},
		{"no commands", guest, sections(2, 0, 1, 0, 0, 0, 0), wire.DropCommands, 0},
		{"33 commands", guest, sections(append([]byte{2, 33, 99, 0, 0, 0}, make([]byte, 900)...)...), wire.DropCommands, 0},
		{"commands of tick 0", guest, sections(2, 1, 0, 0, 0, 0, 1), wire.DropCommands, 0},
		{"commands that are cut short", guest, sections(2, 32, 99, 0, 0, 0, 0), wire.DropCommands, 0},
		{"commands twice", guest, func(c *caller) []byte { return c.pack(join(c.commands(1), c.commands(1))...) }, wire.DropSection, 0},
		{"events behind commands", guest, func(c *caller) []byte { return c.pack(join(c.commands(1), []byte{1, 1, 0, 0, 0, 7})...) }, wire.DropSection, 0},
		{"garbage behind commands", guest, func(c *caller) []byte { return c.pack(join(c.commands(3), []byte(strings.Repeat("x", 900)))...) }, wire.DropSection, 0},
		{"a Disconnect with a wrong token", guest, func(c *caller) []byte {
			return (&wire.Disconnect{Token: c.accept.Token + 1, Reason: wire.ReasonLeft}).Append(nil)
		}, wire.DropToken, 0},
		{"a Disconnect without a reason", guest, func(c *caller) []byte { return append((&wire.Disconnect{Token: c.accept.Token}).Append(nil)[:9], 0) }, wire.DropValue, 0},
		{"a Disconnect cut short", guest, func(c *caller) []byte { return c.peer.AppendDisconnect(nil, wire.ReasonLeft)[:9] }, wire.DropSize, 0},
	} {
		who := l.caller("")
		if c.from == guest {
			who.join()
			who.play()
			l.tick()
		}
		who.received()
		datagram := c.make(who)
		before, joined, accepted := l.drops(), l.count(Joined), l.count(Accepted)
		control.play()
		who.send(datagram)
		l.tick()
		want := before
		want[c.drop]++
		if got := l.drops(); got != want || l.count(Accepted) != accepted+1 || l.count(Joined) != joined {
			t.Errorf("%d %s: drops went from %v to %v, %d accepted", i, c.name, before, got, l.count(Accepted)-accepted)
		}
		if c.from == stranger {
			answer := who.received()
			deny := wire.Deny{}
			if len(answer) == 1 {
				deny, _ = wire.ParseDeny(answer[0])
			}
			if len(answer) > 1 || len(answer) == 1 != (c.reply != 0) || deny.Reason != c.reply {
				t.Errorf("%d %s: answered with %x, want reason %v", i, c.name, answer, c.reply)
			}
			continue
		}
		if l.lobby.match.Vital(who.id()) == nil {
			t.Errorf("%d %s: cost its sender the session", i, c.name)
		}
		who.send(who.peer.AppendDisconnect(nil, wire.ReasonLeft))
		control.play()
		l.tick()
	}
	control.unharmed()
	if n := len(l.lobby.live); n != 1 {
		t.Errorf("%d guests are left, want one", n)
	}
}

// What no netio.Conn delivers is refused all the same.
func TestDatagramTooLong(t *testing.T) {
	l := newLab(t, Config{})
	for i, kind := range []byte{1, 3, 6, 7} {
		data := make([]byte, 1201)
		data[0] = kind
		l.lobby.datagram(l.now, netio.Datagram{Addr: l.caller("").conn.LocalAddr(), Data: data})
		if n := l.lobby.Stats.Drops[wire.DropSize].Load(); n != uint64(i+1) {
			t.Errorf("kind %d of 1201 bytes: %d dropped for size", kind, n)
		}
	}
}

// A repeated package, and one that is overtaken by more than the window, count as duplicate and stale.
func TestReplayedPackages(t *testing.T) {
	l := newLab(t, Config{})
	c := l.guest()
	l.tick()
	old := c.pack(c.commands(1)...)
	c.send(old)
	c.send(old)
	l.tick()
	if n := l.drops(); n[wire.DropDuplicate] != 1 {
		t.Errorf("drops %v", n)
	}
	for range 70 {
		c.play()
		l.tick()
	}
	c.send(old)
	l.tick()
	if n := l.drops(); n[wire.DropStale] != 1 || n[wire.DropDuplicate] != 1 {
		t.Errorf("drops %v", n)
	}
	if n := l.lobby.match.Inbox(c.id()).Count; n.Used != 71 || n.Duplicate+n.Stale+n.Conflict != 0 {
		t.Errorf("commands: %+v", n)
	}
}

// A client that lost its baselines gets a snapshot that needs none, and asking often is asking once.
func TestResync(t *testing.T) {
	l := newLab(t, Config{})
	c, other := l.guest(), l.guest()
	age := func(who *caller) (owner byte, seen bool) {
		for _, d := range who.received() {
			rest, err := who.peer.Receive(l.now, d)
			if err != nil {
				t.Fatal(err)
			}
			if wire.SectionOf(rest) == wire.SectionSnapshot && rest[5] == 1 {
				owner, seen = rest[6], true
			}
		}
		return owner, seen
	}
	owner, seen := byte(0), false
	for range 60 {
		if o, ok := age(c); ok {
			owner, seen = o, true
		}
		c.send(c.pack())
		other.play()
		l.tick()
	}
	if !seen || owner == 0 {
		t.Fatalf("after a second the owner row has age %d (seen %v)", owner, seen)
	}
	for range session.MaxEvents {
		if err := c.peer.Queue([]byte{sim.AskResync}); err != nil {
			t.Fatal(err)
		}
	}
	age(c)
	c.send(c.pack())
	fresh := false
	for range 4 {
		l.tick()
		if o, ok := age(c); ok {
			fresh = fresh || o == 0
			break
		}
	}
	if !fresh || l.count(Resyncs) != 1 {
		t.Errorf("a baseline is used still, or %d resyncs counted", l.count(Resyncs))
	}
	for _, junk := range [][]byte{{0}, {sim.AskResync, 0}, bytes.Repeat([]byte{7}, 256)} { // of a newer client, perhaps
		if err := c.peer.Queue(junk); err != nil {
			t.Fatal(err)
		}
	}
	drops := l.drops()
	c.send(c.pack())
	l.tick()
	if l.count(Resyncs) != 1 || l.drops() != drops {
		t.Errorf("%d resyncs, drops %v", l.count(Resyncs), l.drops())
	}
	other.unharmed()
}

// Whatever bytes come, from whomever, move one counter, are answered with less than they brought before the cookie is
// proven, and harm nobody: a client beside them loses no command.
func FuzzLobbyDatagram(f *testing.F) {
	const stranger, guest, wrapped, modes = 0, 1, 2, 3
	f.Add(uint8(stranger), []byte{})
	f.Add(uint8(stranger), (&wire.Hello{Version: 1, Nonce: 9}).Append(nil))
	f.Add(uint8(guest), (&wire.Response{Nonce: 3}).Append(nil))
	f.Add(uint8(guest), (&wire.Header{Sequence: 1}).Append(nil))
	f.Add(uint8(guest), []byte{7, 1, 2, 3, 4, 5, 6, 7, 8, 7})
	f.Add(uint8(wrapped), []byte{1, 1, 0, 0, 0, sim.AskResync})
	f.Add(uint8(wrapped), []byte{1, 2, 0, 0, 0, sim.AskResync, 1, 0, 0, 9, 2, 1, 90, 0, 0, 0, 1})
	f.Add(uint8(wrapped), append([]byte{1, 1, 0, 0, 3}, sim.AppendPace(nil, 8, 16)...))
	f.Add(uint8(wrapped), []byte{1, 1, 0, 0, 0, 9, 4, 2, 0, 9, 1, 8, 8, 5, 0, 0, 0, 3, 0, 0, 0, 7, 7, 7})
	f.Add(uint8(wrapped), sim.AppendCommands([]byte{2}, []sim.Command{{Tick: 9, Buttons: 0xffff}, {Tick: 10, Pitch: 0x7fff}}))
	f.Fuzz(func(t *testing.T, mode uint8, src []byte) {
		src = src[:min(len(src), 1100)]
		l := newLab(t, Config{Players: 3})
		control := l.guest()
		var who *caller
		switch mode % modes {
		case stranger:
			who = l.caller("")
		case guest:
			who = l.guest()
		default:
			who = l.guest()
			who.play()
			l.tick()
			src = who.pack(src...)
		}
		who.received()
		before, accepted := l.drops(), l.count(Accepted)
		who.send(src)
		l.tick()
		moved := l.count(Accepted) - accepted
		for i, n := range l.drops() {
			moved += n - before[i]
		}
		if moved != 1 {
			t.Fatalf("%d counters moved: accepted %d, drops %v", moved, l.count(Accepted)-accepted, l.drops())
		}
		if mode%modes == stranger {
			for _, d := range who.received() {
				if len(d)*100 > len(src)*31 {
					t.Fatalf("%d bytes were answered with %d", len(src), len(d))
				}
			}
		}
		for range 4 {
			control.play()
			l.tick()
		}
		if n := l.lobby.match.Inbox(control.id()).Count.Used; n != 4 {
			t.Fatalf("of 4 commands of the client beside it %d were used", n)
		}
	})
}
