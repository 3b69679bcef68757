package netcode

import (
	"bytes"
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// group is servers that share an index and used tokens, on a network that gives a datagram to the
// server that via names, and what is for another one to that.
type group struct {
	t       testing.TB
	now     time.Duration
	servers []*Server
	via     int
	place   int // of new sessions; Here: where the request arrives
	asked   int // takeovers
	placed  int // questions for a place
	handed  int
}

func newGroup(t testing.TB, n int) *group {
	g := &group{t: t, place: Here}
	cfg := ServerConfig{PrivateKey: testKey, ProtocolID: testProtocol,
		Addresses: []netip.AddrPort{testServer}, Entropy: [32]byte{1, 2, 3}, AllowTokenReuse: true}
	tokens, err := NewUsedTokens(cfg)
	if err != nil {
		t.Fatal(err)
	}
	index := NewIndex(2000, cfg.Entropy)
	for i := range n {
		g.servers = append(g.servers, newServer(t, func(c *ServerConfig) {
			c.Tokens = tokens
			c.Group = Group{Index: index, Member: i,
				Place: func(uint64, *[UserDataSize]byte) int {
					g.placed++
					if g.place == i {
						return Here
					}
					return g.place
				},
				TakeOver: func(member int, clientID uint64, _ *[UserDataSize]byte) {
					g.asked++
					g.servers[member].EndSilent(g.now, clientID)
				}}
		}))
	}
	return g
}

// receive gives a datagram to the group and returns the member that took it.
func (g *group) receive(from netip.AddrPort, d []byte, out *Outbox) (member int, e Event, err error) {
	member = g.via
	for range 4 {
		e, err = g.servers[member].Receive(g.now, testUnix+int64(g.now/time.Second), from, d, out)
		if e.Kind != EventElsewhere {
			return member, e, err
		}
		g.handed++
		member = e.Client
	}
	g.t.Fatalf("a datagram of kind %v goes round", KindOf(d))
	return 0, e, err
}

// groupClient is a client of a group.
type groupClient struct {
	*group
	c     *Client
	at    netip.AddrPort
	last  Event
	owner int // that took the last datagram
	drop  error
}

func (g *group) client(token []byte, n int) *groupClient {
	return &groupClient{group: g, c: NewClient(token, ClientConfig{Roam: true}), at: host(n)}
}

// step updates the client and the servers, and advances the time.
func (c *groupClient) step(d time.Duration) {
	var out Outbox
	c.c.Update(c.now, &out)
	c.exchange(&out)
	out.Reset()
	for _, s := range c.servers {
		s.Update(c.now, testUnix+int64(c.now/time.Second), &out)
	}
	c.down(&out, &Outbox{})
	c.now += d
}

func (c *groupClient) exchange(out *Outbox) {
	for out.Len() > 0 {
		var back, answers Outbox
		for i := range out.Len() {
			_, d := out.At(i)
			var e Event
			c.owner, e, c.drop = c.receive(c.at, bytes.Clone(d), &back)
			if c.drop == nil && e.Kind != EventNone {
				c.last = e
			}
		}
		c.down(&back, &answers)
		*out = answers
	}
}

func (c *groupClient) down(out, answers *Outbox) {
	for i := range out.Len() {
		if to, d := out.At(i); to == c.at {
			c.c.Receive(c.now, testServer, bytes.Clone(d), answers)
		}
	}
}

func (c *groupClient) run(d time.Duration) {
	for end := c.now + d; c.now < end; {
		c.step(20 * time.Millisecond)
	}
}

// connect fails unless a member lets the client in.
func (c *groupClient) connect(member int) *groupClient {
	c.t.Helper()
	c.run(200 * time.Millisecond)
	if i, ok := c.servers[member].Find(c.user()); !ok || c.c.State() != Connected {
		c.t.Fatalf("%v, client in slot %d of member %d: %v", c.c.State(), i, member, ok)
	}
	return c
}

// user is the client ID: the last number of the address.
func (c *groupClient) user() uint64 {
	b := c.at.Addr().As4()
	return uint64(b[3])
}

// send sends a payload and returns why it was dropped.
func (c *groupClient) send() error {
	var out Outbox
	if err := c.c.Send(c.now, []byte("payload"), &out); err != nil {
		c.t.Fatal(err)
	}
	c.last = Event{}
	c.exchange(&out)
	if c.drop == nil && c.last.Kind != EventPayload {
		c.t.Fatalf("%v", c.last)
	}
	return c.drop
}

// Whichever member a datagram reaches, the one with the session gets it; handshakes and paths too.
func TestGroupFindsTheSession(t *testing.T) {
	g := newGroup(t, 3)
	for n := range 9 {
		g.via, g.place = n%3, n/3
		late := func(m *Mint) { m.Expire += 600 }
		c := g.client(mint(t, uint64(n), late), n).connect(n / 3)
		for g.via = range 3 {
			if err := c.send(); err != nil || c.owner != n/3 {
				t.Errorf("client %d via %d: member %d, %v", n, g.via, c.owner, err)
			}
		}
		c.run(2 * time.Second)
		g.via = (n + 1) % 3
		c.at = host(100 + n) // at another address, whose datagrams go another way
		c.run(5 * time.Second)
		if err := c.send(); err != nil || c.last.Client < 0 || g.servers[n/3].counters.Migrations != uint64(n%3+1) {
			t.Errorf("client %d: %v, %d migrations", n, err, g.servers[n/3].counters.Migrations)
		}
		if n%2 == 1 {
			continue
		}
		var out Outbox
		c.c.Disconnect(g.now, &out)
		c.exchange(&out)
		if _, still := g.servers[n/3].Find(uint64(n)); still || c.drop != DropUnknown {
			t.Errorf("client %d is still there, %v", n, c.drop)
		}
	}
}

// A token that had its session at one member has none at another, from any address.
func TestGroupRefusesUsedTokens(t *testing.T) {
	g := newGroup(t, 2)
	token := mint(t, 1, nil)
	g.client(token, 1).connect(0)
	for g.via = range 2 {
		thief := g.client(token, 2)
		thief.run(time.Second)
		if thief.c.State() == Connected || thief.drop != DropReqTokenUsed && thief.drop != DropReqClient {
			t.Errorf("via %d: %v, %v", g.via, thief.c.State(), thief.drop)
		}
	}
	g.servers[0].Disconnect(g.now, 0, &Outbox{})
	g.via = 1
	again := g.client(token, 1)
	if again.run(time.Second); again.drop != DropReqTokenUsed {
		t.Errorf("%v", again.drop)
	}
}

// A token that comes again from made-up addresses is refused where it arrives: it neither asks for a
// place nor crosses to another member, used or not.
func TestGroupRefusesReplaysAtOnce(t *testing.T) {
	for _, used := range []bool{false, true} {
		g := newGroup(t, 2)
		g.via, g.place = 0, 1
		token := mint(t, 1, nil)
		if used {
			g.client(token, 1).connect(1)
		} else if _, _, err := g.receive(host(1), request(token), &Outbox{}); err != nil {
			t.Fatal(err)
		}
		placed, handed := g.placed, g.handed
		for n := range 100 {
			g.now += 10 * time.Millisecond
			if _, _, err := g.receive(host(2+n), request(token), &Outbox{}); err != DropReqTokenUsed {
				t.Fatalf("used %v: %v", used, err)
			}
		}
		if g.placed != placed || g.handed != handed {
			t.Errorf("used %v: %d asked for a place, %d were handed over", used, g.placed-placed, g.handed-handed)
		}
	}
}

// A second session of a client at another member begins when the first has been silent for a
// second, not before.
func TestGroupTakesOver(t *testing.T) {
	for _, same := range []bool{true, false} {
		g := newGroup(t, 2)
		a := g.client(mint(t, 1, nil), 1).connect(0)
		b := g.client(mint(t, 1, nil), 1)
		if !same {
			b.at = netip.AddrPortFrom(b.at.Addr(), 9)
		}
		g.via = 1
		for range 20 {
			g.via = 0
			if err := a.send(); err != nil {
				t.Fatal(err)
			}
			g.via = 1
			b.step(50 * time.Millisecond)
		}
		if b.c.State() == Connected || g.asked == 0 {
			t.Fatalf("%v while the first session lives, asked %d times", b.c.State(), g.asked)
		}
		b.run(3 * time.Second)
		if _, old := g.servers[0].Find(1); old || b.c.State() != Connected {
			t.Errorf("same address %v: %v, the old session is there: %v", same, b.c.State(), old)
		}
		g.via = 0
		if err := b.send(); err != nil || b.owner != 1 {
			t.Errorf("member %d, %v", b.owner, err)
		}
		i, _ := g.servers[1].Find(1)
		g.servers[1].Disconnect(g.now, i, &Outbox{})
		for range 40 { // handshakes that went no further end
			g.now += time.Second
			for _, s := range g.servers {
				s.Update(g.now, testUnix, &Outbox{})
			}
		}
		if n := g.servers[0].group.Index.used(); n != 0 {
			t.Errorf("%d entries of the index are left", n)
		}
	}
}

// used counts the entries.
func (x *Index) used() (n int) {
	for i := range x.buckets {
		for k := range x.buckets[i] {
			n += btoi(x.buckets[i][k].Load() != 0)
		}
	}
	return n
}

// A client whose session is between two members gets no second one.
func TestGroupWaitsForAMovingSession(t *testing.T) {
	g := newGroup(t, 2)
	g.client(mint(t, 1, nil), 1).connect(0)
	i, _ := g.servers[0].Find(1)
	m, _ := g.servers[0].Release(i)
	for g.via = range 2 {
		b := g.client(mint(t, 1, nil), 2)
		if b.run(3 * time.Second); b.c.State() == Connected || b.drop != DropRespClient {
			t.Errorf("via %d: %v, %v", g.via, b.c.State(), b.drop)
		}
	}
	g.servers[1].Adopt(&m, 0)
	if _, ok := g.servers[1].Find(1); !ok || g.servers[0].Connected() != 0 {
		t.Error("the session did not arrive")
	}
}

// A session goes from member to member while its client sends: each datagram is taken once, and no
// sequence is used twice.
func TestGroupMovesSessions(t *testing.T) {
	g := newGroup(t, 3)
	c := g.client(mint(t, 1, nil), 1).connect(0)
	recorded := c.c.sealNext(g.now, KindPayload, []byte("again"), nil)
	if _, e, err := g.receive(c.at, bytes.Clone(recorded), &Outbox{}); err != nil || e.Kind != EventPayload {
		t.Fatal(err)
	}
	c.run(time.Second)
	seen := map[string]bool{}
	for n := range 100 {
		from, to := g.servers[n%3], g.servers[(n+1)%3]
		i, _ := from.Find(1)
		m, ok := from.Release(i)
		if e, err := from.Receive(g.now, testUnix, c.at, bytes.Clone(recorded), nil); !ok || err != nil ||
			e.Kind != EventElsewhere || e.Client != n%3 {
			t.Fatalf("on the way: %v, %v", e, err)
		}
		i = to.Adopt(&m, n%3)
		g.via = n % 3
		if _, _, err := g.receive(c.at, bytes.Clone(recorded), &Outbox{}); err != DropReplay {
			t.Fatalf("a replay: %v", err)
		}
		if err := c.send(); err != nil || c.owner != (n+1)%3 {
			t.Fatalf("move %d: member %d, %v", n, c.owner, err)
		}
		d, err := to.Seal(g.now, i, []byte("down"), nil)
		if payload, errDown := c.c.Receive(g.now, testServer, bytes.Clone(d), &Outbox{}); err != nil ||
			errDown != nil || string(payload) != "down" || seen[string(d[:4])] {
			t.Fatalf("%v, %v", err, errDown)
		}
		seen[string(d[:4])] = true
		c.step(20 * time.Millisecond)
	}
	g.via = 0
	c.at = host(7) // its session ID moved along
	c.run(5 * time.Second)
	if err := c.send(); err != nil || g.servers[1].counters.Migrations != 1 {
		t.Errorf("%v", err)
	}
}

// An index agrees with a map of sets, whatever is put, moved and removed.
func TestIndexAgreesWithMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := NewIndex(64, [32]byte{byte(rapid.IntRange(0, 255).Draw(t, "seed"))})
		want := map[string]bool{}
		name := func(kind IndexKind, key uint64, member int) string { return fmt.Sprint(kind, key, member) }
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			kind := IndexKind(rapid.IntRange(0, int(indexKinds)-1).Draw(t, "kind"))
			key, member := uint64(rapid.IntRange(0, 4).Draw(t, "key")), rapid.IntRange(0, 2).Draw(t, "member")
			switch rapid.IntRange(0, 2).Draw(t, "op") {
			case 0:
				x.PutNumber(kind, key, member)
				want[name(kind, key, member)] = true
			case 1:
				x.RemoveNumber(kind, key, member)
				delete(want, name(kind, key, member))
			default:
				if to := (member + 1) % 3; want[name(kind, key, member)] {
					x.MoveNumber(kind, key, member, to)
					delete(want, name(kind, key, member))
					want[name(kind, key, to)] = true
				}
			}
			but := rapid.IntRange(-1, 2).Draw(t, "but")
			got, ok := x.FindNumber(kind, key, but)
			if x.HasNumber(kind, key, member) != want[name(kind, key, member)] || x.used() != len(want) {
				t.Fatalf("kind %d, key %d, member %d: %d entries, want %v", kind, key, member, x.used(), want)
			}
			others := 0
			for m := range 3 {
				if m != but && want[name(kind, key, m)] {
					others++
				}
			}
			if ok && !want[name(kind, key, got)] || ok && got == but && others > 0 ||
				!ok && others+btoi(want[name(kind, key, but)]) > 0 {
				t.Fatalf("kind %d, key %d, but %d: %d, %v", kind, key, but, got, ok)
			}
		}
	})
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// An index takes all the entries that it was made for.
func TestIndexHoldsItsEntries(t *testing.T) {
	const entries = 1 << 16
	x := NewIndex(entries, [32]byte{5})
	for i := range uint64(entries) {
		x.PutNumber(IndexClient, i, int(i%7))
	}
	for i := range uint64(entries) {
		if m, ok := x.FindNumber(IndexClient, i, -1); !ok || m != int(i%7) {
			t.Fatalf("entry %d: %d, %v", i, m, ok)
		}
		if m, ok := x.FindNumber(IndexClient, i+entries, -1); ok {
			t.Fatalf("nobody put entry %d: %d", i+entries, m)
		}
	}
}

// Members write their entries while others read: each finds its own at any time, and at most one of
// two that claim a key at once believes to have it alone.
func TestIndexIsShared(t *testing.T) {
	x := NewIndex(256, [32]byte{6})
	var both sync.WaitGroup
	for me := range 2 {
		both.Add(1)
		go func() {
			defer both.Done()
			for n := range uint64(20_000) {
				own, shared := 1000+uint64(me)*100+n%16, n%8
				x.PutNumber(IndexClient, own, me)
				if m, ok := x.FindNumber(IndexClient, own, -1); !ok || m != me {
					t.Errorf("member %d finds %d, %v", me, m, ok)
					return
				}
				x.PutNumber(IndexAddress, shared, me)
				if m, ok := x.FindNumber(IndexAddress, shared, me); !ok || m != me && m != 1-me {
					t.Errorf("member %d finds %d, %v of a key that it has put", me, m, ok)
					return
				}
				x.RemoveNumber(IndexAddress, shared, me)
				x.RemoveNumber(IndexClient, own, me)
			}
		}()
	}
	both.Wait()
	if n := x.used(); n != 0 {
		t.Fatalf("%d entries are left", n)
	}
}

// Servers on goroutines of their own let clients in with tokens of the same table, and of two that
// take one client's sessions at once at most one keeps it.
func TestGroupOnGoroutines(t *testing.T) {
	g := newGroup(t, 2)
	g.place = Here
	const clients = 200
	var responses [2][][]byte
	for m, s := range g.servers {
		for n := range clients {
			c := NewClient(mint(t, uint64(n), nil), ClientConfig{})
			var out, back Outbox
			c.Update(0, &out)
			_, d := out.At(0)
			if _, err := s.Receive(0, testUnix, netip.AddrPortFrom(host(n).Addr(), uint16(1+m)), bytes.Clone(d),
				&back); err != nil {
				t.Fatal(err)
			}
			_, d = back.At(0)
			out.Reset()
			c.Receive(0, testServer, bytes.Clone(d), &out)
			c.Update(0, &out)
			_, d = out.At(out.Len() - 1)
			responses[m] = append(responses[m], bytes.Clone(d))
		}
		s.group.TakeOver = nil
	}
	var both sync.WaitGroup
	for m, s := range g.servers {
		both.Add(1)
		go func() {
			defer both.Done()
			var out Outbox
			for n, d := range responses[m] {
				s.Receive(0, testUnix, netip.AddrPortFrom(host(n).Addr(), uint16(1+m)), d, &out)
				s.Update(0, testUnix, &out)
				out.Reset()
			}
		}()
	}
	both.Wait()
	in := 0
	for n := range uint64(clients) {
		_, a := g.servers[0].Find(n)
		_, b := g.servers[1].Find(n)
		if a && b {
			t.Errorf("client %d has two sessions", n)
		}
		in += btoi(a) + btoi(b)
	}
	if in < clients/4 {
		t.Errorf("%d of %d are in", in, clients)
	}
}
