package netstate

import (
	"bytes"
	"encoding/hex"
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim/object"
)

// wire sends a thing through a row.
func wire(o ObjectState) *ObjectState {
	var got ObjectState
	var row [ObjectStateFields]int32
	o.Row(row[:])
	got.Restore(row[:])
	return &got
}

// A flight that went over the wire is the flight, to the bit, at any tick after it began.
func TestFlightsSurviveTheWire(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 6))
	for i := range 2000 {
		born := tick.Tick(1 + rng.Uint32N(1<<31))
		now := born + tick.Tick(rng.Uint32N(1<<15))
		at := geom.Vec3{X: float32(rng.IntN(1<<20)-1<<19) / 4096, Y: float32(rng.IntN(1<<16)) / 4096,
			Z: float32(rng.IntN(1<<20)-1<<19) / 4096}
		p := object.Projectile{Trajectory: object.Trajectory{Start: at, Yaw: geom.Angle(rng.Uint32()),
			Pitch: geom.Angle(rng.Uint32()), Tick: born,
			Owner: netid.Make(rng.IntN(4096), uint8(1+rng.IntN(255))), Type: uint8(rng.IntN(16)),
			Team: uint8(rng.IntN(3))}}
		var o ObjectState
		o.OfProjectile(&p, i%9)
		if got := wire(o); *got != o || got.Flight(now) != p.Trajectory || got.Ended(now) != 0 ||
			got.Over() || got.Kind != Projectile {
			t.Fatalf("%+v became %+v", p.Trajectory, got.Flight(now))
		}
		p.Hit, p.Ended, p.Point = object.HitBody, born+tick.Tick(rng.IntN(4000)), at.Scale(0.5)
		o.OfProjectile(&p, 0)
		if got := wire(o); got.Ended(p.Ended+5) != p.Ended || !got.Over() ||
			got.Phase != uint8(object.HitBody) {
			t.Fatalf("%+v ended as %+v", p, got)
		}
		g := object.Throw(object.Grenade{Pos: at, Vel: geom.Forward(p.Yaw, p.Pitch).Scale(50),
			Owner: p.Owner, Thrown: born, Team: p.Team})
		o.OfGrenade(&g, &g, 1)
		if got := wire(o).Launch(now); got != g {
			t.Fatalf("%+v became %+v", g, got)
		}
	}
}

// A rotation comes back as the same turn, to what 1/2048 of a part makes: a degree at most.
func TestRotationsSurviveTheWire(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 7))
	for range 5000 {
		var v [4]float32
		sum := float32(0)
		for i := range v {
			v[i] = float32(rng.NormFloat64())
			sum += v[i] * v[i]
		}
		c := object.Cube{}
		for i := range v {
			c.Rot[i] = int16(v[i] / geom.Sqrt(sum) * 32767)
		}
		var o ObjectState
		o.OfCube(&c)
		got, dot := wire(o).Rotation(), 0.0
		for i := range got {
			dot += float64(got[i]) * float64(c.Rot[i]) / (32767 * 32767)
		}
		if dot*dot < 0.9996 { // the rounding of what went in is in it
			t.Fatalf("%v became %v", c.Rot, got)
		}
	}
	if got := (&ObjectState{}).Rotation(); got == (object.Rotation{}) {
		t.Error("a row of zeros is no rotation")
	}
}

// What happened to what stands about is told for 32,768 ticks, so that 16 bits always name the
// tick.
func TestWhenIsToldAsLongAsItIsClear(t *testing.T) {
	for _, age := range []tick.Tick{0, 1, 100, maxEvent - 1, maxEvent, 1 << 20} {
		at := tick.Tick(1<<21 + 77)
		b, p := object.Barrel{Broken: at}, object.Teleporter{Effect: at}
		var o ObjectState
		o.OfBarrel(&b, at+age)
		if clear := age < maxEvent; !o.Over() || clear && o.Tick(at+age) != at || !clear && o.Born != 0 {
			t.Errorf("%d ticks later the barrel is %+v", age, o)
		}
		o.OfTeleporter(&p, at+age)
		if clear := age < maxEvent; o.Over() != clear || clear && o.Tick(at+age) != at {
			t.Errorf("%d ticks later the teleporter is %+v", age, o)
		}
	}
}

func TestPaces(t *testing.T) {
	p, ok := UpdateIntervals{Cube: 5}.WithDefaults()
	if !ok || p[Cube] != 5 || p[Zone] != DefaultUpdateIntervals[Zone] {
		t.Errorf("%v %v", p, ok)
	}
	if _, ok := (UpdateIntervals{Zone: MaxUpdateInterval + 1}).WithDefaults(); ok {
		t.Error("too slow, and taken")
	}
	if got, ok := ParseUpdateIntervals(p.Append(nil)); !ok || got != p {
		t.Errorf("%v %v", got, ok)
	}
	for _, src := range [][]byte{nil, {TagUpdateIntervals}, {TagUpdateIntervals, 1, 1, 1, 1, 1, 0},
		{TagUpdateIntervals, 1, 1, 1, 1, 1, 17}, {TagUpdateIntervals, 1, 1, 1, 1, 1, 1, 1},
		{0x91, 1, 1, 1, 1, 1, 1}} {
		if got, ok := ParseUpdateIntervals(src); ok {
			t.Errorf("%x: %v", src, got)
		}
	}
	for at := tick.Tick(300); at < 330; at++ { // every fifth snapshot has new rows
		if back := p.LastUpdate(Cube, at, 3); back%3 != 0 || (at-back)/3%5 != 0 || back >= 15 ||
			p.LastUpdate(Barrel, at, 3) != 0 {
			t.Errorf("tick %d: %d back", at, back)
		}
	}
}

// TestThingsExample writes the part about things of PROTOCOL.md and reads it.
func TestThingsExample(t *testing.T) {
	doc := page(t, "golden-objects")
	m := Untrained().Objects
	ring, e, k := snapshot.NewRing(Objects, 16, 256, 1), snapshot.NewEncoder(m, 16), snapshot.NewTracker(16, 3)
	d := snapshot.NewDecoder(m, 16, 3)
	k.SingleBaseline()
	var p snapshot.Packer
	shell := object.Projectile{Trajectory: object.Trajectory{Start: geom.Vec3{X: 1, Y: 1.5, Z: -2},
		Yaw: 0x4000, Pitch: 16, Tick: 299, Owner: 0x201, Type: 2, Team: 1}}
	var row, got [ObjectStateFields]int32
	for i, name := range []string{"fired", "under way", "struck"} {
		at := tick.Tick(300 + 3*i)
		if i == 2 {
			shell.Hit, shell.Ended, shell.Point = object.HitGround, 305, geom.Vec3{X: 4, Y: 1.5, Z: -2}
		}
		var o ObjectState
		o.OfProjectile(&shell, 0)
		o.Row(row[:])
		f := ring.Begin(at)
		f.Set(4, netid.Make(4, 1), row[:])
		e.Begin(f, ring)
		k.Advance(at)
		p.Begin(e, k, 0, 1)
		h := Header{Tick: at, Objects: true, Checked: i == 2}
		out := h.AppendObjects([]byte{})
		out, first, count, _ := p.Next(out, 1000)
		h.SealObjects(out, 0, p.Sum(sums(f), first, count))
		if want, err := hex.DecodeString(doc[name]); err != nil || !bytes.Equal(out, want) {
			t.Errorf("%s: wrote %x, the page says %s (%v)", name, out, doc[name], err)
		}
		runs, sum, rest, err := h.CutObjects(append(out, 7))
		if err != nil || !bytes.Equal(rest, []byte{7}) {
			t.Fatalf("%s: %x, %v", name, rest, err)
		}
		if h.Checked {
			err = d.CheckedSection(at, runs, sum)
		} else {
			err = d.Section(at, runs)
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if id := d.At(at).Row(4, got[:]); id != netid.Make(4, 1) || got != row {
			t.Errorf("%s: %v %v", name, id, got)
		}
		k.Acked(at, first, count)
	}
}

// What is accepted, written again, gives the same bytes; nothing else is.
func FuzzCutThings(f *testing.F) {
	f.Add([]byte{1, 0, 9, 9}, false)
	f.Add([]byte{2, 0, 1, 2, 3, 4, 9, 9, 9}, true)
	f.Add([]byte{255, 255, 1}, true)
	f.Fuzz(func(t *testing.T, src []byte, checked bool) {
		h := Header{Tick: 5, Checked: checked, Objects: true}
		runs, sum, rest, err := h.CutObjects(src)
		if err != nil {
			if err != ErrHeader || runs != nil || sum != 0 || !bytes.Equal(rest, src) {
				t.Fatalf("%x: %v", src, err)
			}
			return
		}
		out := append(h.AppendObjects(nil), runs...)
		h.SealObjects(out, 0, sum)
		if len(runs) == 0 || !bytes.Equal(append(out, rest...), src) {
			t.Fatalf("%x was read as %x, %x", src, runs, rest)
		}
	})
}
