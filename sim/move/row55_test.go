package move

import (
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/alloctest"
	"github.com/tickrate/tickrate/sim/arena"
)

// lifts is the map with an elevator, a bridge and a door, in this order.
func lifts(t testing.TB) *arena.Arena {
	a, err := arena.Open("lifts")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// rates are tick rates that movers are tested at.
var rates = [...]tick.Rate{20, 30, 60, 128, 144}

// pressed reports whether a body overlaps a mover: no way led out.
func (b *Body) pressed(p geom.Vec3, a *arena.Arena, now arena.Moment) bool {
	for i := range a.Movers {
		s := a.Movers[i].At(now)
		if _, ok := b.contact(&s, p, geom.Vec3{}); ok {
			return true
		}
	}
	return false
}

// period is how many ticks a mover takes for both ways, rounded up.
func period(m *arena.Mover, rate tick.Rate) tick.Tick {
	return tick.Tick(m.PeriodMillis())*tick.Tick(rate)/1000 + 1
}

// TestRow55Carried: a body that stands on a mover stays at its spot there for whole periods, and
// has no velocity.
func TestRow55Carried(t *testing.T) {
	a := lifts(t)
	for _, rate := range rates {
		for i := range a.Movers[:2] {
			mover := &a.Movers[i]
			now := arena.Moment{Tick: 1, Rate: rate}
			box := mover.At(now)
			spot := geom.Vec3{X: 0.5, Y: box.Max.Y - box.Min.Y, Z: 0.75}
			m := Motion{Pos: box.Min.Add(spot)}
			for range 2 * period(mover, rate) {
				now.Tick++
				m = standard.Step(m, Input{}, NoTeam, a, now)
				if at := m.Pos.Sub(mover.At(now).Min); at != spot || m.Loco != Stand || m.Vel != (geom.Vec3{}) {
					t.Fatalf("mover %d at %+v: %+v, %v from its corner, want %v", i, now, m, at, spot)
				}
			}
		}
	}
}

// TestRow55LeavesWithItsVelocity: a jump from a moving bridge, and a step off it, keep the bridge's
// velocity; a landing on it loses it again.
func TestRow55LeavesWithItsVelocity(t *testing.T) {
	a, now := lifts(t), arena.Moment{Rate: 60}
	bridge := &a.Movers[1]
	for bridge.Displacement(now) == (geom.Vec3{}) {
		now.Tick++
	}
	box := bridge.At(now)
	m := Motion{Pos: geom.Vec3{X: 9.5, Y: box.Max.Y, Z: box.Min.Z + 0.5}}
	step := func(in Input) {
		now.Tick++
		m = standard.Step(m, in, NoTeam, a, now)
	}
	step(Input{Buttons: Jump})
	if m.Loco != Jumping || geom.Abs(m.Vel.Z-3) > 0.05 || m.Vel.X != 0 {
		t.Fatalf("a jump from a bridge at 3 m/s: %+v", m)
	}
	for !m.Loco.Grounded() {
		step(Input{})
	}
	if at := m.Pos.Sub(bridge.At(now).Min); geom.Abs(m.Vel.Z) > 1.2 || at.Y != 0.25 || at.Z < 0 || at.Z > 0.5 {
		t.Errorf("back on the bridge after a jump: %+v at %v from its corner", m, at)
	}
	for m.Loco.Grounded() {
		step(Input{Yaw: towardsX, MoveMag: 255})
	}
	if geom.Abs(m.Vel.Z-3) > 0.05 || m.Vel.X < 5 {
		t.Errorf("a step off a bridge at 3 m/s: %+v", m)
	}
}

// TestRow55Pushed: a door pushes a body in its way. It passes through a body that it presses
// against its frame, until the shortest way out of it leads aside.
func TestRow55Pushed(t *testing.T) {
	a := lifts(t)
	door := &a.Movers[2]
	for _, rate := range rates {
		now := arena.Moment{Rate: rate}
		m := Motion{Pos: geom.Vec3{X: -8.25, Z: 0.5}}
		pushed, pressed := 0, 0
		for last := m.Pos; now.Tick < 4*tick.Tick(rate); last = m.Pos {
			now.Tick++
			m = standard.Step(m, Input{}, NoTeam, a, now)
			if d := m.Pos.Sub(last).Len(); d > pushSpeed/float32(rate)+0.01 {
				t.Fatalf("%+v: moved by %v m", now, d)
			}
			switch in := standard.pressed(m.Pos, a, now); {
			case m.Pos.Y != 0 || m.Pos.Z < -1.5+standard.radius-skin:
				t.Fatalf("%+v: pushed up, or into the frame: %v", now, m.Pos)
			case in:
				pressed++
			case m.Pos.Z < last.Z && m.Pos.X == -8.25:
				pushed++
				if gap := door.At(now).Min.Z - m.Pos.Z - standard.radius; gap < -skin || gap > skin {
					t.Fatalf("%+v: %v from the door that pushes", now, gap)
				}
			}
		}
		// The frame is at -1.5: at 3 m/s half a second from the first touch.
		if pushed < int(rate)/3 || pressed == 0 || geom.Abs(m.Pos.X+8.25) < 0.6 ||
			standard.pressed(m.Pos, a, now) {
			t.Errorf("%d Hz: pushed for %d ticks and pressed for %d, at last at %v", rate, pushed, pressed, m.Pos)
		}
	}
}

// TestRow55WallsStopCarried: a bridge does not carry anybody into a wall.
func TestRow55WallsStopCarried(t *testing.T) {
	floor := arena.Solid{Min: geom.Vec3{X: -20, Y: -1, Z: -20}, Max: geom.Vec3{X: 20, Z: 20}}
	wall := arena.Solid{Min: geom.Vec3{X: 5, Y: 1, Z: -20}, Max: geom.Vec3{X: 6, Y: 9, Z: 20}}
	a, err := arena.New("", geom.AABB{Min: geom.Vec3{X: -20, Y: -1, Z: -20}, Max: geom.Vec3{X: 20, Y: 20, Z: 20}},
		[]arena.Solid{floor, wall}, nil, arena.Mover{Min: geom.Vec3{Y: 0.5, Z: -2}, Max: geom.Vec3{X: 4, Y: 0.75, Z: 2},
			Travel: geom.Vec3{X: 6}, TravelMillis: 2000, DwellMillis: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, rate := range rates {
		m, now := Motion{Pos: geom.Vec3{X: 2, Y: 0.75}}, arena.Moment{Rate: rate}
		for range 2 * period(&a.Movers[0], rate) {
			now.Tick++
			m = standard.Step(m, Input{}, NoTeam, a, now)
			if m.Pos.X > 5-standard.radius+skin || m.Pos.Y > 0.75 || m.Pos.Z != 0 {
				t.Fatalf("%+v: at %+v", now, m)
			}
		}
	}
}

// TestRow55BatchEqualsSteps: bodies of all heroes that run, jump and ride between movers have the
// same bits in columns and alone, stay on the grid of the wire, leave no map, and are in a mover
// only where it presses them.
func TestRow55BatchEqualsSteps(t *testing.T) {
	a := lifts(t)
	thin, wide := DefaultParams(), RobotParams()
	thin.RadiusMetres, thin.HeightMetres, thin.EyeMetres = 0.25, 0.6, 0.5
	wide.RadiusMetres, wide.HeightMetres = 0.75, 4
	heroes := []*Body{standard, RobotParams().MustCompile(), thin.MustCompile(), wide.MustCompile()}
	rode, pressed := 0, 0
	for seed, rate := range rates {
		rng := rand.New(rand.NewPCG(uint64(seed), 55))
		const n = 300
		c := Columns{make([]geom.Vec3, n), make([]geom.Vec3, n), make([]State, n)}
		in, who := make([]Input, n), make([]BodyTeam, n)
		for i := range n {
			at := a.Movers[i%3].Min
			c.Pos[i] = Round(Motion{Pos: geom.Vec3{X: at.X + rng.Float32()*6 - 2, Y: at.Y + rng.Float32()*3,
				Z: at.Z + rng.Float32()*6 - 2}}).Pos
			who[i] = BodyTeam{uint8(i & 3), NoTeam}
		}
		var columns Batch
		for now := (arena.Moment{Rate: rate}); now.Tick < 9*tick.Tick(rate); {
			now.Tick++
			want := make([]Motion, n)
			for i := range n {
				if rng.IntN(40) == 0 {
					in[i] = Input{Yaw: geom.Angle(rng.Uint32()), MoveMag: uint8(rng.IntN(3) / 2 * 255)}
				}
				if in[i].Buttons = uint16(rng.IntN(30) / 29); rng.IntN(900) == 0 {
					c.Pos[i], c.Vel[i], c.State[i] = Split(Launch(Join(c.Pos[i], c.Vel[i], c.State[i]), in[i].Yaw))
				}
				m := Join(c.Pos[i], c.Vel[i], c.State[i])
				want[i] = heroes[who[i].Body].Step(m, in[i], NoTeam, a, now)
			}
			columns.StepBodies(Rows{c, in, who}, heroes, a, now)
			for i := range n {
				got := Join(c.Pos[i], c.Vel[i], c.State[i])
				if got != want[i] || got != Round(got) {
					t.Fatalf("row %d at %+v: %+v in columns, %+v alone", i, now, got, want[i])
				}
				if p := got.Pos; p.Max(a.Bounds.Min).Min(a.Bounds.Max) != p {
					t.Fatalf("row %d at %+v: left the map: %+v", i, now, got)
				}
				if now.Tick%16 == 15 && now.Tick > tick.Tick(rate) { // depth is slow
					if d := heroes[who[i].Body].depth(a, got.Pos, NoTeam); d > 1./1024 {
						t.Fatalf("row %d at %+v: %v deep in a wall: %+v", i, now, d, got)
					}
				}
				b := collider{arena: a, body: heroes[who[i].Body], moving: movingSolids{moment: now}}
				if got.Loco.Grounded() && b.carrier(&got, a.MoversNear(got.Pos.X, got.Pos.Z), now) >= 0 {
					rode++
				}
				if b.body.pressed(got.Pos, a, now) {
					pressed++
				}
			}
		}
	}
	t.Logf("%d rides and %d presses, in ticks", rode, pressed)
	if rode < 5000 || pressed < 50 || pressed > rode {
		t.Errorf("%d rides and %d presses, in ticks", rode, pressed)
	}
}

// TestRow55NoAllocation: a body near movers allocates nothing.
func TestRow55NoAllocation(t *testing.T) {
	a := lifts(t)
	m, now := Motion{Pos: geom.Vec3{Y: 0.25}}, arena.Moment{Rate: 60}
	if n := alloctest.In(500, func() {
		now.Tick++
		m = standard.Step(m, Input{Yaw: towardsX, MoveMag: 40}, NoTeam, a, now)
	}); n != 0 {
		t.Errorf("%v allocations a step", n)
	}
}
