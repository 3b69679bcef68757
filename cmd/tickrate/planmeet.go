package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"github.com/tickrate/tickrate/bench/capacity"
	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/interest"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/pvs"
)

// How players meet: on so many maps, at instants as of capacity.Meets, running straight ahead.
const (
	meetPeople = 24_000 // on all maps together
	meetMaps   = 8      // at least
	meetMost   = 800    // maps
	meetAsked  = 400    // people on one map who are asked whom they see
	meetApart  = 2      // seconds between instants
	meetRun    = 6.5    // m/s, on the way
	meetSight  = 45     // metres: as far as players look for enemies
	meetBody   = 0.4    // half of what a body is wide
	meetTall   = 1.8    // and how high it is
	meetChest  = 1.2    // where one aims
	meetEdge   = 2      // metres from the bounds that nobody wants to go nearer to
)

// Whom clients are told of is worked out for some of the people, and where houses hide, on few maps: each takes long.
const (
	toldPeople = 40  // who look, on one map
	toldAsked  = 12  // at whom each looks
	townPeople = 600 // for whom all those maps together are made
	townMaps   = 3   // at least
)

var met sync.Map // capacity.Meets by what they follow from

// meetsOf tells how players of a scenario meet, of maps like the scenario's, none of which need be the one that is played. Who sees an enemy fires,
// and who is fired at dies, so what a match costs follows from it. How near the teams appear to each other depends on whether a lane runs
// between them: on how many tiles a map has, and not smoothly on its size.
func meetsOf(sc scenario.Scenario) (m capacity.Meets) {
	kind := fmt.Sprintf("%s:%d", sc.Lobby.Map, sc.Ground(sc.Lobby.Players))
	key := fmt.Sprintf("%s %d %g %g %g", kind, sc.Lobby.Players, sc.Play.HotSpot, sc.Play.HotSpotMetres, sc.Lobby.FarMetres)
	if known, ok := met.Load(key); ok {
		return known.(capacity.Meets)
	}
	var seen, dist, known [len(m)]float64
	people := make([]walker, sc.Lobby.Players)
	asked, maps := 0.0, min(max(meetPeople/max(sc.Lobby.Players, 1), meetMaps), meetMost)
	grounds := make([]*telling, maps)
	if sc.Lobby.Map == "town" {
		grounds = grounds[:min(max(townPeople/sc.Ground(sc.Lobby.Players), townMaps), maps)]
	}
	for k := range maps {
		told := grounds[k%len(grounds)]
		if told == nil {
			var err error
			if told, err = newTelling(fmt.Sprintf("%s:%d", kind, k+1), sc.Lobby); err != nil {
				return capacity.Meets{} // somebody else will say it
			}
			grounds[k] = told
		}
		a := told.a
		told.dice = rand.New(rand.NewPCG(uint64(k), 15))
		scatter(people, a, sc.Play, told.dice)
		asked += float64(min(len(people), meetAsked))
		for i := range m {
			walk(people, a, meetRun*meetApart*float32(i))
			known[i] += told.enemies(people)
			told.show(people)
			s, d := facing(people, a)
			seen[i], dist[i] = seen[i]+s, dist[i]+d
		}
	}
	for i := range m {
		if seen[i] > 0 {
			m[i] = capacity.Meet{Facing: seen[i] / asked, Metres: math.Exp(dist[i] / seen[i]), Told: known[i] / float64(maps)}
		}
	}
	met.Store(key, m)
	return m
}

// walker is somebody on the way from one place to another.
type walker struct {
	from, to, at geom.Vec3
	team         int
	there        bool // and not in something
	shown        bool // to the first of them, through whose eyes all look, as those of a swarm do
}

// scatter puts people where teams appear, each with somewhere to go, as generated players do.
func scatter(people []walker, a *arena.Arena, play scenario.Play, dice *rand.Rand) {
	low, high := a.Bounds.Min, a.Bounds.Max
	middle, half := low.Lerp(high, 0.5), high.Sub(low).Scale(0.5)
	draw := func(most float32) float32 { return (2*dice.Float32() - 1) * most }
	for i := range people {
		team := i % arena.Teams
		spawns := a.TeamSpawns(uint8(team))
		p, wide, deep := &people[i], half.X-meetEdge, half.Z-meetEdge
		if dice.Float64() < play.HotSpot {
			wide, deep = min(wide, float32(play.HotSpotMetres)), min(deep, float32(play.HotSpotMetres))
		}
		*p = walker{team: team, to: geom.Vec3{X: middle.X + draw(wide), Z: middle.Z + draw(deep)}}
		if len(spawns) > 0 {
			p.from = spawns[i/arena.Teams%len(spawns)].Pos
		}
	}
}

// walk puts people so many metres on their way, or where they want to go. Those who would be in something are nowhere.
func walk(people []walker, a *arena.Arena, metres float32) {
	for i := range people {
		p := &people[i]
		way := p.to.Sub(p.from)
		p.at = p.from.Mad(way, min(1, metres/max(way.Len(), 0.1)))
		if metres > 0 {
			p.at.Y = 0
		}
		body := geom.AABB{Min: geom.Vec3{X: p.at.X - meetBody, Y: 0.1, Z: p.at.Z - meetBody}, Max: geom.Vec3{X: p.at.X + meetBody, Y: meetTall, Z: p.at.Z + meetBody}}
		p.there = metres == 0 || !a.Overlaps(body)
	}
}

// side is the team that a swarm takes somebody for: it does not know of whom it is not shown.
func (p *walker) side() int {
	if !p.shown {
		return 0
	}
	return p.team
}

// facing is how many see the enemy nearest to them, and the sum of the logarithms of how many metres that one is away. Of many, some are asked, and
// who is nowhere stands for somebody like the others.
func facing(people []walker, a *arena.Arena) (seen, logs float64) {
	asked := min(len(people), meetAsked)
	there := 0.0
	for i := range asked {
		me := &people[i*len(people)/asked]
		if !me.there {
			continue
		}
		there++
		eye := sim.Eye(me.at)
		best, nearest := -1, float32(meetSight*meetSight)
		for j := range people {
			if o := &people[j]; o.there && o.shown && o.team != me.side() {
				if d := o.at.Sub(eye).LenSq(); d < nearest {
					best, nearest = j, d
				}
			}
		}
		if best < 0 {
			continue
		}
		to := people[best].at.Sub(eye)
		to.Y += meetChest
		if _, blocked := a.Raycast(geom.Ray{Origin: eye, Dir: to.Normalize(), Max: to.Len()}); !blocked {
			seen++
			logs += math.Log(float64(nearest)) / 2
		}
	}
	if there == 0 {
		return 0, 0
	}
	all := float64(asked) / there
	return seen * all, logs * all
}

// telling is whom clients are told of by a server on a map: all of their team, and who is near and not hidden by houses.
type telling struct {
	a      *arena.Arena
	dice   *rand.Rand
	grid   interest.Config
	radius int       // cells; 0: any
	houses *pvs.Lazy // nil: they hide nobody; all stand on the ground
}

func newTelling(name string, l scenario.Lobby) (*telling, error) {
	a, err := openArena(name)
	if err != nil {
		return nil, err
	}
	t := &telling{a: a, grid: server.GridConfig(a, 0)}
	if l.Map == "town" {
		if t.houses, err = pvs.NewLazy(a, pvs.Fit(a, pvs.CellFor(a))); err != nil {
			return nil, err
		}
		t.grid = server.GridConfig(a, t.houses.Config().Cell)
	}
	if l.FarMetres > 0 {
		t.radius = server.CellRadius(float32(l.FarMetres), t.grid.Cell)
	}
	return t, nil
}

// of is whether who stands at p is told of an enemy at q, both on the ground.
func (t *telling) of(p, q geom.Vec3) bool {
	cell := func(v, low float32) int { return int((v - low) / t.grid.Cell) }
	x, z := cell(p.X, t.grid.MinX), cell(p.Z, t.grid.MinZ)
	toX, toZ := cell(q.X, t.grid.MinX), cell(q.Z, t.grid.MinZ)
	if t.radius > 0 && (x-toX)*(x-toX)+(z-toZ)*(z-toZ) > t.radius*t.radius {
		return false
	}
	return t.houses == nil || t.houses.Visible(t.houses.Cell(p.X, p.Z), t.houses.Cell(q.X, q.Z))
}

// enemies is the share of their enemies whom people are told of, by some of both.
func (t *telling) enemies(people []walker) (sum float64) {
	asked := min(len(people), toldPeople)
	if t.radius == 0 && t.houses == nil {
		return 1
	}
	for i := range asked {
		me, told, all := &people[i*len(people)/asked], 0.0, 0.0
		for range toldAsked {
			if o := &people[t.dice.IntN(len(people))]; o.team != me.team {
				if all++; t.of(me.at, o.at) {
					told++
				}
			}
		}
		if all == 0 {
			told, all = 1, 1
		}
		sum += told / all
	}
	return sum / float64(asked)
}

// show notes whom the first is told of.
func (t *telling) show(people []walker) {
	for i := range people {
		p := &people[i]
		p.shown = p.team == people[0].team || t.of(people[0].at, p.at)
	}
}
