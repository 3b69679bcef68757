package snapshot

import (
	"bytes"
	"testing"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/schema"
)

// TestIdleGroupsShareBytes: at most 128 idle groups share a byte, 64 of range-coded blocks, whether
// a run was coded in order or group by group, and the decoder finds them all.
func TestIdleGroupsShareBytes(t *testing.T) {
	const groups, slots = 300, 300 * GroupRows
	for codec, want := range map[schema.Codec][]byte{
		schema.Huffman: {254, 254, 2 * (groups - 2*maxIdle - 1)},
		schema.Range:   {63, 63, 63, 63, groups - 4*maxIdleFew - 1},
	} {
		m := schema.DefaultModel(playerSchema).With(codec)
		ring, e := NewRing(playerSchema, slots, Window, 1), NewEncoder(m, slots)
		k, d := NewTracker(slots, 1), NewDecoder(m, slots, 1)
		row := make([]int32, len(playerSchema.Fields))
		var p Packer
		for now := range ring.interval * 3 {
			now++
			f := ring.Begin(now)
			for g := range groups { // a row in each, which stays
				f.Set(g*GroupRows, netid.Make(g*GroupRows, 1), row)
			}
			e.Begin(f, ring)
			k.Advance(now)
			for p.Begin(e, k, 0, groups); !p.Done(); {
				out, first, count, err := p.Next(nil, 1<<16)
				if err == nil {
					err = d.Section(now, out)
				}
				if err != nil {
					t.Fatalf("%v, tick %d: %v", codec, now, err)
				}
				k.Acked(now, first, count)
			}
			for g := range groups {
				if !d.At(now).GroupEqual(f, g) {
					t.Fatalf("%v, tick %d: group %d differs", codec, now, g)
				}
			}
		}
		if got := e.Run(0, groups, Baselines{2}); !bytes.Equal(got, want) {
			t.Errorf("%v: %d idle groups are %v, want %v", codec, groups, got, want)
		}
		run := Run{First: 0, Count: groups, Baselines: Baselines{2}}
		e.Begin(ring.At(3), ring) // no block in order
		p.encoder, p.interval = e, 1
		if out, count := p.packBlocks(nil, 1<<16, run, e.cache(run.Baselines)); count != groups ||
			!bytes.Equal(out[len(out)-len(want):], want) {
			t.Errorf("%v: %d idle groups one by one are %v, want the end %v", codec, count, out, want)
		}
	}
}
