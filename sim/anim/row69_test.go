package anim

import (
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/lagcomp/rig"
)

// heard is the pose that a client decodes from the public state.
func heard(t Public, yaw, pitch geom.Angle) rig.Pose {
	p := rig.Pose{Yaw: yaw, Pitch: pitch, ID: 5}
	t.ApplyTo(&p)
	return p
}

// For every tick t the skeletons from the state at t, from a replay of the inputs up to t, and from
// the wire's row of t equal the stored pose's, bit for bit, and so do interpolated ones.
func TestRow69SkeletonFromStateEqualsStoredPose(t *testing.T) {
	for h := range rig.Heroes {
		var inputs []Input
		var stored, wire []rig.Pose
		r := rand.New(rand.NewPCG(69, uint64(h)))
		play(h, 60, script(), func(_ *scene, _ int, in Input, s *State) {
			pitch := geom.Angle(int16(r.IntN(0x8000)-0x4000)) &^ 15
			p := rig.Pose{Yaw: in.Yaw, Pitch: pitch, ID: 5}
			WritePose(s, &p)
			inputs, stored = append(inputs, in), append(stored, p)
			wire = append(wire, heard(Tell(&p), in.Yaw, pitch))
		})
		table, again := DefaultTable(60), Spawn(h, 0)
		var a, b rig.Body
		for i := range stored {
			again = Step(again, inputs[i], table)
			p := rig.Pose{Yaw: inputs[i].Yaw, Pitch: stored[i].Pitch, ID: 5}
			WritePose(&again, &p)
			rig.Capsules(&stored[i], &a)
			if rig.Capsules(&p, &b); a != b {
				t.Fatalf("%v, tick %d: replayed %+v, stored %+v", h, i+1, p, stored[i])
			}
			if rig.Capsules(&wire[i], &b); a != b {
				t.Fatalf("%v, tick %d: heard %+v, stored %+v", h, i+1, wire[i], stored[i])
			}
			if i < 3 {
				continue
			}
			frac := uint8(r.Uint32())
			here, there := rig.Lerp(&stored[i-3], &stored[i], frac), rig.Lerp(&wire[i-3], &wire[i], frac)
			rig.Capsules(&here, &a)
			if rig.Capsules(&there, &b); a != b {
				t.Fatalf("%v, between ticks %d and %d at %d/256: %+v, %+v", h, i-2, i+1, frac, here, there)
			}
		}
	}
}
