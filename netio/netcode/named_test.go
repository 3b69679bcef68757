package netcode

import (
	"bytes"
	"fmt"
	"math"
	"testing"
	"time"
)

// Datagrams by length, kind and sequence that the other tables lack.
func TestNamedDatagrams(t *testing.T) {
	s := newServer(t, nil)
	p := connected(t, s, 9)
	type input struct {
		name string
		data []byte
		want Drop
	}
	var list []input
	add := func(want Drop, data []byte, name string, args ...any) {
		list = append(list, input{fmt.Sprintf(name, args...), data, want})
	}
	for _, size := range []int{1, 17, 18, 1077, 1078, 1079, 1300, 1301, 1500, 65507} {
		zero, sealed, want := DropReqSize, make([]byte, size), DropAuth
		sealed[0] = 0x10 | byte(KindPayload)
		if size > 1 {
			sealed[1] = 200
		}
		switch {
		case size > maxReceived:
			zero, want = DropSize, DropSize
		case size == requestSize:
			zero = DropReqVersion
		case size < minSealed:
			want = DropSize
		}
		add(zero, make([]byte, size), "%d zeros", size)
		add(want, sealed, "a payload of %d zeros", size)
	}
	for kind := numKinds; kind < 16; kind++ {
		d := p.seal(KindPayload, []byte("x"))
		d[0] = d[0]&0xf0 | byte(kind)
		add(DropType, d, "kind %d", kind)
	}
	for _, n := range []byte{0, 9, 10, 11, 12, 13, 14, 15} {
		d := append([]byte{n<<4 | byte(KindKeepAlive)}, make([]byte, 40)...)
		add(DropSequence, d, "a sequence of %d bytes", n)
	}
	for kind := KindKeepAlive; kind <= KindPath; kind++ {
		d := p.seal(KindPayload, []byte("nothing but a payload of some length"))
		if kind != KindPayload {
			d[0] = d[0]&0xf0 | byte(kind)
			want := DropAuth
			if kind == KindPath {
				want = DropUnknown // eight bytes of it are no session's id
			}
			add(want, d, "a payload called %v", kind)
		}
	}
	zeroTag := p.seal(KindPayload, []byte("x"))
	clear(zeroTag[len(zeroTag)-tagSize:])
	add(DropAuth, zeroTag, "a tag of zeros")
	for _, c := range list {
		t.Run(c.name, func(t *testing.T) {
			p.t = t
			p.refuse(p.at, c.data, c.want)
		})
	}
	if v, _ := s.Session(0); v.ClientID != 1009 {
		t.Error("the session has ended")
	}
}

// Each datagram of a session is repeated in all states: it is accepted once, or a request is
// answered the same way.
func TestNamedReplays(t *testing.T) {
	s := newServer(t, func(c *ServerConfig) { c.HandshakesPerSecond, c.HandshakesPerNetwork = 1<<20, 1<<20 })
	control := connected(t, s, 9)
	var out, back, up Outbox
	again := func(name string, from int, d []byte, first, then error) {
		t.Helper()
		for n := range 1000 {
			want := then
			if n == 0 {
				want = first
			}
			out.Reset()
			if e, err := s.Receive(0, testUnix, host(from), bytes.Clone(d), &out); err != want || n > 0 &&
				then != nil && (e.Kind != EventNone || out.Len() > 0) {
				t.Fatalf("%s, time %d: %v, want %v; event %v, %d answers", name, n, err, want, e.Kind,
					out.Len())
			}
		}
	}
	c := NewClient(mint(t, 1, nil), ClientConfig{Roam: true})
	c.Update(0, &up)
	_, d := up.At(0)
	// Nothing but a request opens the door.
	again("response before the request", 1, c.sealNext(0, KindResponse, make([]byte, bodySize), nil),
		DropUnknown, DropUnknown)
	again("request", 1, d, nil, nil)
	_, challenge := out.At(0)
	if _, err := c.Receive(0, testServer, bytes.Clone(challenge), &back); err != nil {
		t.Fatal(err)
	}
	again("payload before the response", 1, c.sealNext(0, KindPayload, []byte("x"), nil), DropState,
		DropState)
	again("keep-alive before the response", 1, c.sealNext(0, KindKeepAlive, zeros[:8], nil), DropState,
		DropState)
	again("disconnect before the response", 1, c.sealNext(0, KindDisconnect, nil, nil), DropState, DropState)
	_, response := back.At(0)
	again("response", 1, response, nil, DropRespConnected)
	again("request while connected", 1, d, DropReqConnected, DropReqConnected)
	again("keep-alive", 1, c.sealNext(0, KindKeepAlive, zeros[:8], nil), nil, DropReplay)
	again("payload", 1, c.sealNext(0, KindPayload, []byte("x"), nil), nil, DropReplay)
	again("path hello", 1, s.sealer.sealPath(c.seal, nil, c.sequence, 0, []byte{pathHello}), nil, DropReplay)
	c.sequence++
	jump := s.sealer.seal(c.seal, nil, KindPayload, c.sequence+1<<32, []byte("x"))
	again("a sequence 2^32 on", 1, jump, nil, DropReplay)
	again("and the one before", 1, c.sealNext(0, KindPayload, []byte("x"), nil), DropTooOld, DropTooOld)
	last := s.sealer.seal(c.seal, nil, KindDisconnect, 1<<33, nil)
	again("disconnect", 1, last, nil, DropUnknown)
	again("response after the end", 1, response, DropUnknown, DropUnknown)
	again("request after the end", 1, d, DropReqTokenUsed, DropReqTokenUsed)
	control.refuse(host(1), d, DropReqTokenUsed)
}

// Sequences near the overflow of a window's sum.
func TestNamedSequences(t *testing.T) {
	for _, first := range []uint64{1 << 63, math.MaxUint64 - 256, math.MaxUint64 - 255,
		math.MaxUint64 - 254, math.MaxUint64} {
		s := newServer(t, nil)
		p := connected(t, s, 1)
		for _, c := range []struct {
			sequence uint64
			want     error
		}{{first, nil}, {first, DropReplay}, {first - 1, nil}, {first - 1023, nil},
			{first - 1024, DropTooOld}, {0, DropTooOld}} {
			d := s.sealer.seal(p.c.seal, nil, KindPayload, c.sequence, []byte("x"))
			if _, err := s.Receive(p.now, testUnix, p.at, d, &Outbox{}); err != c.want {
				t.Errorf("%d after %d: %v, want %v", c.sequence, first, err, c.want)
			}
		}
	}
}

// A client disconnects or sends a payload before it can know of its session.
func TestNamedBeforeConfirmation(t *testing.T) {
	for _, kind := range []Kind{KindPayload, KindDisconnect} {
		s := newServer(t, nil)
		p := connected(t, s, 1)
		body, want, in := []byte("x"), EventPayload, 1
		if kind == KindDisconnect {
			body, want, in = nil, EventDisconnect, 0
		}
		e, err := s.Receive(p.now, testUnix, p.at, p.seal(kind, body), &Outbox{})
		if v, _ := s.Session(0); err != nil || e.Kind != want || s.Connected() != in ||
			v.Confirmed != (in == 1) {
			t.Errorf("%v: %v, event %v, %d connected, confirmed %v", kind, err, e.Kind, s.Connected(),
				v.Confirmed)
		}
	}
}

// Tokens with extreme client ids and timeouts.
func TestNamedTokens(t *testing.T) {
	for _, c := range []struct {
		clientID uint64
		timeout  int32
		wait     time.Duration
		in       bool
	}{
		{0, 5, time.Second, true},
		{math.MaxUint64, 5, time.Second, true},
		{1, math.MaxInt32, 24 * time.Hour, true},
		{2, -1, 24 * time.Hour, true},
		{3, math.MinInt32, 24 * time.Hour, true},
		{4, 0, 24 * time.Hour, true}, // the trap of the reference: a timeout of 0 is none
		{5, 1, 2 * time.Second, false},
	} {
		private := PrivateToken{ClientID: c.clientID, TimeoutSeconds: c.timeout, NumServers: 1}
		private.Servers[0] = testServer
		var public PublicToken
		if err := public.Parse(mint(t, 0, nil)); err != nil {
			t.Fatal(err)
		}
		private.ClientToServer, private.ServerToClient, public.TimeoutSeconds = public.ClientToServer,
			public.ServerToClient, c.timeout
		sealPrivate(&public, &private, &testKey)
		s := newServer(t, nil)
		p := &pair{t: t, s: s, c: NewClient(public.Append(nil), ClientConfig{}), at: host(1)}
		p.step(time.Millisecond)
		if i, ok := s.Find(c.clientID); !ok || p.c.State() != Connected || i != p.last.Client {
			t.Errorf("client %d, timeout %d: %v", c.clientID, c.timeout, p.c.State())
		}
		var out Outbox
		s.Update(c.wait, testUnix, &out)
		if (s.Connected() == 1) != c.in {
			t.Errorf("client %d, timeout %d: %d connected after %v", c.clientID, c.timeout, s.Connected(),
				c.wait)
		}
	}
}
