package netstate

import (
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/object"
)

// TestFlightsCostLessThanPlaces is why a grenade is told as a throw and not as where it is: 16 of
// them, thrown one after another, 4 s each, told 20 times a second to a client whose acks are 100
// ms old, take a fraction of the bytes.
func TestFlightsCostLessThanPlaces(t *testing.T) {
	ground, err := arena.Open("arena-16")
	if err != nil {
		t.Fatal(err)
	}
	timer := object.DefaultGrenade().Compile(60)
	cost := func(moving bool) (bytes int) {
		rng := rand.New(rand.NewPCG(8, 8))
		m := Trained().Objects
		ring, enc, k := snapshot.NewRing(Objects, 16, 256, 1), snapshot.NewEncoder(m, 16),
			snapshot.NewTracker(16, 3)
		k.SingleBaseline()
		var p snapshot.Packer
		var now, launch [16]object.Grenade
		var gen [16]uint8
		var row [ObjectStateFields]int32
		for at := tick.Tick(1); at <= 60*60; at++ {
			for i := range now {
				if g := &now[i]; at%240 == tick.Tick(15*i) {
					*g = object.Throw(object.Grenade{Pos: geom.Vec3{X: rng.Float32()*8 - 4, Y: 1.6,
						Z: rng.Float32()*8 - 4},
						Vel: geom.Forward(geom.Angle(rng.Uint32()), 0x400).Scale(20), Thrown: at,
						Owner: netid.Make(i, 1), Team: 1})
					launch[i] = *g
					gen[i] = gen[i]%255 + 1
				} else if g.Thrown != 0 {
					*g = g.Step(&timer, ground, at)
				}
			}
			if at%3 != 0 {
				continue
			}
			f := ring.Begin(at)
			for i := range now {
				if now[i].Thrown == 0 {
					continue
				}
				var o ObjectState
				o.OfGrenade(&now[i], &launch[i], 0)
				if moving {
					was := launch[i]
					was.Pos, was.Vel = now[i].Pos, geom.Vec3{}
					o.OfGrenade(&now[i], &was, 0)
				}
				o.Row(row[:])
				f.Set(i, netid.Make(i, gen[i]), row[:])
			}
			enc.Begin(f, ring)
			k.Advance(at)
			p.Begin(enc, k, 0, 1)
			out, _, _, _ := p.Next(nil, 2000)
			bytes += len(out)
			if at > 6 {
				k.Acked(at-6, 0, 1)
			}
		}
		return bytes / 60
	}
	flights, places := cost(false), cost(true)
	t.Logf("16 grenades, 4 a second: %d B/s as flights, %d B/s as places", flights, places)
	if flights*2 > places {
		t.Errorf("%d B/s as flights, %d B/s as places", flights, places)
	}
}
