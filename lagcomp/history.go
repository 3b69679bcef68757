package lagcomp

import (
	"fmt"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp/internal/kernel"
)

// MinTicks is the shortest rewind a History is made for: one second at the highest rate.
const MinTicks = int(tick.MaxRate)

// History is a ring of frames, one a tick, each a set of columns with one row a slot.
type History struct {
	slots      int
	newest     tick.Tick
	frames     []frame // tick t is in frames[t % len]
	moves      moves
	everyone   []int32 // 0, 1, 2, ...
	candidates []int32 // of the shot at hand
}

// frame is everybody at one tick. What the broad phase reads is apart from what only candidates need.
type frame struct {
	tick       tick.Tick // 0: never written
	used       int       // rows from here on are empty
	x, y, z    []float32 // feet
	nr2        []float32 // negated square of the bound's radius; kernel.Never for the dead and the absent
	keys       []uint64  // Pose.key; 0 is an empty row
	directions []direction
}

type direction struct {
	yaw, pitch    geom.Angle
	phase, stance uint16
}

// NewHistory makes a history of the given number of slots that reaches at least ticks back from the newest, and never
// less than MinTicks. It takes all its memory here: 32 bytes a slot and tick.
func NewHistory(slots, ticks int) *History {
	if slots < 1 {
		panic(fmt.Sprintf("lagcomp: NewHistory of %d slots", slots))
	}
	h := &History{slots: slots, frames: make([]frame, max(ticks, MinTicks)+1)}
	for i := range h.frames {
		h.frames[i] = newFrame(slots)
	}
	h.everyone, h.candidates = make([]int32, slots), make([]int32, 0, slots)
	for i := range h.everyone {
		h.everyone[i] = int32(i)
	}
	return h
}

func newFrame(slots int) frame {
	axes := make([]float32, 4*slots)
	return frame{
		x: axes[:slots:slots], y: axes[slots : 2*slots : 2*slots], z: axes[2*slots : 3*slots : 3*slots], nr2: axes[3*slots:],
		keys: make([]uint64, slots), directions: make([]direction, slots),
	}
}

// Record stores everybody at tick t, which must be newer than the last: poses[i] is slot i, an ID of 0 an empty slot.
// Slots beyond len(poses) are empty. The poses are copied. It panics if there are more poses than slots, or t is not newer.
func (h *History) Record(t tick.Tick, poses []Pose) {
	if t <= h.newest || len(poses) > h.slots {
		panic(fmt.Sprintf("lagcomp: Record of tick %d after %d, %d poses in %d slots", t, h.newest, len(poses), h.slots))
	}
	h.newest = t
	f := &h.frames[int(t)%len(h.frames)]
	f.tick, f.used = t, f.fill(poses)
}

// nr2Of is the broad phase's radius of the dead and of the living.
var nr2Of = [2]float32{kernel.Never, -BoundRadius * BoundRadius}

// fill copies poses into the first rows and returns how many of those are needed. No branch: the dead lie about at random.
func (f *frame) fill(poses []Pose) (used int) {
	n := len(poses)
	x, y, z, nr2, keys, directions := f.x[:n], f.y[:n], f.z[:n], f.nr2[:n], f.keys[:n], f.directions[:n]
	for i := range poses {
		p := &poses[i]
		key := p.key()
		if p.ID == 0 {
			key = 0
		}
		if key != 0 {
			used = i + 1
		}
		x[i], y[i], z[i] = p.Pos.X, p.Pos.Y, p.Pos.Z
		nr2[i] = nr2Of[key&uint64(FlagAlive)]
		keys[i] = key
		directions[i] = direction{p.Yaw, p.Pitch, p.Phase, p.Stance}
	}
	return used
}

// Newest is the last recorded tick, 0 before the first.
func (h *History) Newest() tick.Tick { return h.newest }

// Oldest is the oldest tick that may still be held (if each tick was recorded it is), 0 before the first.
func (h *History) Oldest() tick.Tick {
	if reach := tick.Tick(len(h.frames) - 1); h.newest > reach {
		return h.newest - reach
	}
	return min(h.newest, 1)
}

// Slots is the number of slots the history was made with.
func (h *History) Slots() int { return h.slots }

// Pose returns what was recorded for a slot at tick t, and false if the tick is not held or the slot was empty.
func (h *History) Pose(t tick.Tick, slot int) (Pose, bool) {
	f := h.frame(t)
	if f == nil || slot < 0 || slot >= f.used || f.keys[slot] == 0 {
		return Pose{}, false
	}
	return f.pose(slot), true
}

// At returns what a viewer at v saw in a slot: Lerp of the poses at both ticks. It is false if v is not valid, either
// tick is not held, or the slot was empty at the first.
func (h *History) At(v tick.View, slot int) (Pose, bool) {
	a, b := h.between(v)
	if a == nil || slot < 0 || slot >= a.used || a.keys[slot] == 0 {
		return Pose{}, false
	}
	return lerpRow(a, b, v.Frac, slot), true
}

// between returns the frames of both ticks of a view, or nil if there is no such history.
func (h *History) between(v tick.View) (a, b *frame) {
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
	f := &h.frames[int(t)%len(h.frames)]
	if t == 0 || f.tick != t || t < h.Oldest() {
		return nil
	}
	return f
}

func lerpRow(a, b *frame, frac uint8, slot int) Pose {
	if slot >= b.used {
		return a.pose(slot)
	}
	return Lerp(a.pose(slot), b.pose(slot), frac)
}

// pose puts a row with slot < used together again.
func (f *frame) pose(slot int) Pose {
	key, d := f.keys[slot], f.directions[slot]
	return Pose{
		Pos: geom.Vec3{X: f.x[slot], Y: f.y[slot], Z: f.z[slot]}, Yaw: d.yaw, Pitch: d.pitch,
		Flags: uint16(key), Phase: d.phase, ID: uint32(key >> 32), Stance: d.stance,
	}
}
