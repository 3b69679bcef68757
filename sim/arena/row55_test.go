package arena

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/alloctest"
)

// randomMover is a mover that a map may have.
func randomMover(rng *rand.Rand) Mover {
	at := func(most int) float32 { return float32(rng.IntN(most*64)) / 64 }
	m := Mover{Min: geom.Vec3{X: at(20), Y: at(20), Z: at(20)},
		Travel:       geom.Vec3{X: at(10) - 5, Y: at(10) - 5, Z: at(10) - 5},
		TravelMillis: int32(4000 + rng.IntN(9000)), DwellMillis: int32(rng.IntN(3) * rng.IntN(5000))}
	m.Max = m.Min.Add(geom.Vec3{X: at(4) + Unit, Y: at(4) + Unit, Z: at(4) + Unit})
	m.PhaseMillis = int32(rng.IntN(int(m.PeriodMillis())))
	return m
}

// TestRow55MoverPath: at any rate and tick a mover is on the grid of bodies and between its ends, is
// no faster than its travel, is where it was a period ago, and reaches both ends.
func TestRow55MoverPath(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 55))
		m := randomMover(rng)
		if err := m.Check(geom.AABB{Min: geom.Vec3{X: -99, Y: -99, Z: -99},
			Max: geom.Vec3{X: 99, Y: 99, Z: 99}}); err != nil {
			t.Fatal(err)
		}
		rate := tick.MinRate + tick.Rate(rng.IntN(int(tick.MaxRate-tick.MinRate)+1))
		hull, ends := m.Hull(), [2]bool{}
		perTick := m.Travel.Len()/float32(m.TravelMillis)*1000/float32(rate) + 2*positionUnit
		for i := range tick.Tick(m.PeriodMillis())*tick.Tick(rate)/1000 + 2 {
			now := Moment{i + 1000*1000, rate}
			s, d := m.At(now), m.Displacement(now)
			for _, v := range [...]float32{s.Min.X, s.Min.Y, s.Min.Z, s.Max.X, s.Max.Y, s.Max.Z} {
				if v*4096 != float32(int32(v*4096)) {
					t.Fatalf("%+v at %+v: %v is no multiple of 1/4096", m, now, v)
				}
			}
			if !inside(s.Min, hull) || !inside(s.Max, hull) || d.Len() > perTick || s.Max.Sub(s.Min) != m.Max.Sub(m.Min) {
				t.Fatalf("%+v at %+v: at %v, moved by %v, want within %v and %v", m, now, s, d, hull, perTick)
			}
			if was := m.At(now.Before()); was.Min.Add(d) != s.Min {
				t.Fatalf("%+v at %+v: from %v by %v to %v", m, now, was.Min, d, s.Min)
			}
			later := Moment{now.Tick + tick.Tick(m.PeriodMillis())*tick.Tick(rate), rate} // 1000 periods
			if m.At(later) != s {
				t.Fatalf("%+v at %+v is at %v, and 1000 periods later at %v", m, now, s, m.At(later))
			}
			ends[0] = ends[0] || s.Min.Sub(m.Min).Len() <= perTick
			ends[1] = ends[1] || s.Min.Sub(m.Min.Add(m.Travel)).Len() <= perTick
		}
		if ends != [2]bool{true, true} {
			t.Fatalf("%+v at %d Hz reaches its ends: %v", m, rate, ends)
		}
	}
}

// TestRow55MoverPlaces holds places of the map lifts, and of a mover whose way is no whole number of
// units a tick, as PROTOCOL.md computes them.
func TestRow55MoverPlaces(t *testing.T) {
	a, err := Open("lifts")
	if err != nil {
		t.Fatal(err)
	}
	odd := Mover{Max: geom.Vec3{X: 1, Y: 1, Z: 1}, Travel: geom.Vec3{X: -1, Z: 0.25}, TravelMillis: 700,
		DwellMillis: 300, PhaseMillis: 50}
	for i, c := range []struct {
		m    *Mover
		tick tick.Tick
		rate tick.Rate
		want geom.Vec3 // from the first end, in 1/4096 m
	}{
		{&a.Movers[0], 0, 60, geom.Vec3{}}, {&a.Movers[0], 90, 60, geom.Vec3{}},
		{&a.Movers[0], 91, 60, geom.Vec3{Y: 136}}, // 4 * 4096 / 120 = 136.53
		{&a.Movers[0], 150, 60, geom.Vec3{Y: 8192}}, {&a.Movers[0], 210, 60, geom.Vec3{Y: 16384}},
		{&a.Movers[0], 300, 60, geom.Vec3{Y: 16384}}, {&a.Movers[0], 360, 60, geom.Vec3{Y: 8192}},
		{&a.Movers[0], 420, 60, geom.Vec3{}}, {&a.Movers[0], 420*1_000_000 + 91, 60, geom.Vec3{Y: 136}},
		{&a.Movers[2], 288, 144, geom.Vec3{}}, {&a.Movers[2], 300, 144, geom.Vec3{Z: -1024}},
		{&odd, 8, 30, geom.Vec3{X: -97, Z: 24}},     // u = 9500, s = 500 of 21000
		{&odd, 40, 30, geom.Vec3{X: -3608, Z: 902}}, // u = 41500, s = 18500
	} {
		if got := c.m.offset(Moment{c.tick, c.rate}).Scale(4096); got != c.want {
			t.Errorf("%d: tick %d at %d Hz: %v, want %v", i, c.tick, c.rate, got, c.want)
		}
	}
}

// TestRow55RaysMeetMovers: rays and spheres meet movers where a map with boxes in those places has
// them, and a map of boxes only answers as without a moment.
func TestRow55RaysMeetMovers(t *testing.T) {
	a, err := Open("lifts")
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(55, 1))
	met := 0
	for range 50 {
		now := Moment{tick.Tick(rng.Uint32()), tick.DefaultRate}
		solids := append([]Solid{}, a.Solids...)
		for i := range a.Movers {
			s := a.Movers[i].At(now) // on a grid of 1/4096 m, which New refuses, and sweeps do not
			solids = append(solids, s)
		}
		frozen := frozenArena(t, a, solids)
		for range 400 {
			p := func() float32 { return rng.Float32()*30 - 15 }
			r := geom.Ray{Origin: geom.Vec3{X: p(), Y: rng.Float32() * 7, Z: p()},
				Dir: geom.Vec3{X: p(), Y: p() / 2, Z: p()}.Normalize(), Max: rng.Float32() * 40}
			d, ok := a.RaycastAt(r, now)
			if want, hit := frozen.Raycast(r); ok != hit || d != want {
				t.Fatalf("%+v at %+v: %v %v, want %v %v", r, now, d, ok, want, hit)
			}
			if alone, hit := a.Raycast(r); ok != hit || d != alone {
				met++
			}
			touch, ok := a.SweepAt(r, 0.3, now)
			want, hit := frozen.Sweep(r, 0.3)
			if ok != hit || geom.Abs(touch.Distance-want.Distance) > 1e-3 {
				t.Fatalf("%+v at %+v: %+v %v, want %+v %v", r, now, touch, ok, want, hit)
			}
		}
	}
	if met < 200 {
		t.Errorf("only %d of 20000 rays met a mover first", met)
	}
	bare := geom.Ray{Origin: geom.Vec3{X: 0, Y: 10, Z: 0}, Dir: geom.Vec3{Y: -1}, Max: 20}
	if _, n, ok := a.SurfaceAt(bare.At(9.75), 0.25, Moment{0, 60}); !ok || n.Y != 1 {
		t.Errorf("the elevator's top faces %v, %v", n, ok)
	}
	if n := alloctest.In(10, func() { a.SweepAt(bare, 0.3, Moment{77, 60}) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// frozenArena is a with other solids, which need not be on the grid of maps.
func frozenArena(t *testing.T, a *Arena, solids []Solid) *Arena {
	f := &Arena{Bounds: a.Bounds, Solids: solids}
	if err := f.index(); err != nil {
		t.Fatal(err)
	}
	f.filled = newOccupancy(f.Solids, f.Bounds)
	return f
}

// TestRow55MoverRows: what a map file says of movers is read back as it was, is part of the hash,
// and what is wrong with it is told by row and number.
func TestRow55MoverRows(t *testing.T) {
	a, err := Open("lifts")
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := a.Save(&text); err != nil {
		t.Fatal(err)
	}
	again, err := Load(bytes.NewReader(text.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if again.Hash() != a.Hash() || len(again.Movers) != len(a.Movers) || again.Movers[1] != a.Movers[1] {
		t.Errorf("%+v read back as %+v", a.Movers, again.Movers)
	}
	const row = "[-2,0,-2,2,0.25,2,0,4,0,2000,1500,0]"
	if !strings.Contains(text.String(), row) {
		t.Fatal(text.String())
	}
	for with, want := range map[string]string{
		"[-2,0,-2,2,0.25,2,0,4,0,2000,1500,1]":    "",
		"[-2,0,-2,2,0.25,2,0,4,0,2000,1500]":      "movers[0]: 11 numbers, want 12: x0 y0 z0 x1 y1 z1 dx dy dz travel dwell phase",
		"[-2,0,-2,2,0.25,2,0,4.01,0,2000,1500,0]": "movers[0]: travel: y = 4.01, want a multiple of 1/64 from -2000 to 2000",
		"[-2,0,-2,2,0.25,2,0,4,0,2.5,1500,0]":     "movers[0]: travel 2.5, want whole milliseconds from 0",
		"[-2,0,-2,2,0.25,2,0,4,0,2000,-1,0]":      "movers[0]: dwell -1, want whole milliseconds from 0",
		"[-2,0,-2,2,0.25,2,0,4,0,700,1500,0]":     "movers[0]: travels 4 m in 700 ms, want at most 5 m/s",
		"[-2,0,-2,2,0.25,2,0,4,0,50,1500,0]":      "movers[0]: travels for 50 ms, want 100 to 600000",
		"[-2,0,-2,2,0.25,2,0,4,0,2000,700000,0]":  "movers[0]: dwells for 700000 ms, want 0 to 600000",
		"[-2,0,-2,2,0.25,2,0,4,0,2000,1500,7000]": "movers[0]: phase of 7000 ms, want 0 to 6999",
		"[-2,0,-2,2,0.25,2,0,0,0,2000,1500,0]":    "movers[0]: travels nowhere, want a travel that is not 0 0 0",
		"[-2,0,-2,2,0.25,2,0,40,0,20000,1500,0]":  "movers[0]: covers {-2 0 -2} to {2 40.25 2}, want within bounds",
		"[-2,0,-2,-2,0.25,2,0,4,0,2000,1500,0]":   "movers[0]: box: reaches from {-2 0 -2} to {-2 0.25 2}, want the smaller corner first and no side of length 0",
		strings.Repeat(row+",", 4) + row:          "movers: too many near one place: 5 come within 1.25 m of the square from x = -4, z = -4 to x = 0, z = 0, want at most 4",
		strings.Repeat(row+",", 64) + row:         "movers: 67 rows, want at most 64",
	} {
		got, err := Load(strings.NewReader(strings.Replace(text.String(), row, with, 1)))
		switch {
		case want == "" && (err != nil || got.Hash() == a.Hash()):
			t.Errorf("%s: %v, or the hash is the same", with, err)
		case want != "" && (err == nil || err.Error() != want):
			t.Errorf("%s:\n%v, want\n%s", with, err, want)
		}
	}
}
