package netcode

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"
)

// ask sends a request and returns the result and the number of answers.
func ask(s *Server, now time.Duration, from netip.AddrPort, token []byte) (answers int, err error) {
	var out Outbox
	_, err = s.Receive(now, testUnix+int64(now/time.Second), from, request(token), &out)
	return out.Len(), err
}

func TestThreat06FirstAddressWins(t *testing.T) {
	s := newServer(t, nil)
	p := connected(t, s, 9)
	token := mint(t, 1, nil)
	for range 3 { // clients repeat requests
		if n, err := ask(s, 0, host(1), token); err != nil || n != 1 {
			t.Fatalf("%v, %d answers", err, n)
		}
	}
	p.refuse(host(2), request(token), DropReqTokenUsed)
	// Also when the handshake is long over: the entry stays until the token expires.
	p.run(20 * time.Second)
	p.refuse(host(2), request(token), DropReqTokenUsed)
	if n, err := ask(s, p.now, host(1), token); err != nil || n != 1 {
		t.Errorf("first address: %v, %d answers", err, n)
	}
	p.run(30 * time.Second)
	p.refuse(host(2), request(token), DropReqExpired)
	if s.tokens.kept() != 0 {
		t.Errorf("%d tokens after the last has expired", s.tokens.kept())
	}
}

// The address that had the session cannot use its token again either: the keys would seal the
// same sequences.
func TestThreat06TokenIsSpentWithItsSession(t *testing.T) {
	s := newServer(t, nil)
	token := mint(t, 1, nil)
	p := &pair{t: t, s: s, c: NewClient(token, ClientConfig{}), at: host(1)}
	p.step(time.Millisecond)
	if p.c.State() != Connected {
		t.Fatal(p.c.State())
	}
	p.refuse(p.at, request(token), DropReqConnected)
	var out Outbox
	p.c.Disconnect(p.now, &out)
	p.up(&out)
	q := connected(t, s, 9)
	q.refuse(p.at, request(token), DropReqTokenUsed)
	q.refuse(host(2), request(token), DropReqTokenUsed)
}

// When the table is full, new tokens are refused and no known one is forgotten.
func TestThreat06TokenTableFull(t *testing.T) {
	s := newServer(t, func(c *ServerConfig) { c.MaxTokens = 3 })
	p := connected(t, s, 9)
	one, two := mint(t, 1, nil), mint(t, 2, nil)
	ask(s, 0, host(1), one)
	ask(s, 0, host(2), two)
	p.refuse(host(3), request(mint(t, 3, nil)), DropTokenTable)
	p.refuse(host(3), request(one), DropReqTokenUsed)
	if n, err := ask(s, 0, host(2), two); err != nil || n != 1 {
		t.Errorf("a known token: %v, %d answers", err, n)
	}
}

func TestPendingTableFullAndFreed(t *testing.T) {
	s := newServer(t, func(c *ServerConfig) { c.MaxHandshakes = 2 })
	p := connected(t, s, 9)
	ask(s, p.now, host(1), mint(t, 1, nil))
	ask(s, p.now, host(2), mint(t, 2, nil))
	p.refuse(host(3), request(mint(t, 3, nil)), DropPending)
	// another token in the place of the first
	if n, err := ask(s, p.now, host(2), mint(t, 4, nil)); err != nil || n != 1 {
		t.Errorf("replacement: %v, %d", err, n)
	}
	p.run(7 * time.Second)
	if s.PendingHandshakes() != 0 {
		t.Errorf("%d still wait", s.PendingHandshakes())
	}
	if n, err := ask(s, p.now, host(3), mint(t, 3, nil)); err != nil || n != 1 {
		t.Errorf("later: %v, %d", err, n)
	}
}

// After kill -9 the server remembers nothing, but refuses all tokens that may have been used
// before.
func TestThreat06TokensOfBeforeTheStart(t *testing.T) {
	s := newServer(t, func(c *ServerConfig) { c.TokenLifetime, c.StartUnix = 45*time.Second, testUnix-1 })
	p := connected(t, s, 9)
	at := func(create, expire uint64) []byte {
		return request(mint(t, 1, func(m *Mint) { m.Create, m.Expire = create, expire }))
	}
	p.refuse(host(1), at(testUnix-1, testUnix+44), DropReqStart) // perhaps before, in the same second
	p.refuse(host(1), at(testUnix-2, testUnix+43), DropReqStart)
	p.refuse(host(1), at(0, 44), DropReqExpired)
	p.refuse(host(1), at(testUnix-100, testUnix+100), DropReqLifetime) // else a long one would look young
	p.refuse(host(1), at(testUnix, 1<<64-1), DropReqLifetime)
	if n, err := ask(s, 0, host(1), mint(t, 1, nil)); err != nil || n != 1 {
		t.Errorf("issued since: %v, %d answers", err, n)
	}
}

// A server without a journal is killed and starts again. The client of its session comes back
// with the same token: the new server seals nothing for it, so no sequence is sealed twice under
// the token's keys. A client with a new token gets in.
func TestRestartWithoutJournalRepeatsNoNonce(t *testing.T) {
	start := func(entropy byte, unix int64) *Server {
		return newServer(t, func(c *ServerConfig) {
			c.Entropy[0], c.AllowTokenReuse, c.TokenLifetime, c.StartUnix = entropy, false, 45*time.Second,
				unix
		})
	}
	for _, later := range []time.Duration{0, time.Second, 40 * time.Second} { // until the second start
		token := mint(t, 1, nil)
		before := &pair{t: t, s: start(1, testUnix-1), c: NewClient(token, ClientConfig{}), at: host(1)}
		if before.run(100 * time.Millisecond); before.c.State() != Connected ||
			before.s.slots[0].sequence == 0 {
			t.Fatalf("the first server: %v", before.c.State())
		}
		after := start(2, testUnix+int64(later/time.Second))
		p := &pair{t: t, s: after, c: NewClient(token, ClientConfig{}), at: host(1), now: later + time.Second}
		p.run(4 * time.Second)
		if p.c.State() != SendingRequest || after.counters.Sent != [numKinds]uint64{} ||
			after.counters.Drops[DropReqStart] == 0 {
			t.Errorf("after %v: client %v; server sent %v, refused %v", later, p.c.State(),
				after.counters.Sent, after.counters.Drops)
		}
		fresh := mint(t, 1, func(m *Mint) { m.Create, m.Expire = uint64(p.unix()), uint64(p.unix())+45 })
		q := &pair{t: t, s: after, c: NewClient(fresh, ClientConfig{}), at: host(1), now: p.now}
		if q.run(100 * time.Millisecond); q.c.State() != Connected {
			t.Errorf("after %v: a client with a new token: %v", later, q.c.State())
		}
	}
}

// A server that is killed and restarts within a second, or whose backend's clock is ahead, accepts
// no token twice.
func TestThreat06TokensOfBeforeAQuickStart(t *testing.T) {
	for ahead := range uint64(8) {
		token := mint(t, 1, func(m *Mint) { m.Create, m.Expire = testUnix+ahead, testUnix+ahead+45 })
		first := int64(-1)
		// the client asks until it is let in; each time another server has just started
		for unix := range int64(10) {
			s := newServer(t, func(c *ServerConfig) {
				c.TokenLifetime, c.StartUnix = 45*time.Second, testUnix-100
				if first >= 0 {
					c.StartUnix = testUnix + first
				}
			})
			var out Outbox
			_, err := s.Receive(0, testUnix+unix, host(1), request(token), &out)
			switch {
			case first >= 0 && err != DropReqStart:
				t.Fatalf("issued %d s ahead, used at %d s, after a start in that second: %v at %d s", ahead,
					first, err, unix)
			case first < 0 && err == nil:
				first = unix
				if _, err := newServer(t, func(c *ServerConfig) {
					c.TokenLifetime, c.StartUnix = 45*time.Second, testUnix+unix
				}).
					Receive(0, testUnix+unix, host(1), request(token), &out); err != DropReqStart {
					t.Fatalf("issued %d s ahead, used and used again at %d s: %v", ahead, unix, err)
				}
			case first < 0 && err != DropReqLifetime:
				t.Fatalf("%d s ahead, at %d s: %v", ahead, unix, err)
			}
		}
		if first != int64(ahead) {
			t.Errorf("issued %d s ahead: taken at %d s", ahead, first)
		}
	}
}

func TestThreat06SpentByOthers(t *testing.T) {
	before := newServer(t, nil)
	token := mint(t, 1, nil)
	p := &pair{t: t, s: before, c: NewClient(token, ClientConfig{}), at: host(1)}
	p.step(time.Millisecond)
	v, _ := before.Session(0)
	after := newServer(t, func(c *ServerConfig) { c.Entropy[0], c.MaxTokens = 77, 2 })
	for range 2 {
		if !after.MarkTokenUsed(v.Token, v.Expire) {
			t.Fatal("not taken")
		}
	}
	q := connected(t, after, 9)
	q.refuse(host(1), request(token), DropReqTokenUsed)
	if after.MarkTokenUsed(TokenTag{1}, v.Expire) {
		t.Error("a third of two")
	}
	if before.globalSequence == after.globalSequence {
		t.Error("both starts count from the same number")
	}
}

func TestThreat15GlobalSequenceIsInTheUpperHalf(t *testing.T) {
	for i := range 200 {
		s := newServer(t, func(c *ServerConfig) {
			c.Entropy = [32]byte{byte(i), 1}
			c.Clients, c.MaxTokens = 1, 1
		})
		if s.globalSequence < 1<<63 || s.globalSequence >= 1<<63+1<<62 {
			t.Fatalf("%x", s.globalSequence)
		}
	}
}

// A client that crashed returns with a new token: not at once, and then to the same slot.
func TestThreat12Takeover(t *testing.T) {
	for _, c := range []struct {
		name string
		from netip.AddrPort
	}{{"from another address", host(22)}, {"from the same address", host(9)}} {
		t.Run(c.name, func(t *testing.T) {
			s := newServer(t, nil)
			for n := range 5 {
				connected(t, s, n)
			}
			p := connected(t, s, 9)
			p.run(100 * time.Millisecond)
			slot := p.last.Client
			old := p.seal(KindPayload, []byte("late"))
			q := &pair{t: t, s: s, c: NewClient(mint(t, 1009, nil), ClientConfig{}), at: c.from, now: p.now}
			q.run(700 * time.Millisecond)
			if q.c.State() != SendingRequest {
				t.Fatalf("within the second: %v", q.c.State())
			}
			q.run(800 * time.Millisecond)
			if q.c.State() != Connected || q.last.Kind != EventTakeover || q.last.Client != slot ||
				s.counters.Takeovers != 1 || s.Connected() != 6 {
				t.Fatalf("%v, event %v of %d, %d connected", q.c.State(), q.last.Kind, q.last.Client,
					s.Connected())
			}
			want := DropUnknown
			if c.from == p.at {
				want = DropAuth
			}
			q.refuse(p.at, old, want)
		})
	}
}

// A recorded handshake opens no second session under the keys of a live one, even if its client is
// silent and has moved.
func TestThreat15RecordedHandshakeTakesNothingOver(t *testing.T) {
	s := newServer(t, nil)
	token := mint(t, 1, nil)
	p := newRebindingClient(t, s, token, host(1))
	var recorded [][]byte
	p.record = &recorded
	p.run(300 * time.Millisecond)
	p.at = host(2)
	p.run(2 * time.Second)
	if v, _ := s.Session(0); v.Address != host(2) {
		t.Fatal("has not moved")
	}
	p.now += 2 * time.Second // silent
	for _, d := range recorded {
		var out Outbox
		_, err := s.Receive(p.now, testUnix+3, host(1), bytes.Clone(d), &out)
		if err == nil || out.Len() != 0 {
			t.Errorf("a recorded %v: %v, %d answers", KindOf(d), err, out.Len())
		}
	}
	if s.counters.Drops[DropReqTokenUsed] == 0 {
		t.Error("no request among them")
	}
}

// A client may not answer with the challenge of another token.
func TestThreat10Challenge(t *testing.T) {
	s := newServer(t, nil)
	control := connected(t, s, 9)
	var clients [2]*Client
	for i := range clients {
		clients[i] = NewClient(mint(t, uint64(i), nil), ClientConfig{})
		var out, back, up Outbox
		clients[i].Update(0, &out)
		_, d := out.At(0)
		s.Receive(0, testUnix, host(i), d, &back)
		_, d = back.At(0)
		if _, err := clients[i].Receive(0, testServer, d, &up); err != nil {
			t.Fatal(err)
		}
	}
	c := clients[0]
	swapped := c.sealNext(0, KindResponse, clients[1].answer[:], nil)
	control.refuse(host(0), swapped, DropRespToken)
	flipped := c.answer
	flipped[200] ^= 1
	control.refuse(host(0), c.sealNext(0, KindResponse, flipped[:], nil), DropRespToken)
	binary.LittleEndian.PutUint64(c.answer[:], 99) // another sequence than it was sealed with
	control.refuse(host(0), c.sealNext(0, KindResponse, c.answer[:], nil), DropRespToken)
	control.refuse(host(0), c.sealNext(0, KindResponse, c.answer[:300], nil), DropBody)
	control.refuse(host(0), c.sealNext(0, KindPayload, []byte("early"), nil), DropState)
	control.refuse(host(0), c.sealNext(0, KindDisconnect, nil, nil), DropState)
	forged := c.sealNext(0, KindResponse, c.answer[:], nil)
	forged[9] ^= 1
	control.refuse(host(0), forged, DropAuth)
}

func TestThreat08Budget(t *testing.T) {
	rng := rand.NewChaCha8([32]byte{1})
	b := newBudget(1000, 250, [2]uint64{0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9})
	anywhere := func() tableKey {
		return addressKey(netip.AddrPortFrom(netip.AddrFrom4([4]byte{byte(rng.Uint64()),
			byte(rng.Uint64()), byte(rng.Uint64()), 1}), 1))
	}
	// One network asks ten times as often as it may.
	taken, one := 0, addressKey(host(1))
	for now := time.Duration(0); now < 4*time.Second; now += 400 * time.Microsecond {
		if why := b.admit(now, one, rng); why == DropNone {
			taken++
		} else if why != DropReqPrefix {
			t.Fatalf("at %v: %v", now, why)
		}
	}
	if taken < 1050 || taken > 1080 { // a quarter of 250 at once and 250 a second
		t.Errorf("one network: %d taken in 4 s", taken)
	}
	// All the world asks ten times as often as it may; one host has answered a challenge before.
	friend := addressKey(netip.MustParseAddrPort("203.0.113.5:9"))
	b.markProven(4*time.Second, friend)
	var results [NumDrops]int
	friends, asked := 0, 0
	for now := 4 * time.Second; now < 14*time.Second; now += 100 * time.Microsecond {
		results[b.admit(now, anywhere(), rng)]++
		if now%(100*time.Millisecond) == 0 {
			asked++
			if b.admit(now, friend, rng) == DropNone {
				friends++
			}
		}
	}
	if n := results[DropNone]; n > 10_500 || n < 4000 || results[DropReqDeferred] == 0 ||
		results[DropReqBudget] == 0 {
		t.Errorf("taken %d, refused %d, deferred %d", n, results[DropReqBudget], results[DropReqDeferred])
	}
	if friends < asked*8/10 { // a unproven host's chance is one in ten
		t.Errorf("the friend was let through %d times of %d", friends, asked)
	}
	if b.pressure() < 0.1 || b.pressure() > 1 {
		t.Errorf("pressure %v", b.pressure())
	}
	// Afterwards all sources are accepted again, and later the verified address is unverified.
	if why := b.admit(15*time.Second, anywhere(), rng); why != DropNone || b.overloaded {
		t.Errorf("afterwards: %v", why)
	}
	if !b.isProven(2*time.Minute, friend) || b.isProven(9*time.Minute, friend) {
		t.Error("the friend is remembered for too short or too long")
	}
}

// A flood of good requests with spoofed sources costs a bounded number of openings.
func TestThreat07RequestsAreBudgeted(t *testing.T) {
	s := newServer(t, func(c *ServerConfig) { c.HandshakesPerSecond = 100; c.HandshakesPerNetwork = 1000 })
	p := connected(t, s, 9)
	junk := request(mint(t, 1, nil))
	junk[100] ^= 1
	var out Outbox
	for i := range 1000 {
		s.Receive(p.now, testUnix, host(i*256), bytes.Clone(junk), &out)
	}
	if n := s.counters.Drops[DropReqToken]; n > 50 || n < 20 || out.Len() != 0 {
		t.Errorf("%d opened, %d answers", n, out.Len())
	}
	if s.Pressure() < 0.5 {
		t.Errorf("pressure %v", s.Pressure())
	}
	p.refuse(host(1), make([]byte, 20), DropReqSize)
}

func TestThreat18SessionRate(t *testing.T) {
	s := newServer(t, func(c *ServerConfig) { c.PacketsPerSecond = 100 })
	p := connected(t, s, 9)
	taken := 0
	for range 3000 { // 1000 a second
		if e, _ := s.Receive(p.now, testUnix, p.at, p.seal(KindPayload, []byte("x")),
			&Outbox{}); e.Kind == EventPayload {
			taken++
		}
		p.now += time.Millisecond
	}
	if taken < 300+60 || taken > 300+66 || s.counters.Drops[DropRate] != uint64(3000-taken) {
		t.Errorf("%d taken in 3 s", taken)
	}
}

func TestThreat18FloodIsKicked(t *testing.T) {
	s := newServer(t, func(c *ServerConfig) { c.PacketsPerSecond = 20 })
	p, control := connected(t, s, 9), connected(t, s, 8)
	var out Outbox
	var kicked time.Duration
	start := p.now
	for kicked == 0 && p.now < start+20*time.Second {
		e, _ := s.Receive(p.now, testUnix, p.at, p.seal(KindPayload, []byte("x")), &out)
		if e.Kind == EventKick {
			kicked = p.now - start
		}
		p.now += 4 * time.Millisecond // 250 a second, at most 200 are forgiven
	}
	if s.Connected() != 2 || out.Len() != 0 {
		t.Errorf("its owner has no time to say why")
	}
	control.now = p.now
	control.refuse(p.at, p.seal(KindPayload, []byte("x")), DropRate)
	if ended := s.Update(p.now, testUnix, &out); len(ended) != 1 || ended[0].Kind != EventDisconnect {
		t.Errorf("an owner who does nothing: %v", ended)
	}
	if kicked < 3*time.Second || kicked > 6*time.Second || s.counters.Kicks != 1 ||
		s.counters.Sent[KindDisconnect] != disconnectRepeats || s.Connected() != 1 {
		t.Errorf("kicked after %v, %d disconnects", kicked, out.Len())
	}
	control.now = p.now
	control.refuse(p.at, p.seal(KindPayload, []byte("x")), DropUnknown)
}

// respond runs a new client until its response is made and not yet sent.
func respond(t *testing.T, s *Server, now time.Duration, from int, clientID uint64) []byte {
	t.Helper()
	c := NewClient(mint(t, clientID, nil), ClientConfig{})
	var out, back Outbox
	c.Update(now, &out)
	_, d := out.At(0)
	if _, err := s.Receive(now, testUnix, host(from), d, &back); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	_, d = back.At(0)
	if _, err := c.Receive(now, testServer, d, &out); err != nil {
		t.Fatal(err)
	}
	_, d = out.At(0)
	return d
}

// A response is checked against everything that has changed since the challenge.
func TestResponsesRefused(t *testing.T) {
	s := newServer(t, nil)
	control := connected(t, s, 9)
	late := respond(t, s, 0, 1, 1)
	first, second := respond(t, s, 0, 2, 2), respond(t, s, 0, 3, 2)
	if e, err := s.Receive(0, testUnix, host(2), first, &Outbox{}); err != nil || e.Kind != EventConnected {
		t.Fatal(err)
	}
	control.refuse(host(3), second, DropRespClient)
	control.now = 5 * time.Second
	control.refuse(host(1), late, DropUnknown) // its handshake is over, though Update was not there to end it
	if s.PendingHandshakes() != 1 {
		t.Errorf("%d wait", s.PendingHandshakes())
	}
	// A player who is silent asks again from the same address; before he answers he is heard.
	control.run(time.Second)
	q := connected(t, s, 20)
	q.now = control.now
	again := respond(t, s, q.now+2*time.Second, 20, 1020)
	q.now += 2 * time.Second
	var out Outbox
	q.c.Send(q.now, []byte("here"), &out)
	q.up(&out)
	q.refuse(q.at, again, DropRespConnected)
	// The server closes between challenge and response.
	last := respond(t, s, q.now, 30, 30)
	s.StopAccepting()
	out.Reset()
	if _, err := s.Receive(q.now, testUnix, host(30), last, &out); err != DropClosing || out.Len() != 1 {
		t.Errorf("%v, %d answers", err, out.Len())
	}
}

// Answers that are too long for an unverified address are withheld and counted.
func TestThreat09Amplification(t *testing.T) {
	s := newServer(t, nil)
	for _, c := range []struct{ received, answer, out int }{{1078, 333, 1}, {1078, 335, 0}, {80, 25, 0},
		{192, 50, 1}} {
		var out Outbox
		before := s.counters.Amplification
		if s.answer(KindChallenge, make([]byte, c.answer), c.received, host(1), &out); out.Len() != c.out ||
			s.counters.Amplification-before != uint64(1-c.out) {
			t.Errorf("%d bytes for %d: %d sent", c.answer, c.received, out.Len())
		}
	}
	s.counters.Amplification = 0 // as newServer checks
}

func TestMintRefuses(t *testing.T) {
	good := func() Mint {
		return Mint{Create: 1, Expire: 2, TimeoutSeconds: 5, Servers: []netip.AddrPort{testServer}}
	}
	for _, c := range []struct {
		name   string
		change func(*Mint)
	}{
		{"no server", func(m *Mint) { m.Servers = nil }},
		{"33 servers", func(m *Mint) { m.Servers = make([]netip.AddrPort, 33) }},
		{"an invalid one", func(m *Mint) { m.Servers = []netip.AddrPort{{}} }},
		{"an invalid internal one", func(m *Mint) { m.Internal = []netip.AddrPort{{}} }},
		{"expires before it begins", func(m *Mint) { m.Create = 3 }},
		{"timeout of 0", func(m *Mint) { m.TimeoutSeconds = 0 }},
		{"expires beyond all clocks", func(m *Mint) { m.Expire = 1 << 63 }},
	} {
		m := good()
		if b, err := m.Append(nil, &testKey, testRandom); err != nil || len(b) != TokenSize {
			t.Fatal(err)
		}
		c.change(&m)
		if b, err := m.Append(nil, &testKey, testRandom); err == nil || len(b) != 0 {
			t.Errorf("%s: no error", c.name)
		}
	}
	m := good()
	if _, err := m.Append(nil, &testKey, bytes.NewReader(make([]byte, 10))); err == nil {
		t.Error("no randomness: no error")
	}
}

// Behind a load balancer servers and clients know different addresses.
func TestInternalAddresses(t *testing.T) {
	public := netip.MustParseAddrPort("198.51.100.1:1")
	s := newServer(t, nil)
	c := NewClient(mint(t, 1, func(m *Mint) {
		m.Servers, m.Internal = []netip.AddrPort{public},
			[]netip.AddrPort{testServer}
	}), ClientConfig{})
	var out, back Outbox
	c.Update(0, &out)
	to, d := out.At(0)
	if _, err := s.Receive(0, testUnix, host(1), d, &back); err != nil || to != public {
		t.Errorf("%v, sent to %v", err, to)
	}
}

// Another token from the same address replaces the first, with its keys.
func TestSecondTokenOfAnAddress(t *testing.T) {
	s := newServer(t, nil)
	control := connected(t, s, 9)
	first := respond(t, s, 0, 1, 1)
	second := respond(t, s, 0, 1, 2)
	control.refuse(host(1), first, DropAuth)
	if e, err := s.Receive(0, testUnix, host(1), second, &Outbox{}); err != nil || e.Kind != EventConnected {
		t.Errorf("%v, %v", err, e.Kind)
	}
	if i, ok := s.Find(2); !ok || s.PendingHandshakes() != 0 {
		t.Errorf("slot %d, %v", i, ok)
	}
}

// Path datagrams from the known address count against the rate of the session, and a flood of them
// ends it. A hello is answered, so it could otherwise make the server send at the pace of a
// client.
func TestThreat18PathDatagramsCount(t *testing.T) {
	hello := func(s *Server, p *pair, out *Outbox) (Event, error) {
		d := s.sealer.sealPath(p.c.seal, nil, p.c.sequence, 0, []byte{pathHello})
		p.c.sequence++
		return s.Receive(p.now, testUnix, p.at, d, out)
	}
	s := newServer(t, func(c *ServerConfig) { c.PacketsPerSecond = 100 })
	p := connected(t, s, 9)
	var out Outbox
	taken := 0
	for range 3000 { // 1000 a second
		if _, err := hello(s, p, &out); err == nil {
			taken++
		}
		p.now += time.Millisecond
	}
	if taken < 300+60 || taken > 300+66 || out.Len() > taken ||
		s.counters.Drops[DropRate] != uint64(3000-taken) {
		t.Errorf("%d taken in 3 s, %d answers", taken, out.Len())
	}
	s = newServer(t, func(c *ServerConfig) { c.PacketsPerSecond = 20 })
	p = connected(t, s, 9)
	kicked := false
	for range 1500 { // 250 a second
		e, _ := hello(s, p, &out)
		kicked = kicked || e.Kind == EventKick
		p.now += 4 * time.Millisecond
	}
	s.Update(p.now, testUnix, &out)
	if !kicked || s.counters.Kicks != 1 || s.Connected() != 0 {
		t.Errorf("not kicked: %d kicks", s.counters.Kicks)
	}
}

// A wall clock that is set back reuses no entry of a token that has not expired by it.
func TestThreat06ClockSetBack(t *testing.T) {
	u, err := newUsedTokens(2, [2]uint64{1, 2}, nil, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for n := range byte(2) {
		u.add(TokenTag{n}, host(1), 1010, 1000)
		u.markUsed(TokenTag{n})
	}
	for now := time.Duration(0); now < 3*time.Second; now += 10 * time.Millisecond {
		u.expired(now, 1020)
	}
	if u.add(TokenTag{7}, host(1), 2000, 1005) != nil {
		t.Errorf("a token that is valid again lost its place")
	}
	for n := range byte(2) {
		if e := u.find(TokenTag{n}); e == nil || !e.used {
			t.Errorf("token %d is forgotten", n)
		}
	}
	for now := 3 * time.Second; now < 6*time.Second; now += 10 * time.Millisecond {
		u.expired(now, 1020)
	}
	if u.add(TokenTag{7}, host(1), 2000, 1020) == nil {
		t.Errorf("no place when they have expired again")
	}
}

// A token that expires during its handshake, and whose entry another has taken, opens no session:
// no journal would have a record of it.
func TestThreat06ExpiredInItsHandshake(t *testing.T) {
	s := newServer(t, func(c *ServerConfig) { c.MaxTokens = 1 })
	response := respond(t, s, 0, 1, 1)
	for now := time.Duration(0); now < 2*time.Second; now += 10 * time.Millisecond {
		s.Update(now, testUnix+100, &Outbox{})
	}
	young := mint(t, 2, func(m *Mint) { m.Create, m.Expire = testUnix+100, testUnix+145 })
	if _, err := s.Receive(2*time.Second, testUnix+100, host(2), request(young), &Outbox{}); err != nil {
		t.Fatal(err)
	}
	var out Outbox
	if _, err := s.Receive(2*time.Second, testUnix+100, host(1), response, &out); err != DropTokenTable ||
		out.Len() != 0 || s.Connected() != 0 {
		t.Errorf("%v, %d answers, %d sessions", err, out.Len(), s.Connected())
	}
}

// While the record of a token is written, others have the lock, and its entry is not reused though it
// has expired.
func TestUsedTokensWriteWithoutLock(t *testing.T) {
	for _, sweepFirst := range []bool{false, true} {
		memory := make(journal, JournalRecord)
		u, err := newUsedTokens(1, [2]uint64{1, 2}, memory, 1000)
		if err != nil {
			t.Fatal(err)
		}
		old, young, now := TokenTag{1}, TokenTag{2}, time.Duration(0)
		sweep := func() {
			for end := now + 2*time.Second; now < end; now += 10 * time.Millisecond {
				u.expired(now, 1020)
			}
		}
		u.see(old, host(1), 1010, 1000)
		if sweepFirst {
			sweep()
		}
		i, why := u.take(old)
		if why != DropNone {
			t.Fatal(why)
		}
		sweep()
		if why := u.see(young, host(2), 2000, 1020); why != DropTokenTable { // not blocked, but no room
			t.Fatalf("swept first %v: %v", sweepFirst, why)
		}
		if why := u.use(old); why != DropReqTokenUsed {
			t.Errorf("used a second time: %v", why)
		}
		u.record(i, old)
		if tag, expire, ok := memory.read(0); !ok || tag != old || expire != 1010 {
			t.Errorf("record %x until %d, %v", tag, expire, ok)
		}
		sweep()
		if why := u.see(young, host(2), 2000, 1020); why != DropNone {
			t.Errorf("swept first %v: %v", sweepFirst, why)
		}
	}
}
