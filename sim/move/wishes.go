package move

import (
	"math"
	"slices"
	"unsafe"

	"github.com/tickrate/tickrate/sim/arena"
)

// gaits are the ways to move: 0 not at all, 1 walking, 2 sprinting; 3 is none.
const gaits = 4

// locoTerms are the numbers of a body's state of locomotion at a tick rate.
type locoTerms struct {
	friction    float32        // 1/s
	most        [gaits]float32 // m/s that a tick may add along the wish
	keepY, addY float32        // gravity: y of the velocity becomes y*keepY + addY
	lowestY     float32        // and no less than this
}

var _ [32]byte = [unsafe.Sizeof(locoTerms{})]byte{}

// bodyTerms are the numbers of a body at a tick rate that the phases read.
type bodyTerms struct {
	speed    [gaits]float32
	strideSq float32 // of the longest way that the broad phase may free
	// The broad phase, in arena's lanes: how far the body reaches aside for what it may touch and
	// for what it may step on, with margins, in each lane; its height; how high it steps.
	touch, step uint64
	tall        float32
	steps       int
}

// lowest is below any velocity.
const lowest = -1e9

// prepare takes the arguments of a call, and makes the tables that follow from bodies and rate
// unless they are those of the last call.
func (b *Batch) prepare(bodies []*Body, a *arena.Arena, rate uint16) {
	b.arena, b.collider.arena = a, a
	if b.rate == rate && slices.Equal(b.bodies, bodies) {
		return
	}
	b.rate, b.dt = rate, 1/float32(rate)
	b.bodies = append(b.bodies[:0], bodies...)
	b.terms, b.locos, b.changes = b.terms[:0], b.locos[:0], b.changes[:0]
	for _, body := range bodies {
		locos, changes := body.locoTerms(b.dt), body.changeTerms(rate)
		b.terms, b.locos = append(b.terms, body.terms(b.dt)), append(b.locos, locos[:]...)
		b.changes = append(b.changes, changes[:]...)
	}
}

// terms works the tables of a body out.
func (b *Body) terms(dt float32) bodyTerms {
	stride := 0.99 * TopSpeed * dt // what is free is rounded without a limit
	t := bodyTerms{speed: [gaits]float32{b.walk, b.walk, b.run, b.run},
		strideSq: min(b.strideSq, stride*stride),
		// what is a radius away is not touched
		touch: uint64(float32(b.radius/arena.LaneUnit)-1) * arena.EachLane,
		step:  uint64((b.radius+margin)/arena.LaneUnit) * arena.EachLane,
		tall:  b.height / arena.Unit, steps: int((b.stepTop+margin)/arena.Unit) + 2}
	if b.radius+margin > arena.Beside {
		t.strideSq = -1
	}
	return t
}

// locoTerms works the numbers of the states up to Dead out.
func (b *Body) locoTerms(dt float32) (of [locos + 1]locoTerms) {
	most := func(accel float32) [gaits]float32 {
		return [gaits]float32{0, dt * accel * b.walk, dt * accel * b.run}
	}
	walk := locoTerms{friction: b.friction, most: most(b.accel), lowestY: lowest} // y: see resolve
	of[Stand], of[GroundMove] = walk, walk
	rise := locoTerms{friction: b.airFriction, most: most(b.airAccel), addY: b.jumpSpeed, lowestY: lowest}
	of[Jumping], of[DoubleJump] = rise, rise
	fall := locoTerms{friction: b.airFriction, most: most(b.airAccel), keepY: 1,
		addY: -float32(b.gravity * dt), lowestY: -b.fallSpeed}
	of[InAir] = fall
	fall.friction, fall.most = b.friction, [gaits]float32{}
	of[Dead] = fall
	return of
}

// changeTerms say when a body's state of locomotion changes for another reason than a walker's
// wish: after some ticks, or at a fresh press of the jump key with fewer jumps behind it.
type changeTerms struct{ ticks, jumps uint32 }

// never is more ticks than a state counts.
const never = 1 << 16

// changeTerms works the numbers of all states out. What no state is counts as one that ends.
func (b *Body) changeTerms(rate uint16) (of [locos + 1]changeTerms) {
	rise := changeTerms{ticks: uint32(math.Ceil(float64(rate) * float64(b.jumpMillis) / 1000))} // see passed
	of[Jumping], of[DoubleJump] = rise, rise
	of[Stand].ticks, of[InAir].ticks, of[Dead].ticks = never, never, never
	if b.jumps > 0 {
		of[Stand].jumps = 1 << 8 // however many: a walker's first
	}
	if b.jumps > 1 {
		of[InAir].jumps = uint32(b.jumps)
	}
	of[GroundMove] = of[Stand]
	return of
}

// change advances the states of locomotion that change for another reason than a walker's wish. It
// steps rocket jumps and rows with movers near alone, and lists them in alone.
func (b *Batch) change() {
	r, count := &b.rows, 0
	n := len(r.State)
	state, inputs, who := r.State[:n], r.In[:n], r.Who[:n]
	for i := range state {
		s := &state[i]
		t := &b.changes[uint(who[i].Body)<<3|uint(min(s.Loco, locos))]
		fresh := int(inputs[i].Buttons &^ s.Held & Jump)
		b.changing[count&(batchRows-1)] = uint8(i)
		count += one(uint32(s.Since) >= t.ticks) | fresh&one(uint32(s.Jumps) < t.jumps)
	}
	b.alone = b.memory[:0]
	if b.arena.Moves() {
		count = b.stepNearMovers(count)
	}
	for _, i := range b.changing[:count] {
		if s := &state[i]; s.Loco > Dead {
			b.stepRow(int(i))
			b.alone = append(b.alone, aloneRow{i, *s})
		} else {
			b.bodies[who[i].Body].advance(s, &inputs[i], b.rate)
		}
	}
}

// stepNearMovers steps the rows alone that have movers near, and takes them out of the first count of
// changing. It returns how many are left.
func (b *Batch) stepNearMovers(count int) (left int) {
	var stepped [batchRows]bool
	for i := range b.rows.Pos {
		if p := &b.rows.Pos[i]; b.arena.MoversNear(p.X, p.Z) != 0 {
			stepped[i] = true
			b.stepRow(i)
			b.alone = append(b.alone, aloneRow{uint8(i), b.rows.State[i]})
		}
	}
	for _, i := range b.changing[:count] {
		if !stepped[i] {
			b.changing[left] = i
			left++
		}
	}
	return left
}

// wishes is the first phase: the next state of locomotion of each row, its ticks counted as of a
// state that the tick does not end, and the columns that follow from it and from the input.
func (b *Batch) wishes() {
	b.change()
	r, c := &b.rows, &b.columns
	n := len(r.Vel)
	vel, state, inputs, who := r.Vel[:n], r.State[:n], r.In[:n], r.Who[:n]
	velX, velY, velZ := c.velX[:n], c.velY[:n], c.velZ[:n]
	wish, angles, kinds, modes := c.wish[:n], c.angles[:n], c.kinds[:n], c.modes[:n]
	for i := range vel {
		t, v, s, in := &b.terms[who[i].Body], &vel[i], &state[i], &inputs[i] // copies would wait
		walks := s.hold(in)
		g := in.gait()
		kinds[i] = uint8(walks)
		velX[i], velY[i], velZ[i] = v.X, v.Y, v.Z
		modes[i] = mode{uint16(who[i].Body)<<3 | uint16(s.Loco), uint16(g)}
		angles[i], wish[i] = in.wishYaw(), in.wishSpeed(t.speed[g&(gaits-1)])
	}
	for i := range b.alone {
		kinds[b.alone[i].row] = stepped
	}
}

// hold is advance for a state that only a walker's wish may change, and counts the tick. It returns
// 1 for a walker.
func (s *State) hold(in *Input) (walks int) {
	next, held := s.Loco, in.Buttons&Jump
	if s.Loco <= GroundMove {
		next = Loco(one(in.MoveMag > 0)) // Stand or GroundMove
	}
	if s.Loco == Dead {
		held = 0
	}
	walks = one(next <= GroundMove)
	since := s.Since & -uint16(one(next == s.Loco))
	s.Loco, s.Jumps, s.Held = next, s.Jumps&uint8(walks-1), held
	s.Since = since + uint16(one(since != 1<<16-1))
	return walks
}

// gait is 0, 1 or 2 without a branch: whether a player sprints cannot be predicted.
func (in *Input) gait() uint {
	moves := one(in.MoveMag > 0)
	// MoveYaw is below 64 or above 192
	ahead := one(in.MoveYaw+63 < 127)
	return uint(moves + moves&ahead&int(in.Buttons/Sprint))
}
