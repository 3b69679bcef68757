package swarm

import (
	"context"
	"crypto/rand"
	"net"
	"net/netip"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/netio/netcode"
)

// silentSwarm is a swarm of blind players and a server that never answers: they ask to connect,
// each as often as it has a pass.
func silentSwarm(t *testing.T, players int) (s *Swarm, at *net.UDPConn) {
	at, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:0")))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { at.Close() })
	to := at.LocalAddr().(*net.UDPAddr).AddrPort()
	mint := netcode.Mint{ProtocolID: 1, Create: 1, Expire: 1 << 60, TimeoutSeconds: 60,
		Servers: []netip.AddrPort{to}}
	s, err = Open(Config{Server: to, Players: players, Full: 1, Decode: client.DecodeAcks,
		Token: func(n int) ([]byte, error) {
			mint.ClientID = uint64(n + 1)
			return mint.Append(nil, &netcode.Key{1}, rand.Reader)
		}})
	if err != nil {
		t.Fatal(err)
	}
	// The thread, which a run changes, ends with the test's goroutine.
	t.Cleanup(func() { s.Close() })
	return s, at
}

// A pass is given to one sender, and a slot has as many as it should.
func TestQueue(t *testing.T) {
	const hands, last, passes = 4, 300, 7
	var q queue
	var taken [hands][last + 1]int
	var begun [hands]int
	var wg sync.WaitGroup
	for h := range hands {
		wg.Go(func() {
			d := rng(h + 1)
			for slot := int64(1); slot <= last; slot += 1 + int64(d.next()%3)/2 {
				if q.begin(slot, passes) {
					begun[h]++
				}
				for range 2 + d.next()%3 {
					if q.take(slot) {
						taken[h][slot]++
					}
				}
			}
		})
	}
	wg.Wait()
	all := 0
	for slot := range last + 1 {
		sum := 0
		for h := range hands {
			sum += taken[h][slot]
		}
		all += sum
		if sum > passes {
			t.Errorf("slot %d had %d passes, want %d at most", slot, sum, passes)
		}
	}
	if n := begun[0] + begun[1] + begun[2] + begun[3]; n > last || n < last/2 || all < last {
		t.Errorf("%d slots were begun, %d passes taken", n, all)
	}
	if q.begin(5, 1) || !q.begin(2*last, 2) || q.begin(2*last, 2) || q.take(5) || !q.take(2*last) ||
		!q.take(2*last) || q.take(2*last) || q.slot() != 2*last {
		t.Error("a slot that has begun begins again, or has more passes than it was given")
	}
}

// While the latch is closed, no goroutine is inside.
func TestLatch(t *testing.T) {
	var g latch
	if g.enter() {
		t.Fatal("entered a closed latch")
	}
	shared, in := 0, 0 // the race detector reports unsynchronized access
	var wg sync.WaitGroup
	done := make(chan struct{})
	wg.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				if g.enter() {
					shared++
					in++
					g.leave()
				}
				runtime.Gosched()
			}
		}
	})
	mine := 0
	for range 2000 {
		g.open.Store(true)
		runtime.Gosched()
		g.close()
		if g.in.Load() {
			// It may be about to enter, and turns back.
			runtime.Gosched()
		}
		shared++
		mine++
	}
	close(done)
	wg.Wait()
	if shared != mine+in {
		t.Errorf("%d, want %d and %d", shared, mine, in)
	}
}

// A backup plays the slots that a driver has not begun, each player once, and leaves alone the
// slots that the driver has played.
func TestBackupHelps(t *testing.T) {
	const players = 80
	s, _ := silentSwarm(t, players)
	r := newBackup(s)
	now := int64(s.driver.pacer.Now()/s.period()) + 2*slots
	s.driver.pacer.Sleep(time.Duration(now)*s.period() + s.period()/2)
	s.passes.queue.begin(now-3, 2)
	r.playSlots(now)
	if s.passes.queue.slot() != now-3 || r.sent.Passes != 0 {
		t.Fatalf("%d passes through a closed latch", r.sent.Passes)
	}
	s.passes.latch.open.Store(true)
	s.driver.setBeat(s.driver.pacer.Now() + time.Hour)
	s.passes.queue.begin(now+100_000, 0) // the driver is ahead
	if r.playSlots(now); r.sent.Passes != 0 {
		t.Fatalf("%d passes of a driver that is not behind", r.sent.Passes)
	}
	s.passes.queue.at.Store((now-3)*maxPasses + 2)
	s.driver.setBeat(0)
	if !s.passes.tryLock(7) { // the driver has it
		t.Fatal("player 7 is still locked")
	}
	r.playSlots(now)
	passes := uint64(2 + 3*s.passesPerSlot())
	if r.sent.Passes != passes || r.sent.ByBackup != passes || s.passes.queue.slot() != now ||
		r.sent.Sends == 0 || s.Figures.Late.Count() != int64(passes) {
		t.Errorf("%+v up to slot %d, want %d passes up to %d", r.sent, s.passes.queue.slot(), passes, now)
	}
	for i := range s.players {
		// Due clients that decode only acks, one after the other.
		if had, want := s.players[i].at != 0, i > 0 && i <= int(passes)+1 && i != 7; had != want {
			t.Errorf("player %d had a pass: %v", i, had)
		}
	}
	for late := range int64(3) { // of over a tick, nothing
		s.passes.queue.at.Store((now-slots-1-late)*maxPasses + 2)
		before := r.sent.Passes
		if r.playSlots(now); r.sent.Passes != before {
			t.Errorf("%d slots behind: %d passes", slots+1+late, r.sent.Passes-before)
		}
	}
}

// Two senders that play one slot at the same time give every due player one pass.
func TestTwoSendersPlayASlot(t *testing.T) {
	const players, rounds = 80, 2000
	s, _ := silentSwarm(t, players)
	s.cfg.Full = 0 // all players are blind
	one, two := newBackup(s), newBackup(s)
	on := func(int) bool { return true }
	slot := int64(s.driver.pacer.Now()/s.period()) + 2*slots
	for round := range rounds {
		for i := range s.passes.due {
			s.passes.due[i].Store(0)
			s.players[i].at = time.Duration(slot) * s.period()
		}
		slot++
		s.passes.queue.begin(slot, players+5)
		before := one.sent.Passes + two.sent.Passes
		now := time.Duration(slot)*s.period() + 1
		var wg sync.WaitGroup
		wg.Go(func() { one.sweep(slot, now, on) })
		two.sweep(slot, now, on)
		wg.Wait()
		if n := one.sent.Passes + two.sent.Passes - before; n != players {
			t.Fatalf("round %d: %d passes of %d players", round, n, players)
		}
	}
	if one.sent.Passes == 0 || two.sent.Passes == 0 {
		t.Log("they never met")
	}
	// A slot that is played late gives no pass to players that have become due since.
	slot++
	for i := range s.passes.due {
		// Just then, by a clock that is slow.
		due := time.Duration(slot+1+int64(i%2))*s.period() - s.cfg.Rate.Period()/clockError
		s.passes.due[i].Store(int64(due) + 1)
	}
	for late := range int64(2) {
		s.passes.queue.begin(slot+late, players)
		before := one.sent.Passes
		one.sweep(slot+late, time.Duration(slot+10)*s.period(), on)
		if one.sent.Passes != before+uint64(late)*players/2 {
			t.Errorf("%d passes in slot %d", one.sent.Passes-before, late)
		}
	}
}

// A driver that is held up with one player's datagram does not hold up the others.
func TestStalledDriverIsHelped(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(4, runtime.GOMAXPROCS(0))))
	const players = 60
	s, at := silentSwarm(t, players)
	if len(clock.CPUs()) < 2 {
		t.Skip("the backup sender needs a second processor")
	}
	held := 0
	s.sockets.handlers[0] = func(i int, data []byte) {
		s.passes.lock(i)
		held++
		time.Sleep(30 * time.Millisecond)
		s.passes.unlock(i)
		// While the backup plays the same players.
		for until := s.driver.pacer.Now() + 2*time.Millisecond; s.driver.pacer.Now() < until; {
			for i := range players {
				s.receive(i, netip.AddrPort{}, data)
			}
		}
	}
	for n := 0; s.Figures.ByBackup == 0; n++ {
		if n == 100 {
			t.Fatalf("stalled %d times, and the backup played no pass: %+v", held, s.Figures.Sent)
		}
		for range 3 {
			if _, err := at.WriteToUDPAddrPort([]byte("again"), s.sockets.pools[0].LocalAddr(5)); err != nil {
				t.Fatal(err)
			}
		}
		s.Figures.reset()
		last := uint64(0)
		until := func() bool { // the race detector sees whether anybody is at a player meanwhile
			for i := range s.players {
				s.players[i].at = max(s.players[i].at, 1)
			}
			if s.Figures.Passes < last || uint64(s.Figures.Late.Count()) != s.Figures.Passes {
				t.Errorf("%d passes after %d, %d latenesses", s.Figures.Passes, last, s.Figures.Late.Count())
			}
			last = s.Figures.Passes
			return false
		}
		if err := s.Run(context.Background(), 120*time.Millisecond, until); err != nil {
			t.Fatal(err)
		}
	}
	// Kept to one processor by now.
	if err := s.Run(context.Background(), 20*time.Millisecond, nil); err != nil {
		t.Fatal(err)
	}
	f := &s.Figures
	if f.RunDelay.Stolen < 0 {
		t.Errorf("a hypervisor gave back %v", -f.RunDelay.Stolen)
	}
	if held == 0 || f.ByBackup > f.Passes || uint64(f.Late.Count()) != f.Passes || f.Sends == 0 ||
		f.Late.Count() < f.Played.Count() {
		t.Errorf("held up %d times, %+v, %d latenesses", held, f.Sent, f.Late.Count())
	}
	if slices.ContainsFunc(s.players, func(b player) bool { return b.at == 0 }) {
		t.Error("a player never had a pass")
	}
}
