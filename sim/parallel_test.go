package sim

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"os"
	"slices"
	"testing"

	"github.com/tickrate/tickrate/ecs"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/parallel"
	"github.com/tickrate/tickrate/internal/alloctest"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim/object"
)

// backwards runs parts on the caller, the last first.
type backwards struct{ parts int }

func (b *backwards) Run(parts int, do func(int)) {
	b.parts += parts
	for i := parts - 1; i >= 0; i-- {
		do(i)
	}
}

// tells is a fingerprint of the match and of all that its last tick told.
func tells(m *Match) uint64 {
	o := m.Outcome()
	b := binary.LittleEndian.AppendUint64(nil, m.Hash())
	b = fmt.Appendf(b, "%v %v %v %v %v %d", o.Events, o.Announcements, o.Shots, o.Hits, o.Punches, o.Clamped)
	b = appendPlanes(b, memoryOf(m.Poses()))
	h := fnv.New64a()
	_, _ = h.Write(b)
	return h.Sum64()
}

// Rows 42 and 75: a firefight of both modes gives the same match and the same events, tick by tick,
// for any order of its parts: one, two or four workers, or one that begins with the last part. Some
// of the players that are hit were never sent to their shooter.
func TestRow75WorkersGiveTheSameBits(t *testing.T) {
	ticks := 200
	if testing.Short() || raceEnabled {
		ticks = 60
	}
	for name, game := range pinned {
		t.Run(name, func(t *testing.T) {
			from := &backwards{}
			var pools [2]*parallel.Pool
			for i, n := range []int{2, 4} {
				pools[i] = parallel.NewPool(n)
				defer pools[i].Close()
			}
			runners := []parallel.Runner{nil, pools[0], pools[1], from}
			var all []*script
			var asked [4]int
			for i, r := range runners {
				s := newScript(t, 200, Rules{Seed: 5, RespawnMillis: 500, Mix: true, Game: game()},
					"arena-64")
				s.m.SetHitFilter(func(shot *lagcomp.Sweep, id uint32) bool {
					asked[i]++
					return (shot.Except^id)&7 != 0
				})
				ecs.Resource[scratch](s.m.World).grain = 16
				s.m.SetWorkers(r)
				all = append(all, s)
			}
			shots, flying := 0, 0
			for range ticks {
				want := uint64(0)
				for i, s := range all {
					s.step()
					if got := tells(s.m); i == 0 {
						want = got
					} else if got != want || asked[i] != asked[0] {
						t.Fatalf("tick %d: runner %d tells %x, want %x; "+
							"hit filters were asked %d times, want %d",
							s.m.Tick(), i, got, want, asked[i], asked[0])
					}
				}
				shots += len(all[0].m.Outcome().Hits)
				flying += len(all[0].m.Objects().Projectiles)
			}
			if from.parts < 40*ticks || shots < ticks/2 || flying < 10*ticks || asked[0] < ticks/4 {
				t.Errorf("%d parts, %d shots, %d flying, %d asked in %d ticks: this proves little",
					from.parts, shots, flying, asked[0], ticks)
			}
		})
	}
}

// Row 75: enough players fire that rounds are cast in parts too.
func TestRow75RoundsInParts(t *testing.T) {
	pool := parallel.NewPool(3)
	defer pool.Close()
	from := &backwards{}
	var all []*war
	for _, r := range []parallel.Runner{nil, pool, from} {
		w := newSharedWar(t, 300, false, r)
		w.all = true
		all = append(all, w)
	}
	rounds := 0
	for range 60 {
		want := uint64(0)
		for i, w := range all {
			w.tick(nil)
			if got := tells(w.m); i == 0 {
				want = got
			} else if got != want {
				t.Fatalf("tick %d: runner %d tells %x, want %x", w.m.Tick(), i, got, want)
			}
		}
		rounds = max(rounds, len(all[0].m.Outcome().Shots))
	}
	if rounds < 3*shotsGrain {
		t.Errorf("%d rounds in a tick: this proves little", rounds)
	}
}

// Row 42: the matches of testdata come out of two and four workers, and of bodies that are moved
// and rounds that are cast one by one. The first minute of them; all five with TICKRATE_SAME, as
// make same has it.
func TestRow42PinnedMatches(t *testing.T) {
	minutes := 1
	if os.Getenv("TICKRATE_SAME") != "" {
		minutes = 5
	}
	share := func(workers int) func(*testing.T) func(*Match) {
		return func(t *testing.T) func(*Match) {
			pool := parallel.NewPool(workers)
			t.Cleanup(pool.Close)
			return func(m *Match) {
				if s := ecs.Resource[scratch](m.World); !s.loop.Parallel() {
					s.grain = 1
					m.SetWorkers(pool)
				}
				m.Step()
			}
		}
	}
	for _, c := range []struct {
		name string
		step func(*testing.T) func(*Match)
	}{
		{"2 workers", share(2)},
		{"4 workers", share(4)},
		{"one by one", func(*testing.T) func(*Match) { return stepOneByOne }},
	} {
		for name, game := range pinned {
			t.Run(c.name+"/"+name, func(t *testing.T) { playPinned(t, name, game, minutes, c.step(t)) })
		}
	}
}

// stepOneByOne is Step without the batches: each body is moved by itself, and each round cast by
// itself.
func stepOneByOne(m *Match) {
	m.Begin()
	c := &ecs.Resource[scratch](m.World).now
	for i := range systems {
		switch systems[i].Name {
		case "move":
			for row := range c.id {
				w := c.scratch.bodyTeams[row]
				c.setMotion(row, c.kit.Bodies[w.Body].Step(c.motion(row), c.scratch.input[row], w.Team,
					c.arena, c.moment()))
			}
		case "combat":
			combatOneByOne(c)
		default:
			m.Run(i)
		}
	}
	m.End()
}

// combatOneByOne is combat round by round.
func combatOneByOne(c *columns) {
	o, s := c.outcome, c.scratch
	for i := range o.Shots {
		s.parts[netid.ID(o.Shots[i].Shooter).Index()] = rig.NoPart
	}
	judge := func(shot *Shot, keep bool) (hit [1]lagcomp.Hit) {
		c.scene.Players.Cast([]lagcomp.Sweep{c.cutAtObstacles(shot)}, hit[:])
		if keep {
			o.Hits = append(o.Hits, hit[0])
		}
		return hit
	}
	for i := range o.Shots {
		hit := judge(&o.Shots[i], true)
		c.applyHit(&o.Shots[i], &hit[0], object.CauseShot)
	}
	for i := range o.Punches {
		hit := judge(&o.Punches[i], false)
		c.applyHit(&o.Punches[i], &hit[0], object.CauseMelee)
	}
}

// A tick in parts allocates as good as nothing, too.
func TestSharedStepAllocatesNothing(t *testing.T) {
	pool := parallel.NewPool(2)
	defer pool.Close()
	s := newScene(t, 256, Rules{Mix: true, Game: furnished()}, plain(t))
	for i := range s.ids {
		s.put(i, uint8(i&1), geom.Vec3{X: float32(i%16) * 3, Z: float32(i/16) * 3})
	}
	s.SetWorkers(pool)
	yaw, shots := geom.Angle(0), 0
	tick := func() {
		yaw += 500
		for i := range s.ids {
			s.order(i, Command{Yaw: yaw + geom.Angle(i*977), MoveMag: 255, Buttons: []Buttons{Fire, Fire,
				Fire, Throw, Melee}[int(s.Tick()/40)%5] | Jump})
		}
		s.step()
		shots += len(s.Outcome().Shots)
	}
	for range 300 { // until all lists have the length that they need
		tick()
	}
	// Which worker takes which part differs from tick to tick, so a list of a worker still grows now
	// and then: a tick that allocates has 200 of them here.
	if n := alloctest.In(200, tick); n > 20 || shots < 500 {
		t.Errorf("%g allocations in 200 ticks, %d shots", n, shots)
	}
}

// Row 75: these systems, and no others, go in parts.
func TestRow75SharedSystems(t *testing.T) {
	from := &backwards{}
	w := newSharedWar(t, 300, true, from)
	w.all = true
	parts := make([]int, len(systems))
	for range 40 {
		before := from.parts
		w.tick(func(i int) {
			if i > 0 {
				parts[i-1] += from.parts - before
			}
			before = from.parts
		})
	}
	for i := range systems {
		if want := slices.Contains(shared, systems[i].Name); want != (parts[i] > 0) {
			t.Errorf("%s ran in %d parts, want any: %v", systems[i].Name, parts[i], want)
		}
	}
}
