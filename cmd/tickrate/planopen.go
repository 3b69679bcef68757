package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
)

// How open maps are: of so many lines of an ordinary fight's length on so many maps.
const (
	openMaps   = 16
	openLines  = 250
	openMetres = 15
	openBody   = 0.4  // half of what a body is wide
	openChest  = 1.2  // where one aims
	openTall   = 1.8  // and how high it is
	openEdge   = 2    // metres from the walls around
	openNever  = 0.01 // less than this share nobody needs to tell apart
)

var opened sync.Map // share by name of a map, without its seed: maps of one kind and size are alike

// openOf is the share of lines between two people 15 m apart, on maps like the scenario's, that nothing stands in. Who sees an enemy fires, so
// what a match costs follows from it; and it follows from nothing but the maps, of which none need be the one that is played.
func openOf(sc scenario.Scenario) float64 {
	kind := fmt.Sprintf("%s:%d", sc.Lobby.Map, sc.Ground(sc.Lobby.Players))
	if known, ok := opened.Load(kind); ok {
		return known.(float64)
	}
	free, lines := 0, 0
	for seed := range openMaps {
		a, err := openArena(fmt.Sprintf("%s:%d", kind, seed+1))
		if err != nil {
			return 0 // somebody else will say it
		}
		f, n := openOn(a, rand.New(rand.NewPCG(uint64(seed), 15)))
		free, lines = free+f, lines+n
	}
	share := max(float64(free)/float64(max(lines, 1)), openNever)
	opened.Store(kind, share)
	return share
}

// openOn draws lines on one map. Those that begin or end in something, or behind the walls around, do not count.
func openOn(a *arena.Arena, dice *rand.Rand) (free, lines int) {
	low, high := a.Bounds.Min, a.Bounds.Max
	draw := func(from, to float32) float32 { return from + openEdge + dice.Float32()*(to-from-2*openEdge) }
	for range openLines {
		p := geom.Vec3{X: draw(low.X, high.X), Z: draw(low.Z, high.Z)}
		turn := dice.Float64() * 2 * math.Pi
		q := geom.Vec3{X: p.X + float32(openMetres*math.Cos(turn)), Z: p.Z + float32(openMetres*math.Sin(turn))}
		out := q.X < low.X+openEdge || q.X > high.X-openEdge || q.Z < low.Z+openEdge || q.Z > high.Z-openEdge
		if out || a.Overlaps(bodyAt(p)) || a.Overlaps(bodyAt(q)) {
			continue
		}
		eye := sim.Eye(p)
		q.Y = openChest
		to := q.Sub(eye)
		lines++
		if _, blocked := a.Raycast(geom.Ray{Origin: eye, Dir: to.Normalize(), Max: to.Len()}); !blocked {
			free++
		}
	}
	return free, lines
}

func bodyAt(p geom.Vec3) geom.AABB {
	return geom.AABB{Min: geom.Vec3{X: p.X - openBody, Y: 0.1, Z: p.Z - openBody}, Max: geom.Vec3{X: p.X + openBody, Y: openTall, Z: p.Z + openBody}}
}
