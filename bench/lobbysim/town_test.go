package lobbysim

import (
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/move"
	"github.com/tickrate/tickrate/sim/netstate"
	"github.com/tickrate/tickrate/sim/pvs"
)

// walls is the table of an arena as a host makes it.
func walls(t testing.TB, a *arena.Arena) *pvs.Table {
	t.Helper()
	table, err := pvs.Build(a, pvs.Fit(a, pvs.CellFor(a)))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// levels is pvs.Occupancy computed naively: the highest level of any player, by cell of a frame.
func levels(table *pvs.Table, f *snapshot.Frame) map[int]int {
	var row [netstate.PublicFields]int32
	highest := map[int]int{}
	for slot := range f.Slots() {
		if id := f.ID(slot); id != 0 {
			p := netstate.PoseOf(f.Row(slot, row[:]), row[:]).Pos
			cell := table.Cell(p.X, p.Z)
			highest[cell] = max(highest[cell], table.Level(cell, p.Y))
		}
	}
	return highest
}

// spotted reports by rays whether a player's eye at one point sees any of ten points of a body at
// another: along its axis, and at its left and right edge.
func spotted(a *arena.Arena, from, to geom.Vec3) bool {
	eye := from.Add(geom.Vec3{Y: move.EyeHeight})
	d := to.Sub(from)
	side := geom.Vec3{X: -d.Z, Z: d.X}
	if side.Len() > 1e-3 {
		side = side.Scale((move.Radius - 0.01) / side.Len())
	}
	for i := range 10 {
		p := to.Add(geom.Vec3{Y: [...]float32{move.Radius, 0.9, move.Height - move.Radius}[i%3]})
		switch {
		case i == 9:
			p = to.Add(geom.Vec3{Y: move.Height - 0.01})
		case i/3 == 1:
			p = p.Add(side)
		case i/3 == 2:
			p = p.Sub(side)
		}
		if free(a, eye, p) {
			return true
		}
	}
	return false
}

func free(a *arena.Arena, p, q geom.Vec3) bool {
	d := q.Sub(p)
	if d.Len() < 1e-6 {
		return true
	}
	_, hit := a.Raycast(geom.Ray{Origin: p, Dir: d.Normalize(), Max: d.Len()})
	return !hit
}

// mightSpot tries random straight moves by which two players could see each other within the
// table's look-ahead.
func mightSpot(r *rand.Rand, a *arena.Arena, c pvs.Config, p, q geom.Vec3) bool {
	moved := func(p geom.Vec3) geom.Vec3 {
		sin, cos := geom.Angle(r.Uint32()).SinCos()
		far := c.LookAhead * c.Speed * r.Float32()
		to := p.Add(geom.Vec3{X: sin * far, Y: c.LookAhead * c.Climb * r.Float32(), Z: cos * far})
		if chest := (geom.Vec3{Y: 0.9}); !free(a, p.Add(chest), to.Add(chest)) {
			return p
		}
		return to
	}
	for range 100 {
		if from, to := moved(p), moved(q); spotted(a, from, to) || spotted(a, to, from) {
			return true
		}
	}
	return false
}

// sentRow is the set of slots that one snapshot sent to a client, as bits.
type sentRow struct {
	at    tick.Tick
	slots uint64
}

// visibilityTest compares the snapshots of all clients with rays and cells.
type visibilityTest struct {
	t     *testing.T
	b     *Sim
	cfg   server.Config
	since [64]tick.Tick // by slot: since when its player walks, without a spawn, teleport or knock-back
	was   [64]geom.Vec3
	ids   [64]netid.ID
	past  [64][]sentRow // by client: the last quarter of a second
	shown [64][64]tick.Tick

	seen, late, overshot, sampled int
	longest                       tick.Tick
	rng                           *rand.Rand
}

// step records the players that have appeared, or that a knock-back moves faster than the table's
// look-ahead allows for.
func (w *visibilityTest) step() {
	now := w.b.Lobby.Match().Tick()
	step := w.cfg.PVS.Config().Speed/float32(w.b.rate) + 1./64 // and rounding
	f := w.b.Lobby.Frame(now)
	for slot, p := range w.b.Lobby.Match().Poses() {
		d := p.Pos.Sub(w.was[slot])
		if id := f.ID(slot); id != w.ids[slot] || d.Y > step || d.X*d.X+d.Z*d.Z > step*step {
			w.ids[slot], w.since[slot] = id, now
		}
		w.was[slot] = p.Pos
	}
}

// snapshot records what client i was sent in a tick, and what the cells allow.
func (w *visibilityTest) snapshot(i int, at tick.Tick, f *snapshot.Frame, slots uint64,
	may map[netid.ID]bool) {
	var row [netstate.PublicFields]int32
	me := w.b.Clients[i].ID().Index()
	mine := netstate.PoseOf(f.Row(me, row[:]), row[:])
	past := w.past[i][:0]
	for _, p := range w.past[i] {
		if p.at+15 >= at {
			past = append(past, p)
		}
	}
	w.past[i] = append(past, sentRow{at, slots})
	for slot := range f.Slots() {
		id := f.ID(slot)
		if id == 0 || slot == me {
			continue
		}
		if slots>>slot&1 != 0 {
			w.shown[i][slot] = at
		}
		pose := netstate.PoseOf(f.Row(slot, row[:]), row[:])
		spotted := spotted(w.cfg.Arena, mine.Pos, pose.Pos)
		if may[id] && pose.Team() != mine.Team() && w.rng.IntN(300) == 0 {
			w.sampled++
			if !spotted && !mightSpot(w.rng, w.cfg.Arena, w.cfg.PVS.Config(), mine.Pos, pose.Pos) {
				w.overshot++
			}
		}
		if !spotted {
			continue
		}
		w.seen++
		if w.cfg.Kbps != 0 {
			if shown := max(w.shown[i][slot], w.since[slot], w.since[me]); at > shown {
				w.longest = max(w.longest, at-shown)
			}
			continue
		}
		for _, p := range w.past[i] { // a player seen now is in each snapshot that this client may still use
			if p.at >= w.since[slot] && p.at >= w.since[me] {
				if w.late++; p.slots>>slot&1 == 0 {
					w.t.Fatalf("client %d sees %v at %v from %v in tick %d, and was not sent it in tick %d",
						i, id, pose.Pos, mine.Pos, at, p.at)
				}
			}
		}
	}
}

// A match of 64 players in a town with its visibility table. A client's snapshots have exactly the
// players that a brute-force rule of cells makes visible, team and hysteresis aside. Every player
// that an exact ray from eye to body finds is in that snapshot and in all of the quarter of a
// second before, as far as both were there. Under a limit a player may wait no longer than a
// baseline lasts. Package sim/pvs tests that the table hides nothing that rays find.
func TestThreat26PlayersBehindHousesAreNotSent(t *testing.T) {
	skipUnderRace(t)
	for _, kbps := range []int{0, 64} {
		a := arena.Town(64, 26)
		cfg := server.Config{Arena: a, ArenaName: "town:64:26", Players: 64, Kbps: kbps,
			Rules: sim.Rules{Seed: 26, RespawnMillis: 2000},
			PVS:   walls(t, a), Hysteresis: 3}
		b, err := New(Config{Clients: 64, Seed: 26, Lobby: cfg})
		if err != nil {
			t.Fatal(err)
		}
		w := &visibilityTest{t: t, b: b, cfg: cfg, rng: rand.New(rand.NewPCG(26, 26))}
		rule := cfg // the oracle's
		var highest map[int]int
		rule.CellSize = cfg.PVS.Config().Cell
		rule.CellVisible = func(from, to int) bool {
			return cfg.PVS.VisibleAt(from, highest[from], to, highest[to])
		}
		newest, oracles := make([]tick.Tick, 64), make([]*oracle, 64)
		n := rowCounts{whole: kbps == 0}
		ticks := 60 * 8
		if testing.Short() {
			ticks = 60 * 4
		}
		for now := range ticks {
			if i, anew := reconnectInTurn(t, b, now); anew {
				newest[i], oracles[i], w.past[i], w.shown[i] = 0, nil, nil, [64]tick.Tick{}
			}
			if err := b.Step(); err != nil {
				t.Fatal(err)
			}
			w.step()
			for i, cl := range b.Clients {
				at := cl.Newest()
				if at == newest[i] {
					continue
				}
				newest[i] = at
				if oracles[i] == nil {
					oracles[i] = &oracle{cfg: rule, id: cl.ID(), far: 1 << 12, linger: 3,
						left: map[netid.ID]int{}}
				}
				f := b.Lobby.Frame(at)
				highest = levels(cfg.PVS, f)
				may := oracles[i].visibleTo(f)
				slots := n.take(t, cl, f, may)
				w.snapshot(i, at, f, slots, may)
			}
		}
		t.Logf("%d kbit/s, %d snapshots: %d rows sent, %d hidden, %d waited; "+
			"%d visible by rays, each in the snapshots before (%d); "+
			"of %d enemies in visible cells %d cannot come in sight within the look-ahead; "+
			"the longest wait in sight %d ticks",
			kbps, n.snapshots, n.sent, n.hidden, n.waiting, w.seen, w.late, w.sampled, w.overshot, w.longest)
		if n.snapshots < ticks*15 || n.sent < n.snapshots*20 || n.hidden < n.snapshots*5 ||
			w.seen < n.snapshots*5 || kbps == 0 && w.late < w.seen*3 {
			t.Errorf("%d snapshots, %d rows, %d hidden, %d seen, %d times before: nothing tested",
				n.snapshots, n.sent, n.hidden, w.seen, w.late)
		}
		if w.overshot*5 > w.sampled*3 || w.sampled < 100 {
			t.Errorf("of %d enemies in visible cells, %d could not come in sight",
				w.sampled, w.overshot)
		}
		if kbps != 0 && (n.waiting == 0 || w.longest > 48*3) {
			t.Errorf("%d waited, the longest for %d ticks, longer than a baseline lasts",
				n.waiting, w.longest)
		}
	}
}
