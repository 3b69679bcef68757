package capacity

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
)

func TestBaseAges(t *testing.T) {
	for age, i := 1, 0; age <= snapshot.MaxAge; age++ {
		in := i < len(baseAges) && baseAges[i] == float64(age)
		if in {
			i++
		}
		if in != snapshot.AgeInUse(age) {
			t.Errorf("a baseline of %d snapshots: in use %v, in the laws %v", age, !in, in)
		}
	}
}

// The laws cut rows into the blocks of package snapshot.
func TestBlocks(t *testing.T) {
	if groupRows != snapshot.GroupRows || leastGroups != snapshot.LeastWhole {
		t.Errorf("blocks of %d rows, %d of them at least: expected %d and %d", groupRows, leastGroups, snapshot.GroupRows, snapshot.LeastWhole)
	}
}

// countBases is the honest twin of overBases and ackAge: datagrams on links that delay and lose, and what a tracker makes of those that are acknowledged.
func countBases(f Facts, snapshots int, d *rand.Rand) (age, alone, newest float64) {
	way := trip(f) / 2 * float64(f.TickHz)
	every, n := tick.Tick(f.SendEvery), 0
	type datagram struct {
		at  float64 // when it is there
		has []tick.Tick
	}
	for i := range phases {
		part := float64(i) / phases
		k := snapshot.NewTracker(1, every)
		var down, up []datagram
		var has []tick.Tick // what the client holds
		known := tick.Tick(0)
		for now := tick.Tick(1); now <= every*tick.Tick(snapshots); now++ {
			at := float64(now)
			for ; len(up) > 0 && up[0].at <= at+1e-6; up = up[1:] {
				for _, t := range up[0].has {
					k.Acked(t, 0, 1)
					known = max(known, t)
				}
			}
			if now%every == 0 {
				k.Advance(now)
				if now > 100*every {
					b := k.Runs(nil, 0, 1)[0].Base
					if age += float64((now - b[0]) / every); b[1] == 0 {
						alone++
					}
					newest += float64((now - known) / every)
					n++
				}
				if d.Float64() >= f.Loss {
					down = append(down, datagram{at + way, []tick.Tick{now}})
				}
			}
			for ; len(down) > 0 && down[0].at <= at+part+1e-6; down = down[1:] {
				if has = append(has, down[0].has...); len(has) > 40 {
					has = has[1:]
				}
			}
			if d.Float64() >= f.Loss {
				up = append(up, datagram{at + part + way, append([]tick.Tick(nil), has...)})
			}
		}
	}
	return age / float64(n), alone / float64(n), newest / float64(n)
}

func TestOverBases(t *testing.T) {
	d := rand.New(rand.NewPCG(1, 5))
	for _, c := range []struct {
		hz, every   int
		delay, loss float64
	}{
		{60, 3, 0, 0}, {60, 2, 0, 0}, {30, 1, 0, 0}, {60, 1, 0, 0}, {128, 2, 0, 0}, {100, 2, 0, 0}, {128, 10, 0, 0}, {100, 2, 0.05, 0}, {60, 3, 0.06, 0}, {60, 1, 0.02, 0.1},
		{60, 3, 0, 0.05}, {60, 3, 0.03, 0.03}, {100, 2, 0.03, 0.03}, {128, 3, 0.06, 0.02}, {128, 3, 0.043, 0.0294},
	} {
		f := Facts{Virtual: true, TickHz: c.hz, SendEvery: c.every, Delay: c.delay, Loss: c.loss}
		age, alone, newest := countBases(f, 5000, d)
		open := 0.0 // what is lost is counted at random
		if c.loss > 0 {
			open = 0.01
		}
		if got := baseAge(f) / interval(f); math.Abs(got/age-1) > open+1e-9 {
			t.Errorf("%+v: baselines are %.3f snapshots old, by the law %.3f", c, age, got)
		}
		if got := stale(f); math.Abs(got-alone) > open+1e-9 {
			t.Errorf("%+v: %.3f of baselines are alone, by the law %.3f", c, alone, got)
		}
		if got := ackAge(f) / interval(f); math.Abs(got/newest-1) > open+1e-9 {
			t.Errorf("%+v: the newest that is known is %.3f snapshots old, by the law %.3f", c, newest, got)
		}
	}
}

// countBaselines is the honest twin of baselines: of how many baselines the rows of a tick are coded, of so many clients that act at each instant and are all
// told in it, and each of a share of them.
func countBaselines(f Facts, each, snapshots int, share float64, d *rand.Rand) float64 {
	way, every := trip(f)/2*float64(f.TickHz), tick.Tick(f.SendEvery)
	sum, n := 0.0, 0
	met := make([]map[snapshot.Bases]bool, snapshots+1)
	for i := range phases * each {
		part := float64(i%phases) / phases
		k := snapshot.NewTracker(1, every)
		var has []tick.Tick
		acks := map[tick.Tick][]tick.Tick{} // by the tick in which the server reads them
		for now := tick.Tick(1); now <= every*tick.Tick(snapshots); now++ {
			for _, t := range acks[now] {
				k.Acked(t, 0, 1)
			}
			delete(acks, now)
			for t := now - min(now-1, 40*every); t < now; t++ { // who acts after this tick holds what has come until then
				if t%every == 0 && math.Ceil(float64(t)+way-part-1e-6) == float64(now) && d.Float64() >= f.Loss {
					has = append(has, t)
				}
			}
			if has = has[max(0, len(has)-40):]; d.Float64() >= f.Loss {
				at := tick.Tick(math.Ceil(float64(now) + part + way - 1e-6))
				acks[at] = append(acks[at], has...)
			}
			if now%every != 0 {
				continue
			}
			k.Advance(now)
			if at := int(now / every); at > 100 && d.Float64() < share {
				if met[at] == nil {
					met[at] = map[snapshot.Bases]bool{}
				}
				met[at][k.Runs(nil, 0, 1)[0].Base] = true
			}
		}
	}
	for _, m := range met[101:] {
		sum, n = sum+float64(len(m)), n+1
	}
	return sum / float64(n)
}

func TestBaselines(t *testing.T) {
	d := rand.New(rand.NewPCG(4, 4))
	for _, c := range []struct {
		hz, every, each    int
		delay, loss, share float64
	}{
		{60, 3, 4, 0, 0, 1}, {30, 1, 4, 0, 0, 1}, {100, 2, 4, 0, 0, 1}, {100, 4, 4, 0, 0, 1}, {60, 3, 4, 0.06, 0, 1}, {60, 3, 4, 0, 0.05, 1}, {60, 3, 2, 0.03, 0.03, 1},
		{128, 3, 6, 0.06, 0.02, 1}, {30, 1, 1, 0, 0, 0.5}, {60, 3, 2, 0, 0.05, 0.6},
	} {
		f := Facts{Virtual: true, TickHz: c.hz, SendEvery: c.every, Delay: c.delay, Loss: c.loss, PerLobby: phases * c.each * c.every}
		want, open := countBaselines(f, c.each, 1500, c.share, d), 0.0
		if c.loss > 0 || c.share < 1 {
			open = 0.05
		}
		if got := baselines(f, c.share); math.Abs(got/want-1) > open+1e-9 {
			t.Errorf("%+v: rows of a tick are coded against %.3f baselines, by the law %.3f", c, want, got)
		}
	}
}

// countBlocks is the honest twin of changedBlocks: changes fall on slots at random.
func countBlocks(changes, blocks float64, d *rand.Rand) float64 {
	sum := 0.0
	const rounds = 20_000
	for range rounds {
		var met uint64
		for at := d.ExpFloat64(); at < changes; at += d.ExpFloat64() {
			met |= 1 << d.IntN(int(blocks))
		}
		sum += float64(bits.OnesCount64(met))
	}
	return sum / rounds
}

func TestChangedBlocks(t *testing.T) {
	d := rand.New(rand.NewPCG(6, 2))
	for _, blocks := range []float64{2, 6, 20} {
		root := math.Sqrt(1+blocks*groupRows) - 1 // flights of which so many blocks are in use
		for _, a := range []float64{0.5, 5, 40} {
			f := Facts{Virtual: true, PerLobby: 64, Visible: 63, TickHz: 60, SendEvery: 3, Flights: root * root, Turns: a, Launches: 2 * a}
			if got, want := changedBlocks(f), countBlocks(3*a*baseAge(f), blocks, d); math.Abs(got-want) > 0.02*max(want, 1) {
				t.Errorf("%g changes a second in %g blocks: %.3f of them change, by the law %.3f", 3*a, blocks, want, got)
			}
		}
	}
}

// Who has just come in is told of what flies in parts: for longer where more flies, and where it takes longer to know what has arrived.
func TestNewcomer(t *testing.T) {
	f := Facts{Virtual: true, PerLobby: 96, Visible: 95, TickHz: 60, SendEvery: 3, Flights: 120}
	if got := newcomer(f); got != 0 {
		t.Errorf("nobody leaves, and %.3f are newcomers", got)
	}
	last := 0.0
	for _, more := range []func(){func() { f.Leaves = 3 }, func() { f.Leaves = 6 }, func() { f.Flights = 240 }, func() { f.Delay = 0.03 }, func() { f.Leaves = 1e6 }} {
		more()
		got := newcomer(f)
		if got <= last || got > 1 {
			t.Errorf("%g leave a minute, %g flights, %g s: %.3f are newcomers, and fewer were %.3f", f.Leaves, f.Flights, f.Delay, got, last)
		}
		last = got
	}
}

// countKnown is the honest twin of knownLater: datagrams over a line that keeps their order, there each every ticks and back each tick, of which every one takes longer than
// the least by some of the jitter. It is in which share of snapshots it is known at the next ones that a client holds them.
func countKnown(f Facts, part float64, most int, d *rand.Rand) []float64 {
	hz, every := float64(f.TickHz), f.SendEvery
	jitter := f.Jitter * hz
	least := trip(f)/2*hz - jitter/2
	const snapshots = 60_000
	line := func(n int, sent func(i int) float64) []float64 { // when each arrives; +Inf where it gets lost
		at, last := make([]float64, n), 0.0
		for i := range at {
			if at[i] = math.Inf(1); d.Float64() >= f.Loss {
				last = max(last, sent(i)+least+jitter*d.Float64())
				at[i] = last
			}
		}
		return at
	}
	there := line(snapshots, func(i int) float64 { return float64(i * every) })
	back := line((snapshots+most+1)*every, func(i int) float64 { return float64(i) + part })
	knownAt := make([]float64, most+1)
	for i, at := range there[:snapshots-most] {
		first := math.Inf(1)
		if !math.IsInf(at, 1) {
			for k := max(int(math.Ceil(at-part)), 0); k < min((i+most)*every+1, len(back)); k++ {
				first = min(first, back[k])
			}
		}
		for steps := range knownAt {
			if first <= float64((i+steps)*every) {
				knownAt[steps]++
			}
		}
	}
	for i := range knownAt {
		knownAt[i] /= float64(snapshots - most)
	}
	return knownAt
}

func TestKnownLater(t *testing.T) {
	d := rand.New(rand.NewPCG(7, 7))
	for _, c := range []struct {
		hz, every           int
		delay, jitter, loss float64
	}{
		{60, 3, 0.01, 0.01, 0.02}, {60, 3, 0.095, 0.03, 0.05}, {60, 3, 0.18, 0.06, 0.15}, {128, 2, 0.02, 0.02, 0}, {30, 1, 0.05, 0.08, 0.01}, {100, 5, 0.032, 1e-9, 0.1},
	} {
		f := Facts{Virtual: true, TickHz: c.hz, SendEvery: c.every, Delay: c.delay, Jitter: c.jitter, Loss: c.loss}
		still := f
		still.Jitter = 0
		for _, part := range []float64{0, 0.25, 0.5, 0.75} {
			for steps, want := range countKnown(f, part, 16, d) {
				got := known(f, part, float64(steps))
				if math.Abs(got-want) > 0.03 {
					t.Errorf("%+v, part %g, %d steps: known in %.3f, by the law %.3f", c, part, steps, want, got)
				}
				if s := known(still, part, float64(steps)); c.jitter < 1e-6 && math.Abs(got-s) > 1e-6 {
					t.Errorf("%+v, part %g, %d steps: %.6f, without any jitter %.6f", c, part, steps, got, s)
				}
			}
		}
	}
}
