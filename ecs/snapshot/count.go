package snapshot

import (
	"math/bits"

	"github.com/tickrate/tickrate/ecs/schema"
)

// count adds the symbols that group would code. It walks the rows a second time so that the encoder itself pays
// nothing when nobody counts.
func (c *codec) count(n *schema.Counts, ids *idLane, lanes []lane, baseIDs *idLane, base []lane) {
	var masks [GroupRows]uint16
	if baseIDs != &empty {
		compare(&masks, lanes, base)
	}
	changed := *ids != *baseIDs
	for r, id := range ids {
		changed = changed || id != 0 && masks[r] != 0
	}
	if !changed {
		return // an idle block has no symbols
	}
	for r := range GroupRows {
		switch id, was := ids[r], baseIDs[r]; {
		case was == 0:
		case id == was:
			n.Masks[0][schema.Update+int(masks[r])]++
			for m := masks[r]; m != 0; m &= m - 1 {
				f := bits.TrailingZeros16(m)
				n.Fields[f][c.coders[f].Symbol(lanes[f][r], base[f][r])]++
			}
		case id == 0:
			n.Masks[0][schema.Gone]++
		default:
			n.Masks[0][schema.Replace]++
		}
	}
}
