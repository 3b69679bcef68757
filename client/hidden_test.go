package client

import (
	"fmt"
	"testing"
	"time"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim/netstate"
)

// Who goes out of sight is shown up to the last snapshot that had it, nowhere while it is hidden, and when it comes back where it
// then is: at no time between there and where it went.
func TestHiddenAndSeenAgain(t *testing.T) {
	const others, period = 8, 90 // ticks; hidden in the second half
	hidden := func(at tick.Tick) bool { return at%period >= period/2 }
	l := newLab(t, labConfig{seed: 17, extras: others})
	mine := l.extras[3].Index() // comes and goes
	l.see = func(at tick.Tick) []uint64 {
		see := []uint64{^uint64(0)}
		if hidden(at) {
			see[0] &^= 1 << mine
		}
		return see
	}
	s := l.seat(l.config(), link{delay: 25 * time.Millisecond})
	var shown, nowhere, last, back int
	was := false
	s.each = func(now time.Duration, s *seat) {
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

// tell gives a client's decoder a snapshot of one player in slot 3, who is at x.
func tell(c *Client, at tick.Tick, x int32) rig.Pose {
	models := netstate.Trained()
	ring, e, k := snapshot.NewRing(netstate.Public, 16, 256, 1), snapshot.NewEncoder(models.Public, 16), snapshot.NewTracker(1, 3)
	frame, id := ring.Begin(at), netid.Make(3, 1)
	row := []int32{x, 0, 0, 0, 0, 1, 100, 0, 0, 0, 0, 0}
	frame.Set(3, id, row)
	e.Begin(frame, ring)
	k.Advance(at)
	var p snapshot.Packer
	p.BeginRows(e, k, []uint64{1 << 3})
	out, _, _ := p.Next(nil, 1000)
	if err := c.decoder.Section(at, out); err != nil {
		panic(err)
	}
	return netstate.PoseOf(id, row)
}

// Nobody glides across a gap that is longer than the window, though the word that it was hidden was lost; across a shorter one it
// does, and one that was never seen before appears where it is.
func TestNoGlideAcrossLongGaps(t *testing.T) {
	for i, c := range []struct {
		every    int
		from, to tick.Tick // snapshots that know of it; 0 none
		view     tick.View
		want     int // 1 at from, 2 at to, 3 between
	}{
		{1, 30, 36, tick.View{From: 30, To: 36, Frac: 128}, 3},
		{1, 30, 39, tick.View{From: 33, To: 36, Frac: 128}, 3},
		{1, 30, 54, tick.View{From: 48, To: 51, Frac: 1}, 3},
		{1, 30, 57, tick.View{From: 51, To: 54, Frac: 1}, 1},
		{1, 30, 120, tick.View{From: 117, To: 120, Frac: 200}, 1},
		{1, 30, 120, tick.View{From: 120, To: 120}, 2},
		{1, 30, 120, tick.View{From: 120, To: 123, Frac: 100}, 2},
		{2, 30, 57, tick.View{From: 51, To: 54, Frac: 1}, 3},
		{1, 0, 60, tick.View{From: 51, To: 54, Frac: 1}, 2},
		{1, 0, 60, tick.View{From: 60, To: 63, Frac: 1}, 2},
		{1, 30, 0, tick.View{From: 60, To: 63, Frac: 1}, 1},
		{1, 30, 330, tick.View{From: 324, To: 327, Frac: 1}, 2}, // the old one has left the window
	} {
		cl := Client{decoder: snapshot.NewDecoder(netstate.Trained().Public, 16, 3), view: c.view}
		cl.welcome.SendInterval, cl.cfg.Every = 3, c.every
		var ends [2]rig.Pose
		for n, at := range [2]tick.Tick{c.from, c.to} {
			if at != 0 {
				ends[n] = tell(&cl, at, int32(1280*n))
			}
		}
		got, ok := cl.Pose(3)
		switch {
		case !ok:
			t.Errorf("%d: not shown", i)
		case c.want == 3:
			if got.Pos.X <= 0 || got.Pos.X >= 10 {
				t.Errorf("%d: at %v, not between", i, got.Pos)
			}
		case c.want != 3 && got != ends[c.want-1]:
			t.Errorf("%d: at %v, want %v", i, got.Pos, ends[c.want-1].Pos)
		}
	}
}

// TestRow37DivergenceIsDetected flips one value of what a client has decoded, a baseline of what comes next: the checksum
// tells, nothing wrong is shown from then on, and after a resync all is as before.
func TestRow37DivergenceIsDetected(t *testing.T) {
	for _, byRow := range []bool{false, true} {
		l := newLab(t, labConfig{seed: 37, extras: 9})
		l.checks = true
		if byRow {
			l.see = func(tick.Tick) []uint64 { return []uint64{1<<20 - 1} }
		}
		s := l.seat(l.config(), link{delay: 30 * time.Millisecond, loss: 0.05})
		l.run(2 * time.Second)
		if st := s.client.Stats(); st.Diverged != 0 || st.Resyncs != 0 {
			t.Fatalf("before anything was flipped: %+v", st)
		}
		slot := l.extras[4].Index()
		flipped := 0
		for _, at := range s.client.held.ticks[:s.client.held.n] { // all that may be the baseline of what comes next
			f := s.client.decoder.At(at)
			var row [netstate.PublicFields]int32
			if f != nil && f.HasRow(slot) && f.Row(slot, row[:]) != 0 {
				row[6] ^= 1
				f.Set(slot, f.ID(slot), row[:])
				flipped++
			}
		}
		newest := s.client.Newest()
		l.flipped = newest // and nothing wrong is shown of what comes later: see lab.compare
		l.run(3 * time.Second)
		st := s.client.Stats()
		if flipped == 0 || st.Diverged == 0 || l.guests[0].strayed == 0 || st.Undecoded != 0 {
			t.Errorf("by row %v: %d flipped, %d detected, the server heard of %d: %+v", byRow, flipped, st.Diverged, l.guests[0].strayed, st)
		}
		if st.Resyncs > 2 {
			t.Errorf("by row %v: %d resyncs", byRow, st.Resyncs)
		}
		l.run(2 * time.Second)
		if after := s.client.Stats(); after.Diverged != st.Diverged || after.Snapshots-st.Snapshots < 30 || s.client.Newest() <= newest {
			t.Errorf("by row %v: not well again: %+v", byRow, after)
		}
	}
}
