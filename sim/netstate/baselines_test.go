package netstate

import (
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
)

// TestRow34ThreeBaselines is row 34 of docs/features.md. Players run straight on, and a
// client with packet loss receives deltas against what it acknowledged last: three baselines take
// at most 60 % of the bytes of one, and both decode to the server's rows.
func TestRow34ThreeBaselines(t *testing.T) {
	const slots, interval, snapshots = 64, 3, 400
	for _, codec := range []schema.Codec{schema.Huffman, schema.Range} {
		m := Trained().Public.With(codec)
		rng := rand.New(rand.NewPCG(34, 34))
		ring, enc := snapshot.NewRing(Public, slots, snapshot.Window*interval, 1), snapshot.NewEncoder(m,
			slots)
		dec := snapshot.NewDecoder(m, slots, interval)
		players, step := make([]PlayerState, slots), make([]geom.Vec3, slots) // metres a snapshot
		for i := range players {
			players[i].Pos = geom.Vec3{X: rng.Float32()*200 - 100, Z: rng.Float32()*200 - 100}
			players[i].Yaw, players[i].Flags, players[i].Health = geom.Angle(rng.Uint32()), 1, 100
			// Half of them move by whole steps of the grid, half are rounded to it every time.
			step[i] = geom.Vec3{X: rng.Float32()*0.6 - 0.3, Z: rng.Float32()*0.6 - 0.3}
			if i%2 == 0 {
				step[i] = geom.Vec3{X: float32(rng.IntN(77)-38) / 128, Z: float32(rng.IntN(77)-38) / 128}
			}
		}
		var got []tick.Tick // what the client holds, oldest first
		one, three, decoded := 0, 0, 0
		for n := range snapshots {
			now := tick.Tick(interval * (n + 1))
			f := ring.Begin(now)
			row := make([]int32, PublicFields)
			for i := range players {
				players[i].Pos = players[i].Pos.Add(step[i])
				players[i].Row(row)
				f.Set(i, netid.Make(i, 1), row)
			}
			enc.Begin(f, ring)
			var base snapshot.Baselines
			for i := range base { // of those that are 100 ms old, which acks have told of by now
				if k := len(got) - 2 - i; k >= 0 && got[k]+snapshot.MaxSpacing*interval > now {
					base[i] = got[k]
				}
			}
			if rng.IntN(5) == 0 {
				continue // lost
			}
			for g := range ring.Groups() {
				block := enc.Group(g, base)
				run := snapshot.Run{First: g, Count: 1, Baselines: base}
				if err := dec.Section(now, append(snapshot.AppendRun(nil, run, now, interval),
					block...)); err != nil || !dec.At(now).GroupEqual(f, g) {
					t.Fatalf("%v, tick %d, group %d against %d: %v", codec, now, g, base, err)
				}
				if decoded++; base[2] != 0 {
					three += len(block)
					one += len(enc.Group(g, snapshot.Baselines{base[0]}))
				}
			}
			got = append(got, now)
		}
		t.Logf("%v: %d bytes against one baseline, %d against three: %.0f %%; %d blocks", codec, one, three,
			100*float64(three)/float64(one), decoded)
		if three == 0 || float64(three) > 0.6*float64(one) {
			t.Errorf("%v: three baselines take %d bytes, one takes %d", codec, three, one)
		}
	}
}
