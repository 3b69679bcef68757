package sim

import (
	"math"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
)

var rates = []tick.Rate{20, 60, 128}

// A held trigger fires exactly 14 rounds a second at any rate: round n leaves in the first tick in which n/14 s are over.
func TestRateOfFire(t *testing.T) {
	for _, rate := range rates {
		r := Rules{Rate: rate, Clip: 255}.WithDefaults()
		w, fired := fresh(&r), 0
		for i := range 10 * int(rate) {
			shot, _ := w.Step(1, Fire, &r)
			if due := (fired*int(rate) + 13) / 14; shot != (i == due) {
				t.Fatalf("%d Hz: tick %d fired %v, round %d is due in tick %d", rate, i, shot, fired, due)
			}
			if shot {
				fired++
			}
		}
		if fired != 140 {
			t.Errorf("%d Hz: %d rounds in 10 s, want 140", rate, fired)
		}
	}
}

// Tapping faster than the rifle fires no faster, and a rest earns nothing.
func TestTappingGainsNothing(t *testing.T) {
	r := Rules{Clip: 255}.WithDefaults()
	held, tapped := fresh(&r), fresh(&r)
	nHeld, nTapped := 0, 0
	for i := range 600 {
		if f, _ := held.Step(1, Fire, &r); f {
			nHeld++
		}
		if f, _ := tapped.Step(1, Fire*Buttons(i&1), &r); f {
			nTapped++
		}
	}
	if nTapped > nHeld || nTapped < 100 {
		t.Errorf("held %d, tapped %d", nHeld, nTapped)
	}
	rested := fresh(&r)
	rested.Step(1, Fire, &r)
	for range 100 {
		rested.Step(1, 0, &r)
	}
	if rested.Cool != 0 {
		t.Errorf("a rest left %d", rested.Cool)
	}
}

// A clip of 25, then 1.5 s without a shot, whether the clip ran empty or the player asked.
func TestReload(t *testing.T) {
	for _, rate := range rates {
		r := Rules{Rate: rate}.WithDefaults()
		w, shots := fresh(&r), []int{}
		for i := range 10 * int(rate) {
			if fired, _ := w.Step(1, Fire, &r); fired {
				shots = append(shots, i)
			}
			if w.Reloading != (w.Ammo == 0 && len(shots)%25 == 0 && shots[len(shots)-1] != i) {
				t.Fatalf("%d Hz, tick %d: %+v after %d shots", rate, i, w, len(shots))
			}
		}
		if gap := shots[25] - shots[24] - 1; gap != int(rate)*3/2 {
			t.Errorf("%d Hz: reloading takes %d ticks, want %d", rate, gap, int(rate)*3/2)
		}
	}
	r := Rules{}.WithDefaults()
	w := fresh(&r)
	if w.Step(1, Reload, &r); w.Reloading {
		t.Error("a full clip is reloaded")
	}
	w.Step(1, Fire, &r)
	if fired, _ := w.Step(1, Fire|Reload, &r); fired || !w.Reloading || w.Ammo != 24 {
		t.Errorf("asked to reload: fired %v, %+v", fired, w)
	}
	for i := 1; w.Reloading; i++ {
		if w.Step(1, 0, &r); w.Reloading != (i < 90) || !w.Reloading && w.Ammo != 25 {
			t.Fatalf("%d ticks later: %+v", i, w)
		}
	}
}

func TestCone(t *testing.T) {
	for _, rate := range rates {
		r := Rules{Rate: rate, Clip: 255, RoundsPerSec: int32(rate), ConePerSecond: 1, ConePerShot: 0.5}.WithDefaults()
		w, want := fresh(&r), int32(0)
		for i := range 60 {
			fired, cone := w.Step(tick.Tick(i+1), Fire, &r)
			loss := int32(256*(i+1)/int(rate) - 256*i/int(rate)) // one degree a second, and no remainder is lost
			if want = max(0, want-loss); !fired || cone != want {
				t.Fatalf("%d Hz, shot %d: fired %v in a cone of %d, want %d", rate, i, fired, cone, want)
			}
			want = min(8*256, want+128) // half a degree wider, 8 degrees at most
		}
		if w.Cone != 8*256 {
			t.Errorf("%d Hz: the widest cone is %d", rate, w.Cone)
		}
	}
	for _, rate := range rates { // with the reference's 16 degrees a second, to the tick
		r := Rules{Rate: rate}.WithDefaults()
		w := fresh(&r)
		w.Cone = 8 * 256
		ticks := 0
		for ; w.Cone > 0; ticks++ {
			w.Step(tick.Tick(1000*int(rate)+ticks+1), 0, &r)
		}
		if want := int(rate+1) / 2; ticks != want {
			t.Errorf("%d Hz: 8 degrees are gone after %d ticks, want %d", rate, ticks, want)
		}
	}
	r := Rules{}.WithDefaults()
	if w := fresh(&r); w.Cone != 0 || w.Ammo != 25 || w.Cool != 0 || w.Reloading {
		t.Errorf("fresh: %+v", w)
	}
}

// Ten thousand rounds fill the cone evenly: as many in each of ten rings of one area, and in each of eight sectors.
func TestSpreadIsEven(t *testing.T) {
	const n, cone = 10000, 8 * 256
	unit := float64(cone) / 256 * math.Pi / 180
	var rings [10]float64
	var sectors [8]float64
	far := 0.0
	for i := range n {
		d := Aim(7, uint32(i%16)<<8|1, tick.Tick(i/16+1), 0, 0, cone)
		x, y := math.Atan2(float64(d.X), float64(d.Z))/unit, math.Asin(float64(d.Y))/unit
		out := x*x + y*y
		far = max(far, out)
		rings[min(int(out*10), 9)]++
		sectors[int((math.Atan2(y, x)+math.Pi)/(2*math.Pi)*7.9999)]++
	}
	if far > 1.001 || far < 0.99 {
		t.Errorf("the widest round is at %.4f of the cone", math.Sqrt(far))
	}
	chi := func(cells []float64) (sum float64) {
		want := float64(n) / float64(len(cells))
		for _, c := range cells {
			sum += (c - want) * (c - want) / want
		}
		return sum
	}
	if c := chi(rings[:]); c > 27.9 { // 9 degrees of freedom, 1 in 1000
		t.Errorf("rings %v: chi square %.1f", rings, c)
	}
	if c := chi(sectors[:]); c > 24.3 { // 7 degrees
		t.Errorf("sectors %v: chi square %.1f", sectors, c)
	}
}

// Clients compute the same direction, so it may never change.
func TestAimIsPinned(t *testing.T) {
	bits := math.Float32bits
	for i, c := range []struct {
		seed       uint64
		id         uint32
		at         tick.Tick
		yaw, pitch geom.Angle
		cone       int32
		want       [3]uint32
	}{
		0: {1, 0x101, 1, 0, 0, 0, [3]uint32{0x0, 0x0, 0x3f800000}},
		1: {1, 0x101, 1, 0, 0, 2048, [3]uint32{0x3bfe1748, 0x3c87e371, 0x3f7ff505}},
		2: {1, 0x101, 2, 0, 0, 2048, [3]uint32{0x3d606b10, 0xbd93f30b, 0x3f7ef212}},
		3: {1, 0x201, 1, 0, 0, 2048, [3]uint32{0x3d6dd8ba, 0x3d664e35, 0x3f7f2990}},
		4: {2, 0x101, 1, 0, 0, 2048, [3]uint32{0x3c56fccf, 0xbe09a48c, 0x3f7da791}},
		5: {1, 0x101, 1, 0x1234, 0xf000, 512, [3]uint32{0x3ecd9945, 0xbec20042, 0x3f55722d}},
	} {
		d := Aim(c.seed, c.id, c.at, c.yaw, c.pitch, c.cone)
		if got := [3]uint32{bits(d.X), bits(d.Y), bits(d.Z)}; got != c.want {
			t.Errorf("%d: %+v, bits %#x, want %#x", i, d, got, c.want)
		}
		if a := geom.Abs(d.LenSq() - 1); a > 1e-6 {
			t.Errorf("%d: %+v is no direction", i, d)
		}
	}
}
