package move

import (
	"math"
	"slices"
	"unsafe"

	"github.com/tickrate/tickrate/ecs/geom"
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
	b.arena, b.mover.arena = a, a
	if b.rate == rate && slices.Equal(b.bodies, bodies) {
		return
	}
	b.rate, b.dt = rate, 1/float32(rate)
	b.bodies = append(b.bodies[:0], bodies...)
	b.terms, b.locos = b.terms[:0], b.locos[:0]
	for _, body := range bodies {
		of := body.locoTerms(b.dt)
		b.terms, b.locos = append(b.terms, body.terms(b.dt)), append(b.locos, of[:]...)
	}
}

// terms works the tables of a body out.
func (b *Body) terms(dt float32) bodyTerms {
	stride := 0.99 * TopSpeed * dt // what is free is rounded without a limit
	t := bodyTerms{speed: [gaits]float32{b.walk, b.walk, b.run, b.run},
		strideSq: min(b.strideSq, stride*stride),
		// What is just a radius away is not touched; a lane holds what is less far.
		touch: uint64(float32((b.radius-skin/2)/arena.LaneUnit)-1) * arena.EachLane,
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

// wishes is the first phase: the next state of locomotion of each row, and the columns that follow
// from it and from the input. It steps rows that are not as a tick leaves them, and rocket jumps,
// alone and returns them.
func (b *Batch) wishes() (alone []uint8) {
	r, c := &b.rows, &b.columns
	n, count := len(r.Pos), 0
	pos, vel, state, inputs, who := r.Pos[:n], r.Vel[:n], r.State[:n], r.In[:n], r.Who[:n]
	velX, velY, velZ := c.velX[:n], c.velY[:n], c.velZ[:n]
	wish, angles, kinds, modes := c.wish[:n], c.angles[:n], c.kinds[:n], c.modes[:n]
	for i := range pos {
		t, v, s, in := &b.terms[who[i].Body], &vel[i], &state[i], &inputs[i] // copies would wait
		if s.Loco > Dead || !onGrid(&pos[i], v) {
			b.stepRow(i)
			kinds[i], modes[i], b.stepped[count&(batchRows-1)] = stepped, mode{}, uint8(i)
			count++
			continue
		}
		if fresh := in.Buttons &^ s.Held & Jump; s.Loco|Loco(fresh) <= GroundMove && fresh == 0 {
			s.walk(in) // as advance does, for most rows
		} else {
			in = b.bodies[who[i].Body].advance(s, in, b.rate)
		}
		g := in.gait()
		kinds[i] = uint8(one(s.Loco <= GroundMove))
		velX[i], velY[i], velZ[i] = v.X, v.Y, v.Z
		modes[i] = mode{uint16(who[i].Body)<<3 | uint16(s.Loco), uint16(g)}
		angles[i], wish[i] = in.wishYaw(), in.wishSpeed(t.speed[g&(gaits-1)])
	}
	return b.stepped[:count]
}

// walk is advance for a body on the ground that does not jump.
func (s *State) walk(in *Input) {
	next := Loco(one(in.MoveMag > 0)) // Stand or GroundMove
	s.Since &= -uint16(one(next == s.Loco))
	s.Loco, s.Jumps, s.Held = next, 0, in.Buttons&Jump
}

// gait is 0, 1 or 2 without a branch: whether a player sprints cannot be predicted.
func (in *Input) gait() uint {
	moves := one(in.MoveMag > 0)
	// MoveYaw is below 64 or above 192
	ahead := one(in.MoveYaw+63 < 127)
	return uint(moves + moves&ahead&int(in.Buttons/Sprint))
}

// onGrid reports whether a position and a velocity are as Round leaves them, but for the sign of a
// zero. It is what every tick begins with, unless something else moved the body.
func onGrid(p, v *geom.Vec3) bool {
	off := offGrid(p.X, posMagic) | offGrid(p.Y, posMagic) | offGrid(p.Z, posMagic) |
		offGrid(v.X, velMagic) | offGrid(v.Y, velMagic) | offGrid(v.Z, velMagic)
	fast := tooFast(v.X) | tooFast(v.Y) | tooFast(v.Z)
	return off<<1 == 0 && fast >= 0
}

// offGrid has a bit besides the highest if rounding changes x, and for infinities and NaN.
func offGrid(x float32, magic float64) uint64 {
	d := float64(x)
	return math.Float64bits((d + magic) - magic - d)
}

// tooFast is negative for what cleanVelocity limits.
func tooFast(v float32) int32 {
	return int32(math.Float32bits(TopSpeed) - math.Float32bits(geom.Abs(v)))
}
