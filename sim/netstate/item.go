package netstate

import (
	"github.com/tickrate/tickrate/sim"
)

// Item is the class of items: Pos is the foot, Level the kind of the game's Items. While it is
// taken, Phase is 1, Owner the player that has it, Born the tick of the pickup, and Span the ticks
// until it is there again, at most maxSpan.
const Item = firstDeclared + 1

// maxSpan is the greatest Span.
const maxSpan = 4095

func init() {
	declareClass("item", StaticClass{Item, sim.Items, func(o *ObjectState, m *sim.Match, i int) {
		t, _ := sim.ItemOf(m, i)
		*o = declared(Item)
		o.Pos, o.Level = t.Pos, uint16(t.Kind)
		if t.Taken != 0 {
			o.Phase, o.Owner = 1, uint32(t.By)
			o.Born, o.Span = uint16(t.Taken), uint16(min(t.Back-t.Taken, maxSpan))
		}
	}})
}
