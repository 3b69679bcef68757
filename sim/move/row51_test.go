package move

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim/arena"
)

// jumper is a hero with a rocket jump: 30 m/s from 60 degrees up to 10 degrees down within 0.6 s.
func jumper(p Params) *Body {
	p.Arc = Arc{Speed: 30, StartDegrees: 60, EndDegrees: -10, Millis: 600}
	return p.MustCompile()
}

// yard is the gym with team areas: gates across the way along +x at z = 10 (team 0's) and z = 14
// (team 1's).
func yard(t testing.TB) *arena.Arena {
	g := gym(t)
	solids := append(slices.Clone(g.Solids),
		arena.NewArea(0, geom.Vec3{X: 20, Z: 9}, geom.Vec3{X: 22, Y: 4, Z: 11}),
		arena.NewArea(1, geom.Vec3{X: 20, Z: 13}, geom.Vec3{X: 22, Y: 4, Z: 15}))
	a, err := arena.New("yard", g.Bounds, solids, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// happenings are what befalls a body between ticks: index is the tick before which it does.
var happenings = []struct {
	name   string
	start  Motion
	team   uint8
	rate   uint16
	ticks  int
	input  func(tick int) Input
	before func(tick int, m Motion) Motion
}{
	{"area-own", Motion{Pos: geom.Vec3{X: 18.5, Z: 10}}, 0, 60, 64, run(towardsX, 0), nothing},
	{"area-enemy", Motion{Pos: geom.Vec3{X: 18.5, Z: 10}}, 1, 60, 32, run(towardsX, 0), nothing},
	{"area-slide", Motion{Pos: geom.Vec3{X: 18.5, Z: 13.5}}, 0, 60, 64, run(towardsX-0x1800, Sprint),
		nothing},
	{"teleport-running", Motion{Pos: geom.Vec3{X: 20}}, NoTeam, 60, 40, run(towardsX, Sprint),
		func(tick int, m Motion) Motion {
			if tick == 20 {
				return Teleport(m, geom.Vec3{X: -20, Y: 1, Z: -20}, towardsZ)
			}
			return m
		}},
	{"teleport-falling", Motion{Pos: geom.Vec3{X: -10, Y: 30, Z: 20}, Loco: InAir}, NoTeam, 60, 80,
		func(int) Input { return Input{} }, func(tick int, m Motion) Motion {
			if tick == 40 {
				return Teleport(m, geom.Vec3{X: -20, Y: 0.25, Z: -20}, towardsNegX)
			}
			return m
		}},
	{"knock-back", Motion{Pos: geom.Vec3{X: 20}}, NoTeam, 60, 72, run(towardsX, 0),
		func(tick int, m Motion) Motion {
			var p Push
			if tick == 12 { // two splashes of one tick
				p.Add(geom.Vec3{X: -9, Y: 6})
				p.Add(geom.Vec3{Y: 3, Z: 4})
			}
			return ApplyPush(m, p)
		}},
	{"knock-dead", Motion{Pos: geom.Vec3{X: 20}, Loco: Dead}, NoTeam, 30, 48, run(towardsX, 0),
		func(tick int, m Motion) Motion {
			var p Push
			if tick == 4 {
				p.Add(geom.Vec3{X: 10, Y: 5})
			}
			return ApplyPush(m, p)
		}},
	{"rocket-jump", Motion{Pos: geom.Vec3{X: -45, Z: -30}}, NoTeam, 60, 120, run(towardsX, 0),
		func(tick int, m Motion) Motion {
			if tick == 4 {
				return Launch(m, towardsX)
			}
			return m
		}},
	{"rocket-wall", Motion{Pos: geom.Vec3{X: 8, Z: 6}}, NoTeam, 128, 128, run(towardsNegX, Jump),
		func(tick int, m Motion) Motion {
			if tick == 0 {
				return Launch(m, towardsX)
			}
			return m
		}},
}

func nothing(_ int, m Motion) Motion { return m }

// TestRow51Trajectories compares both heroes' walks with testdata, every fourth tick of each: the
// Robot's over all that TestTrajectories has the Terraformer walk, and what happens to each of
// them.
func TestRow51Trajectories(t *testing.T) {
	a := yard(t)
	for _, hero := range []struct {
		name string
		body *Body
		old  bool
	}{{"terraformer", jumper(DefaultParams()), false}, {"robot", jumper(RobotParams()), true}} {
		walks := happenings
		if hero.old {
			for _, c := range trajectories {
				walks = append(walks[:len(walks):len(walks)], happenings[0])
				w := &walks[len(walks)-1]
				w.name, w.start, w.team, w.rate, w.ticks, w.input, w.before = c.name, c.start, NoTeam,
					c.rate, c.ticks, c.input, nothing
			}
		}
		for _, c := range walks {
			var got bytes.Buffer
			fmt.Fprintf(&got, "# %s, %s at %d Hz: tick, position, velocity, state, jumps, ticks in the state\n", hero.name, c.name, c.rate)
			m := c.start
			for i := range c.ticks {
				m = hero.body.Step(c.before(i, m), c.input(i), c.team, a, atRate(c.rate))
				if d := hero.body.depth(a, m.Pos, c.team); d > 1./1024 {
					t.Errorf("%s, %s: %v deep at tick %d", hero.name, c.name, d, i)
				}
				if (i+1)%4 == 0 {
					fmt.Fprintf(&got, "%3d  %v %v %v  %v %v %v  %v %d %d\n", i+1, m.Pos.X, m.Pos.Y, m.Pos.Z,
						m.Vel.X, m.Vel.Y, m.Vel.Z, m.Loco, m.Jumps, m.Since)
				}
			}
			golden(t, hero.name+"-"+c.name, got.Bytes())
		}
	}
}

// TestRow51DefaultBody: the forms without a body move the Terraformer's, bit by bit.
func TestRow51DefaultBody(t *testing.T) {
	b := DefaultParams().MustCompile()
	if *b != *standard {
		t.Fatal("the default body is not that of DefaultParams")
	}
	r := rand.New(rand.NewPCG(51, 1))
	a := clutter(r, 30)
	x := Motion{Pos: place(r, a), Loco: InAir}
	y := x
	for i := range 3000 {
		in := randomInput(r)
		x, y = Step(x, in, a, 60), b.Step(y, in, NoTeam, a, arena.Moment{Rate: 60})
		if x != y {
			t.Fatalf("tick %d: %+v and %+v", i, x, y)
		}
	}
}

// TestRow51Capsules: how near to a wall, how low a ceiling, how high a step and how steep a slope.
func TestRow51Capsules(t *testing.T) {
	for _, c := range []struct {
		name        string
		body        *Body
		radius, eye float32
		low         bool // fits below 2 m
	}{
		{"terraformer", standard, 0.4, 1.65, true},
		{"robot", RobotParams().MustCompile(), 0.5, 1.9, false},
	} {
		box := func(x0, y0, z0, x1, y1, z1 float32) arena.Solid {
			return arena.NewSolid(arena.Box, geom.Vec3{X: x0, Y: y0, Z: z0}, geom.Vec3{X: x1, Y: y1, Z: z1})
		}
		ramp := func(x0, z0, rise float32) arena.Solid { // four metres long
			return arena.NewSolid(arena.RampPosX, geom.Vec3{X: x0, Z: z0}, geom.Vec3{X: x0 + 4, Y: rise,
				Z: z0 + 4})
		}
		solids := []arena.Solid{
			box(-50, -1, -50, 50, 0, 50),
			box(5, 0, -2, 6, 3, 2),            // a wall
			box(5, 2, 8, 9, 3, 12),            // a ceiling at 2 m
			box(5, 0, 18, 9, 0.5, 22),         // a step
			box(5, 0, 28, 9, 0.515625, 32),    // a step too high
			ramp(5, 38, 4.75),                 // 49.9 degrees
			ramp(5, -40, 4.796875),            // 50.2 degrees
			box(9, 0, 38, 30, 4.75, 42),       // what the first leads to
			box(9, 0, -40, 12, 4.796875, -36), // and the second
		}
		a, err := arena.New("lanes", geom.AABB{Min: geom.Vec3{X: -50, Y: -1, Z: -50},
			Max: geom.Vec3{X: 50, Y: 20, Z: 50}}, solids, nil)
		if err != nil {
			t.Fatal(err)
		}
		along := func(z float32) Motion { // three seconds from x = 2
			m := Motion{Pos: geom.Vec3{X: 2, Z: z}}
			for range 120 {
				m = c.body.Step(m, Input{Yaw: towardsX, MoveMag: 255}, NoTeam, a, atRate(60))
			}
			return m
		}
		if m := along(0); geom.Abs(m.Pos.X-(5-c.radius)) > 1./1024 {
			t.Errorf("%s stands at %v before a wall at 5", c.name, m.Pos.X)
		}
		if m := along(10); (m.Pos.X > 7) != c.low {
			t.Errorf("%s: a ceiling at 2 m lets it get to %v", c.name, m.Pos.X)
		}
		if m := along(20); m.Pos.X < 10 {
			t.Errorf("%s: a step of half a metre stops it at %+v", c.name, m)
		}
		if m := along(30); m.Pos.X > 5 {
			t.Errorf("%s: a step 1/64 m too high does not stop it: %+v", c.name, m)
		}
		if m := along(40); m.Pos.Y < 3 {
			t.Errorf("%s: a slope of 49.9 degrees stops it at %+v", c.name, m)
		}
		if m := along(-38); m.Pos.Y > 0.5 {
			t.Errorf("%s: a slope of 50.2 degrees does not stop it: %+v", c.name, m)
		}
		if e := c.body.Eye(geom.Vec3{X: 1, Y: 2}); e != (geom.Vec3{X: 1, Y: 2 + c.eye}) {
			t.Errorf("%s looks from %v", c.name, e)
		}
	}
}

// TestRow51TeamAreas: an area lets its own team through, stops the other and those without one, and
// no ray.
func TestRow51TeamAreas(t *testing.T) {
	a := yard(t)
	for _, b := range bodies()[:2] {
		for _, c := range []struct {
			z    float32
			team uint8
			ok   bool
		}{{10, 0, true}, {10, 1, false}, {10, NoTeam, false}, {14, 0, false}, {14, 1, true}, {14, 2, false}} {
			m := Motion{Pos: geom.Vec3{X: 18, Z: c.z}}
			for range 90 {
				m = b.Step(m, Input{Yaw: towardsX, MoveMag: 255}, c.team, a, atRate(60))
			}
			if ok := m.Pos.X > 23; ok != c.ok || !ok && geom.Abs(m.Pos.X-(20-b.radius)) > 1./1024 {
				t.Errorf("team %d at the area at z = %v gets to %v", c.team, c.z, m.Pos.X)
			}
		}
	}
	if at, ok := a.Raycast(geom.Ray{Origin: geom.Vec3{X: 18, Y: 1, Z: 10}, Dir: geom.Vec3{X: 1},
		Max: 10}); ok {
		t.Errorf("an area stops a ray after %v m", at)
	}
}

// TestRow51Teleport: the speed stays, its direction is the target's.
func TestRow51Teleport(t *testing.T) {
	to := geom.Vec3{X: 1.3, Y: 2, Z: -7}
	m := Teleport(Motion{Pos: geom.Vec3{X: 20}, Vel: geom.Vec3{X: 3, Y: -4, Z: 12}, Loco: Jumping, Jumps: 1,
		Since: 9, Held: Jump}, to, towardsNegX)
	if m != Round(m) || m.Pos.Sub(to).Len() > PosUnit || m.Vel.Sub(geom.Vec3{X: -13}).Len() > 2*VelUnit ||
		m.Loco != InAir || m.Since != 0 || m.Jumps != 1 || m.Held != Jump {
		t.Errorf("teleported: %+v", m)
	}
	if m := Teleport(Motion{Loco: GroundMove, Since: 7}, to, 0); m.Loco != GroundMove || m.Since != 7 {
		t.Errorf("a walker: %+v", m)
	}
	if m := Teleport(Motion{Loco: Dead}, to, 0); m.Loco != Dead {
		t.Errorf("the dead: %+v", m)
	}
}

// TestRow51KnockBackPredicts plays a server that pushes a body about, and a client that knows its
// inputs and, every ten ticks, the motion that the server told it, rounded as the wire does:
// between two pushes it has the server's bits.
func TestRow51KnockBackPredicts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		a := clutter(r, 20)
		b := bodies()[r.IntN(2)]
		server := Motion{Pos: place(r, a), Loco: InAir}
		c := Columns{Pos: []geom.Vec3{server.Pos}, Vel: []geom.Vec3{{}}, State: []State{{Loco: InAir}}}
		client := server
		for tick := range 200 {
			in := randomInput(r)
			server = b.Step(server, in, 0, a, atRate(60))
			client = b.Step(client, in, 0, a, atRate(60))
			batch.StepBodies(Rows{c, []Input{in}, []BodyTeam{{}}}, []*Body{b}, a, atRate(60))
			if tick%10 == 0 {
				blows := make([]geom.Vec3, r.IntN(5))
				for i := range blows {
					blows[i] = geom.Vec3{X: r.Float32()*30 - 15, Y: r.Float32() * 15, Z: r.Float32()*30 - 15}
				}
				var there, back Push
				for i := range blows {
					there.Add(blows[i])
					back.Add(blows[len(blows)-1-i])
				}
				if there != back {
					t.Fatalf("the order of blows counts: %v, %v", there, back)
				}
				server = ApplyPush(server, there)
				c.Pos[0], c.Vel[0], c.State[0] = Split(ApplyPush(Join(c.Pos[0], c.Vel[0], c.State[0]), back))
				client = Round(server)
			}
			if client != server || Join(c.Pos[0], c.Vel[0], c.State[0]) != server {
				t.Fatalf("tick %d: server %+v, client %+v", tick, server, client)
			}
		}
	})
}

func TestPush(t *testing.T) {
	var p Push
	nan := float32(math.NaN())
	for range 40000 {
		p.Add(geom.Vec3{X: 1e9, Y: nan, Z: float32(math.Inf(-1))})
	}
	if p != (Push{maxPush, 0, -maxPush}) {
		t.Errorf("a heap of blows: %+v", p)
	}
	if m := ApplyPush(Motion{Vel: geom.Vec3{X: 1}}, p); m.Vel != (geom.Vec3{X: TopSpeed, Z: -TopSpeed}) ||
		m.Loco != InAir {
		t.Errorf("pushed: %+v", m)
	}
	m := Motion{Pos: geom.Vec3{X: 20}, Vel: geom.Vec3{X: 3}, Since: 5}
	if ApplyPush(m, Push{}) != m {
		t.Error("no blow changes the motion")
	}
}

// TestRow51RocketJump: a fixed speed, along a direction that turns from 60 degrees up to 10 down in
// 0.6 s, then a fall.
func TestRow51RocketJump(t *testing.T) {
	a, b := gym(t), jumper(RobotParams())
	for _, rate := range []uint16{20, 30, 60, 64, 128} {
		m := Launch(Motion{Pos: geom.Vec3{X: -40, Z: -40}}, geom.Degrees(45))
		flown := 0
		for m.Loco == Launched {
			next := b.Step(m, Input{MoveMag: 255, Yaw: towardsNegZ}, NoTeam, a, atRate(rate))
			if next.Loco == Launched {
				if geom.Abs(next.Vel.Len()-30) > 0.01 {
					t.Fatalf("%d Hz tick %d: flies at %v m/s", rate, flown, next.Vel.Len())
				}
				up := math.Asin(float64(next.Vel.Y)/30) * 180 / math.Pi
				if want := 60 - 70*float64(flown)/(0.6*float64(rate)); math.Abs(up-want) > 0.1 {
					t.Fatalf("%d Hz tick %d: flies %v degrees up, want %v", rate, flown, up, want)
				}
				if at := geom.Atan2(next.Vel.X, next.Vel.Z); max(at-geom.Degrees(45),
					geom.Degrees(45)-at).Signed() > 300 {
					t.Fatalf("%d Hz tick %d: flies towards %v", rate, flown, at.Degrees())
				}
				flown++
			}
			m = next
		}
		if want := int(math.Ceil(0.6 * float64(rate))); flown != want || m.Loco != InAir || m.Held != 0 {
			t.Errorf("%d Hz: flew %d ticks, want %d, then %+v", rate, flown, want, m)
		}
	}
	if m := Launch(Motion{Loco: Dead}, 0); m.Loco != Dead {
		t.Errorf("the dead take off: %+v", m)
	}
	if m := b.Step(Launch(Motion{Pos: geom.Vec3{X: -40}, Held: Jump}, geom.Degrees(90)),
		Input{Buttons: Jump}, NoTeam, a, atRate(60)); m.Loco != Launched || m.Held&Jump == 0 || m.Held>>8 != 64 {
		t.Errorf("in flight: %+v", m)
	}
	none := Launch(Motion{Pos: geom.Vec3{X: -40, Y: 1}}, 0)
	if none = standard.Step(none, Input{}, NoTeam, a, atRate(60)); none.Loco != InAir {
		t.Errorf("a body without an arc: %+v", none)
	}
}

// TestRow51Bodies holds StepBodies to Body.Step, with bodies and teams of all kinds among team
// areas, and none of them ever ends a tick in a solid that is there for it.
func TestRow51Bodies(t *testing.T) {
	all := bodies()
	r := rand.New(rand.NewPCG(51, 2))
	for round := range 30 {
		a := clutter(r, 4+r.IntN(25))
		mid := a.Bounds.Min.Add(geom.Vec3{X: 10, Y: 2, Z: 10})
		solids := slices.Clone(a.Solids)
		for range 6 {
			lo := geom.Vec3{X: random64(r, -8, 6), Z: random64(r, -8, 6)}
			solids = append(solids, arena.NewArea(uint8(r.IntN(2)), mid.Add(lo),
				mid.Add(lo).Add(geom.Vec3{X: 2, Y: 3, Z: 2})))
		}
		a, err := arena.New("areas", a.Bounds, solids, nil)
		if err != nil {
			t.Fatal(err)
		}
		const n = 8
		rate := []uint16{20, 30, 60, 128}[r.IntN(4)]
		c := Columns{make([]geom.Vec3, n), make([]geom.Vec3, n), make([]State, n)}
		who, in, want := make([]BodyTeam, n), make([]Input, n), make([]Motion, n)
		for i := range n {
			who[i] = BodyTeam{uint8(r.IntN(len(all))), uint8(r.IntN(3))}
			free := false
			for range 5000 {
				want[i] = Motion{Pos: roundPos(mid.Add(geom.Vec3{X: r.Float32()*14 - 7, Y: r.Float32() * 4,
					Z: r.Float32()*14 - 7})), Loco: InAir}
				if free = all[who[i].Body].depth(a, want[i].Pos, who[i].Team) == 0; free {
					break
				}
			}
			if !free { // too full for the largest
				who[i].Body, want[i].Pos = 2, place(r, a)
			}
			want[i].round()
			c.Pos[i], c.Vel[i], c.State[i] = Split(want[i])
		}
		for tick := range 200 {
			for i := range in {
				if tick == 0 || r.IntN(20) == 0 {
					in[i] = randomInput(r)
				}
				in[i].Buttons = uint16(r.IntN(4))
				want[i] = all[who[i].Body].Step(want[i], in[i], who[i].Team, a, atRate(rate))
			}
			batch.StepBodies(Rows{c, in, who}, all, a, atRate(rate))
			for i := range want {
				if got := Join(c.Pos[i], c.Vel[i], c.State[i]); !equalBits(got, want[i]) {
					t.Fatalf("round %d tick %d row %d: columns %+v, Step %+v", round, tick, i, got, want[i])
				}
				if d := all[who[i].Body].depth(a, want[i].Pos, who[i].Team); d > 1./1024 {
					t.Fatalf("round %d tick %d: body %+v is %v deep at %+v", round, tick, who[i], d, want[i])
				}
				if d := want[i].Pos.Sub(mid); geom.Abs(d.X) > 8 || geom.Abs(d.Z) > 8 || d.Y < -0.01 ||
					d.Y > 8 {
					t.Fatalf("round %d tick %d: body %+v left the room: %+v", round, tick, who[i], want[i])
				}
			}
		}
	}
}

// TestCompileErrors breaks good numbers in one place each.
func TestCompileErrors(t *testing.T) {
	for _, c := range []struct {
		change func(*Params)
		want   string
	}{
		{func(p *Params) { p.RadiusMetres = 0.2 }, "RadiusMetres: 0.2, want 0.25 to 0.75"},
		{func(p *Params) { p.HeightMetres = 0.8 }, "HeightMetres: 0.8, want 0.81 to 4"},
		{func(p *Params) { p.EyeMetres = 2 }, "EyeMetres: 2, want 0 to 1.8"},
		{func(p *Params) { p.WalkSpeed = float32(math.NaN()) }, "WalkSpeed: NaN, want 0 to 30"},
		{func(p *Params) { p.FallSpeed = 65 }, "FallSpeed: 65, want 0 to 64"},
		{func(p *Params) { p.JumpMillis = 0 }, "JumpMillis: 0, want 1 to 10000"},
		{func(p *Params) { p.JumpMetres = 20 }, "JumpMetres: 20, want 0 to 19.2"},
		{func(p *Params) { p.Arc.Speed = 61 }, "Arc.Speed: 61, want 0 to 60"},
	} {
		p := DefaultParams()
		c.change(&p)
		if _, err := p.Compile(); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}
