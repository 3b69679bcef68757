package effect

import (
	"errors"
	"math"
	"math/bits"

	"github.com/tickrate/tickrate/compress/bitio"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim/arena"
)

// Specification of told effects on the wire.
const (
	MaxItems  = 32     // effects of a part
	LifeParts = 4      // an effect is told for a second divided by this
	Range     = 40     // metres: impacts beyond are not told
	IDWindow  = 64     // ids that are in use at a time
	placeUnit = 1. / 8 // metres

	maxCount  = 9   // equal effects that one tells
	speedUnit = 0.5 // m/s
	maxPoints = 1<<10 - 1
	maxSpeed  = 1<<8 - 1 // speedUnit
)

// Widths of numbers, in bits.
const (
	countBits  = 5
	idBits     = 8
	gapBits    = 6
	kindBits   = 2
	equalBits  = 3
	boneBits   = 5
	causeBits  = 3
	yawBits    = 8
	pitchBits  = 7
	speedBits  = 8
	pointsBits = 10
)

// wireDamage is the kind of damage on the wire; those below it are the surfaces of impacts.
const wireDamage = uint64(surfaces)

// ErrPart says that the effects of a snapshot are not valid.
var ErrPart = errors.New("effects are cut short, or beyond the players, bones, map or time")

// Life is how long an effect is told, in ticks.
func Life(rate tick.Rate) tick.Tick { return max(1, tick.Tick(rate)/LifeParts) }

// Item is an effect as it is told to one client. Players are slots on the wire.
type Item struct {
	Effect
	ID         uint8 // counts the effects told to the client, modulo 256
	SourceSlot int16 // -1: none, or hidden from the client
	TargetSlot int16 // of an impact on a player
}

// Format is the layout of told effects in a match. It follows from what both ends know.
type Format struct {
	slots int
	life  tick.Tick
	rate  tick.Rate
	min   geom.Vec3
	top   [3]uint64 // greatest number of each axis
	place [3]uint   // bits of each axis
	slot  uint      // bits of a slot
	age   uint      // bits of an age
}

// NewFormat returns the layout for a lobby of slots, a map and a tick rate.
func NewFormat(slots int, bounds geom.AABB, rate tick.Rate) Format {
	f := Format{slots: slots, life: Life(rate), rate: rate, min: bounds.Min}
	f.slot = uint(bits.Len(uint(slots - 1)))
	f.age = uint(bits.Len(uint(f.life)))
	size := bounds.Max.Sub(bounds.Min)
	for i, v := range [3]float32{size.X, size.Y, size.Z} {
		f.top[i] = uint64(math.Ceil(float64(v / placeUnit)))
		f.place[i] = uint(bits.Len64(f.top[i]))
	}
	return f
}

// Bits of a part before its first effect, and most bits after its last.
const (
	HeadBits = countBits + idBits
	FillBits = 7
)

// Bits is the most bits that an effect takes.
func (f *Format) Bits(e *Effect) int {
	n := 1 + gapBits + f.age + kindBits + 1 + f.slot
	switch {
	case e.Kind == Damage:
		return int(n + causeBits + 1 + yawBits + pitchBits + speedBits + pointsBits)
	case e.Surface == Player:
		return int(n + 1 + equalBits + f.slot + boneBits)
	}
	return int(n + 1 + equalBits + f.place[0] + f.place[1] + f.place[2])
}

// Append appends a part: 1 to MaxItems effects, none older than Life at tick now, their ids
// ascending by less than IDWindow.
//
//	5  count - 1
//	8  id of the first
//	   each effect:
//	1  but of the first: 0: the id is one more than that of the effect before; 1: 6 bits, by how much
//	n  age: ticks before the snapshot
//	2  0 to 2: an impact, its Surface; 3: damage
//	1  1: the source's slot follows
//	   an impact:
//	1  1: 3 bits follow, its Count less 2
//	n  on a player: its slot, then 5 bits of bone; else x, y, z in 1/8 m from the map's least corner
//	   damage, see appendDamage
func (f *Format) Append(dst []byte, now tick.Tick, items []Item) []byte {
	var w bitio.Writer
	w.Reset(dst)
	w.Bits(uint64(len(items)-1), countBits)
	w.Bits(uint64(items[0].ID), idBits)
	for i := range items {
		e := &items[i]
		switch gap := e.ID - items[max(i-1, 0)].ID; {
		case i == 0:
		case gap == 1:
			w.Bits(0, 1)
		default:
			w.Bits(1|uint64(gap)<<1, 1+gapBits)
		}
		w.Bits(uint64(now-e.Tick), f.age)
		kind := uint64(e.Surface)
		if e.Kind == Damage {
			kind = wireDamage
		}
		w.Bits(kind, kindBits)
		if e.SourceSlot < 0 {
			w.Bits(0, 1)
		} else {
			w.Bits(1|uint64(e.SourceSlot)<<1, 1+f.slot)
		}
		if kind == wireDamage {
			appendDamage(&w, &e.Effect)
		} else {
			f.appendImpact(&w, e)
		}
	}
	return w.Bytes()
}

func (f *Format) appendImpact(w *bitio.Writer, e *Item) {
	if e.Count < 2 {
		w.Bits(0, 1)
	} else {
		w.Bits(1|uint64(min(e.Count, maxCount)-2)<<1, 1+equalBits)
	}
	if e.Surface == Player {
		w.Bits(uint64(e.TargetSlot), f.slot)
		w.Bits(uint64(e.Bone), boneBits)
		return
	}
	for i, n := range f.numbers(e.Pos) {
		w.Bits(n, f.place[i])
	}
}

// numbers is a place on the wire, and placeOf the reverse.
func (f *Format) numbers(p geom.Vec3) (n [3]uint64) {
	p = p.Sub(f.min)
	for i, v := range [3]float32{p.X, p.Y, p.Z} {
		n[i] = uint64(min(max(float32(v*(1/placeUnit))+0.5, 0), float32(f.top[i])))
	}
	return n
}

func (f *Format) placeOf(n [3]uint64) geom.Vec3 {
	return f.min.Mad(geom.Vec3{X: float32(n[0]), Y: float32(n[1]), Z: float32(n[2])}, placeUnit)
}

// Fit is a place of the wire near an impact on the map at which Locate finds the surface that was
// struck: beside an edge the nearest place may lie nearer to another surface.
func (f *Format) Fit(a *arena.Arena, e *Effect) geom.Vec3 {
	const half, whole = placeUnit / 2, placeUnit
	now := arena.Moment{Tick: e.Tick, Rate: f.rate}
	n := e.Dir
	side := geom.Vec3{X: 1 - geom.Abs(n.X), Z: 1 - geom.Abs(n.Z)}.Scale(whole)
	up := geom.Vec3{Y: float32((1 - geom.Abs(n.Y)) * whole)}
	for _, aside := range [...]geom.Vec3{{}, up, up.Scale(-1), side, side.Scale(-1), up.Add(side),
		up.Sub(side), up.Scale(2)} {
		for _, lift := range [...]float32{half, 0, whole} {
			at := f.placeOf(f.numbers(e.Pos.Mad(n, lift).Add(aside)))
			if _, faces, ok := a.SurfaceAt(at, markReach, now); ok && faces.Dot(n) > sameWay {
				return at
			}
		}
	}
	return e.Pos
}

// Locate is the place and the normal of an impact on the map, from its place on the wire.
func (f *Format) Locate(a *arena.Arena, e *Effect) {
	now := arena.Moment{Tick: e.Tick, Rate: f.rate}
	if at, n, ok := a.SurfaceAt(e.Pos, markReach, now); ok {
		e.Pos, e.Dir = at, n
	}
}

// Bounds of Fit and Locate: from a surface, in metres, and between two normals.
const (
	markReach = 0.5
	sameWay   = 0.9
)

// appendDamage writes damage.
//
//	 3  cause
//	 1  1: a direction follows: 8 bits of yaw, 1/256 turn; 7 of pitch, from straight down on, 1/128 of
//	    half a turn
//	 8  impulse, 1/2 m/s
//	10  points
func appendDamage(w *bitio.Writer, e *Effect) {
	w.Bits(uint64(e.Cause), causeBits)
	if e.Dir == (geom.Vec3{}) {
		w.Bits(0, 1)
	} else {
		yaw, pitch := anglesOf(e.Dir)
		w.Bits(1|uint64(yaw)<<1|uint64(pitch)<<(1+yawBits), 1+yawBits+pitchBits)
	}
	w.Bits(uint64(min(max(e.Strength/speedUnit+0.5, 0), maxSpeed)), speedBits)
	w.Bits(uint64(min(e.Amount, maxPoints)), pointsBits)
}

// anglesOf is the direction of d on the wire.
func anglesOf(d geom.Vec3) (yaw, pitch uint8) {
	around := math.Atan2(float64(d.X), float64(d.Z)) / (2 * math.Pi) * (1 << yawBits)
	up := math.Asin(float64(min(max(d.Y, -1), 1)))/math.Pi + 0.5
	return uint8(int(math.Round(around))), uint8(min(math.Round(up*(1<<pitchBits)), 1<<pitchBits-1))
}

// directionOf is the reverse of anglesOf.
func directionOf(yaw, pitch uint64) geom.Vec3 {
	const half = geom.Turn / 2
	return geom.Forward(geom.Angle(yaw<<(16-yawBits)), geom.Angle(int(pitch)*half>>pitchBits-half/2))
}
