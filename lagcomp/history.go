package lagcomp

import (
	"fmt"
	"unsafe"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp/internal/kernel"
	"github.com/tickrate/tickrate/lagcomp/rig"
)

// MinTicks is the shortest rewind that a History is made for, a second at 128 Hz.
const MinTicks = 128

// RowBytes is what a History keeps of a player at a tick: its pose, and 16 bytes for the broad
// phase.
const RowBytes = unsafe.Sizeof(rig.Pose{}) + 4*unsafe.Sizeof(float32(0))

var _ [48]byte = [RowBytes]byte{}

// History is a ring of frames, one a tick. The broad phase reads columns, one row a slot; the
// narrow phase reads whole poses, half a cache line each.
type History struct {
	slots   int
	newest  tick.Tick
	frames  []frame // tick t is in frames[t % len]
	allRows []int32 // 0, 1, 2, ...
	bodies  *bodies
	order   []int32 // of the queries at hand, grouped by frame
	places  []int32 // by frame: where its queries begin in order
}

// frame is all players at one tick.
type frame struct {
	tick, previous tick.Tick // 0: never written; previous was recorded before it
	rowCount       int       // rows from here on are empty
	x, y, z        []float32 // feet
	// negated square of the bound's radius; kernel.Never for rows without a living player
	nr2          []float32
	rows         []rig.Pose
	used         kernel.Spheres // the first rowCount rows
	displacement displacement   // from the previous frame
	bodies       *bodies        // of the history
}

// NewHistory is NewHistoryOf for the heroes of the match.
func NewHistory(slots, ticks int) *History { return NewHistoryOf(rig.HeroBodies, slots, ticks) }

// NewHistoryOf makes a history of slots rows that reaches at least ticks back from the newest tick,
// and never less than MinTicks, of bodies that are hit by the shapes in a table. All memory is
// allocated here: RowBytes a slot and tick. It panics without slots or bodies.
func NewHistoryOf(b *rig.Bodies, slots, ticks int) *History {
	if slots < 1 || b == nil || b.Widest() == 0 {
		panic(fmt.Sprintf("lagcomp: NewHistory of %d slots, with bodies: %v; want 1 slot or more, and bodies of rig.NewBodies",
			slots, b != nil && b.Widest() > 0))
	}
	h := &History{slots: slots, frames: make([]frame, max(ticks, MinTicks)+1), bodies: newBodies(b)}
	for i := range h.frames {
		h.frames[i] = newFrame(slots)
		h.frames[i].bodies = h.bodies
	}
	h.allRows = make([]int32, slots)
	h.order, h.places = make([]int32, max(slots, 64)), make([]int32, len(h.frames))
	for i := range h.allRows {
		h.allRows[i] = int32(i)
	}
	return h
}

func newFrame(slots int) frame {
	const line = 16 // columns begin with a cache line each
	stride := (slots + line - 1) / line * line
	axes := make([]float32, 4*stride)
	column := func(i int) []float32 { return axes[i*stride:][:slots:slots] }
	return frame{x: column(0), y: column(1), z: column(2), nr2: column(3), rows: make([]rig.Pose, slots)}
}

// Record copies the poses of tick t, which must be newer than the last: poses[i] is slot i, an ID
// of 0 an empty slot. Slots beyond len(poses) are empty. It panics if there are more poses than
// slots, or t is not newer.
func (h *History) Record(t tick.Tick, poses []rig.Pose) {
	if t <= h.newest || len(poses) > h.slots {
		panic(fmt.Sprintf("lagcomp: Record of tick %d after %d, %d poses in %d slots: want a later tick and no more poses",
			t, h.newest, len(poses), h.slots))
	}
	f := &h.frames[int(t)%len(h.frames)]
	f.tick, f.previous, f.displacement.to = t, h.newest, 0
	if used := f.fill(poses); used != f.rowCount || f.used.X == nil {
		f.rowCount, f.used = used, f.spheres(used)
	}
	h.newest = t
}

// bodies is what a history's bodies are made of, for both phases.
type bodies struct {
	*rig.Bodies
	radii  [16]float32 // of the broad phase, negated and squared, by alive<<3 | build
	widest float32     // the largest radius, in metres
}

func newBodies(b *rig.Bodies) *bodies {
	all := &bodies{Bodies: b, widest: b.Widest()}
	for build := range rig.MaxBuilds {
		radius := b.Radius(uint8(build))
		all.radii[build], all.radii[build|8] = kernel.Never, -float32(radius*radius)
	}
	return all
}

// kernelRows is poses as the kernel takes them.
func kernelRows(poses []rig.Pose) []kernel.Row {
	return unsafe.Slice((*kernel.Row)(unsafe.Pointer(unsafe.SliceData(poses))), len(poses))
}

// Offsets that the kernel relies on.
var (
	_ [0]byte  = [unsafe.Offsetof(rig.Pose{}.Pos)]byte{}
	_ [16]byte = [unsafe.Offsetof(rig.Pose{}.Flags)]byte{}
	_ [20]byte = [unsafe.Offsetof(rig.Pose{}.ID)]byte{}
	_ [24]byte = [unsafe.Offsetof(rig.Pose{}.Form)]byte{}
)

// fill copies poses into the first rows and returns how many rows are in use. It has no branch on
// the poses: dead and absent players are spread at random.
func (f *frame) fill(poses []rig.Pose) (used int) {
	n := len(poses)
	x, y, z, nr2 := f.x[:n], f.y[:n], f.z[:n], f.nr2[:n]
	c := kernel.Spheres{X: x, Y: y, Z: z, NR2: nr2}
	done := kernel.SplitRows(kernelRows(poses), kernelRows(f.rows), &c, &f.bodies.radii)
	copy(f.rows[done:], poses[done:])
	for i := done; i < n; i++ {
		p := &poses[i]
		alive := uint32(^p.Flags&rig.FlagDead) & ((p.ID | -p.ID) >> 31)
		x[i], y[i], z[i] = p.Pos.X, p.Pos.Y, p.Pos.Z
		nr2[i] = f.bodies.radii[(alive<<3|uint32(p.Form>>3&7))&15]
	}
	for used = n; used > 0 && poses[used-1].ID == 0; used-- {
	}
	return used
}

var _ [1]byte = [rig.FlagDead]byte{} // fill uses the flag as a number

// Newest is the last recorded tick, 0 before the first.
func (h *History) Newest() tick.Tick { return h.newest }

// Oldest is the oldest tick that may still be held, 0 before the first. It is held if each tick
// was recorded.
func (h *History) Oldest() tick.Tick {
	if reach := tick.Tick(len(h.frames) - 1); h.newest > reach {
		return h.newest - reach
	}
	return min(h.newest, 1)
}

// Slots is the number of slots that the history was made with.
func (h *History) Slots() int { return h.slots }

// Pose returns what was recorded for a slot at tick t, and false if the tick is not held or the
// slot was empty.
func (h *History) Pose(t tick.Tick, slot int) (rig.Pose, bool) {
	f := h.frame(t)
	if f == nil || slot < 0 || slot >= f.rowCount || f.rows[slot].ID == 0 {
		return rig.Pose{}, false
	}
	return f.rows[slot], true
}

// Poses returns what was recorded at tick t, by slot up to the last that is in use; nil if the tick
// is not held. It is read-only, and valid until the next Record.
func (h *History) Poses(t tick.Tick) []rig.Pose {
	f := h.frame(t)
	if f == nil {
		return nil
	}
	return f.rows[:f.rowCount]
}

// At returns what a viewer at v saw in a slot: rig.Lerp of the poses at both ticks. It is false if
// v is not valid, either tick is not held, or the slot was empty at the first.
func (h *History) At(v tick.View, slot int) (rig.Pose, bool) {
	a, b := h.viewFrames(v)
	if a == nil || slot < 0 || slot >= a.rowCount || a.rows[slot].ID == 0 {
		return rig.Pose{}, false
	}
	return lerpRow(a, b, v.Frac, slot), true
}

// Holds reports whether a query about a view can be answered: the view is valid and both of its
// ticks are held. The zero view is not.
func (h *History) Holds(v tick.View) bool {
	a, _ := h.viewFrames(v)
	return a != nil
}

// viewFrames returns the frames of both ticks of a view, or nil if one is not held.
func (h *History) viewFrames(v tick.View) (a, b *frame) {
	if !v.Valid() {
		return nil, nil
	}
	if a, b = h.frame(v.From), h.frame(v.To); a == nil || b == nil {
		return nil, nil
	}
	return a, b
}

// frame returns the frame of tick t, or nil if it is not held.
func (h *History) frame(t tick.Tick) *frame {
	f := &h.frames[uint32(t)%uint32(len(h.frames))]
	if t == 0 || f.tick != t || t < h.Oldest() {
		return nil
	}
	return f
}

// lerpRow is the interpolated pose of a row that is used at a.
func lerpRow(a, b *frame, frac uint8, slot int) rig.Pose {
	if slot >= b.rowCount {
		return a.rows[slot]
	}
	return rig.Lerp(&a.rows[slot], &b.rows[slot], frac)
}

// canHit reports whether a shot may hit the player of a row at all.
func (f *frame) canHit(slot int, shooter uint32, spare Teams) bool {
	p := &f.rows[slot]
	return slot < f.rowCount && p.Alive() && p.ID != shooter && !spare.Has(p.Team())
}

// hittable reports whether a slot holds a living player.
func (f *frame) hittable(slot int) bool { return slot < f.rowCount && f.nr2[slot] != kernel.Never }

// spheres is the first n rows as the kernel takes them.
func (f *frame) spheres(n int) kernel.Spheres {
	return kernel.Spheres{X: f.x[:n], Y: f.y[:n], Z: f.z[:n], NR2: f.nr2[:n]}
}

// rayCandidates lists the rows whose bounds, expanded to a radius, a ray may touch, in out's
// memory.
func (f *frame) rayCandidates(r *geom.Ray, radius float32, out []int32) []int32 {
	way := f.kernelRay(r, radius)
	return f.used.RayCandidates(&way, out)
}

// kernelRay is r as the kernel takes it, for spheres expanded from the bound to a radius. The
// columns hold feet, and bounds are centred BoundHeight above them, so the ray is lowered instead.
func (f *frame) kernelRay(r *geom.Ray, radius float32) kernel.Ray {
	widest := f.bodies.widest
	return kernel.Ray{
		OX: r.Origin.X, OY: r.Origin.Y - rig.BoundHeight, OZ: r.Origin.Z,
		DX: r.Dir.X, DY: r.Dir.Y, DZ: r.Dir.Z, Max: r.Max,
		// more than enough for smaller bounds
		Grow:   float32(radius*radius) - float32(widest*widest),
		Widest: widest,
	}
}
