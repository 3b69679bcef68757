package netcode

import (
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/tickrate/tickrate/internal/alloctest"
)

// stormClient is a client that connects in the storm, or one that plays; its datagrams arrive a
// tick later.
type stormClient struct {
	c   *Client
	out Outbox
}

// Two hundred clients play when 9,800 connect within a second. All are connected within three
// seconds, no datagram of a player waits for a handshake, no tick opens more tokens than the
// budget, and the server keeps only the ciphers of its sessions.
func TestStormBesidePlayers(t *testing.T) {
	if testing.Short() {
		t.Skip("a second of work")
	}
	const players, tick = 200, 16 * time.Millisecond
	s := newServer(t, func(c *ServerConfig) { c.Clients = MaxClients })
	list := make([]*stormClient, MaxClients)
	for i := range list {
		list[i] = &stormClient{c: NewClient(mint(t, uint64(i), nil), ClientConfig{})}
	}
	var out Outbox
	played, earlier, tokens, longest, in := 0, 0, uint64(0), 0, 0
	deliver := func(now time.Duration, i int, d []byte) {
		e, err := s.Receive(now, testUnix+int64(now/time.Second), host(i), d, &out)
		if e.Kind == EventPayload {
			played++
		} else if !IsHandshake(d) && err != nil {
			t.Fatalf("client %d at %v: %v", i, now, err)
		}
	}
	count := func() uint64 { return s.counters.Accepted[KindRequest] + s.counters.Drops[DropReqToken] }
	var before, after runtime.MemStats
	start := time.Second
	for now := time.Duration(0); now < 4*time.Second && in < MaxClients; now += tick {
		coming := players
		if now >= start {
			if now < start+tick {
				runtime.GC()
				runtime.ReadMemStats(&before)
			}
			coming = min(MaxClients, players+int(float64(MaxClients-players)*(now-start).Seconds()))
		}
		tokens, earlier = count(), played
		for i, p := range list[:coming] { // a batch: first the players
			for j := range p.out.Len() {
				if _, d := p.out.At(j); !IsHandshake(d) {
					deliver(now, i, d)
				}
			}
		}
		if now > start && played-earlier < players {
			t.Fatalf("at %v %d players were heard", now, played-earlier)
		}
		for i, p := range list[:coming] {
			for j := range p.out.Len() {
				if _, d := p.out.At(j); IsHandshake(d) {
					deliver(now, i, d)
				}
			}
			p.out.Reset()
		}
		longest = max(longest, int(count()-tokens))
		s.Update(now, testUnix+int64(now/time.Second), &out)
		if out.Len() > 3*MaxClients {
			t.Fatalf("%d datagrams to send in a tick", out.Len())
		}
		for j := range out.Len() {
			to, d := out.At(j)
			b := to.Addr().As4()
			i := int(b[1])<<16 | int(b[2])<<8 | int(b[3])
			was := list[i].c.State()
			list[i].c.Receive(now, testServer, d, &list[i].out)
			if was != Connected && list[i].c.State() == Connected {
				in++
			}
		}
		out.Reset()
		for i, p := range list[:coming] {
			p.c.Update(now, &p.out)
			if i < players && p.c.State() == Connected {
				p.c.Send(now, []byte("command"), &p.out)
			}
		}
		if in == MaxClients {
			t.Logf("all in %v after the first; at most %d tokens opened in a tick", now-start, longest)
			if now-start > 3*time.Second {
				t.Errorf("all in only after %v", now-start)
			}
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if in != MaxClients || s.Connected() != MaxClients || s.PendingHandshakes() != 0 {
		t.Errorf("%d in, %d connected, %d waiting", in, s.Connected(), s.PendingHandshakes())
	}
	if limit := 20_000/2 + 20_000*int(tick)/int(time.Second); longest > limit {
		t.Errorf("%d tokens opened in a tick, the budget allows %d", longest, limit)
	}
	// Two ciphers of 32 B each for a session, and both ends' outboxes: a request and a response
	// for a client.
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > MaxClients*6<<10 {
		t.Errorf("%d bytes more for each", grown/MaxClients)
	} else {
		t.Logf("%d bytes more for each client, both ends", grown/MaxClients)
	}
	runtime.KeepAlive(list)
}

// A flood of forged requests from few and from many addresses keeps no more memory than the sketch
// of addresses that asked, allocates nothing once that exists, and opens in one tick no more than
// the burst and the time to spare allow.
func TestStormOfRequestsIsBounded(t *testing.T) {
	s := newServer(t, nil)
	s.SetSpare(1)
	junk := request(mint(t, 1, nil))
	junk[100] ^= 1
	var out Outbox
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	now, sent := time.Duration(0), 0
	tick := func() {
		now += time.Duration(1+sent%3*40) * time.Millisecond
		opened := s.counters.Drops[DropReqToken]
		for i := range 20_000 {
			from := host(sent * 2654435761 >> 3)
			if i%2 == 0 {
				from = host(i % 8)
			}
			_, _ = s.Receive(now, testUnix, from, junk, &out)
			sent++
		}
		if n := s.counters.Drops[DropReqToken] - opened; n > 10_000+16_000/3+1 {
			t.Fatalf("%d tokens opened in a tick", n)
		}
	}
	tick()
	runtime.ReadMemStats(&after)
	if n := int64(after.HeapAlloc) - int64(before.HeapAlloc); n > 1_100_000 { // below 0 after a collection
		t.Errorf("the flood keeps %d bytes", n)
	}
	if n := alloctest.In(5, tick); n != 0 || out.Len() != 0 {
		t.Errorf("%v allocations a tick, %d answers", n, out.Len())
	}
	s.SetSpare(0)
	tick()
}

// The budget takes any order of times, addresses and shares without a panic or an opening too many.
func FuzzBudget(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 250, 251, 252}, uint64(1))
	f.Add([]byte{0, 0, 0, 255, 255, 255, 128, 0, 77}, uint64(2))
	f.Fuzz(func(t *testing.T, steps []byte, seed uint64) {
		b := newBudget(100, 20, [2]uint64{seed, ^seed})
		rng := rand.NewChaCha8([32]byte{byte(seed)})
		now, taken := time.Duration(0), 0
		for i := 0; i+2 < len(steps); i += 3 {
			switch steps[i] % 4 {
			case 0:
				now += time.Duration(steps[i+1]) * time.Millisecond
			case 1:
				b.setSpare(float64(int8(steps[i+1])) / 100)
			case 2:
				b.markProven(now, addressKey(host(int(steps[i+2]))))
			default:
				for k := range int(steps[i+1]) {
					if b.admit(now, addressKey(host(int(steps[i+2])*k)), rng) == DropNone {
						taken++
					}
				}
			}
		}
		if most := 50 + 6000 + int(now.Seconds()*(100+1/openingTime.Seconds())); taken > most {
			t.Errorf("%d taken within %v, at most %d", taken, now, most)
		}
		if p := b.pressure(); p < 0 || p > 1 {
			t.Errorf("pressure %v", p)
		}
	})
}
