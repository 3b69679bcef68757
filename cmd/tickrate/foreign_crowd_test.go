//go:build linux && !portable

package main

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/server/host"
)

// foreignCrowd is many foreign clients in one goroutine, behind a link that loses datagrams.
type foreignCrowd struct {
	pool    *netio.ClientPool
	clients []*foreignClient
	loss    float64 // of each direction
	rng     *rand.Rand
	began   time.Time
	in      []time.Duration // when each client was connected, ascending
	payload int             // payloads that came back
}

// foreignSocket is the socket of one client of a crowd.
type foreignSocket struct {
	*foreignCrowd
	client int
}

func (s foreignSocket) Write(d []byte) (int, error) {
	if s.rng.Float64() < s.loss {
		return len(d), nil
	}
	return len(d), s.pool.Send(s.client, d)
}

// newForeignCrowd makes clients that connect to the server at an address with tokens of backend,
// with client IDs from first on.
func newForeignCrowd(t testing.TB, backend foreignBackend, first, clients int, loss float64) *foreignCrowd {
	t.Helper()
	pool, err := netio.OpenClientPool(backend.servers[0], clients)
	if err != nil {
		t.Skip(err) // too few descriptors
	}
	t.Cleanup(func() { pool.Close() })
	w := &foreignCrowd{pool: pool, loss: loss, rng: rand.New(rand.NewPCG(1, uint64(first)))}
	for i := range clients {
		backend.client = uint64(first + i)
		c, _, err := readForeignToken(backend.token())
		if err != nil {
			t.Fatal(err)
		}
		c.out = foreignSocket{w, i}
		w.clients = append(w.clients, c)
	}
	w.began = time.Now()
	return w
}

// step receives what has arrived and sends what is due.
func (w *foreignCrowd) step() {
	w.pool.Poll(4*len(w.clients), func(i int, d []byte) {
		c := w.clients[i]
		if w.rng.Float64() < w.loss {
			return
		}
		was := c.connected
		if c.receive(slices.Clone(d)) != nil {
			w.payload++
		}
		if !was && c.connected {
			w.in = append(w.in, time.Since(w.began))
		}
	})
	for _, c := range w.clients {
		c.due()
	}
}

// connect has all clients connect. It returns how long it took without the stalls of the machine.
func (w *foreignCrowd) connect(t testing.TB) time.Duration {
	t.Helper()
	for i, c := range w.clients { // as clients come, and not all at one instant
		c.heard, c.sent = time.Now(), time.Now().Add(-time.Duration(i%100)*time.Millisecond)
	}
	watch := startWatch()
	w.began = time.Now()
	for len(w.in) < len(w.clients) {
		if time.Since(w.began) > waitLimit {
			t.Fatalf("%d of %d clients are in after %v", len(w.in), len(w.clients), waitLimit)
		}
		w.step()
		time.Sleep(time.Millisecond)
	}
	return watch.took()
}

// crowdServer starts serve on a processor of its own if there are two. The test gets the
// others.
func crowdServer(t testing.TB, args ...string) (ready, foreignBackend) {
	t.Helper()
	r := serverApart(t, keyless(t, nil, append(serveArgs("--private-key-hex", secretKey,
		"--protocol-id", "7", "--token-lifetime", "60s"), args...)...))
	key, err := hex.DecodeString(secretKey)
	if err != nil {
		t.Fatal(err)
	}
	at := []netip.AddrPort{netip.MustParseAddrPort(r.UDP)}
	return r, foreignBackend{key: key, protocol: 7, life: 60, timeout: 10, servers: at, private: at}
}

// Four thousand clients of another implementation connect to eight lobbies of one process within
// five seconds, through a link that loses 30 % each way.
func TestForeignCrowdThroughLoss(t *testing.T) {
	if testing.Short() {
		t.Skip("a process and seconds of real sockets")
	}
	const clients, lobbies = 4000, 8
	r, backend := crowdServer(t, "--echo", "--players", fmt.Sprint(clients/lobbies),
		"--lobbies", fmt.Sprint(lobbies))
	w := newForeignCrowd(t, backend, 1, clients, 0.3)
	took := w.connect(t)
	var s host.EchoReport
	statsOf(t, r, &s)
	t.Logf("%d clients in after %v, of them %v without stalls: half %v, 99 %% %v; %d datagrams dropped "+
		"by the kernel", clients, w.in[clients-1], took, w.in[clients/2], w.in[clients*99/100],
		s.Socket.KernelDrops)
	if took > 5*time.Second {
		t.Errorf("the last of %d clients was in after %v: %v", clients, took, s.Drops)
	}
	for lobby, n := range s.Lobbies {
		if n != clients/lobbies || s.NoRoom != 0 {
			t.Errorf("%d clients in lobby %d, %d had no room", n, lobby, s.NoRoom)
		}
	}
}

// A hundred clients of another implementation are in within two seconds beside 120,000 well-formed
// requests a second from their own network, as many as this machine sends: from eight sockets, and
// from thousands that ask as seldom as clients, at an echo and at a lobby. Clients that are in an
// echo lose nothing. An attempt that fails while the machine kept the server from running is void
// and made again; time that the server waited and drops of the kernel excuse no more than themselves.
// TestThreat07FloodFromClientsNetwork plays the flood in virtual time, where no attempt is void.
func TestThreat07ForeignCrowdBesideFlood(t *testing.T) {
	if testing.Short() {
		t.Skip("a process and seconds of real sockets")
	}
	const attempts = 3
	for i, sockets := range []int{8, 12_000, 8, 12_000} {
		kind := []string{"--echo", "--rate=60"}[i/2]
		t.Run(fmt.Sprint(kind, " ", sockets, " sockets"), func(t *testing.T) {
			void := true
			for n := 1; n <= attempts && void; n++ {
				void = false
				t.Run(fmt.Sprint("attempt ", n), func(t *testing.T) {
					r := connectBesideFlood(t, kind, sockets)
					if void = r.slow(0, 0) && r.waited > r.wall/50 && !r.slow(r.waited, r.dropped); void {
						t.Logf("void: the server waited %v for a processor", r.waited)
					} else if r.slow(0, 0) {
						t.Errorf("the slowest client was in after %v, players lost %d of %d payloads: %v",
							r.took, r.lost, r.sent, r.drops)
					}
				})
			}
			if void {
				t.Skipf("void in all of %d attempts: the machine kept the server from running", attempts)
			}
		})
	}
}

// floodResult is what a crowd and the players saw beside a flood.
type floodResult struct {
	took         time.Duration // until the last of the crowd was in
	waited, wall time.Duration // of the server for a processor; of the attempt
	sent, lost   int           // payloads of players
	dropped      int           // datagrams that the kernel dropped at the server
	drops        map[string]uint64
}

// slow reports whether the crowd took over two seconds or players lost over one payload in a
// thousand, apart from what is excused.
func (r *floodResult) slow(waited time.Duration, dropped int) bool {
	return r.took > 2*time.Second+waited || 1000*(r.lost-dropped) > r.sent
}

// connectBesideFlood has a hundred clients connect to a server under a flood from as many sockets,
// while ten players play.
func connectBesideFlood(t *testing.T, kind string, sockets int) (res floodResult) {
	const clients, players, perSecond = 100, 10, 120_000
	r, backend := crowdServer(t, kind, "--players", fmt.Sprint(clients+players))
	in := newForeignCrowd(t, backend, 1, players, 0)
	in.connect(t)
	stop := floodRequests(t, backend.token(), sockets, perSecond)
	var before, after host.EchoReport
	statsOf(t, r, &before)
	began := time.Now()
	res.waited = waits(r.PID)
	over, done := make(chan bool), make(chan bool)
	go func() { // players go on; each has a turn every ten milliseconds
		defer close(done)
		for {
			select {
			case <-over:
				return
			case <-time.After(10 * time.Millisecond):
			}
			for _, c := range in.clients {
				c.send(foreignPayload, make([]byte, 100))
				res.sent++
			}
			in.step()
		}
	}()
	time.Sleep(2 * time.Second) // the flood comes first
	w := newForeignCrowd(t, backend, 1000, clients, 0)
	res.took = w.connect(t)
	flood := stop()
	res.wall, res.waited = time.Since(began), waits(r.PID)-res.waited
	close(over)
	<-done
	for end := time.Now().Add(time.Second); in.payload < res.sent && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
		in.step()
		if kind != "--echo" { // a lobby sends other payloads back
			break
		}
	}
	statsOf(t, r, &after)
	if kind == "--echo" {
		res.lost = res.sent - in.payload
	}
	res.drops = after.Drops
	res.dropped = int(after.Socket.KernelDrops - before.Socket.KernelDrops)
	cpu := (after.CPU - before.CPU) / (after.Elapsed - before.Elapsed)
	t.Logf("%.0f requests/s, %d tokens opened: the slowest of %d in after %v (half %v), %d of %d payloads "+
		"back, %.0f %% of a core, %d dropped by the kernel, waited %v for a processor",
		float64(flood)/res.wall.Seconds(), after.Drops["drop_req_token"], clients, res.took, w.in[clients/2],
		in.payload, res.sent, 100*cpu, res.dropped, res.waited)
	return res
}

// floodRequests sends requests with forgeries of a token from as many sockets of 127.0.0.1 until it
// is stopped; stop returns their number.
func floodRequests(t testing.TB, token []byte, sockets, perSecond int) (stop func() int) {
	t.Helper()
	c, at, err := readForeignToken(token)
	if err != nil {
		t.Fatal(err)
	}
	pool, err := netio.OpenClientPool(at, sockets)
	if err != nil {
		t.Skip(err)
	}
	request := slices.Clone(c.request)
	var over atomic.Bool
	done := make(chan int)
	go func() {
		defer pool.Close()
		sent, start, forgiven := 0, time.Now(), time.Duration(0)
		for !over.Load() {
			now := time.Since(start) - forgiven
			late := now - time.Duration(sent)*time.Second/time.Duration(perSecond)
			if most := 20 * time.Millisecond; late > most {
				forgiven += late - most
				late = most
			}
			for range int(late * time.Duration(perSecond) / time.Second) {
				binary.LittleEndian.PutUint64(request[100:], uint64(sent))
				_ = pool.Send(sent%sockets, request)
				sent++
			}
			time.Sleep(time.Millisecond)
		}
		done <- sent
	}()
	return func() int { over.Store(true); return <-done }
}
