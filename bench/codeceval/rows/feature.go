package rows

import "math/bits"

// featureOp is a way to get a small number that tells what to expect.
type featureOp uint8

const (
	featNone      featureOp = iota // nothing: 0
	featStill                      // in which of the older intervals field a changed, a bit each
	featTrend                      // size and sign of how far field a moved from held frame c to b
	featTrendSize                  // its size, finer
	// Size of how much more field a moved from held frame b to the newest than from c to b.
	featBend
	featBendSign  // the same with its sign, coarser
	featStep      // size and sign of what the target is predicted to do
	featStepSize  // its size, finer
	featWrong     // size and sign of the error of field a, told already
	featWrongSize // its size, finer
	featMoved     // size and sign of how far field a moved, told already
	featFresh     // field a, told already, where it is small
	featHeld      // field a as it was, where it is small
	featSize      // size and sign of field a as it was
	featAge       // how long ago the stamp a, told already, was
	featHeldAge   // how long before now the stamp a, as it was, was
	// Size and sign of the error of field a in the nearest row that had errors.
	featMate
	// Size and sign of the error of field a in the first row that had errors.
	featLead
	featMateSize // its size, finer
	featAbove    // which of the rows before had errors
	// Which groups of fields told already had errors: four of them from a on.
	featEntry
	featOps
)

// states is how many values a feature has.
const states = 16

// feature is one such number. What a, b and c mean depends on op.
type feature struct {
	op      featureOp
	a, b, c uint8
	id      uint16 // place in a row's memo; 0 for one that changes while a row is told
}

// lasts reports whether the feature stays the same from when it is known until the row is told.
func (x feature) lasts() bool {
	switch x.op {
	case featNone, featStep, featStepSize, featEntry:
		return false
	default:
		return true
	}
}

// ask returns the feature's value, worked out at most once a row.
func (x *feature) ask(r *row, fields []Field) uint32 {
	if x.id == 0 {
		return x.value(r, fields)
	}
	if m := r.memo[x.id]; m>>4 == r.serial {
		return uint32(m & (states - 1))
	}
	v := x.value(r, fields)
	r.memo[x.id] = r.serial<<4 | uint16(v)
	return v
}

// value is in [0, states).
func (x *feature) value(r *row, fields []Field) uint32 {
	a := int(x.a)
	switch x.op {
	case featStill:
		n := uint32(0)
		for i := range 4 {
			if r.held[i][a] != r.held[i+1][a] {
				n |= 1 << i
			}
		}
		return n
	case featTrend:
		return signed(away(r.held[x.b][a], r.held[x.c][a], fields[a].mod()))
	case featBend:
		mod := fields[a].mod()
		return size(away(away(r.held[0][a], r.held[x.b][a], mod), away(r.held[x.b][a], r.held[x.c][a], mod), mod))
	case featBendSign:
		mod := fields[a].mod()
		return signed(away(away(r.held[0][a], r.held[x.b][a], mod), away(r.held[x.b][a], r.held[x.c][a], mod), mod))
	case featStep:
		return signed(r.step)
	case featWrong:
		return signed(r.wrong[a])
	case featWrongSize:
		return size(r.wrong[a])
	case featTrendSize:
		return size(away(r.held[x.b][a], r.held[x.c][a], fields[a].mod()))
	case featStepSize:
		return size(r.step)
	case featMoved:
		return signed(r.moved[a])
	case featFresh:
		return min(uint32(r.fresh[a]), states-1)
	case featHeld:
		return min(uint32(r.held[0][a]), states-1)
	case featSize:
		return signed(r.held[0][a])
	case featAge:
		return since(r.now - r.fresh[a])
	case featHeldAge:
		return since(r.now - r.held[0][a])
	case featMate:
		return signed(r.mate[a])
	case featLead:
		return signed(r.lead[a])
	case featMateSize:
		return size(r.mate[a])
	case featAbove:
		return r.above & (states - 1)
	case featEntry:
		return r.entry >> (a & 31) & (states - 1)
	default:
		return 0
	}
}

// signed sorts numbers into 15 classes: 0, and per sign 1, 2 to 3, to 8, to 20, to 60, to 200, and
// more.
func signed(v int32) uint32 { return uint32(signedClass[min(max(v, -classEnd), classEnd)+classEnd]) }

// size sorts numbers by magnitude into 16 classes, two for each power of two.
func size(v int32) uint32 { return uint32(sizeClass[min(max(v, -classEnd), classEnd)+classEnd]) }

// classEnd is a number beyond which neither signed nor size makes a difference.
const classEnd = 256

var signedClass, sizeClass = makeClasses()

func makeClasses() (signs, sizes [2*classEnd + 1]uint8) {
	for v := -classEnd; v <= classEnd; v++ {
		n, class, minus := max(v, -v), 0, 0
		for _, end := range []int{1, 2, 4, 9, 21, 61, 201} {
			if n >= end {
				class++
			}
		}
		if v < 0 {
			minus = 1
		}
		signs[v+classEnd] = uint8(max(2*class-1+minus, 0))
		if sizes[v+classEnd] = uint8(n); n >= 4 {
			l := bits.Len(uint(n))
			sizes[v+classEnd] = uint8(min(2*l-2+n>>(l-2)&1, states-1))
		}
	}
	return signs, sizes
}

// since sorts ages: the first ticks one by one, then coarser.
func since(v int32) uint32 {
	switch {
	case v < 0:
		return 0
	case v < 10:
		return uint32(v)
	case v < 15:
		return 10
	case v < 25:
		return 11
	case v < 40:
		return 12
	case v < 80:
		return 13
	case v < 200:
		return 14
	default:
		return 15
	}
}
