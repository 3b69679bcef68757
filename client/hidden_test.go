package client

import (
	"fmt"
	"testing"
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim/netstate"
)

// A player that becomes hidden is shown up to its last snapshot and not while hidden. When it is
// visible again it appears at its new position, never in between.
func TestHiddenAndSeenAgain(t *testing.T) {
	const others, period = 8, 90 // ticks; hidden in the second half
	hidden := func(at tick.Tick) bool { return at%period >= period/2 }
	l := newTestServer(t, testServerConfig{seed: 17, extras: others})
	mine := l.extras[3].Index() // comes and goes
	l.visible = func(at tick.Tick) []uint64 {
		see := []uint64{^uint64(0)}
		if hidden(at) {
			see[0] &^= 1 << mine
		}
		return see
	}
	s := l.addClient(l.config(), link{delay: 25 * time.Millisecond})
	var shown, nowhere, last, back int
	was := false
	s.afterFrame = func(now time.Duration, s *testClient) {
		v := s.client.View()
		if v.From < 2*period {
			return
		}
		got, ok := s.client.Pose(mine)
		want, _ := l.match.History().At(v, mine)
		at := fmt.Sprintf("%v, view %v", now, v)
		switch a, b := hidden(v.From), hidden(v.To); {
		case a && ok:
			t.Fatalf("%s: shown at %v, though it is hidden", at, got.Pos)
		case a:
			nowhere++
		case !ok:
			t.Fatalf("%s: not shown", at)
		case b:
			last++
			want, _ = l.match.History().Pose(v.From, mine)
			fallthrough
		default:
			shown++
			if got != want {
				t.Fatalf("%s: shown at %v, is at %v", at, got.Pos, want.Pos)
			}
			if !was {
				back++
			}
		}
		was = ok
	}
	l.run(12 * time.Second)
	if shown < 200 || nowhere < 200 || last < 5 || back < 5 {
		t.Errorf("shown %d times, hidden %d, at its last snapshot %d, back %d", shown, nowhere, last, back)
	}
}

// TestRow37DivergenceIsDetected flips one value of a decoded row, which is the baseline of later
// rows: the checksum detects it, no wrong row is shown, and a resync repairs it.
func TestRow37DivergenceIsDetected(t *testing.T) {
	for _, byRow := range []bool{false, true} {
		l := newTestServer(t, testServerConfig{seed: 37, extras: 9})
		l.checks = true
		if byRow {
			l.visible = func(tick.Tick) []uint64 { return []uint64{1<<20 - 1} }
		}
		s := l.addClient(l.config(), link{delay: 30 * time.Millisecond, loss: 0.05})
		l.run(2 * time.Second)
		if st := s.client.Stats(); st.Diverged != 0 || st.Resyncs != 0 {
			t.Fatalf("before anything was flipped: %+v", st)
		}
		slot := l.extras[4].Index()
		flipped := 0
		for back := range tick.Tick(96) { // all that may be the baseline of what comes next
			at := s.client.Newest() - back
			f := s.client.interp.Decoder.At(at)
			var row [netstate.PublicFields]int32
			if f != nil && f.HasRow(slot) && f.Row(slot, row[:]) != 0 {
				row[6] ^= 1
				f.Set(slot, f.ID(slot), row[:])
				flipped++
			}
		}
		newest := s.client.Newest()
		l.flipped = newest // later rows are right: see testServer.compare
		l.run(3 * time.Second)
		st := s.client.Stats()
		if flipped == 0 || st.Diverged == 0 || l.conns[0].checksumResyncs == 0 || st.Undecoded != 0 {
			t.Errorf("by row %v: %d flipped, %d detected, the server heard of %d: %+v",
				byRow, flipped, st.Diverged, l.conns[0].checksumResyncs, st)
		}
		if st.Resyncs > 2 {
			t.Errorf("by row %v: %d resyncs", byRow, st.Resyncs)
		}
		l.run(2 * time.Second)
		if after := s.client.Stats(); after.Diverged != st.Diverged ||
			after.Snapshots-st.Snapshots < 30 || s.client.Newest() <= newest {
			t.Errorf("by row %v: not well again: %+v", byRow, after)
		}
	}
}
