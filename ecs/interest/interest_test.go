package interest

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/tickrate/tickrate/ecs/netid"
)

func newScene(slots int) *scene {
	return &scene{ids: make([]netid.ID, slots), x: make([]float32, slots), z: make([]float32, slots),
		team: make([]uint8, slots), lives: make([]int, slots),
		combat: make([]uint64, (slots+63)/64)}
}

// step moves all rows. Rows come and go, some within one step.
func (sc *scene) step(rng *rand.Rand, teams int, edge float32) {
	for slot := range sc.ids {
		switch rng.IntN(12) {
		case 0:
			sc.ids[slot] = 0
		case 1:
			sc.lives[slot]++ // a generation a slot, as in the world
			sc.ids[slot] = netid.Make(slot, uint8(1+sc.lives[slot]%255))
			sc.x[slot], sc.z[slot] = rng.Float32()*edge*1.2-edge*0.1, rng.Float32()*edge*1.2-edge*0.1
			sc.team[slot] = uint8(rng.IntN(teams + 1))
		default:
			sc.x[slot] += rng.Float32()*8 - 4
			sc.z[slot] += rng.Float32()*8 - 4
		}
	}
	for i := range sc.combat {
		sc.combat[i] = rng.Uint64() & rng.Uint64() & rng.Uint64()
	}
}

// wall is a VisibleFunc that hides a few cells.
func wall(from, to int) bool { return (from*7+to*13)%5 != 0 }

func TestClientEqualsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 5))
		slots := rapid.SampledFrom([]int{1, 63, 64, 130, 300}).Draw(t, "slots")
		cfg := Config{Slots: slots, MinX: -10, MinZ: 5, Cell: 4, Wide: 12, Deep: 9,
			Near: 1, Mid: 3, ViewDistance: rapid.SampledFrom([]int{0, 2, 5}).Draw(t, "far"),
			Hysteresis: rapid.SampledFrom([]int{0, 1, 2, 5, 15}).Draw(t, "linger")}
		if rapid.Bool().Draw(t, "walls") {
			cfg.Visible = wall
			if rapid.Bool().Draw(t, "lists") {
				cfg.VisibleFrom = func(from int, cells []uint16) []uint16 {
					for to := 12*9 - 1; to >= 0; to-- {
						if wall(from, to) {
							cells = append(cells, uint16(to))
						}
					}
					return cells
				}
			}
		}
		if rapid.Bool().Draw(t, "heavy") {
			cfg.Weights = Weights{Visible: 400, Mid: 1, Near: 1000, Ahead: 1, Combat: 2000, New: 600}
		}
		g := NewGrid(cfg)
		c, twin, sc := NewClient(g), newSlow(cfg), newScene(slots)
		cost := make([]uint16, g.Words()*64)
		for range rapid.IntRange(1, 60).Draw(t, "snapshots") {
			for range 1 + rng.IntN(2) { // some snapshots go to other clients only
				sc.step(rng, 3, 40)
				g.Fill(sc.ids, sc.x, sc.z, sc.team, sc.combat)
			}
			v := Viewer{Slot: rng.IntN(slots), X: rng.Float32()*60 - 15, Z: rng.Float32()*60 - 15,
				Team: uint8(rng.IntN(4))}
			if rng.IntN(4) > 0 {
				v.DirX, v.DirZ = rng.Float32()-0.5, rng.Float32()-0.5
			}
			opponents := []uint64{rng.Uint64() & rng.Uint64() & rng.Uint64()}
			all, late := rng.IntN(5) == 0, rng.IntN(5) == 0
			if late { // as of a client that was sent all rows
				clear(twin.weight)
			}
			twin.look(g, sc, v, opponents)
			switch {
			case late:
				c.UpdateVisible(g, v)
				c.AddPriority(g, v, opponents)
				all = false
			case all:
				c.UpdateVisible(g, v)
				clear(twin.weight)
			default:
				c.Update(g, v, opponents)
			}
			for slot := range slots {
				if has(c.Visible(), slot) != twin.seen[slot] || c.Priority(slot) != twin.weight[slot] {
					t.Fatalf("slot %d: seen %v, weight %d; twin %v, %d",
						slot, has(c.Visible(), slot), c.Priority(slot), twin.seen[slot], twin.weight[slot])
				}
				if has(c.InSight(), slot) != twin.inSight[slot] {
					t.Fatalf("slot %d: in sight %v, twin %v", slot, has(c.InSight(), slot), twin.inSight[slot])
				}
			}
			if all {
				continue
			}
			for slot := range slots {
				cost[slot] = uint16(rng.IntN(50))
			}
			budget := rng.IntN(30 * slots)
			used := c.Select(cost, budget)
			want, sum := twin.pick(cost, budget, g.Words()*64), 0
			for slot := range slots {
				if has(c.Selected(), slot) != want[slot] {
					t.Fatalf("slot %d of weight %d: picked %v, twin %v",
						slot, c.Priority(slot), has(c.Selected(), slot), want[slot])
				}
				if want[slot] {
					sum += int(cost[slot])
					twin.weight[slot] = 0
				}
			}
			if used != sum || used > budget {
				t.Fatalf("used %d, picked %d, budget %d", used, sum, budget)
			}
			c.MarkSent(c.Selected())
		}
	})
}

// A client that was sent all rows for a while without an update has the priorities of a client that
// was updated each time and sent all rows.
func TestMarkAllSent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 7))
		slots := rapid.SampledFrom([]int{1, 63, 64, 130}).Draw(t, "slots")
		g := NewGrid(Config{Slots: slots, Cell: 4, Wide: 12, Deep: 9})
		eager, lazy, sc := NewClient(g), NewClient(g), newScene(slots)
		look := func(all bool) (v Viewer, opponents []uint64) {
			sc.step(rng, 2, 40)
			g.Fill(sc.ids, sc.x, sc.z, sc.team, sc.combat)
			v = Viewer{Slot: rng.IntN(slots), X: rng.Float32() * 48, Z: rng.Float32() * 36, DirX: 1}
			opponents = []uint64{rng.Uint64() & rng.Uint64()}
			eager.Update(g, v, opponents)
			if all {
				eager.MarkSent(eager.Visible())
			}
			return v, opponents
		}
		for range rapid.IntRange(1, 5).Draw(t, "times") {
			for range rapid.IntRange(0, 3).Draw(t, "thin") {
				v, opponents := look(false)
				lazy.Update(g, v, opponents)
				some := []uint64{rng.Uint64(), rng.Uint64(), rng.Uint64()}
				eager.MarkSent(some)
				lazy.MarkSent(some)
			}
			for range rapid.IntRange(1, 9).Draw(t, "all") {
				look(true)
			}
			lazy.MarkAllSent(eager.Visible())
		}
		v, opponents := look(false)
		lazy.Update(g, v, opponents)
		for slot := range slots {
			if has(lazy.Visible(), slot) != has(eager.Visible(), slot) ||
				lazy.Priority(slot) != eager.Priority(slot) {
				t.Fatalf("slot %d: seen %v, weight %d; the eager client has %v, %d",
					slot, has(lazy.Visible(), slot), lazy.Priority(slot), has(eager.Visible(), slot),
					eager.Priority(slot))
			}
		}
	})
}

// Under the largest differences in priority, each row that stays visible is sent within Bound
// snapshots, and usually far sooner.
func TestNoRowStarves(t *testing.T) {
	for i, c := range []struct {
		rows, each int
		weights    Weights
	}{
		{200, 10, DefaultWeights},
		{200, 1, Weights{Visible: 1, Near: 1}},
		{64, 3, Weights{Visible: 1, Near: 200}},
		{300, 40, Weights{Visible: 1, Mid: 20, Near: 20}},
	} {
		g := NewGrid(Config{Slots: c.rows, Weights: c.weights, Near: 1, Mid: 2})
		cl, sc := NewClient(g), newScene(c.rows)
		for slot := range sc.ids {
			sc.ids[slot] = netid.Make(slot, 1)
			if slot%8 == 0 {
				sc.x[slot], sc.z[slot] = 200, 200 // far, without any other criterion
			}
		}
		cost := make([]uint16, g.Words()*64)
		for slot := range c.rows {
			cost[slot] = 100
		}
		waits, longest := make([]int, c.rows), 0
		bound := maxWait(c.rows, c.each, c.weights.Most())
		for range 4 * min(bound, 3000) {
			g.Fill(sc.ids, sc.x, sc.z, sc.team, nil)
			cl.Update(g, Viewer{Slot: 1}, nil)
			cl.Select(cost, 100*c.each+99)
			for slot := range waits {
				if waits[slot]++; has(cl.Selected(), slot) {
					waits[slot] = 0
				}
				longest = max(longest, waits[slot])
			}
			cl.MarkSent(cl.Selected())
		}
		t.Logf("case %d: the longest wait is %d snapshots, bound %d", i, longest, bound)
		if longest > bound || longest < c.rows/c.each {
			t.Errorf("case %d: a row waited %d snapshots, bound %d, and with equal weights %d",
				i, longest, bound, c.rows/c.each)
		}
	}
}

// A row in a reused slot has no hysteresis of the row before.
func TestReusedSlotHasNoHysteresis(t *testing.T) {
	g := NewGrid(Config{Slots: 2, ViewDistance: 3, Hysteresis: 8})
	c, sc := NewClient(g), newScene(2)
	at := func(id netid.ID, x float32) bool {
		sc.ids[1], sc.x[1] = id, x
		g.Fill(sc.ids, sc.x, sc.z, sc.team, nil)
		c.Update(g, Viewer{}, nil)
		return has(c.Visible(), 1)
	}
	if !at(netid.Make(1, 1), 0) || !at(netid.Make(1, 1), 100) {
		t.Error("a row that was near is not visible after it has gone far")
	}
	sc.ids[1] = netid.Make(1, 9) // in a snapshot that this client does not get
	g.Fill(sc.ids, sc.x, sc.z, sc.team, nil)
	if at(netid.Make(1, 2), 100) || at(netid.Make(1, 1), 100) {
		t.Error("another one is seen in its place")
	}
	c.Reset()
	if has(c.Visible(), 1) || c.Priority(1) != 0 {
		t.Error("Reset keeps something")
	}
}

func TestImpossibleConfigurations(t *testing.T) {
	for i, c := range []Config{{}, {Slots: MaxSlots + 1}, {Slots: 1, Wide: 300}, {Slots: 1, Hysteresis: 16},
		{Slots: 1, Cell: -1}, {Slots: 1, VisibleFrom: func(int, []uint16) []uint16 { return nil }},
		{Slots: 1, Weights: Weights{Near: 1}}, {Slots: 1, Weights: Weights{Visible: 1, Near: 5000}}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("case %d passes", i)
				}
			}()
			NewGrid(c)
		}()
	}
}

// maxWait bounds the snapshots that a row waits while rows are visible all the time, each snapshot
// takes at least each of them, and a row gains at most most in one.
func maxWait(rows, each, most int) int {
	n := 1.0
	for range 64 { // it grows towards the solution
		n = float64(rows-1) * (1 + float64(most)*(1+math.Log(max(n, 1)))) / float64(each)
	}
	return int(n) + 1
}
