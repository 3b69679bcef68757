package client

import (
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim/netstate"
)

// TestPosesEqualTheirFrames: in whatever order frames are asked for, what is remembered is what they say.
func TestPosesEqualTheirFrames(t *testing.T) {
	const slots = 16
	rng := rand.New(rand.NewPCG(5, 40))
	s := netstate.Trained().Public.Schema()
	frames := make([]*snapshot.Frame, 6)
	for i := range frames {
		frames[i] = snapshot.NewRing(s, slots, 1, 1).Begin(tick.Tick(30 + 3*i))
		for slot := range slots {
			row := make([]int32, len(s.Fields))
			for f := range row {
				lo, hi := s.Fields[f].Range()
				row[f] = lo + int32(rng.Int64N(int64(hi)-int64(lo)+1))
			}
			if rng.IntN(4) > 0 {
				frames[i].Set(slot, netid.Make(slot, uint8(1+i%2)), row)
			}
		}
	}
	p := make(poses, slots)
	for range 20000 {
		f, slot := frames[rng.IntN(len(frames))], rng.IntN(slots)
		got, is := p.at(f, slot)
		if want, ok := poseIn(f, slot); got != want || is != ok {
			t.Fatalf("slot %d of tick %d: %+v %v, want %+v %v", slot, f.Tick, got, is, want, ok)
		}
	}
}
