package server

import (
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/alloctest"
	"github.com/tickrate/tickrate/server/overload"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/netstate"
	"github.com/tickrate/tickrate/sim/pvs"
)

// free gives a spectator a free camera, allowed or not, as if it had never had a target.
func (b *clientLobby) free(s *client.Client) *conn {
	c := &b.lobby.conns[s.ID().Index()]
	c.roster.view.free = true
	c.follow(0)
	if c.repl.acks.objects.view != nil {
		c.repl.acks.objects.view.Reset()
	}
	return c
}

// A free-camera spectator with enough bandwidth for all rows holds the same players and objects as
// one without a limit, in blocks. That holds after it followed a player, and where a grid hides
// players from each other.
func TestFreeCameraWithLooseBudget(t *testing.T) {
	alone(t)
	for i, c := range []struct {
		cfg   Config
		n     int
		loss  float64
		fires bool
	}{
		0: {Config{Players: 32, Kbps: 256}, 32, 0, false},
		1: {Config{Players: 90, Kbps: 1000}, 80, 0.05, false},
		2: {Config{Players: 32, Kbps: 1500, Rules: sim.Rules{Mix: true}}, 32, 0, true},
		3: {Config{Players: 32, Kbps: 400, ViewDistance: 12}, 32, 0, false},
		4: {Config{Players: 32, Kbps: 400, ViewDistance: 12, TeamFog: true}, 32, 0.05, false},
	} {
		c.cfg.Spectators, c.cfg.SpectateAll = 1, true
		loose := c.cfg
		loose.Kbps = 0
		a, b := newClientLobby(t, c.n, loose), newClientLobby(t, c.n, c.cfg)
		s, z := a.addClient(client.Config{}, spectator), b.addClient(client.Config{}, spectator)
		ka, kb := link{rand.New(rand.NewPCG(4, uint64(i))), c.loss},
			link{rand.New(rand.NewPCG(4, uint64(i))), c.loss}
		a.turnPlayers(uint64(i))
		b.turnPlayers(uint64(i))
		if c.fires {
			a.firing(uint64(i))
			b.firing(uint64(i))
		}
		rows, objects, blocks, snapshots := 0, 0, 0, 0
		for at := range fullOrShort(8, 6) * 60 {
			a.lossy(&ka)
			b.lossy(&kb)
			if at == 120 {
				a.free(s)
				b.free(z)
			}
			if at < 240 {
				continue
			}
			x, y := *a, *b
			x.players, y.players = a.players[c.n:], b.players[c.n:]
			rows += x.sameRows(&y)
			objects += x.sameObjects(&y)
			if g := &b.lobby.conns[z.ID().Index()]; g.repl.pacing.sent == b.lobby.match.Tick() {
				if snapshots++; g.repl.view.selection == rowsAll &&
					(c.cfg.ViewDistance != 0 || g.repl.acks.objects.selection != objectsBudget) {
					blocks++
				}
			}
		}
		if target, on := z.Spectate.Target(); target != 0 || !on || rows < c.n*120 ||
			blocks*10 < snapshots*8 || c.fires && objects < 1000 {
			t.Errorf("%d: looks through %v, %v; %d rows and %d objects compared, %d of %d "+
				"snapshots in blocks", i, target, on, rows, objects, blocks, snapshots)
		}
		b.rowsMatch(100)
	}
}

// A free-camera spectator whose bandwidth is below demand gets all rows in turns, the one that
// waits longest first, and no snapshot exceeds its budget. The same holds for objects.
func TestFreeCameraTakesTurns(t *testing.T) {
	alone(t)
	for i, c := range []struct{ n, kbps, most int }{
		0: {32, 24, snapshot.MaxAge / 6},
		1: {60, 32, snapshot.MaxAge / 4},
		2: {60, 16, 2 * snapshot.MaxAge}, // it does not carry all in the time that a baseline lasts
	} {
		b := newClientLobby(t, c.n,
			Config{Players: 64, Spectators: 1, SpectateAll: true, Rules: sim.Rules{Mix: true}})
		s := b.addClient(client.Config{MaxKbps: c.kbps}, spectator)
		b.firing(uint64(i))
		b.play(3)
		g := b.free(s)
		waits, longest, told, objectsSent, snapshots, passed := make([]int, b.lobby.cfg.Players),
			0, 0, 0, 0, 0
		for at := range fullOrShort(24, 20) * 60 {
			rooms := b.budgets()
			b.tickAll()
			if g.repl.pacing.sent != b.lobby.match.Tick() || at < 120 {
				continue
			}
			snapshots++
			f, rows, least, first := b.lobby.replication.players.frames.At(g.repl.pacing.sent), 0, 1<<30, 0
			for slot := range waits {
				if f.ID(slot) == 0 {
					waits[slot] = 0
				} else if sent, _ := g.repl.acks.tracker.RowSent(slot); sent {
					least, waits[slot] = min(least, waits[slot]), 0
					rows++
				} else {
					first = max(first, waits[slot])
					waits[slot]++
					if v := b.lobby.Explain(g.id, f.ID(slot)); v.Reason != ReasonBudget ||
						v.Metres != -1 || v.Waited == 0 {
						t.Fatalf("%d: %+v", i, v)
					}
				}
				longest = max(longest, waits[slot])
			}
			if told += rows; rows > 0 && least < first {
				passed++
			}
			for slot := range b.lobby.replication.objects.table.slots {
				if sent, _ := g.repl.acks.objects.tracker.RowSent(slot); sent &&
					g.repl.acks.objects.selection == objectsBudget {
					objectsSent++
				}
			}
			// what goes before rows may take more alone
			if was := rooms[int32(g.id.Index())]; int(g.session.stats.down-was.sent) > was.room && rows > 0 {
				t.Errorf("%d: tick %d: %d bytes with %d rows, with room for %d",
					i, g.repl.pacing.sent, g.session.stats.down-was.sent, rows, was.room)
			}
		}
		t.Logf("%d: the longest wait was %d snapshots of %d, in %d others went before; %d rows told, "+
			"%d of objects", i, longest, snapshots, passed, told, objectsSent)
		if longest < 2 || longest > c.most || passed*6 > snapshots || told < 300 || objectsSent < 100 {
			t.Errorf("%d: the longest wait was %d snapshots; %d rows told, %d of objects",
				i, longest, told, objectsSent)
		}
		if st := s.Stats(); st.Undecoded != 0 || st.Resyncs != 0 || st.Diverged != 0 {
			t.Errorf("%d: %+v", i, st)
		}
		b.rowsMatch(100)
	}
}

// A tick with a free-camera spectator allocates nothing, with bandwidth for all rows or not.
func TestFreeCameraAllocatesNothing(t *testing.T) {
	alone(t)
	b := newClientLobby(t, 40,
		Config{Players: 40, Spectators: 1, SpectateAll: true, Rules: sim.Rules{Mix: true}})
	b.lobby.Reserve()
	s := b.addClient(client.Config{MaxKbps: 600}, spectator)
	b.firing(1)
	b.play(2)
	c := b.free(s)
	b.play(fullOrShort(6, 4))
	b.brain = func(int) client.Intent { return client.Intent{MoveMag: 255} }
	b.play(2)
	tick := func() {
		b.now = b.lobby.cfg.Rules.Rate.At(b.lobby.match.Tick() + 1)
		must0(t, b.lobby.Tick(b.now, b.unix(), b.conn))
	}
	for i, kbps := range []int{600, 16} {
		c.repl.pacing.setRate(1, kbps, &b.lobby.cfg)
		if n := alloctest.In(30, tick); n != 0 ||
			(c.repl.view.selection == rowsScheduled) != (i == 1) {
			t.Errorf("%v allocations a tick at %d kbit/s, chosen as %d", n, kbps, c.repl.view.selection)
		}
	}
}

// A bandwidth limit shows no row that would be hidden without it: in each mode, in a town with
// walls, in a team's fog of war, and at low detail.
func TestLimitShowsNoMore(t *testing.T) {
	alone(t)
	town, err := arena.Open("town:32:3")
	must0(t, err)
	walls, err := pvs.Build(town, pvs.Fit(town, pvs.CellFor(town)))
	must0(t, err)
	cfg := client.Config{Arena: func(string, [32]byte) (*arena.Arena, error) { return town, nil }}
	for i, c := range []struct {
		relevance Relevance
		all, fog  bool
		shed      overload.Level
		sees      bool // all players, else none
		objects   bool // all of them, and else what is the round's
	}{
		0: {RelevanceOff, false, false, overload.Normal, true, true},
		1: {RelevanceOff, false, false, overload.LowDetail, true, true},
		2: {RelevanceAll, true, false, overload.Normal, true, true},
		3: {RelevanceAll, true, false, overload.LowDetail, false, true},
		4: {RelevanceGrid, true, false, overload.Normal, true, false},
		5: {RelevanceGrid, true, true, overload.Normal, true, false},
		6: {RelevanceGrid, true, true, overload.LowDetail, false, false},
		7: {RelevanceGrid, false, false, overload.Normal, false, false},
		8: {RelevanceGrid, false, true, overload.Normal, false, false},
	} {
		lobby := Config{Arena: town, ArenaName: "town:32:3", Players: 24, Spectators: 3,
			Relevance: c.relevance, TeamFog: c.fog, SpectateAll: c.all, Rules: sim.Rules{Mix: true}}
		if c.relevance == RelevanceGrid {
			lobby.PVS = walls
		}
		b := newClientLobby(t, 0, lobby)
		b.firing(uint64(i))
		for range 20 {
			b.addSpectator(cfg, nil)
		}
		lines := []int{0, 600, 24} // no limit, one that has room for all, one that has not
		var looks []*conn
		for _, kbps := range lines {
			cfg.MaxKbps = kbps
			b.addSpectator(cfg, spectator)
		}
		cfg.MaxKbps = 0
		b.play(3)
		for _, s := range b.players[20:] {
			looks = append(looks, b.free(s))
		}
		b.lobby.SetLoadLevel(c.shed)
		b.play(2)
		var rows, objects, part, hidden [3]int // rows are of full snapshots
		var row [netstate.ObjectStateFields]int32
		var last [3]tick.Tick
		for range 240 {
			b.tickAll()
			f, w := b.lobby.Frame(b.lobby.match.Tick()),
				b.lobby.ObjectFrame(b.lobby.match.Tick())
			for n, g := range looks {
				if g.repl.pacing.sent != f.Tick || g.repl.pacing.sent == last[n] {
					continue
				}
				last[n] = g.repl.pacing.sent
				if b.sentRows(g) == f.Len() {
					rows[n]++
				} else if b.sentRows(g) > 0 {
					part[n]++
				}
				if g.repl.acks.objects.selection == objectsUnchanged {
					continue
				}
				for slot := range b.lobby.replication.objects.table.slots {
					sent, _ := g.repl.acks.objects.tracker.RowSent(slot)
					if id := w.Row(slot, row[:]); !sent || id == 0 {
						continue
					}
					if k := b.lobby.replication.objects.table.slots[slot].kind; k != netstate.Teleporter &&
						k != netstate.Zone {
						hidden[n]++
					}
					objects[n]++
				}
			}
		}
		for n := range looks {
			everybody, some := rows[n] > 0, part[n] > 0
			if n == 2 && c.sees { // by turns
				everybody = everybody || some
				some = false
			}
			if everybody != c.sees || some {
				t.Errorf("%d: at %d kbit/s %d snapshots told of everybody, %d of some",
					i, lines[n], rows[n], part[n])
			}
			if (hidden[n] > 0) != c.objects {
				t.Errorf("%d: at %d kbit/s %d objects told, %d that not all see",
					i, lines[n], objects[n], hidden[n])
			}
		}
	}
}
