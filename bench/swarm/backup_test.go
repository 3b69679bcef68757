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
// each as often as it has a turn.
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

// A turn is given to one sender, and a slot has as many as it should.
func TestQueue(t *testing.T) {
	const hands, last, turns = 4, 300, 7
	var q queue
	var taken [hands][last + 1]int
	var begun [hands]int
	var wg sync.WaitGroup
	for h := range hands {
		wg.Go(func() {
			d := rng(h + 1)
			for slot := int64(1); slot <= last; slot += 1 + int64(d.next()%3)/2 {
				if q.begin(slot, turns) {
					begun[h]++
				}
				for range 2 + d.next()%3 {
					if q.turn(slot) {
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
		if sum > turns {
			t.Errorf("slot %d had %d turns, want %d at most", slot, sum, turns)
		}
	}
	if n := begun[0] + begun[1] + begun[2] + begun[3]; n > last || n < last/2 || all < last {
		t.Errorf("%d slots were begun, %d turns taken", n, all)
	}
	if q.begin(5, 1) || !q.begin(2*last, 2) || q.begin(2*last, 2) || q.turn(5) || !q.turn(2*last) ||
		!q.turn(2*last) || q.turn(2*last) || q.slot() != 2*last {
		t.Error("a slot that has begun begins again, or has more turns than it was given")
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
	s.turns.queue.begin(now-3, 2)
	r.playSlots(now)
	if s.turns.queue.slot() != now-3 || r.sent.Turns != 0 {
		t.Fatalf("%d turns through a closed latch", r.sent.Turns)
	}
	s.turns.latch.open.Store(true)
	s.driver.setBeat(s.driver.pacer.Now() + time.Hour)
	s.turns.queue.begin(now+100_000, 0) // the driver is ahead
	if r.playSlots(now); r.sent.Turns != 0 {
		t.Fatalf("%d turns of a driver that is not behind", r.sent.Turns)
	}
	s.turns.queue.at.Store((now-3)*maxTurns + 2)
	s.driver.setBeat(0)
	if !s.turns.tryLock(7) { // the driver has it
		t.Fatal("player 7 is still locked")
	}
	r.playSlots(now)
	turns := uint64(2 + 3*s.turnsPerSlot())
	if r.sent.Turns != turns || r.sent.ByBackup != turns || s.turns.queue.slot() != now ||
		r.sent.Sends == 0 || s.Figures.Late.Count() != int64(turns) {
		t.Errorf("%+v up to slot %d, want %d turns up to %d", r.sent, s.turns.queue.slot(), turns, now)
	}
	for i := range s.players {
		// Due clients that decode only acks, one after the other.
		if had, want := s.players[i].at != 0, i > 0 && i <= int(turns)+1 && i != 7; had != want {
			t.Errorf("player %d had a turn: %v", i, had)
		}
	}
	for late := range int64(3) { // of over a tick, nothing
		s.turns.queue.at.Store((now-slots-1-late)*maxTurns + 2)
		before := r.sent.Turns
		if r.playSlots(now); r.sent.Turns != before {
			t.Errorf("%d slots behind: %d turns", slots+1+late, r.sent.Turns-before)
		}
	}
}

// Two senders that play one slot at the same time give every due player one turn.
func TestTwoSendersPlayASlot(t *testing.T) {
	const players, rounds = 80, 2000
	s, _ := silentSwarm(t, players)
	s.cfg.Full = 0 // all players are blind
	one, two := newBackup(s), newBackup(s)
	on := func(int) bool { return true }
	slot := int64(s.driver.pacer.Now()/s.period()) + 2*slots
	for round := range rounds {
		for i := range s.turns.due {
			s.turns.due[i].Store(0)
			s.players[i].at = time.Duration(slot) * s.period()
		}
		slot++
		s.turns.queue.begin(slot, players+5)
		before := one.sent.Turns + two.sent.Turns
		now := time.Duration(slot)*s.period() + 1
		var wg sync.WaitGroup
		wg.Go(func() { one.sweep(slot, now, on) })
		two.sweep(slot, now, on)
		wg.Wait()
		if n := one.sent.Turns + two.sent.Turns - before; n != players {
			t.Fatalf("round %d: %d turns of %d players", round, n, players)
		}
	}
	if one.sent.Turns == 0 || two.sent.Turns == 0 {
		t.Log("they never met")
	}
	// A slot that is played late gives no turn to players that have become due since.
	slot++
	for i := range s.turns.due {
		// Just then, by a clock that is slow.
		due := time.Duration(slot+1+int64(i%2))*s.period() - s.cfg.Rate.Period()/clockError
		s.turns.due[i].Store(int64(due) + 1)
	}
	for late := range int64(2) {
		s.turns.queue.begin(slot+late, players)
		before := one.sent.Turns
		one.sweep(slot+late, time.Duration(slot+10)*s.period(), on)
		if one.sent.Turns != before+uint64(late)*players/2 {
			t.Errorf("%d turns in slot %d", one.sent.Turns-before, late)
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
		s.turns.lock(i)
		held++
		time.Sleep(30 * time.Millisecond)
		s.turns.unlock(i)
		// While the backup plays the same players.
		for until := s.driver.pacer.Now() + 2*time.Millisecond; s.driver.pacer.Now() < until; {
			for i := range players {
				s.receive(i, data)
			}
		}
	}
	for n := 0; s.Figures.ByBackup == 0; n++ {
		if n == 100 {
			t.Fatalf("stalled %d times, and the backup played no turn: %+v", held, s.Figures.Sent)
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
			if s.Figures.Turns < last || uint64(s.Figures.Late.Count()) != s.Figures.Turns {
				t.Errorf("%d turns after %d, %d latenesses", s.Figures.Turns, last, s.Figures.Late.Count())
			}
			last = s.Figures.Turns
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
	if held == 0 || f.ByBackup > f.Turns || uint64(f.Late.Count()) != f.Turns || f.Sends == 0 ||
		f.Late.Count() < f.Played.Count() {
		t.Errorf("held up %d times, %+v, %d latenesses", held, f.Sent, f.Late.Count())
	}
	if slices.ContainsFunc(s.players, func(b player) bool { return b.at == 0 }) {
		t.Error("a player never had a turn")
	}
}
