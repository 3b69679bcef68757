package effect

import (
	"bytes"
	"encoding/hex"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/object"
)

var (
	exampleFormat = NewFormat(12, geom.AABB{Min: geom.Vec3{X: -32, Z: -32},
		Max: geom.Vec3{X: 32, Y: 16, Z: 32}}, 60)
	exampleItems = []Item{
		{ID: 74, SourceSlot: 3, TargetSlot: -1, Effect: Effect{Kind: Impact, Count: 2, Tick: 299,
			Pos: geom.Vec3{X: -1, Y: 1.5, Z: 2}}},
		{ID: 75, SourceSlot: 5, TargetSlot: 9, Effect: Effect{Kind: Impact, Count: 1, Surface: Player,
			Bone: 6, Tick: 300}},
		{ID: 78, SourceSlot: -1, TargetSlot: -1, Effect: Effect{Kind: Damage, Count: 1, Tick: 300,
			Cause: object.CauseBlast, Dir: geom.Vec3{X: 1}, Strength: 15, Amount: 14}},
	}
)

// TestRow71EffectsAreThePages holds the example of PROTOCOL.md to what is written and read.
func TestRow71EffectsAreThePages(t *testing.T) {
	text, err := os.ReadFile("../../PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := bytes.Cut(text, []byte("```golden-effects\ntold\n"))
	block, _, end := bytes.Cut(text, []byte("```"))
	want, err := hex.DecodeString(strings.Join(strings.Fields(string(block)), ""))
	if !ok || !end || err != nil {
		t.Fatalf("PROTOCOL.md has no block golden-effects: %v", err)
	}
	got := exampleFormat.Append([]byte("x"), 300, exampleItems)
	if !bytes.Equal(got[1:], want) || got[0] != 'x' {
		t.Errorf("wrote %x, the page says %x", got[1:], want)
	}
	var items [MaxItems]Item
	n, rest, err := exampleFormat.Parse(300, append(bytes.Clone(want), "tail"...), &items)
	if err != nil || n != len(exampleItems) || string(rest) != "tail" {
		t.Fatalf("%d effects, rest %q, %v", n, rest, err)
	}
	for i, e := range items[:n] {
		if want := exampleItems[i]; e.Dir.Sub(want.Dir).Len() < 0.03 {
			e.Dir = want.Dir
			if e != want {
				t.Errorf("read %+v, want %+v", e, want)
			}
		}
	}
}

// randomItems are effects of a tick that a server may tell.
func randomItems(rng *rand.Rand, f *Format, now tick.Tick, size geom.Vec3) []Item {
	items := make([]Item, 1+rng.IntN(MaxItems))
	id := uint8(rng.Uint32())
	spare := IDWindow - len(items)
	for i := range items {
		e := &items[i]
		*e = Item{ID: id, SourceSlot: int16(rng.IntN(f.slots+1)) - 1, TargetSlot: -1}
		e.Count, e.Tick = 1, now-tick.Tick(rng.IntN(int(f.life)+1))
		switch kind := rng.IntN(4); {
		case kind == 3:
			e.Kind, e.Cause, e.Amount = Damage, object.Cause(rng.IntN(5)), uint16(rng.IntN(1024))
			e.Strength = float32(rng.IntN(256)) / 2
			if rng.IntN(4) > 0 {
				e.Dir = directionOf(uint64(rng.IntN(256)), uint64(1+rng.IntN(126)))
			}
		default:
			e.Kind, e.Surface, e.Count = Impact, Surface(kind), uint8(1+rng.IntN(maxCount))
			if e.Surface == Player {
				e.TargetSlot, e.Bone = int16(rng.IntN(f.slots)), rig.Bone(rng.IntN(int(rig.Bones)))
				break
			}
			at := func(v float32) float32 { return float32(rng.IntN(int(v*8)+1)) / 8 }
			e.Pos = f.min.Add(geom.Vec3{X: at(size.X), Y: at(size.Y), Z: at(size.Z)})
		}
		gap := 1
		if spare > 0 && rng.IntN(3) == 0 {
			gap += rng.IntN(spare)
			spare -= gap - 1
		}
		id += uint8(gap)
	}
	return items
}

// Every part that a server writes is read as it was, takes no more bits than Bits says, and has all
// its bits in the account.
func TestRow71EffectsRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(71, 2))
	for range 3000 {
		size := geom.Vec3{X: float32(8 + rng.IntN(400)), Y: float32(4 + rng.IntN(40)), Z: float32(8 + rng.IntN(400))}
		low := geom.Vec3{X: float32(-rng.IntN(200)), Y: -2, Z: float32(-rng.IntN(200))}
		f := NewFormat(2+rng.IntN(1000), geom.AABB{Min: low, Max: low.Add(size)}, tick.Rate(20+rng.IntN(120)))
		now := tick.Tick(1000 + rng.IntN(1<<20))
		want := randomItems(rng, &f, now, size)
		src := f.Append(nil, now, want)
		most := HeadBits + FillBits
		for i := range want {
			most += f.Bits(&want[i].Effect)
		}
		var items [MaxItems]Item
		n, rest, err := f.Parse(now, append(bytes.Clone(src), 0xa5), &items)
		if err != nil || n != len(want) || len(rest) != 1 || 8*len(src) > most {
			t.Fatalf("%d of %d effects, %d bytes left, %v; %d bits of at most %d", n, len(want), len(rest), err,
				8*len(src), most)
		}
		for i, e := range items[:n] {
			if d := e.Dir.Sub(want[i].Dir).Len(); d > 1e-3 {
				t.Fatalf("direction %v, want %v", e.Dir, want[i].Dir)
			}
			if e.Dir = want[i].Dir; e != want[i] {
				t.Fatalf("read %+v, want %+v", e, want[i])
			}
		}
		var m Meter
		if _, err := f.Explain(&m, now, src); err != nil || m.Head+m.Impact+m.Damage+m.Fill != uint64(8*len(src)) {
			t.Fatalf("%+v of %d bits, %v", m, 8*len(src), err)
		}
		for n := range src {
			if _, rest, err := f.Parse(now, src[:n], &items); err != ErrPart || len(rest) != n {
				t.Fatalf("cut to %d of %d bytes: %v", n, len(src), err)
			}
		}
	}
}

// Whatever bytes come, a part that is accepted has only values in range, takes what it says and
// nothing behind it, and written again is read as the same effects.
func FuzzParseEffects(f *testing.F) {
	f.Add(exampleFormat.Append(nil, 300, exampleItems), uint32(300))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, uint32(9))
	f.Add([]byte{0}, uint32(0))
	rng := rand.New(rand.NewPCG(71, 3))
	for range 8 {
		f.Add(exampleFormat.Append(nil, 5000, randomItems(rng, &exampleFormat, 5000, geom.Vec3{X: 64, Y: 16, Z: 64})),
			uint32(5000))
	}
	f.Fuzz(func(t *testing.T, src []byte, at uint32) {
		now := tick.Tick(at)
		var items, again [MaxItems]Item
		n, rest, err := exampleFormat.Parse(now, src, &items)
		if err != nil {
			if err != ErrPart || n != 0 || len(rest) != len(src) {
				t.Fatalf("%d effects, %d of %d bytes left, %v", n, len(rest), len(src), err)
			}
			return
		}
		for _, e := range items[:n] {
			if e.SourceSlot >= 12 || e.TargetSlot >= 12 || e.Bone >= rig.Bones || !e.Cause.Known() ||
				e.Tick > now || now-e.Tick > exampleFormat.life || e.Tick == 0 || e.Count < 1 || e.Count > maxCount ||
				!e.Pos.Finite() || !e.Dir.Finite() || e.Kind != Impact && e.Kind != Damage || e.Surface >= surfaces {
				t.Fatalf("accepted %+v at tick %d", e, now)
			}
		}
		for i := range items[1:n] { // ids that a server does not use together
			if gap := items[i+1].ID - items[i].ID; gap == 0 || gap >= IDWindow {
				t.Fatalf("ids %d and %d", items[i].ID, items[i+1].ID)
			}
		}
		k, _, err := exampleFormat.Parse(now, exampleFormat.Append(nil, now, items[:n]), &again)
		if err != nil || k != n {
			t.Fatalf("written again: %d effects of %d, %v", k, n, err)
		}
	})
}

// A receiver takes each id once, whatever order and repeats it comes in, as a slow twin with a map
// does.
func TestRow71WindowTakesEachOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(71, 4))
	var w Window
	taken, newest := map[int]bool{}, -1
	for range 100_000 {
		n := max(newest, 0) + rng.IntN(80) - 60
		if n < 0 {
			continue
		}
		want := !taken[n] && (newest < 0 || n > newest-IDWindow)
		if got := w.Take(uint8(n)); got != want {
			t.Fatalf("%d after %d: taken %v, want %v", n, newest, got, want)
		}
		if want {
			taken[n] = true
		}
		newest = max(newest, n)
	}
}

// The place on the wire of an impact leads back to the surface that was struck, beside edges too.
func TestRow71PlacesKeepTheirSurface(t *testing.T) {
	a := arena.Generate(32, 7)
	f := NewFormat(32, a.Bounds, 60)
	rng := rand.New(rand.NewPCG(71, 5))
	in := func(lo, hi float32) float32 { return lo + (hi-lo)*rng.Float32() }
	met, same, far := 0, 0, float32(0)
	for range 20_000 {
		r := geom.Ray{Max: 60, Origin: geom.Vec3{X: in(a.Bounds.Min.X, a.Bounds.Max.X), Y: in(0.5, 4),
			Z: in(a.Bounds.Min.Z, a.Bounds.Max.Z)}}
		r.Dir = geom.Forward(geom.Angle(rng.Uint32()), geom.Angle(int16(in(-4000, 4000))))
		touch, ok := a.Sweep(r, 0)
		if !ok || touch.Distance < 0.5 {
			continue
		}
		r.Max = touch.Distance
		e := Effect{Kind: Impact}
		e.Pos, e.Dir = Wall(a, r, arena.Moment{})
		told := e
		told.Pos = f.placeOf(f.numbers(f.Fit(a, &e)))
		f.Locate(a, &told)
		met++
		if told.Dir.Dot(touch.Normal) > 0.99 {
			same++
		}
		far = max(far, told.Pos.Sub(r.At(r.Max)).Len())
	}
	if met < 5000 || same < met*98/100 || far > 0.4 {
		t.Errorf("%d of %d surfaces face as they were met, at most %.2f m away", same, met, far)
	}
}
