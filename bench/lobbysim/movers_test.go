package lobbysim

import (
	"testing"
	"time"

	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/replay"
)

// lifts is the map with an elevator, a bridge and a door, in this order.
func lifts(t testing.TB) *arena.Arena {
	a, err := arena.Open("lifts")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// rider is a bot that keeps to the movers of the map: it rides the elevator, goes over the bridge,
// jumps on both, and goes to and fro through the door's gap. Now and then it fights as bots do.
type rider struct {
	swarm.Brain
	n int
}

func (r rider) Decide(o *swarm.Observation) client.Intent {
	in := r.Brain.Decide(o)
	now, turn := arena.Moment{Tick: o.Tick, Rate: o.Rate}, int(o.Tick)/240+r.n
	if turn%8 == 7 {
		return in
	}
	in.Buttons &^= sim.Fire | sim.Throw | sim.Melee | sim.Sprint | sim.Jump
	spot := geom.Vec3{X: float32(r.n%4) - 1.5, Z: float32(turn%4) - 1.5}
	goal := spot // on the elevator
	switch {
	case r.n%4 == 3: // through the gap
		goal = geom.Vec3{X: -8.25 + float32(turn%3-1)*4, Z: 0}
	case o.Self.Motion.Pos.Y > 3.75 && r.n%2 == 0:
		goal = o.Arena.Movers[1].At(now).Min.Add(geom.Vec3{X: 1.5, Z: 1}).Add(spot.Scale(0.4))
	}
	way := goal.Sub(o.Self.Motion.Pos)
	in.Yaw = geom.Atan2(way.X, way.Z)
	in.MoveYaw, in.MoveMag = 0, 255
	if way.X*way.X+way.Z*way.Z < 0.25 {
		in.MoveMag = 0
	}
	if int(o.Tick)%90 == r.n*7 {
		in.Buttons |= sim.Jump
	}
	return in
}

// newRiders is a lobby of riders.
func newRiders(t testing.TB, clients int, link impair.Profile, cfg server.Config) *Sim {
	cfg.Arena, cfg.ArenaName, cfg.Players = lifts(t), "lifts", clients+2
	cfg.Rules = sim.Rules{Seed: 55, RespawnMillis: 1000, Mix: true}
	b, err := New(Config{Clients: clients, Seed: 55, Link: link, PredictHits: true, Lobby: cfg,
		Brain:        func(n int) swarm.Brain { return rider{swarm.NewBot(55, n), n} },
		ChangeClient: func(_ int, cfg *client.Config) { cfg.Arena = client.Known }})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// rides counts the players that stand on each mover, by the server.
func rides(b *Sim, on *[3]int) {
	s := b.Lobby.Match().Scene()
	poses := b.Lobby.Match().Poses()
	for i := range s.Arena.Movers {
		box := s.Arena.Movers[i].At(s.Moment())
		for k := range poses {
			p := &poses[k]
			if p.ID != 0 && p.Alive() && p.Pos.X > box.Min.X && p.Pos.X < box.Max.X && p.Pos.Z > box.Min.Z &&
				p.Pos.Z < box.Max.Z && geom.Abs(p.Pos.Y-box.Max.Y) < 1./64 {
				on[i]++
			}
		}
	}
}

// TestRow55RidersAreNotMispredicted: on a clean link nobody who rides, jumps off or is pushed by a
// mover is mispredicted, from its first tick on. A client that joins late, with movers on their way,
// sees each where the server has it, and rides as the others do.
func TestRow55RidersAreNotMispredicted(t *testing.T) {
	skipUnderRace(t)
	b := newRiders(t, 8, impair.Profile{Delay: 40 * time.Millisecond}, server.Config{})
	const late = 5
	var on [3]int
	boxes, checked, rode := []geom.AABB(nil), 0, 0
	for n := range 60 * 60 {
		switch n {
		case 60:
			b.Leave(late)
		case 30*60 + 47: // in mid-travel of the elevator
			if err := b.Connect(late); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.Step(); err != nil {
			t.Fatal(err)
		}
		rides(b, &on)
		for i, c := range b.Clients {
			if c == nil {
				continue
			}
			p, ok := c.Present(client.Intent{})
			if !ok {
				continue
			}
			boxes = c.Movers(&p, boxes[:0])
			for k, box := range boxes {
				now := arena.Moment{Tick: p.Tick, Rate: b.rate}
				m := &b.Lobby.Match().Scene().Arena.Movers[k]
				from, to := m.At(now), m.At(arena.Moment{Tick: p.Tick + 1, Rate: b.rate})
				if want := from.Min.Lerp(to.Min, p.Frac); box.Min.Sub(want).Len() > 1e-5 {
					t.Fatalf("client %d shows mover %d at %v, want %v", i, k, box.Min, want)
				}
				checked++
				if feet := p.Pos.Sub(box.Min); i == late && n > 30*60 && geom.Abs(p.Pos.Y-box.Max.Y) < 1e-3 &&
					feet.X > 0 && feet.Z > 0 && p.Pos.X < box.Max.X && p.Pos.Z < box.Max.Z {
					rode++
				}
			}
		}
	}
	for i, c := range b.Clients {
		if p := c.Stats().Prediction; p.Mispredictions != 0 || p.Rows < 500 || p.Replays > p.Pushes+p.Lives+2 {
			t.Errorf("client %d: %+v", i, p)
		}
	}
	t.Logf("ticks on the elevator, the bridge and the door: %v, of the late joiner %d; %d boxes", on, rode, checked)
	if on[0] < 2000 || on[1] < 200 || rode < 100 || checked < 50000 {
		t.Errorf("ticks on the elevator, the bridge and the door: %v, of the late joiner %d; %d boxes", on, rode,
			checked)
	}
}

// TestRow55RidersOnABadLink: on a bad link only ticks whose command was lost mispredict, for minutes.
func TestRow55RidersOnABadLink(t *testing.T) {
	skipUnderRace(t)
	minutes := 10
	if testing.Short() {
		minutes = 2
	}
	b := newRiders(t, 8, bad, server.Config{})
	var on [3]int
	for range minutes * 60 * 60 {
		if err := b.Step(); err != nil {
			t.Fatal(err)
		}
		rides(b, &on)
	}
	var wrong, missing, rows uint64
	for i, c := range b.Clients {
		s := c.Stats()
		wrong, missing, rows = wrong+s.Prediction.Mispredictions, missing+s.InputsMissing, rows+s.Prediction.Rows
		if s.Prediction.Mispredictions > s.InputsMissing+1 || s.Undecoded != 0 || s.Diverged != 0 {
			t.Errorf("client %d: %d inputs missing, %+v", i, s.InputsMissing, s.Prediction)
		}
	}
	t.Logf("%d rows, %d mispredicted, %d inputs missing; ticks on movers %v", rows, wrong, missing, on)
	if on[0] < 1000*minutes || rows == 0 {
		t.Errorf("ticks on movers %v, %d rows", on, rows)
	}
}

// TestRow55MoversAreRecorded: a recording of riders plays to the same state in every tick, though
// it holds no place of a mover.
func TestRow55MoversAreRecorded(t *testing.T) {
	var files [][]byte
	b := newRiders(t, 6, impair.Profile{}, server.Config{Record: recordInto(&files)})
	live := map[uint32]uint64{}
	for range 20 * 60 {
		if err := b.Step(); err != nil {
			t.Fatal(err)
		}
		live[uint32(b.Lobby.Match().Tick())] = b.Lobby.Match().Hash()
	}
	b.Lobby.FinishRecording()
	ticks := 0
	playFile(t, b, files[0], func(p *replay.Player) {
		ticks++
		if p.Match.Hash() != live[uint32(p.Match.Tick())] {
			t.Fatalf("tick %d was recorded as another", p.Match.Tick())
		}
	})
	if ticks < 20*60-60 {
		t.Errorf("%d ticks", ticks)
	}
}

// TestRow55MapChangeInMidTravel: the map changes to one with movers and back while riders are on
// their way. Everybody goes on, and nobody mispredicts.
func TestRow55MapChangeInMidTravel(t *testing.T) {
	skipUnderRace(t)
	b := newRiders(t, 6, impair.Profile{Delay: 20 * time.Millisecond}, server.Config{})
	var on [3]int
	for i := range 5 {
		for range 600 + 37*i {
			if err := b.Step(); err != nil {
				t.Fatal(err)
			}
			rides(b, &on)
		}
		next := server.LoadedMap{Arena: lifts(t), Name: "lifts"}
		if i%2 == 0 {
			a, err := arena.Open("arena-16")
			if err != nil {
				t.Fatal(err)
			}
			next = server.LoadedMap{Arena: a, Name: "arena-16"}
			for n := range b.brains {
				b.brains[n] = swarm.NewBot(55, n)
			}
		} else {
			for n := range b.brains {
				b.brains[n] = rider{swarm.NewBot(55, n), n}
			}
		}
		if err := b.Lobby.InstallMap(b.Now(), next); err != nil {
			t.Fatal(err)
		}
	}
	for i, c := range b.Clients {
		if s := c.Stats(); s.Prediction.Mispredictions != 0 || s.Undecoded != 0 || s.Maps != 4 {
			t.Errorf("client %d: %d maps, %+v", i, s.Maps, s.Prediction)
		}
	}
	if n := b.Lobby.Stats.Count[metrics.Joined].Load(); n != 6 || on[0] < 100 {
		t.Errorf("%d joined; ticks on movers %v", n, on)
	}
}
