package lobbysim

import (
	"testing"
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/netstate"
)

// maze is a CellVisible: walls part the map into blocks of 3 by 3 cells, and a viewer sees the row
// and the column of its block.
func maze(a *arena.Arena, cell float32) func(from, to int) bool {
	wide := server.GridConfig(a, cell).Wide
	return func(from, to int) bool {
		return from%wide/3 == to%wide/3 || from/wide/3 == to/wide/3
	}
}

// oracle finds by brute force which rows one client may be sent: frame by frame, from positions
// alone.
type oracle struct {
	cfg    server.Config
	id     netid.ID
	far    int              // cells
	linger int              // snapshots
	left   map[netid.ID]int // snapshots for which a player stays visible
}

// visibleTo updates the oracle with a frame that the client has a snapshot of, and returns the
// players that the client may see.
func (o *oracle) visibleTo(f *snapshot.Frame) map[netid.ID]bool {
	var row [netstate.PublicFields]int32
	grid := server.GridConfig(o.cfg.Arena, o.cfg.CellSize)
	cell := func(slot int) (x, z int, team uint8) {
		p := netstate.PoseOf(f.Row(slot, row[:]), row[:])
		x = min(max(int((p.Pos.X-grid.MinX)/grid.Cell), 0), grid.Wide-1)
		z = min(max(int((p.Pos.Z-grid.MinZ)/grid.Cell), 0), grid.Deep-1)
		return x, z, p.Team()
	}
	may := map[netid.ID]bool{}
	mx, mz, team := cell(o.id.Index())
	for slot := range f.Slots() {
		id := f.ID(slot)
		if id == 0 {
			continue
		}
		x, z, t := cell(slot)
		dx, dz := x-mx, z-mz
		inRange := dx*dx+dz*dz <= o.far*o.far
		if id == o.id || t == team || inRange && o.cfg.CellVisible(mz*grid.Wide+mx, z*grid.Wide+x) {
			may[id] = true
			o.left[id] = o.linger
		} else if o.left[id] > 0 {
			may[id] = true
			o.left[id]--
		}
	}
	for id := range o.left { // a player that left is not visible when it returns
		if f.ID(id.Index()) != id {
			delete(o.left, id)
		}
	}
	return may
}

// A match of 64 players behind walls, with joins and leaves: every snapshot of every client has
// exactly the rows that the oracle makes visible, and no byte of any other. Under a limit rows may
// be missing, and none may be added.
func TestThreat26NothingHiddenIsInTheBytes(t *testing.T) {
	skipUnderRace(t)
	for _, c := range []struct {
		name string
		kbps int
		link impair.Profile
	}{{"no limit", 0, impair.Profile{}}, {"64 kbit/s", 64, impair.Profile{}}} {
		t.Run(c.name, func(t *testing.T) { hidden(t, c.kbps, c.link) })
	}
}

func hidden(t *testing.T, kbps int, link impair.Profile) {
	const cell, linger, farMetres = 4, 3, 30
	a, err := arena.Open("arena-64")
	if err != nil {
		t.Fatal(err)
	}
	cfg := server.Config{Arena: a, ArenaName: "arena-64", Players: 64, Kbps: kbps,
		Rules:     sim.Rules{Seed: 26, RespawnMillis: 2000},
		Relevance: server.RelevanceGrid, CellSize: cell, ViewDistance: farMetres, Hysteresis: linger,
		CellVisible: maze(a, cell)}
	b, err := New(Config{Clients: 64, Seed: 26, Link: link, Lobby: cfg})
	if err != nil {
		t.Fatal(err)
	}
	newest, oracles := make([]tick.Tick, 64), make([]*oracle, 64)
	n := rowCounts{whole: kbps == 0}
	ticks := 60 * 20
	if testing.Short() {
		ticks = 60 * 5
	}
	for now := range ticks {
		if i, anew := reconnectInTurn(t, b, now); anew {
			newest[i], oracles[i] = 0, nil
		}
		if err := b.Step(); err != nil {
			t.Fatal(err)
		}
		for i, cl := range b.Clients {
			at := cl.Newest()
			if at == newest[i] {
				continue
			}
			newest[i] = at
			if oracles[i] == nil {
				oracles[i] = &oracle{cfg: cfg, id: cl.ID(), far: (farMetres+cell-1)/cell + 1,
					linger: linger, left: map[netid.ID]int{}}
			}
			f := b.Lobby.Frame(at)
			n.take(t, cl, f, oracles[i].visibleTo(f))
		}
	}
	if n.snapshots < ticks*20 || n.sent < n.snapshots*4 || n.hidden < n.snapshots*4 ||
		kbps > 0 && n.waiting == 0 {
		t.Errorf("%d snapshots with %d rows, %d hidden, %d left out",
			n.snapshots, n.sent, n.hidden, n.waiting)
	}
	t.Logf("%d snapshots: %d rows sent, %d hidden, %d waited", n.snapshots, n.sent, n.hidden, n.waiting)
}

// reconnectInTurn lets one client of 64 after the other leave and join again, one each 90 ticks,
// and returns its number.
func reconnectInTurn(t *testing.T, b *Sim, now int) (i int, anew bool) {
	if now%90 != 89 {
		return 0, false
	}
	i = now / 90 % 64
	b.Leave(i)
	if err := b.Connect(i); err != nil {
		t.Fatal(err)
	}
	return i, true
}

// rowCounts counts the rows of snapshots against the visible players.
type rowCounts struct {
	whole bool // no visible row is left out

	snapshots, sent, hidden, waiting int
}

// take fails the test if the snapshot of f has a row that the client may not see. It returns the
// slots in it.
func (n *rowCounts) take(t *testing.T, cl *client.Client, f *snapshot.Frame,
	may map[netid.ID]bool) (slots uint64) {
	t.Helper()
	n.snapshots++
	var row [netstate.PublicFields]int32
	for slot := range f.Slots() {
		id, ok := cl.Row(f.Tick, slot, row[:])
		switch present := f.ID(slot); {
		case ok && id != 0 && !may[id]:
			t.Fatalf("client %v was sent in tick %d %v, which it must not see", cl.ID(), f.Tick, id)
		case ok && id != 0:
			slots |= 1 << slot
			n.sent++
		case present != 0 && may[present] && n.whole:
			t.Fatalf("client %v was not sent in tick %d %v, which it may see", cl.ID(), f.Tick, present)
		case present != 0 && may[present]:
			n.waiting++
		case present != 0:
			n.hidden++
		}
	}
	return slots
}

// TestRow33SnapshotsFromTheWorld is row 33 of docs/features.md: without loss every client
// holds at each of its snapshots just what the world was, neither more nor less.
func TestRow33SnapshotsFromTheWorld(t *testing.T) {
	skipUnderRace(t)
	b := open(t, 24, 33, impair.Profile{})
	newest, compared := make([]tick.Tick, 24), 0
	var got, want [netstate.PublicFields]int32
	for range 60 * 20 {
		if err := b.Step(); err != nil {
			t.Fatal(err)
		}
		for i, cl := range b.Clients {
			at := cl.Newest()
			if at == newest[i] {
				continue
			}
			newest[i] = at
			f := b.Lobby.Frame(at)
			for slot := range f.Slots() {
				id, ok := cl.Row(at, slot, got[:])
				if was := f.Row(slot, want[:]); was != id || !ok && was != 0 || id != 0 && got != want {
					t.Fatalf("client %d, tick %d, slot %d: %v %v, the world has %v %v",
						i, at, slot, id, got, was, want)
				}
				if id != 0 {
					compared++
				}
			}
		}
	}
	if compared < 24*24*350 {
		t.Errorf("only %d rows compared", compared)
	}
}

// Shots among walls are judged as their shooters saw them, except the few at a player that was
// hidden at the second of the view's two snapshots: the server knows its position and the client
// does not.
func TestVerdictsAmongWalls(t *testing.T) {
	skipUnderRace(t)
	for _, kbps := range []int{0, 24} {
		a, err := arena.Open("arena-16")
		if err != nil {
			t.Fatal(err)
		}
		b, err := New(Config{Clients: 16, Seed: 3, Link: impair.Profile{Delay: 40 * time.Millisecond},
			PredictHits: true,
			Lobby: server.Config{Arena: a, ArenaName: "arena-16", Players: 20,
				Rules: sim.Rules{Seed: 3, RespawnMillis: 3000}, Kbps: kbps,
				Relevance: server.RelevanceGrid, CellSize: 4, CellVisible: maze(a, 4), Hysteresis: 2}})
		if err != nil {
			t.Fatal(err)
		}
		v := verdicts{t: t, b: b, server: map[shotKey]verdict{}, from: make([]uint64, 16)}
		for range 60 * 40 {
			if err := b.Step(); err != nil {
				t.Fatal(err)
			}
			v.collect()
		}
		compared, hits, others := 0, 0, 0
		for i, s := range v.client {
			h, known := v.server[shotKey{uint32(v.by[i]), s.Tick}]
			if !known || h.ray.Origin != s.Ray.Origin { // or the shooter mispredicted its position
				continue
			}
			compared++
			if s.Hit != 0 {
				hits++
			}
			if netid.ID(h.hit.ID) != s.Hit {
				others++
			}
		}
		t.Logf("%d kbit/s: %d shots compared, %d hits, %d judged otherwise, %d hits filtered",
			kbps, compared, hits, others,
			b.Lobby.Stats.Count[metrics.HitsFiltered].Load())
		if compared < 1000 || hits < 200 || others > compared/200 ||
			b.Lobby.Stats.Count[metrics.HitsFiltered].Load() == 0 {
			t.Errorf("%d kbit/s: of %d shots with %d hits %d were judged otherwise than seen",
				kbps, compared, hits, others)
		}
	}
}

// Where walls hide players, each team has a half of the slots: its groups are blocks for all of it.
func TestTeamsHaveGroups(t *testing.T) {
	b := newFullLobbyWith(t, 128, server.Config{Relevance: server.RelevanceGrid}, nil)
	for slot, p := range b.Lobby.Match().Poses() {
		if p.ID != 0 && int(p.Team()) != slot/64 {
			t.Errorf("slot %d has a player of team %d", slot, p.Team())
		}
	}
}
