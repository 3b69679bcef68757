package lobbysim

import (
	"testing"
	"time"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/netstate"
)

// The explained reason for each row that a snapshot lacks is the right one: in a town,
// within a range, with and without limits of bytes, for each pair of client and entity in each
// snapshot, by what the client decoded and by brute force over positions:
//
//	range    the oracle hides it, and it is beyond the view distance, in cells
//	occluded the oracle hides it, and it is within the view distance
//	clipped  the oracle shows it; no farther visible row is sent or waits, but for hysteresis
//	budget   the oracle shows it; its priority is at most the threshold, which is above 0
//	joining  likewise, until the client holds all rows
//
// The lobby's own counts are then the sum of these verdicts.
func TestExplainIsRightForEveryPlayer(t *testing.T) {
	skipUnderRace(t)
	a := arena.Town(64, 26)
	table := walls(t, a)
	total := map[server.Reason]int{}
	for _, c := range []struct {
		kbps, join int
		far        float32
	}{{far: 40, join: 1200}, {kbps: 64, far: 60}, {kbps: 24}} {
		cfg := server.Config{Arena: a, ArenaName: "town:64:26", Players: 64, Kbps: c.kbps,
			ViewDistance: c.far, JoinBytes: c.join, PVS: table, Hysteresis: 3,
			SampleEvery: 1, Rules: sim.Rules{Seed: 26, RespawnMillis: 2000}}
		if c.join != 0 {
			// By the trained models, and without objects, all rows fit a join snapshot.
			cfg.Models, cfg.Rules.Game = netstate.Untrained(), sim.DefaultGame()
			for i := range netstate.MaxStanding {
				at := geom.Vec3{X: float32(i%16)*6 - 45, Z: float32(i/16)*6 - 45}
				cfg.Rules.Game.Layout.Barrels = append(cfg.Rules.Game.Layout.Barrels, at)
			}
		}
		b, err := New(Config{Clients: 64, Seed: 26, Lobby: cfg, Link: impair.Profile{}})
		if err != nil {
			t.Fatal(err)
		}
		rule := cfg
		var highest map[int]int
		rule.CellSize = table.Config().Cell
		rule.CellVisible = func(from, to int) bool {
			return table.VisibleAt(from, highest[from], to, highest[to])
		}
		far := 1 << 12
		if c.far != 0 {
			far = int(c.far/rule.CellSize) + 1
			if float32(int(c.far/rule.CellSize))*rule.CellSize < c.far {
				far++
			}
		}
		newest, oracles := make([]tick.Tick, 64), make([]*oracle, 64)
		counts := map[server.Reason]int{}
		var row [netstate.PublicFields]int32
		look := func() {
			for i, cl := range b.Clients {
				at := cl.Newest()
				if at == newest[i] {
					continue
				}
				newest[i] = at
				if oracles[i] == nil {
					oracles[i] = &oracle{cfg: rule, id: cl.ID(), far: far, linger: 3,
						left: map[netid.ID]int{}}
				}
				f := b.Lobby.Frame(at)
				highest = levels(table, f)
				may := oracles[i].visibleTo(f)
				me := netstate.PoseOf(f.Row(cl.ID().Index(), row[:]), row[:]).Pos
				nearest, farthest := float32(1e9), float32(0) // of clipped rows, and of sent ones
				for slot := range f.Slots() {
					id := f.ID(slot)
					if id == 0 {
						continue
					}
					v := b.Lobby.Explain(cl.ID(), id)
					if tick.Tick(v.Tick) != at {
						t.Fatalf("the verdict is about tick %d, the newest snapshot is of %d", v.Tick, at)
					}
					counts[v.Reason]++
					shown, ok := cl.Row(at, slot, row[:])
					sent := ok && shown == id
					pos := netstate.PoseOf(f.Row(slot, row[:]), row[:]).Pos
					dx, dz := pos.X-me.X, pos.Z-me.Z
					d := dx*dx + dz*dz
					grid := server.GridConfig(a, rule.CellSize)
					p, q := table.Cell(me.X, me.Z), table.Cell(pos.X, pos.Z)
					cx, cz := p%grid.Wide-q%grid.Wide, p/grid.Wide-q/grid.Wide
					right := false
					switch v.Reason {
					case server.ReasonSent:
						right = sent && may[id]
					case server.ReasonRange:
						right = !may[id] && cx*cx+cz*cz > far*far
					case server.ReasonOccluded:
						right = !may[id] && cx*cx+cz*cz <= far*far
					case server.ReasonClipped:
						right = may[id] && c.kbps != 0
						nearest = min(nearest, d)
					case server.ReasonBudget:
						right = may[id] && c.kbps != 0 && v.Threshold > 0 && v.Priority > 0 &&
							v.Priority <= v.Threshold
					case server.ReasonTurn:
						right = may[id] && c.kbps != 0 && v.Waited < v.MaxWait
					case server.ReasonJoining:
						right = may[id] && c.kbps == 0 && v.Threshold > 0 && v.Priority <= v.Threshold &&
							at < newest[0]+120
					}
					if !right || sent != (v.Reason == server.ReasonSent) {
						t.Fatalf("%+v: client %d, tick %d, %v: %+v, sent %v, may %v, cells %d %d",
							c, i, at, id, v, sent, may[id], cx, cz)
					}
					waits := v.Reason == server.ReasonBudget || v.Reason == server.ReasonTurn
					if waits || v.Reason == server.ReasonSent && id != cl.ID() {
						farthest = max(farthest, d)
					}
				}
				if 1+nearest < 0.64*(1+farthest)*(1-1./16) {
					t.Fatalf("%+v: client %d, tick %d: a row %g m² off is sent or waits, "+
						"one %g m² off is clipped", c, i, at, farthest, nearest)
				}
			}
		}
		for range 60 * 6 {
			if err := b.Step(); err != nil {
				t.Fatal(err)
			}
			look()
		}
		for i := range b.Clients { // what the last tick sent
			b.play(i)
		}
		look()
		b.Lobby.Publish()
		l := b.Lobby.Summary().Replication
		for w, n := range l.Players {
			if counts[server.Reason(w)] != int(n) {
				t.Errorf("%+v: the lobby has counted %d %v, the clients %d",
					c, n, server.Reason(w), counts[server.Reason(w)])
			}
			total[server.Reason(w)] += int(n)
		}
		t.Logf("%+v: %v", c, counts)
	}
	for _, w := range []server.Reason{server.ReasonSent, server.ReasonRange, server.ReasonOccluded,
		server.ReasonClipped, server.ReasonBudget, server.ReasonJoining, server.ReasonTurn} {
		if total[w] < 100 {
			t.Errorf("%v: %d times, nothing tested", w, total[w])
		}
	}
}

// Clients and entities that do not exist, do not exist yet, or no longer exist have reasons of
// their own.
func TestExplainOfEmptySlots(t *testing.T) {
	skipUnderRace(t)
	b := open(t, 8, 3, impair.Profile{Delay: 50 * time.Millisecond})
	step := func(n int) {
		for range n {
			if err := b.Step(); err != nil {
				t.Fatal(err)
			}
		}
	}
	step(120)
	me, other := b.Clients[0].ID(), b.Clients[1].ID()
	why := func(client, entity netid.ID, want server.Reason) {
		t.Helper()
		if v := b.Lobby.Explain(client, entity); v.Reason != want || v.Text != want.Text() {
			t.Errorf("of %d and %d it says %+v, want %v", client, entity, v, want)
		}
	}
	why(me, other, server.ReasonSent)
	why(me, me, server.ReasonSent)
	why(me, 0, server.ReasonNoEntity)
	why(me, netid.Make(3000, 1), server.ReasonNoEntity)
	why(me, netid.Make(other.Index(), 77), server.ReasonNoEntity)
	why(0, other, server.ReasonNoClient)
	why(netid.Make(3000, 1), other, server.ReasonNoClient)
	if v := b.Lobby.Explain(me, other); v.Acked == 0 || v.Acked > v.Tick || v.Age > 3 || v.Interval != 3 {
		t.Errorf("a verdict of %+v", v)
	}
	b.Crash(1) // and times out
	step(60 * 11)
	why(other, me, server.ReasonTimedOut)
	b.Leave(2)
	step(5)
	if err := b.Connect(2); err != nil {
		t.Fatal(err)
	}
	loading, none := false, false
	for range 60 {
		step(1)
		why := b.Lobby.Explain(b.Clients[2].ID(), me).Reason
		loading, none = loading || why == server.ReasonLoading, none || why == server.ReasonNoSnapshot
	}
	if !loading || !none {
		t.Errorf("no client was loading (%v) or without a snapshot (%v)", loading, none)
	}
}
