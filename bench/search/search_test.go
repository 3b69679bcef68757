package search

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/slo"
)

// machine is a made-up server: its p99 tick follows a curve, with relative noise, and its swarm can
// load no more than roof players.
type machine struct {
	curve measure.Curve
	noise float64
	roof  int
	rng   *rand.Rand
}

func (m *machine) measure(players int) measure.Step {
	s := healthy(players)
	ms := m.curve.At(players, players) / 1000 * math.Exp(m.noise*m.rng.NormFloat64())
	s.TickCPUMillis.P99, s.TickWallMillis.P99 = ms, ms
	if m.roof > 0 && players > m.roof {
		s.Void, s.VoidReason = true, "the swarm was late"
	}
	return s
}

// trueKnee is the largest size the noiseless curve allows.
func (m *machine) trueKnee(limitMillis float64) int {
	n := 0
	for m.curve.At(n+1, n+1)/1000 <= limitMillis {
		n++
	}
	return n
}

func run(s *Search, m *machine) (steps []measure.Step) {
	for elapsed := time.Duration(0); ; elapsed += 5 * time.Second {
		players, ok := s.Next(elapsed)
		if !ok {
			return steps
		}
		steps = append(steps, s.Record(m.measure(players)))
		if len(steps) > 1000 {
			return steps
		}
	}
}

// Lobbies that share a process grow by the share of the processor that they use: 10, 20, 40, 80, and
// then what still fits. A step in which the machine stalled is measured three times at most, and is
// not the server's limit.
func TestLobbiesOfOneProcessGrow(t *testing.T) {
	measured := func(players int, stalls bool) measure.Step {
		s := healthy(players)
		s.Lobbies, s.LoopCallMillis = players/10, make([]measure.Quantiles, 1)
		s.ServerCores, s.SwarmCores = 0.01*float64(s.Lobbies), 0.007*float64(s.Lobbies)
		s.Void, s.Stalled, s.VoidReason = stalls, stalls, "the machine stalled"
		return s
	}
	for _, c := range []struct {
		stalls bool // at 80
		want   []int
	}{
		{false, []int{20, 100, 200, 400, 800, 950}},
		{true, []int{20, 100, 200, 400, 800, 800, 800, 570, 680}},
	} {
		s := Search{Start: 20, Max: 950, Each: 10, Lobbies: true}
		var got []int
		for players, ok := s.Next(0); ok; players, ok = s.Next(0) {
			s.Record(measured(players, c.stalls && players == 800))
			got = append(got, players)
		}
		k := s.Knee()
		if !slices.Equal(got, c.want) || k.Swarm || k.Stalled != c.stalls || k.Bound != AtLeast {
			t.Errorf("%v, want %v: %+v", got, c.want, k)
		}
	}
}

func drawMachine(t *rapid.T) *machine {
	return &machine{
		curve: measure.Curve{
			A: rapid.Float64Range(0, 3000).Draw(t, "a"),
			B: rapid.Float64Range(1, 60).Draw(t, "b"),
			C: rapid.Float64Range(0, 0.1).Draw(t, "c"),
		},
		rng: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)),
	}
}

// mostSteps bounds a search from 64: the ramp by 1.6, then the halvings of a ratio of 2 (or of a
// start that failed).
func mostSteps(knee int) int {
	ramp := math.Log(max(float64(knee)/64, 64/float64(max(knee, 1)), 1)) / math.Log(1.6)
	halvings := math.Log2(math.Log(2) / math.Log(1.08))
	return int(ramp+halvings) + 5
}

func TestSearchFindsTheKnee(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, s := drawMachine(t), &Search{Max: 1 << 20}
		knee := m.trueKnee(s.objective().Level().TickLimitMillis)
		steps := run(s, m)
		got := s.Knee()
		if got.Bound != Measured || got.Players > knee || float64(got.Players) < float64(knee)/1.08-1 {
			t.Fatalf("knee %+v, true knee %d", got, knee)
		}
		if got.FirstFail <= knee || len(got.Binding) == 0 {
			t.Fatalf("first failure %d below the true knee %d, binding %q", got.FirstFail, knee, got.Binding)
		}
		if len(steps) > mostSteps(knee) {
			t.Fatalf("%d steps to find %d, want at most %d", len(steps), knee, mostSteps(knee))
		}
	})
}

func TestSearchWithNoise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, s := drawMachine(t), &Search{Max: 1 << 20}
		m.noise = 0.03
		knee := m.trueKnee(s.objective().Level().TickLimitMillis)
		steps := run(s, m)
		// 5 standard deviations of 3 % in cost move the knee by at most 15 % where cost is
		// proportional to players, and by more only where a large A hides how little the players
		// cost: so the bound is taken on the curve itself.
		got := s.Knee().Players
		load := func(n int) float64 { return m.curve.At(n, n) / 1000 / s.objective().Level().TickLimitMillis }
		if load(got) > 1.17 || load(int(float64(got+1)*1.09)+1) < 1/1.17 {
			t.Fatalf("knee %d (load %.2f) but the true one is %d", got, load(got), knee)
		}
		if len(steps) > 2*mostSteps(int(1.3*float64(knee))+8) {
			t.Fatalf("%d steps to find %d", len(steps), knee)
		}
	})
}

func TestSearchForgivesOneHiccup(t *testing.T) {
	m := &machine{curve: measure.Curve{B: 10}, rng: rand.New(rand.NewPCG(1, 1))} // true knee 1000
	s := &Search{}
	first := true
	for {
		players, ok := s.Next(0)
		if !ok {
			break
		}
		step := m.measure(players)
		if players >= 200 && first {
			step.InputsLost, first = 3, false
		}
		if judged := s.Record(step); step.InputsLost > 0 && judged.Pass {
			t.Fatal("a step that lost inputs passed")
		}
	}
	if got := s.Knee(); got.Players < 920 || got.Players > 1000 || got.Bound != Measured {
		t.Errorf("knee %+v, want about 1000 measured", got)
	}
}

// One noisy step decides nothing, wherever in the search it comes: the true knee is found all the
// same.
func TestSearchDoubtsOneNoisyStep(t *testing.T) {
	for lone := range 12 {
		// True knee 1000.
		m := &machine{curve: measure.Curve{B: 10}, rng: rand.New(rand.NewPCG(1, 1))}
		s := &Search{Limit: time.Hour}
		measured := 0
		for elapsed := time.Duration(0); ; elapsed += 5 * time.Second {
			players, ok := s.Next(elapsed)
			if !ok {
				break
			}
			step := m.measure(players)
			if measured++; measured == lone+1 && players <= 1000 {
				step.TickCPUMillis.P99 = 1.2 * s.objective().Level().TickLimitMillis
			}
			s.Record(step)
		}
		if got := s.Knee(); got.Players < 920 || got.Players > 1000 || got.Bound != Measured ||
			strings.Contains(got.Reason, "once") {
			t.Errorf("step %d was noisy: knee %+v", lone+1, got)
		}
	}
}

// The knee says that there was no time to measure a failure again.
func TestSearchSaysWhatItMeasuredOnce(t *testing.T) {
	s, near := &Search{}, healthy(128)
	s.Record(healthy(120))
	near.TickCPUMillis.P99 = 1.1 * s.objective().Level().TickLimitMillis
	s.Record(near)
	if got := s.Knee(); got.Bound != Measured || !strings.Contains(got.Reason,
		"128 players failed, measured once") {
		t.Errorf("knee %+v", got)
	}
	if again, ok := s.Next(0); !ok || again != 128 {
		t.Errorf("measures %d next, want 128 again", again)
	}
	s.Record(near)
	if got := s.Knee(); strings.Contains(got.Reason, "once") {
		t.Errorf("after twice: knee %+v", got)
	}
}

// Where the swarm is the limit, steps are not wasted on it: a dozen lead to a lower bound that
// names the swarm as its reason.
func TestSearchWastesLittleOnVoidSizes(t *testing.T) {
	m := &machine{curve: measure.Curve{B: 1}, rng: rand.New(rand.NewPCG(1, 1)), roof: 555}
	s := &Search{Start: 100, Max: 4000}
	voids := 0
	for _, step := range run(s, m) {
		if step.Void {
			voids++
		}
	}
	if got := s.Knee(); voids > 3 || !got.Swarm || got.Players < 444 || got.Players > 555 {
		t.Errorf("%d void steps for %+v", voids, got)
	}
}

// A step with wrong figures is void by no fault of the swarm: the knee is a lower bound that does not
// blame it.
func TestSearchDoesNotBlameTheSwarmForWrongFigures(t *testing.T) {
	s := &Search{Start: 100, Max: 800}
	for players, ok := s.Next(0); ok; players, ok = s.Next(0) {
		step := healthy(players)
		if players > 200 {
			step.Void, step.Invalid, step.VoidReason = true, true, "byte counts do not add up"
		}
		s.Record(step)
	}
	k := s.Knee()
	if k.Swarm || k.Stalled || k.Bound != AtLeast || k.Players != 200 ||
		!strings.Contains(k.Reason, "could not be measured: byte counts do not add up") {
		t.Errorf("knee %+v", k)
	}
}

func TestSearchDoesNotForgiveTwice(t *testing.T) {
	m := &machine{curve: measure.Curve{B: 10}, rng: rand.New(rand.NewPCG(1, 1))}
	s := &Search{}
	seen := map[int]int{}
	for {
		players, ok := s.Next(0)
		if !ok {
			break
		}
		seen[players]++
		step := m.measure(players)
		if players > 200 {
			step.InputsLost = 3
		}
		s.Record(step)
	}
	if got := s.Knee(); got.Players < 185 || got.Players > 200 ||
		!strings.Contains(strings.Join(got.Binding, " "), "lost(input)") {
		t.Errorf("knee %+v, want about 200 bound by lost inputs", got)
	}
	for players, times := range seen {
		if times > 2 {
			t.Errorf("%d players were measured %d times", players, times)
		}
	}
}

func TestSearchUnderAWeakSwarm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, s := drawMachine(t), &Search{Max: 1 << 20}
		knee := m.trueKnee(s.objective().Level().TickLimitMillis)
		m.roof = rapid.IntRange(1, 3000).Draw(t, "roof")
		run(s, m)
		got := s.Knee()
		want := min(knee, m.roof)
		near := 1.08
		if got.Swarm {
			near = 1 + swarmLimitTolerance
		}
		if got.Players > want || float64(got.Players) < float64(want)/near-1 {
			t.Fatalf("knee %+v, want %d (server %d, swarm %d)", got, want, knee, m.roof)
		}
		if got.Swarm != (got.Bound != Measured) || (got.Bound == NotFound) != (got.Players == 0 && got.Swarm) {
			t.Fatalf("knee %+v is the swarm's", got)
		}
		if got.Bound == Measured && got.FirstFail <= knee {
			t.Fatalf("claims to have seen %d fail, the server carries %d", got.FirstFail, knee)
		}
		if got.Bound != Measured && !strings.Contains(got.Reason, "the swarm could not load") {
			t.Fatalf("lower bound without its reason: %q", got.Reason)
		}
		if m.roof < knee*9/10 && got.Bound == Measured {
			t.Fatalf("the swarm ended at %d, below the knee %d, yet the knee is %q", m.roof, knee, got.Bound)
		}
	})
}

func TestSearchEnds(t *testing.T) {
	cheap := func() *machine { return &machine{curve: measure.Curve{B: 1}, rng: rand.New(rand.NewPCG(1, 1))} }
	cases := []struct {
		name    string
		search  Search
		machine *machine
		players int
		bound   Bound
		reason  string
	}{
		{"1 largest size asked for", Search{Max: 300}, cheap(), 300, AtLeast, "largest size"},
		{"2 out of time while growing", Search{Limit: 12 * time.Second}, cheap(), 128, AtLeast,
			"out of time"},
		{"3 one player is too many", Search{}, &machine{curve: measure.Curve{A: 11000},
			rng: rand.New(rand.NewPCG(1, 1))}, 0, Measured, "no lobby passed, not even 1 players"},
		{"4 start above max", Search{Start: 100, Max: 50}, cheap(), 50, AtLeast, "largest size"},
		{"5 nothing done", Search{Limit: 1}, cheap(), 64, AtLeast, "out of time"},
	}
	for _, c := range cases {
		run(&c.search, c.machine)
		if got := c.search.Knee(); got.Players != c.players || got.Bound != c.bound ||
			!strings.Contains(got.Reason, c.reason) {
			t.Errorf("%s: knee %+v, want %d %q %q", c.name, got, c.players, c.bound, c.reason)
		}
	}
	if got := (&Search{}).Knee(); got.Reason != "nothing was measured" || got.Bound != NotFound {
		t.Errorf("untouched search: %+v", got)
	}
}

func TestSearchOutOfTimeSaysSoAndKeepsItsGap(t *testing.T) {
	m := &machine{curve: measure.Curve{B: 10}, rng: rand.New(rand.NewPCG(1, 1))}
	s := &Search{Limit: 32 * time.Second} // 64, 128, 256, 410, 660, 1060 fails, then no time
	run(s, m)
	got := s.Knee()
	if got.Bound != Measured || got.FirstFail <= 1000 || !strings.Contains(got.Reason, "out of time") ||
		!strings.Contains(got.Reason, "above the knee") {
		t.Errorf("knee %+v", got)
	}
}

func TestSearchInterruptedBeforeTheRepeat(t *testing.T) {
	s, light := &Search{}, healthy(64)
	// So little that losing an input at 128 surprises.
	light.TickCPUMillis.P99, light.TickWallMillis.P99 = 1, 1
	s.Record(light)
	hiccup := healthy(128)
	hiccup.InputsLost = 1
	s.Record(hiccup)
	if got := s.Knee(); got.Players != 64 || got.Bound != AtLeast || !strings.Contains(got.Reason,
		"128 players failed once") {
		t.Errorf("knee %+v", got)
	}
}

// Steps read back from a plan.json give the knee again, and another one for another level.
func TestLevelKneeJudgesAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, s := drawMachine(t), &Search{Max: 1 << 20}
		m.roof = rapid.SampledFrom([]int{0, 300, 900}).Draw(t, "roof")
		steps := run(s, m)
		if got, want := KneeOf(s.Objective, steps), s.Knee(); got.Players != want.Players ||
			got.Bound != want.Bound || got.Reason != want.Reason {
			t.Fatalf("judged again %+v, at first %+v", got, want)
		}
		half := slo.Level{Expr: "p99(tick) <= 0.3*period && lost(input) == 0 && p99(age) <= 2*interval"}
		if strict := KneeOf(slo.MustCompile(half), steps); strict.Players > s.Knee().Players {
			t.Fatalf("a stricter level carries more: %+v", strict)
		}
	})
}

func TestSizesReadWell(t *testing.T) {
	s := &Search{}
	for x, want := range map[float64]int{163.84: 164, 409.6: 410, 656: 660, 1056: 1060, 2048: 2040, 7.3: 7,
		40.2: 40} {
		if got := s.round(x); got != want {
			t.Errorf("round(%v) = %d, want %d", x, got, want)
		}
	}
}

// Sizes of a search for lobbies are whole lobbies, and it finds their knee.
func TestSearchAddsLobbies(t *testing.T) {
	for _, carries := range []int{1, 7, 33} {
		s := &Search{Each: 10, Start: 20, Max: 640}
		steps := 0
		for {
			players, ok := s.Next(0)
			if !ok {
				break
			}
			if players%10 != 0 || players < 10 || players > 640 {
				t.Fatalf("%d players are no whole lobbies of ten", players)
			}
			step := healthy(players)
			if players > carries*10 {
				step.TickWallMillis.P99 = 30
			}
			s.Record(step)
			if steps++; steps > 40 {
				t.Fatalf("%d lobbies: no end", carries)
			}
		}
		if k := s.Knee(); k.Players != carries*10 && float64(k.Players) < float64(carries*10)/1.08 ||
			k.Players > carries*10 {
			t.Errorf("%d lobbies: knee %+v", carries, k)
		}
	}
}

// A size that fails in a repeat is the knee no more: the search goes on below it, and never says
// that it holds.
func TestRepeatThatFails(t *testing.T) {
	m := &machine{curve: measure.Curve{B: 10}, rng: rand.New(rand.NewPCG(1, 1))} // true knee 1000
	s := &Search{}
	run(s, m)
	first := s.Knee().Players
	bad := m.measure(first)
	bad.InputsLost = 2
	if step := s.Repeat(bad); step.Pass {
		t.Fatalf("%+v", step)
	}
	if k := s.Knee(); k.Players >= first || k.FirstFail != first || k.Bound != Measured {
		t.Fatalf("knee %+v after %d failed in a repeat", k, first)
	}
	run(s, m)
	if k := s.Knee(); k.Players >= first || float64(k.Players) < float64(first)/1.1 {
		t.Errorf("the search went on to %+v below %d", k, first)
	}
	if s.Record(m.measure(first)); s.Knee().Players >= first {
		t.Errorf("a size that failed in a repeat is the knee again: %+v", s.Knee())
	}
}
