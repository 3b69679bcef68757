package aim

import (
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/alloctest"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/replay"
)

// gallery is a match between an aimbot and humans. Players in even slots look away and turn to a
// target in the tick in which they fire; players in odd slots turn at human speed, take their time,
// and miss by some degrees.
type gallery struct {
	m   *sim.Match
	ids [8]netid.ID
	aim [8]struct {
		yaw   geom.Angle
		since tick.Tick // a target is visible
	}
	rng uint64
}

func newGallery(t testing.TB) *gallery {
	ground, err := arena.Open("arena-16")
	if err != nil {
		t.Fatal(err)
	}
	game := sim.DefaultGame()
	game.Mode.PrematchMillis, game.Mode.MinPlayers = 1000, 2
	g := &gallery{m: sim.New(8, sim.Rules{Seed: 5, RespawnMillis: 1000, Game: game}, ground), rng: 5}
	g.m.SetHitFilter(func(*lagcomp.Sweep, uint32) bool { return true })
	for i := range g.ids {
		g.ids[i] = g.m.Join()
	}
	return g
}

func (g *gallery) draw(n int) int {
	g.rng = g.rng*6364136223846793005 + 1442695040888963407
	return int(g.rng>>33) % n
}

// inSight is the nearest living enemy that no wall hides.
func (g *gallery) inSight(me rig.Pose) (best rig.Pose) {
	for _, o := range g.m.Poses() {
		if o.ID != 0 && o.Alive() && me.ID != 0 && o.Team() != me.Team() &&
			!hidden(g.m, g.m.Tick(), sim.Eye(me.Pos), sim.Eye(o.Pos)) &&
			(best.ID == 0 || o.Pos.Sub(me.Pos).LenSq() < best.Pos.Sub(me.Pos).LenSq()) {
			best = o
		}
	}
	return best
}

func (g *gallery) step() {
	now := g.m.Tick()
	for i, id := range g.ids {
		a := &g.aim[i]
		c := sim.Command{Tick: now + 1, MoveYaw: uint8(int(now)/40*37 + i*50), MoveMag: 255,
			View: tick.View{From: max(now, 2) - 1, To: max(now, 2) - 1}}
		foe := rig.Pose{}
		if in := g.m.CommandBuffer(id); in != nil {
			foe = g.inSight(g.m.Poses()[id.Index()])
		}
		if foe.ID == 0 {
			a.since = 0
		} else if a.since == 0 {
			a.since = now
		}
		var to geom.Angle
		if foe.ID != 0 {
			d := foe.Pos.Sub(g.m.Poses()[id.Index()].Pos)
			to = geom.Atan2(d.X, d.Z)
		}
		switch bot := i%2 == 0; {
		case bot && foe.ID != 0 && now%8 == 0: // one tick there, and away again
			c.Yaw, c.Buttons = to, sim.Fire
		case bot:
			c.Yaw = geom.Angle(i * 9000)
		default:
			if foe.ID != 0 && now > a.since+15 {
				to += geom.Angle(g.draw(1200) - 600)
				by := int16(to - a.yaw)
				a.yaw += geom.Angle(min(max(by, -500), 500)) // 2.7 degrees
				if now > a.since+20 && by < 900 && by > -900 {
					c.Buttons = sim.Fire
				}
			}
			c.Yaw = a.yaw
		}
		g.m.SetClampLimits(id, lagcomp.ClampLimits{Rate: 60, InterpTicks: 6, SlackTicks: 2, CapTicks: 24,
			NewestAcked: now, Newest: now, Oldest: g.m.History().Oldest()})
		if in := g.m.CommandBuffer(id); in != nil {
			in.Offer(c)
		}
	}
	g.m.Step()
}

// TestThreat27AimIsMeasured: the score separates the aimbot from humans; a replay of the recording
// gives the same score; scoring does not allocate.
func TestThreat27AimIsMeasured(t *testing.T) {
	g := newGallery(t)
	w := New(8)
	g.step() // they come in
	rec, err := replay.NewRecorder(g.m, 60, replay.KeyEvery)
	if err != nil {
		t.Fatal(err)
	}
	var chunks []*replay.Chunk
	head := replay.HeadOf(g.m, "arena-16", 60)
	for range 60 * 60 {
		g.step()
		w.Tick(g.m)
		if c := rec.Tick(); c != nil {
			chunks = append(chunks, c.Encode())
		}
	}
	if c := rec.Close(); c != nil {
		chunks = append(chunks, c.Encode())
	}
	judged := [2]int{}
	for slot := range 8 {
		f := w.Features(slot)
		score := f.Score()
		t.Logf("slot %d: %+v, score %.2f", slot, f, score)
		if f.Hits < leastHits {
			continue
		}
		if judged[slot%2]++; slot%2 == 0 && score < 0.49 || slot%2 == 1 && score > 0.2 {
			t.Errorf("slot %d: score %.2f of %+v", slot, score, f)
		}
	}
	if judged[0] < 2 || judged[1] < 2 {
		t.Errorf("%v judged", judged)
	}
	game := g.m.Rules().Game
	p, err := replay.NewPlayer(&head, game, g.m.Scene().Arena)
	if err != nil {
		t.Fatal(err)
	}
	again := New(8)
	for _, c := range chunks {
		if err := p.Load(c); err != nil {
			t.Fatal(err)
		}
		for !p.Done() {
			if err := p.Step(); err != nil {
				t.Fatal(err)
			}
			again.Tick(p.Match)
		}
	}
	for slot := range 8 {
		if got, want := again.Features(slot), w.Features(slot); got != want {
			t.Errorf("slot %d played again: %+v, was %+v", slot, got, want)
		}
	}
	if n := alloctest.In(50, func() { w.Tick(g.m) }); n != 0 {
		t.Errorf("%v allocations a tick", n)
	}
}

func TestScoreNeedsHits(t *testing.T) {
	f := Features{Shots: 7, Hits: 7, Snap: 90, OnTarget: 1}
	if f.Score() != 0 {
		t.Error("seven hits are a score")
	}
	if f.Shots, f.Hits = 8, 8; f.Score() < 0.99 {
		t.Errorf("%v", f.Score())
	}
	if d := degrees(65535); d < 0.005 || d > 0.006 || degrees(1<<15) != 180 {
		t.Errorf("%v, %v", d, degrees(1<<15))
	}
}
