package netstate

import (
	"slices"
	"testing"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
)

// edgesOf are values of a field at and beside the ends of its range, around zero, and at the ends of
// what its codes tell apart.
func edgesOf(f schema.Field) (all []int32) {
	lo, hi := f.Range()
	for _, v := range []int32{lo, lo + 1, -1, 0, 1, hi - 1, hi} {
		all = append(all, f.Clamp(v))
	}
	for octave := range 31 {
		all = append(all, f.Clamp(1<<octave-1), f.Clamp(1<<octave), f.Clamp(-1<<octave))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// TestRow31EdgesOfTheRows is row 31 of docs/features.md for what lobbies send: every field of
// players and objects goes from each edge of its range to each other one, in new rows and as a
// change, and comes back, by all codecs and the models of this build.
func TestRow31EdgesOfTheRows(t *testing.T) {
	const slots = 16
	for codec := range schema.Codecs {
		models := Trained().WithCodec(codec)
		for _, m := range []*schema.Model{models.Public, models.Objects} {
			ring := snapshot.NewRing(m.Schema(), slots, snapshot.Window+1, 1)
			e, d := snapshot.NewEncoder(m, slots), snapshot.NewDecoder(m, slots, 1)
			fields := m.Schema().Fields
			now, row, got := tick.Tick(0), make([]int32, len(fields)), make([]int32, len(fields))
			send := func(set func(slot int)) {
				now++
				frame, run := ring.Begin(now), snapshot.Run{Count: 1}
				for slot := range slots {
					set(slot)
					frame.Set(slot, netid.Make(slot, uint8(1+now/3%200)), row)
				}
				if now%3 != 0 && codec != schema.Stored { // each third: new rows
					run.Baselines[0] = now - 1
				}
				e.Begin(frame, ring)
				section := append(snapshot.AppendRun(nil, run, now, 1), e.Run(0, 1, run.Baselines)...)
				if err := d.Section(now, section); err != nil {
					t.Fatalf("%v, %s, tick %d: %v", codec, m.Schema().Name, now, err)
				}
				for slot := range slots {
					frame.Row(slot, row)
					if d.At(now).Row(slot, got); !slices.Equal(row, got) {
						t.Fatalf("%v, %s: %v came back as %v", codec, m.Schema().Name, row, got)
					}
				}
			}
			for f := range fields {
				edges := edgesOf(fields[f])
				for from := range edges {
					send(func(slot int) {
						clear(row)
						for k := range row {
							row[k] = fields[k].Clamp(0)
						}
						row[f] = edges[(from+slot*from)%len(edges)]
					})
				}
			}
			send(func(slot int) { // everything at once, as far away as can be
				for k := range row {
					lo, hi := fields[k].Range()
					row[k] = [2]int32{lo, hi}[(slot+k)&1]
				}
			})
		}
	}
}
