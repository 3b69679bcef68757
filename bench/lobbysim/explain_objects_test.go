package lobbysim

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/interest"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/netstate"
	"github.com/tickrate/tickrate/sim/object"
)

// The explained reason for each object that a snapshot lacks, or has from an earlier tick, is the
// right one, by what the client decoded and by brute force over positions:
//
//	sent       its row is the server's of that tick
//	stale      its row is that of the tick in which its class was due last
//	unchanged  the snapshot has no objects, and the client holds the row as it is
//	range      it is not sent, and too far in cells
//	occluded   it is not sent, near enough, and out of sight
//	budget     it is not sent though it may be, and the byte budget is small
//	joining    likewise, to a joining client with enough bandwidth
//
// The lobby's own counts are then the sum of these verdicts.
func TestExplainIsRightForObjects(t *testing.T) {
	const cell = 2
	total := map[server.Reason]int{}
	for _, cfg := range []server.Config{
		{Relevance: server.RelevanceAll},
		{Relevance: server.RelevanceOff},
		{Relevance: server.RelevanceGrid, ViewDistance: 8, JoinBytes: 1200},
		{Relevance: server.RelevanceGrid, ViewDistance: 24,
			CellVisible: func(from, to int) bool { return (from/3+to/3)%2 == 0 }},
		{Relevance: server.RelevanceGrid, ViewDistance: 12, Kbps: 24},
	} {
		name := fmt.Sprintf("%v/%.0f m/%d kbps", cfg.Relevance, cfg.ViewDistance, cfg.Kbps)
		t.Run(name, func(t *testing.T) {
			y := newObjectsTest(t, 8, impair.Profile{}, func(c *Config) {
				l := &c.Lobby
				l.Relevance, l.ViewDistance, l.CellVisible = cfg.Relevance, cfg.ViewDistance, cfg.CellVisible
				l.Kbps, l.JoinBytes, l.CellSize, l.SampleEvery = cfg.Kbps, cfg.JoinBytes, cell, 1
				l.ObjectUpdateIntervals = netstate.UpdateIntervals{netstate.Cube: 3, netstate.Projectile: 2}
			})
			w := objectsExplainTest{objectsTest: y, cfg: cfg,
				grid: server.GridConfig(y.cfg.Lobby.Arena, cell), counts: map[server.Reason]int{}}
			w.far = int(cfg.ViewDistance/cell) + 2
			if n := int(cfg.ViewDistance / cell); float32(n)*cell == cfg.ViewDistance {
				w.far = n + 1
			}
			for range 60 * 12 {
				if err := y.Step(); err != nil {
					t.Fatal(err)
				}
				w.checkSnapshot()
			}
			y.Lobby.Publish()
			l := y.Lobby.Summary().Replication
			for kind := range l.Objects {
				for why, n := range l.Objects[kind] {
					if got := w.classes[kind][why]; got != int(n) {
						t.Errorf("%v %v: the lobby has counted %d, the clients %d",
							netstate.Kind(kind), server.Reason(why), n, got)
					}
				}
			}
			for why, n := range w.counts {
				total[why] += n
			}
			t.Log(w.counts, w.compared)
			if w.compared < 500 {
				t.Errorf("%d verdicts compared: nothing tested", w.compared)
			}
		})
	}
	for _, w := range []server.Reason{server.ReasonSent, server.ReasonStale, server.ReasonUnchanged,
		server.ReasonRange, server.ReasonOccluded, server.ReasonBudget, server.ReasonTurn} {
		if total[w] < 50 {
			t.Errorf("%v: %d times, nothing tested", w, total[w])
		}
	}
}

// objectsExplainTest compares explanations of objects with what clients decoded.
type objectsExplainTest struct {
	*objectsTest
	cfg      server.Config
	grid     interest.Config
	far      int // cells
	counts   map[server.Reason]int
	classes  [netstate.Kinds][server.NumReasons]int
	compared int
	verdicts []server.Explanation
}

// checkSnapshot checks all snapshots of this tick.
func (w *objectsExplainTest) checkSnapshot() {
	m := w.Lobby.Match()
	now := m.Tick()
	f := w.Lobby.ObjectFrame(now)
	for i, c := range w.Clients {
		if c.ID() == 0 || w.Lobby.Sent(c.ID()) != now {
			continue
		}
		w.verdicts = w.Lobby.ExplainAll(w.verdicts[:0], c.ID())
		for k := range w.verdicts {
			v := &w.verdicts[k]
			if v.Object == "" {
				continue
			}
			ref, err := server.ParseObjectRef(v.Object)
			if err != nil || ref.String() != v.Object || v.Tick != uint32(now) || v.Sentence() == "" ||
				!strings.Contains(v.Sentence(), v.Object) {
				w.t.Fatalf("%+v: %v", v, err)
			}
			if again := w.Lobby.ExplainObject(c.ID(), ref); again != *v {
				w.t.Fatalf("one by one %+v, in the list %+v", again, v)
			}
			if id := netIDOf(ref); id != 0 {
				if again := w.Lobby.Explain(c.ID(), id); again != *v {
					w.t.Fatalf("by its net id %+v, in the list %+v", again, v)
				}
			}
			w.counts[v.Reason]++
			if v.Slot >= 0 {
				w.classes[ref.Kind][v.Reason]++
			}
			if c.Newest() == now { // the others receive it with the next instant
				w.compare(i, ref.Kind, v, now)
			}
		}
		here := 0
		for slot := range f.Slots() {
			if f.ID(slot) != 0 {
				here++
			}
		}
		for k := range w.verdicts {
			if w.verdicts[k].Object != "" && w.verdicts[k].Slot >= 0 {
				here--
			}
		}
		if here != 0 {
			w.t.Fatalf("tick %d, client %d: %d objects without a reason", now, i, here)
		}
	}
}

// netIDOf is the net id of a flight, a barrel or a cube; 0 for objects without one.
func netIDOf(ref server.ObjectRef) netid.ID {
	switch ref.Kind {
	case netstate.Projectile, netstate.Grenade:
		return netid.ID(ref.N)
	case netstate.Barrel:
		return netid.Make(sim.FirstBarrel+int(ref.N), 1)
	case netstate.Cube:
		return netid.Make(sim.FirstCube+int(ref.N), 1)
	}
	return 0
}

// compare compares one explanation with what client i decoded.
func (w *objectsExplainTest) compare(i int, kind netstate.Kind, v *server.Explanation, now tick.Tick) {
	w.compared++
	c, f := w.Clients[i], w.Lobby.ObjectFrame(now)
	var got, want [netstate.ObjectStateFields]int32
	id, ok := c.Objects.Row(now, v.Slot, got[:])
	is := f.Row(v.Slot, want[:])
	sent := ok && id == is && got == want
	d := w.cells(i, v.Slot, now)
	right := false
	switch v.Reason {
	case server.ReasonSent:
		right = sent
	case server.ReasonStale:
		old := w.Lobby.ObjectFrame(now - tick.Tick(v.Stale))
		right = sent && v.Stale > 0 && old.Row(v.Slot, want[:]) == id && want == got
	case server.ReasonUnchanged:
		for t := now - 1; !ok && t > 0 && t+90 > now; t-- {
			id, ok = c.Objects.Row(t, v.Slot, got[:])
		}
		right = ok && id == is && got == want
	case server.ReasonRange:
		right = !sent && d > w.far*w.far
	case server.ReasonOccluded:
		me, it := w.cellsOf(i, v.Slot, now)
		right = !sent && d <= w.far*w.far && !w.cfg.CellVisible(me, it)
	case server.ReasonTurn:
		right = !sent && w.cfg.Kbps != 0
	case server.ReasonBudget:
		right = !sent && w.cfg.Kbps != 0 && v.Priority <= v.Threshold
	case server.ReasonJoining:
		right = !sent && w.cfg.Kbps == 0 // beyond the first packet's part for objects
	}
	if !right || kind == netstate.Zone && (v.Reason == server.ReasonRange ||
		v.Reason == server.ReasonOccluded) {
		w.t.Fatalf("client %d, tick %d: %+v; sent %v, %d cells² away of %d²", i, now, v, sent, d, w.far)
	}
}

// cells is the square of the distance between a client and an object, in cells.
func (w *objectsExplainTest) cells(i, slot int, now tick.Tick) int {
	g := w.grid
	me, it := w.cellsOf(i, slot, now)
	dx, dz := me%g.Wide-it%g.Wide, me/g.Wide-it/g.Wide
	return dx*dx + dz*dz
}

// cellsOf are the cells of a client's player and of an object.
func (w *objectsExplainTest) cellsOf(i, slot int, now tick.Tick) (me, it int) {
	m, f := w.Lobby.Match(), w.Lobby.ObjectFrame(now)
	var row [netstate.ObjectStateFields]int32
	var o netstate.ObjectState
	f.Row(slot, row[:])
	o.Restore(row[:])
	pos := o.Pos
	switch {
	case o.Kind == netstate.Cube: // it may be sent as it was
		for k := range m.Scene().Cubes {
			if w.slotOf(netstate.Cube, k) == slot {
				pos = m.Scene().Cubes[k].Pos
			}
		}
	case o.Kind == netstate.Projectile:
		for k := range m.Objects().Projectiles {
			if p := &m.Objects().Projectiles[k]; p.Owner == netid.ID(o.Owner) && uint16(p.Tick) == o.Born {
				if pos = p.Point; p.Hit == object.Flying {
					pos = p.At(&m.Game().ProjectileKinds[p.Type], now)
				}
			}
		}
	case o.Kind == netstate.Grenade:
		for k := range m.Objects().Grenades {
			if p := &m.Objects().Grenades[k]; p.Owner == netid.ID(o.Owner) && uint16(p.Thrown) == o.Born {
				pos = p.Pos
			}
		}
	}
	g := w.grid
	cell := func(p geom.Vec3) int {
		x := max(0, min(g.Wide-1, int((p.X-g.MinX)/g.Cell)))
		z := max(0, min(g.Deep-1, int((p.Z-g.MinZ)/g.Cell)))
		return z*g.Wide + x
	}
	return cell(m.Poses()[w.Clients[i].ID().Index()].Pos), cell(pos)
}

// slotOf is the slot of a static object, as the list has it.
func (w *objectsExplainTest) slotOf(kind netstate.Kind, n int) int {
	for k := range w.verdicts {
		if w.verdicts[k].Object == (server.ObjectRef{Kind: kind, N: uint32(n)}).String() {
			return w.verdicts[k].Slot
		}
	}
	return -1
}
