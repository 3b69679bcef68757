package lagcomp

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/alloctest"
	"github.com/tickrate/tickrate/lagcomp/rig"
)

func TestReceiptsAreARing(t *testing.T) {
	r := NewShotLog(8)
	var held []ShotRecord
	for n := uint64(1); n <= 30; n++ {
		if next := r.Next(); next.Number != n || *next != (ShotRecord{Number: n}) {
			t.Fatalf("shot %d: %+v", n, next)
		} else {
			next.Tick, next.Present.ID = tick.Tick(n), 9
		}
		for _, c := range []struct {
			since uint64
			most  int
		}{{0, 0}, {0, 3}, {n - 1, 0}, {n - min(n, 5), 0}, {n - min(n, 5), 2}, {n, 0}, {n + 9, 4},
			{math.MaxUint64, 1}} {
			held = r.Since(c.since, c.most, held[:0])
			want := n - min(n, c.since)
			want = min(want, 8, n)
			if c.most > 0 {
				want = min(want, uint64(c.most))
			}
			if uint64(len(held)) != want {
				t.Fatalf("of %d shots %d since %d, at most %d; want %d", n, len(held), c.since, c.most, want)
			}
			for i := range held {
				if number := n - want + uint64(i) + 1; held[i].Number != number ||
					held[i].Tick != tick.Tick(number) {
					t.Fatalf("of %d shots: %d stands where %d should", n, held[i].Number, number)
				}
			}
		}
	}
	if n := alloctest.In(100, func() { r.Next() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// A receipt is the same after JSON, and the names of verdicts and clamps are read as they are
// written.
func TestReceiptsAsJSON(t *testing.T) {
	for i := range max(verdicts, Verdict(clampReasons)) {
		r := ShotRecord{Number: 1 << 40, Tick: 7, Verdict: i % verdicts,
			ClampReason: ClampReason(i) % clampReasons, Claimed: tick.View{From: 1, To: 4, Frac: 255},
			Shift: -77,
			Ray:   geom.Ray{Origin: geom.Vec3{X: 0.1}, Dir: geom.Vec3{Z: 1}, Max: 500}, Miss: 1. / 3,
			Bone: rig.Head, Poses: PoseSeen, Rewound: rig.Pose{Hips: -5, Yaw: 65535}}
		text, err := json.Marshal(&r)
		if err != nil {
			t.Fatal(err)
		}
		var back ShotRecord
		if err := json.Unmarshal(text, &back); err != nil || back != r {
			t.Fatalf("%v: %s is read as %+v", err, text, back)
		}
	}
	if err := json.Unmarshal([]byte(`{"verdict":"grazed"}`), new(ShotRecord)); err == nil {
		t.Error("a verdict that there is not")
	}
}

func TestFilter(t *testing.T) {
	r := ShotRecord{Number: 5, Tick: 100, Shooter: 3, Subject: 4, Verdict: HitWall, ClampReason: ClampRTT}
	filter := func(verdict, clamp string) (f ShotFilter) {
		if verdict != "" && f.AddVerdict(verdict) != nil || clamp != "" && f.AddClamp(clamp) != nil {
			t.Fatalf("%q, %q", verdict, clamp)
		}
		return f
	}
	for i, c := range []struct {
		f    ShotFilter
		want bool
	}{
		{ShotFilter{}, true}, {ShotFilter{Shooter: 3}, true}, {ShotFilter{Shooter: 4}, false},
		{ShotFilter{Subject: 4}, true}, {ShotFilter{Subject: 3}, false},
		{filter("wall", ""), true}, {filter("hit", ""), false}, {filter("", "rtt"), true},
		{filter("", "any"), true}, {filter("", "none"), false},
		{ShotFilter{From: 100, To: 100}, true}, {ShotFilter{From: 101}, false}, {ShotFilter{To: 99}, false},
		{ShotFilter{Number: 5}, true}, {ShotFilter{Number: 6}, false},
	} {
		if c.f.Matches(&r) != c.want {
			t.Errorf("%d: %+v", i, c.f)
		}
	}
	if any := filter("", "any"); any.Matches(&ShotRecord{}) {
		t.Error("any clamp wants none")
	}
	if new(ShotFilter).AddVerdict("x") == nil || new(ShotFilter).AddClamp("x") == nil {
		t.Error("names that there are not")
	}
}

// Each limit is named where it is the one that moved the view, and never where nothing was moved.
func TestWhyClamped(t *testing.T) {
	know := ClampLimits{Rate: 60, RTTTicks: 6, InterpTicks: 6, SlackTicks: 2, CapTicks: 24, NewestAcked: 90,
		Newest: 97, Oldest: 40}
	with := func(edit func(*ClampLimits)) ClampLimits { k := know; edit(&k); return k }
	at := func(from tick.Tick) tick.View { return tick.View{From: from, To: from + 3, Frac: 128} }
	for i, c := range []struct {
		v    tick.View
		know ClampLimits
		want ClampReason
	}{
		{at(90), know, ClampNone},
		{at(70), know, ClampRTT},
		{at(70), with(func(k *ClampLimits) { k.RTTTicks = 30 }), ClampAcks},
		{at(70), with(func(k *ClampLimits) { k.RTTTicks, k.NewestAcked = 30, 0 }), ClampCap},
		{at(70), with(func(k *ClampLimits) {
			k.RTTTicks, k.NewestAcked, k.CapTicks, k.Oldest = 99, 0, 99,
				80
		}), ClampHistory},
		{at(88), with(func(k *ClampLimits) { k.LastInstant = 92 << 8 }), ClampBackwards},
		{at(98), know, ClampAhead},
		{tick.View{From: 60, To: 120, Frac: 140}, know, ClampSpan},
		{tick.View{From: 9, To: 3}, know, ClampNoView},
		{at(90), ClampLimits{}, ClampNothingSent},
	} {
		used, moved := ClampView(c.v, 100, c.know)
		if got := ClampReasonOf(c.v, used, 100, c.know); got != c.want || moved != (got != ClampNone) {
			t.Errorf("%d: %+v is judged at %+v: %v, want %v", i, c.v, used, got, c.want)
		}
	}
}

// A shot record of a miss agrees with a brute-force search, and recorded hits are those of Cast.
func TestNotesAgainstEverybody(t *testing.T) {
	c, h, slow := newCrowd(5, 120, 30), NewHistory(120, 128), newSlowHistory(128)
	for now := tick.Tick(1); now <= 200; now++ {
		poses := c.step(1.0 / 60)
		h.Record(now, poses)
		slow.Record(now, poses)
	}
	s := NewSweeper(h)
	sweeps, hits, notes := make([]Sweep, 3000), make([]Hit, 3000), make([]CastStats, 3000)
	for i := range sweeps {
		sweeps[i] = c.shot(h.At, h.Oldest(), h.Newest())
		sweeps[i].Radius = []float32{0, 0.2}[i%2]
	}
	s.CastWithStats(sweeps, hits, notes)
	missed, nobody := 0, 0
	for i := range sweeps {
		w, n := &sweeps[i], &notes[i]
		if want := slow.castOne(w); hits[i] != want {
			t.Fatalf("%+v: %+v, want %+v", *w, hits[i], want)
		}
		if n.Bounds > n.Candidates || n.Bodies > n.Bounds || hits[i].ID != 0 &&
			(n.NearestID != 0 || n.Bodies == 0) {
			t.Fatalf("%+v of %+v", *n, hits[i])
		}
		if hits[i].ID != 0 {
			continue
		}
		ray, ok := NormalizeRay(w.Ray)
		near, miss := uint32(0), float32(math.Inf(1))
		for slot := 0; ok && slot < 120; slot++ {
			p, held := slow.At(w.View, slot)
			if !held || !p.Alive() || p.ID == w.Except || w.Spare.Has(p.Team()) || !inWorld(p.Pos) {
				continue
			}
			if _, reached := rig.HeroBodies.MayHit(&ray, w.Radius, p.Pos, p.Form.Build()); reached {
				if _, _, d := rig.HeroBodies.ClosestApproach(ray, &p); max(d-w.Radius, 0) < miss {
					near, miss = p.ID, max(d-w.Radius, 0)
				}
			}
		}
		if near != n.NearestID || near != 0 && miss != n.Miss {
			t.Fatalf("%+v: %+v, want %d missed by %v", *w, *n, near, miss)
		}
		if missed++; near == 0 {
			nobody++
		}
	}
	if missed-nobody < 200 || nobody < 100 {
		t.Fatalf("%d misses, %d of nobody: the cases prove little", missed, nobody)
	}
	if n := alloctest.In(5, func() { s.CastWithStats(sweeps, hits, notes) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
