package lagcomp

import (
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp/rig"
)

// fight is 1000 players on 200 x 200 m for a second at 128 Hz, and 64 of them that each fire at
// another player in one tick. The rival must give the hits of the oracle, as the history does.
func fight(tb testing.TB) (h *History, rival *plainRewind, same, distinct []Sweep) {
	const players, shots = 1000, 64
	c := newCrowd(1, players, 100)
	h, rival = NewHistory(players, 128), newPlainRewind(128)
	slow := newSlowHistory(128)
	for now := tick.Tick(1); now <= 200; now++ {
		poses := c.step(1.0 / 128)
		h.Record(now, poses)
		slow.Record(now, poses)
		rival.Record(now, poses)
	}
	for i := range shots {
		same = append(same, h.fire(i, tick.View{From: 170, To: 176, Frac: 100}))
		from := 150 + tick.Tick(i%40)
		distinct = append(distinct, h.fire(i, tick.View{From: from, To: from + 6, Frac: uint8(i*4 + 1)}))
	}
	got, want := make([]Hit, shots), make([]Hit, shots)
	hits := 0
	for _, shots := range [][]Sweep{same, distinct} {
		NewSweeper(h).Cast(shots, got)
		slow.Cast(shots, want)
		if i := rival.equalTo(shots, want); i >= 0 {
			tb.Fatalf("shot %d: the rival's hit is not %+v", i, want[i])
		}
		for i := range shots {
			if got[i] != want[i] {
				tb.Fatalf("shot %d: %+v, want %+v", i, got[i], want[i])
			}
			if got[i].ID != 0 {
				hits++
			}
		}
	}
	if hits < 120 {
		tb.Fatalf("only %d of 128 shots hit", hits)
	}
	return h, rival, same, distinct
}

// fire is a shot of one of 1000 players at the body of another, as its view shows them.
func (h *History) fire(i int, v tick.View) Sweep {
	shooter, _ := h.At(v, i*15%1000)
	s := Sweep{Except: shooter.ID, View: v}
	s.Ray.Origin, s.Ray.Max = shooter.Pos.Add(geom.Vec3{Y: 1.65}), 500
	slot := i*13 + 7
	target, _ := h.At(v, slot%1000)
	for ; !target.Alive() || target.ID == s.Except || geom.Abs(target.Pos.X) > 1000; slot++ {
		target, _ = h.At(v, slot%1000)
	}
	s.Ray.Dir = target.Pos.Add(geom.Vec3{Y: 1}).Sub(s.Ray.Origin).Normalize()
	return s
}

// spread is a thousand shots of one tick, each at an instant of its own, in 110 pairs of ticks.
func (h *History) spread() (thousand []Sweep) {
	for i := range 1000 {
		from := 75 + tick.Tick(i%110)
		thousand = append(thousand, h.fire(i, tick.View{From: from, To: from + 6,
			Frac: uint8(i/110*28 + i%110)}))
	}
	return thousand
}

// BenchmarkCast casts the shots of one tick among 1000 players through a Sweeper, as the match
// does: all at one view, at views within four pairs of ticks (a lobby) or within forty (the worst
// case). Its rival walks all players with a ball test first.
func BenchmarkCast(b *testing.B) {
	h, rival, same, distinct := fight(b)
	s, hits := NewSweeper(h), make([]Hit, 1000)
	thousand := h.spread()
	lobby := append([]Sweep(nil), same...)
	for i := range lobby {
		lobby[i].View = tick.View{From: 164 + tick.Tick(i%4)*6, To: 170 + tick.Tick(i%4)*6,
			Frac: uint8(i*4 + 1)}
	}
	for _, c := range []struct {
		name  string
		shots []Sweep
	}{
		{"same-view", same},
		{"distinct-views-4-pairs", lobby},
		{"distinct-views-40-pairs", distinct},
		{"thousand-shots-110-pairs", thousand},
		{"one-shot", same[:1]},
	} {
		b.Run(c.name+"/sweeper", func(b *testing.B) {
			loop(b, len(c.shots), "shot", func() { s.Cast(c.shots, hits) })
		})
		b.Run(c.name+"/plain", func(b *testing.B) {
			loop(b, len(c.shots), "shot", func() { rival.Cast(c.shots, hits) })
		})
	}
}

// BenchmarkRecord stores 1000 poses, beside a plain copy of them, which is what memory allows.
func BenchmarkRecord(b *testing.B) {
	c := newCrowd(1, 1000, 100)
	b.Run("columns", func(b *testing.B) {
		h := NewHistory(1000, 128)
		loop(b, 1000, "player", func() { h.Record(h.Newest()+1, c.poses) })
	})
	b.Run("copy", func(b *testing.B) {
		ring := make([][]rig.Pose, 129)
		for i := range ring {
			ring[i] = make([]rig.Pose, 1000)
		}
		at := 0
		loop(b, 1000, "player", func() {
			copy(ring[at], c.poses)
			at = (at + 1) % len(ring)
		})
	})
}

// BenchmarkMoves measures 1000 rows between two ticks, which each tick costs once.
func BenchmarkMoves(b *testing.B) {
	h, _, _, _ := fight(b)
	from, to := h.viewFrames(tick.View{From: 170, To: 171})
	var m displacement
	loop(b, 1000, "player", func() { m.measure(from, to, &stepLimits, make([]int32, 0, 1000)) })
}

func BenchmarkTest(b *testing.B) {
	_, _, same, _ := fight(b)
	p := rig.Pose{Pos: geom.Vec3{X: 20, Z: 20}}
	r := same[0].Ray
	r.Dir = p.Pos.Add(geom.Vec3{Y: 1}).Sub(r.Origin).Normalize()
	loop(b, 1, "test", func() { Test(rig.HeroBodies, r, 0, &p) })
}

// loop runs f for the benchmark's iterations and reports its processor time as ns/op and as ns per
// thing, in the unit given.
func loop(b *testing.B, things int, unit string, f func()) {
	b.ReportAllocs()
	from := cpuNanos(b)
	for b.Loop() {
		f()
	}
	each := float64(cpuNanos(b)-from) / float64(b.N)
	b.ReportMetric(each, "ns/op")
	b.ReportMetric(each/float64(things), "ns/"+unit)
}
