package anim

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/alloctest"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim/move"
)

var update = flag.Bool("update", false, "rewrite testdata")

// The whole script, both heroes, at 60 Hz: states and public poses of every fourth tick, to the
// bit.
func TestRow68GoldenTrace(t *testing.T) {
	var b strings.Builder
	for h := range rig.Heroes {
		fmt.Fprintf(&b, "%v\n", h)
		play(h, 60, script(), func(sc *scene, n int, _ Input, s *State) {
			if n%4 != 0 {
				return
			}
			var p rig.Pose
			WritePose(s, &p)
			fmt.Fprintf(&b, "%4d %-18s %-6v phase %08x hips %04x move %04x gait %5d squat %5d bank %6d "+
				"| %3d %3d %3d %4d %4d %3d %3d %3d\n",
				n, sc.name, s.Stance, s.Phase, s.Hips, s.Move, s.Gait, s.Squat, s.Bank,
				p.Phase>>9, p.Move, p.Gait, p.Bank, p.Hips, p.Aim, p.Air, p.Squat)
		})
	}
	file := filepath.Join("testdata", "script.golden")
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	g, w := strings.Split(b.String(), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(g), len(w)) {
		if i >= len(g) || i >= len(w) || g[i] != w[i] {
			t.Fatalf("line %d differs; -update rewrites:\n%s\nwant\n%s", i+1,
				strings.Join(g[i:min(i+1, len(g))], ""), strings.Join(w[i:min(i+1, len(w))], ""))
		}
	}
}

// The stances of each scene of the script, and the weights at its end.
func TestRow68Stances(t *testing.T) {
	type end struct {
		stance          rig.Stance
		aim, air, squat string // public weights: none, some or full
	}
	want := map[string]end{
		"stands":             {rig.Stand, "full", "none", "none"},
		"turns on the spot":  {rig.Turn, "full", "none", "none"},
		"is still":           {rig.Stand, "full", "none", "none"},
		"runs":               {rig.Run, "full", "none", "none"},
		"runs a bend":        {rig.Run, "full", "none", "none"},
		"sprints":            {rig.Sprint, "none", "none", "none"},
		"sprints and shoots": {rig.Run, "full", "none", "none"},
		"jumps":              {rig.Jump, "full", "full", "none"},
		"falls":              {rig.InAir, "full", "full", "none"},
		"nears the ground":   {rig.Land, "full", "some", "some"},
		"lands":              {rig.Run, "full", "none", "none"},
		"strafes":            {rig.Run, "full", "none", "none"},
		"walks back":         {rig.Run, "full", "none", "none"},
		"dies":               {rig.Dead, "none", "none", "full"},
	}
	word := func(w uint8) string {
		switch w {
		case 0:
			return "none"
		case 255:
			return "full"
		}
		return "some"
	}
	for _, rate := range []tick.Rate{20, 60, 128} {
		ends := map[string]end{}
		deepest := uint8(0)
		play(rig.Terraformer, rate, script(), func(sc *scene, _ int, _ Input, s *State) {
			var p rig.Pose
			WritePose(s, &p)
			ends[sc.name] = end{s.Stance, word(p.Aim), word(p.Air), word(p.Squat)}
			if sc.name == "lands" {
				deepest = max(deepest, p.Squat)
			}
		})
		for name, w := range want {
			if ends[name] != w {
				t.Errorf("%d Hz: %s ends %+v, want %+v", rate, name, ends[name], w)
			}
		}
		if deepest < 85 || deepest > 187 { // 11 m/s: 7/16 between a soft and a hard fall
			t.Errorf("%d Hz: the landing squats %d of 255", rate, deepest)
		}
	}
}

// On the ground the phase is the way walked in cycles, at any rate of ticks and any speed.
func TestRow68PhaseIsTheWayWalked(t *testing.T) {
	for h := range rig.Heroes {
		p := DefaultParams(h)
		for _, rate := range []tick.Rate{20, 30, 60, 100, 128} {
			table := DefaultTable(rate)
			for _, speed := range []float64{0.5, 2, 6, 8} {
				for _, sprints := range []bool{false, true} {
					in := Input{Vel: geom.Vec3{X: float32(speed * 0.6), Z: float32(speed * 0.8)},
						Loco: move.GroundMove}
					cycle := p.Cycle
					if sprints {
						in.Flags, cycle = Sprinting, p.SprintCycle
					}
					s, way := Spawn(h, 0), 0.0
					for range 10 * int(rate) {
						last := s.Phase
						s = Step(s, in, table)
						way += float64(s.Phase-last) / (1 << 32)
					}
					if want := 10 * speed / cycle; math.Abs(way-want) > 0.003*want {
						t.Errorf("%v at %d Hz: %.4f cycles at %v m/s in 10 s, want %.4f", h, rate, way,
							speed, want)
					}
				}
			}
		}
	}
}

// slow is one tick in float64 by the documented formulas.
func slow(s State, in Input, p Params, rate tick.Rate) (speed, travel, gait, bank, slack float64) {
	x, z := float64(in.Vel.X), float64(in.Vel.Z)
	speed = math.Hypot(x, z)
	travel = math.Atan2(x, z) - float64(in.Yaw)*2*math.Pi/65536
	goal := min(speed/p.TopSpeed, 1)
	gait = float64(s.Gait) / full
	most := 1 / max(p.GaitTime*float64(rate), 1)
	gait += min(max(goal-gait, -most), most)
	ahead := 1 - 2*math.Abs(math.Remainder(travel, 2*math.Pi))/math.Pi
	lean := speed * float64(int16(in.Yaw-s.Yaw)) * 2 * math.Pi / 65536 * float64(rate) * ahead / p.FullBank
	bank = float64(s.Bank) / 32767
	most = 1 / max(2*p.BankTime*float64(rate), 1) * 65535 / 32767
	bank += min(max(min(max(lean, -1), 1)-bank, -most), most)
	// travel is known to a quarter of a degree
	return speed, travel, gait, bank, 0.001 + 0.003*math.Abs(lean/ahead)
}

func TestStepAgreesWithItsSlowTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for i := range 100_000 {
		rate := tick.Rate(20 + r.IntN(109))
		h := rig.Hero(i % 2)
		p := DefaultParams(h)
		s, in := randomState(r), randomInput(r)
		s.Hero, in.Loco, in.Flags = h, move.GroundMove, in.Flags&^NearGround
		in.Yaw = s.Yaw + geom.Angle(r.IntN(2001)-1000)
		speed, travel, gait, bank, slack := slow(s, in, p, rate)
		if speed < 0.5 {
			continue
		}
		rates := Table{Compile(p, rate), Compile(p, rate)}
		got := Step(s, in, &rates)
		if off := math.Abs(math.Remainder(float64(got.Move)*2*math.Pi/65536-travel, 2*math.Pi)); off > 0.006 {
			t.Fatalf("travel %v off for %+v", off, in)
		}
		if math.Abs(float64(got.Gait)/full-gait) > 0.001 {
			t.Fatalf("gait %v, want %v: %+v %+v", float64(got.Gait)/full, gait, s, in)
		}
		if math.Abs(float64(got.Bank)/32767-bank) > slack {
			t.Fatalf("bank %v, want %v: %+v %+v", float64(got.Bank)/32767, bank, s, in)
		}
	}
}

// Any state and input lead to one whose hips are within a quarter turn of the view, and to a pose
// that the wire can name.
func TestAnyStateBecomesValid(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	table := DefaultTable(60)
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for i := range 200_000 {
		in := randomInput(r)
		switch i % 50 {
		case 0:
			in.Vel = geom.Vec3{X: nan, Y: inf, Z: -inf}
		case 1:
			in.Vel = geom.Vec3{X: 1e30, Y: nan, Z: 3}
		}
		s := Step(randomState(r), in, table)
		if off := angleBetween(s.Hips, in.Yaw); off > 0x4000 || s.Yaw != in.Yaw {
			t.Fatalf("hips %v units off the view: %+v", off, s)
		}
		var p rig.Pose
		WritePose(&s, &p)
		public, again := Tell(&p), rig.Pose{}
		if public.ApplyTo(&again); again != p || Tell(&again) != public {
			t.Fatalf("%+v is sent as %+v, which shows %+v", p, public, again)
		}
		if max(public.Phase, public.Heading) > 31 || public.Lean > 2 || max(public.Gait, public.Squat) > 3 {
			t.Fatalf("beyond the bits: %+v", public)
		}
		near := func(name string, got, want, turn, most float64) {
			if d := math.Abs(math.Remainder(got-want, turn)); d > most {
				t.Fatalf("%s %v drawn of %v", name, got, want)
			}
		}
		near("phase", float64(p.Phase), float64(s.Phase)/65536, 65536, phaseStep/2+1)
		if travels(s.Stance) {
			near("move", float64(p.Move), float64(s.Move)/256, 256, moveStep/2+1)
		} else {
			near("hips", float64(p.Hips), float64(int16(s.Hips-s.Yaw))/256, 256, hipsStep/2+1)
		}
		near("squat", float64(p.Squat)*257, float64(s.Squat), 1e9, squatStep*257/2+1)
		near("gait", float64(p.Gait)*257, float64(s.Gait), 1e9, gaitStep*257/2+1)
		near("bank", float64(p.Bank)*256, float64(s.Bank), 1e9, (bankStep/2+33)*256)
		if p.Form.Stance() != s.Stance || s.Hero < rig.Heroes && p.Form.Hero() != s.Hero {
			t.Fatalf("form %v of %+v", p.Form, s)
		}
	}
}

// No weight changes faster than its time, so nothing jumps from tick to tick.
func TestWeightsRun(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	table := DefaultTable(60)
	s := Spawn(rig.Robot, 0)
	rates := &table[rig.Robot]
	for range 50_000 {
		next := Step(s, randomInput(r), table)
		for _, c := range []struct {
			name string
			a, b int32
			most int32
		}{
			{"gait", int32(s.Gait), int32(next.Gait), rates.gaitStep},
			{"squat", int32(s.Squat), int32(next.Squat), rates.stances[rig.Run].squatStep},
			{"bank", int32(s.Bank), int32(next.Bank), rates.bankStep},
		} {
			if d := c.b - c.a; d > c.most || d < -c.most {
				t.Fatalf("%s from %d to %d in a tick, at most %d", c.name, c.a, c.b, c.most)
			}
		}
		s = next
	}
}

func TestColumnsEqualSteps(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	table := DefaultTable(60)
	states, in := make([]State, 64), make([]Input, 64)
	for i := range states {
		states[i] = randomState(r)
	}
	for range 500 {
		want := make([]State, len(states))
		for i := range in {
			in[i] = randomInput(r)
			want[i] = Step(states[i], in[i], table)
		}
		StepColumns(states, in, table)
		for i := range want {
			if states[i] != want[i] {
				t.Fatalf("row %d: %+v, want %+v", i, states[i], want[i])
			}
		}
	}
}

func TestBearing(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 200_000 {
		x, z := int32(r.IntN(131073)-65536), int32(r.IntN(131073)-65536)
		if x == 0 && z == 0 {
			continue
		}
		if d := int16(measure(float32(x)/1024, float32(z)/1024).bearing - geom.Atan2(float32(x),
			float32(z))); d > 46 || d < -46 {
			t.Fatalf("(%d, %d) is at %v, %d off", x, z, measure(float32(x)/1024, float32(z)/1024), d)
		}
	}
	for at, want := range map[[2]int32]geom.Angle{{0, 9}: 0, {9, 0}: 0x4000, {0, -9}: 0x8000,
		{-9, 0}: 0xC000, {7, 7}: 0x2000, {-65536, -65536}: 0xA000} {
		if got := measure(float32(at[0])/1024, float32(at[1])/1024).bearing; got != want {
			t.Errorf("%v: %#x, want %#x", at, got, want)
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	for i, change := range []func(*Params){
		func(p *Params) { p.Cycle = 0 }, func(p *Params) { p.FullBank = 1 },
		func(p *Params) { p.TurnAfter = 180 },
		func(p *Params) { p.TurnWithin = 70 }, func(p *Params) { p.HardFall = p.SoftFall },
		func(p *Params) { p.RiseTime = -1 },
		func(p *Params) { p.SquatTime = math.NaN() }, func(p *Params) { p.TopSpeed = math.NaN() },
	} {
		p := DefaultParams(rig.Robot)
		change(&p)
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%d: compiled", i+1)
				}
			}()
			Compile(p, 60)
		}()
	}
}

func TestStepAllocatesNothing(t *testing.T) {
	states, in, table := make([]State, 8), make([]Input, 8), DefaultTable(60)
	var p rig.Pose
	if n := alloctest.In(100, func() {
		StepColumns(states, in, table)
		WritePose(&states[0], &p)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkStep(b *testing.B) {
	r := rand.New(rand.NewPCG(6, 6))
	const players = 1000
	states, in, table := make([]State, players), make([]Input, players), DefaultTable(60)
	poses := make([]rig.Pose, players)
	for i := range states {
		states[i] = Spawn(rig.Hero(i%2), 0)
		in[i] = randomInput(r)
		in[i].Loco = []move.Loco{0, 1, 1, 1, 1, 1, 2, 4}[r.IntN(8)]
	}
	each := func(b *testing.B, f func()) {
		b.ReportAllocs()
		for b.Loop() {
			f()
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/players, "ns/player")
	}
	// Half of the players turn their view at 120 degrees a second.
	turned := append([]Input(nil), in...)
	for i := range turned {
		turned[i].Yaw += geom.Angle(364 * (i / 3 % 2))
	}
	b.Run("step", func(b *testing.B) {
		each(b, func() { StepColumns(states, in, table); in, turned = turned, in })
	})
	b.Run("draw", func(b *testing.B) {
		each(b, func() {
			for i := range states {
				WritePose(&states[i], &poses[i])
			}
		})
	})
}
