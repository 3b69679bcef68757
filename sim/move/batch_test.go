package move

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/viterin/vek/vek32"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim/arena"
)

// TestBatchWalks holds StepBodies to Body.Step on the maps that matches are played on, with two
// bodies and two teams, knocks, dead bodies and rocket jumps; with vek's vector code and with its
// plain Go, which other processors run.
func TestBatchWalks(t *testing.T) {
	defer vek32.SetAcceleration(vek32.Info().Acceleration)
	maps := map[string]*arena.Arena{"generated": arena.Generate(300, 7), "town": arena.Town(300, 7)}
	for _, vector := range []bool{true, false} {
		vek32.SetAcceleration(vector)
		for name, a := range maps {
			walkBatch(t, name, a)
		}
	}
}

func walkBatch(t *testing.T, name string, a *arena.Arena) {
	const n, ticks = 300, 400
	r := rand.New(rand.NewPCG(24, 2))
	c, in := crowd(a, n)
	robot := RobotParams()
	robot.Arc = Arc{Speed: 25, StartDegrees: 60, EndDegrees: -40, Millis: 700}
	heroes := []*Body{standard, robot.MustCompile()}
	who, want := make([]BodyTeam, n), make([]Motion, n)
	for i := range who {
		who[i] = BodyTeam{uint8(r.IntN(2)), uint8(r.IntN(2))}
		want[i] = Join(c.Pos[i], c.Vel[i], c.State[i])
	}
	free := 0
	for tick := range uint32(ticks) {
		for i := range in {
			in[i] = wander(uint32(i), tick)
			switch m := &want[i]; r.IntN(400) {
			case 0:
				*m = knocked(*m, geom.Vec3{X: r.Float32()*40 - 20, Y: r.Float32() * 20, Z: r.Float32()*40 - 20})
			case 1:
				*m = Launch(*m, geom.Angle(r.Uint32()))
			case 2:
				m.Loco = Dead
			case 3:
				m.Loco = InAir
			}
			c.Pos[i], c.Vel[i], c.State[i] = Split(want[i])
			want[i] = heroes[who[i].Body].Step(want[i], in[i], who[i].Team, a, atRate(60))
		}
		free += freeRows(Rows{c, in, who}, heroes, a)
		batch.StepBodies(Rows{c, in, who}, heroes, a, atRate(60))
		for i := range want {
			if got := Join(c.Pos[i], c.Vel[i], c.State[i]); !equalBits(got, want[i]) {
				t.Fatalf("%s, tick %d, row %d: columns %+v, Step %+v", name, tick, i, got, want[i])
			}
		}
	}
	if all := batchRows * ticks; free < all/4 || free > all*9/10 {
		t.Errorf("%s: the broad phase freed %d of %d", name, free, all)
	}
}

// freeRows is how many of the first rows the broad phase finishes.
func freeRows(r Rows, bodies []*Body, a *arena.Arena) int {
	var b Batch
	b.prepare(bodies, a, 60)
	b.rows = r.slice(0, batchRows)
	b.rows.State = slices.Clone(b.rows.State)
	b.rows.Pos, b.rows.Vel = slices.Clone(b.rows.Pos), slices.Clone(b.rows.Vel)
	b.columns.resize(batchRows)
	b.wishes()
	b.columns.sincos()
	b.columns.accelerate(b.locos, b.dt)
	b.columns.applyGravity(b.locos)
	b.columns.integrate(b.dt)
	return batchRows - len(b.alone) - len(b.broadPhase())
}

// TestRoundingPasses holds the passes of float32 to the functions that round by float64.
func TestRoundingPasses(t *testing.T) {
	r := rand.New(rand.NewPCG(24, 1))
	c := &batch.columns
	c.resize(batchRows)
	for range 200 {
		var pos, vel [3 * batchRows]float32
		for i := range pos {
			pos[i] = (r.Float32()*2 - 1) * []float32{1e-3, 0.3, 40, 1023}[r.IntN(4)]
			vel[i] = (r.Float32()*2 - 1) * []float32{1e-2, 1, 8, 64}[r.IntN(4)]
			if r.IntN(4) == 0 { // halves, and the grid itself
				pos[i] = float32(r.IntN(1<<20)-1<<19) * PosUnit / 2
				vel[i] = float32(r.IntN(1<<17)-1<<16) * VelUnit / 2
			}
		}
		copy(c.move, pos[:])
		copy(c.vel, vel[:])
		c.round()
		for i := range pos {
			if got, want := c.move[i], roundPosition(pos[i]); math.Float32bits(got) != math.Float32bits(want) {
				t.Fatalf("position %v: %v, want %v", pos[i], got, want)
			}
			want := roundVelocity(cleanVelocity(vel[i]))
			if got := c.vel[i]; math.Float32bits(got) != math.Float32bits(want) {
				t.Fatalf("velocity %v: %v, want %v", vel[i], got, want)
			}
		}
	}
}
