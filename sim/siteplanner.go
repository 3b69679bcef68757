package sim

import (
	"fmt"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/mode"
)

// OnArena is the game on an arena: g itself if it has the capture points that its mode needs, else
// a copy with points, and with homes if it has none, at places that follow from the arena's spawns
// alone. Arenas generated from a seed or loaded from a file can thus be played in any mode, and
// both ends find the same places. The error says what the arena lacks.
func (g *Game) OnArena(a *arena.Arena) (*Game, error) {
	n := int(g.Mode.Points)
	if len(g.Layout.Points) >= n {
		return g, nil
	}
	from, to := a.TeamSpawns(mode.Attackers), a.TeamSpawns(mode.Defenders)
	if len(from) == 0 || len(to) == 0 || len(from)+len(to) < n {
		return nil, fmt.Errorf("arena %s: spawns for %d attackers and %d defenders: "+
			"%s needs some of both, and no fewer than its %d capture points",
			a.Name, len(from), len(to), g.Mode.Name, n)
	}
	on := *g
	s := newSitePlanner(from, to)
	on.Layout.Points = nil
	for i := range n {
		z := g.Zone
		z.Center = s.point(i, n, a.Spawns)
		on.Layout.Points = append(on.Layout.Points, z)
	}
	if len(on.Layout.Homes) == 0 {
		on.Layout.Homes = []Home{{mode.Attackers, s.home(mode.Attackers, a.Bounds)},
			{mode.Defenders, s.home(mode.Defenders, a.Bounds)}}
	}
	return &on, nil
}

// sitePlanner knows where the teams of an arena spawn, in integer units of arena.Unit, so that all
// machines agree.
type sitePlanner struct {
	mid   [mode.Teams][3]int64 // middle of a team's spawns
	taken []geom.Vec3
}

// newSitePlanner plans between the spawns of the attackers and those of the defenders.
func newSitePlanner(from, to []arena.Spawn) *sitePlanner {
	s := &sitePlanner{}
	for team, all := range [mode.Teams][]arena.Spawn{from, to} {
		for i := range all {
			for axis, v := range units(all[i].Pos) {
				s.mid[team][axis] += v
			}
		}
		for axis := range s.mid[team] {
			s.mid[team][axis] /= int64(len(all))
		}
	}
	return s
}

// units converts metres to the integer grid of maps, 1/64 m.
func units(p geom.Vec3) [3]int64 {
	return [3]int64{int64(p.X * (1 / arena.Unit)), int64(p.Y * (1 / arena.Unit)),
		int64(p.Z * (1 / arena.Unit))}
}

// Percent of the way from the attackers' middle to the defenders': the first point, the last point,
// and how far behind its team's middle a home begins, as on the maps of the default pack.
const (
	firstPoint = 20
	lastPoint  = 105
	homeBehind = 20
)

// point is the place of capture point i of n: the unused spawn, which is reachable free ground,
// nearest to the ideal place in the plane.
func (s *sitePlanner) point(i, n int, spawns []arena.Spawn) (at geom.Vec3) {
	share := int64(firstPoint+lastPoint) / 2
	if n > 1 {
		share = firstPoint + int64((lastPoint-firstPoint)*i/(n-1))
	}
	var ideal [3]int64
	for axis := range ideal {
		a, b := s.mid[mode.Attackers][axis], s.mid[mode.Defenders][axis]
		ideal[axis] = a + (b-a)*share/100
	}
	best := int64(-1)
	for k := range spawns {
		u := units(spawns[k].Pos)
		dx, dz := u[0]-ideal[0], u[2]-ideal[2]
		if d := dx*dx + dz*dz; (best < 0 || d < best) && !s.has(spawns[k].Pos) {
			best, at = d, spawns[k].Pos
		}
	}
	s.taken = append(s.taken, at)
	return at
}

// has reports whether a place is taken.
func (s *sitePlanner) has(p geom.Vec3) bool {
	for _, q := range s.taken {
		if q == p {
			return true
		}
	}
	return false
}

// home is a team's end of the arena: from the bounds to a line behind the middle of its spawns,
// across the longer of the two axes between the teams.
func (s *sitePlanner) home(team int, bounds geom.AABB) geom.AABB {
	axis := 0
	dx, dz := s.mid[1][0]-s.mid[0][0], s.mid[1][2]-s.mid[0][2]
	if max(dz, -dz) > max(dx, -dx) {
		axis = 2
	}
	own, other := s.mid[team][axis], s.mid[1-team][axis]
	line := float32(own+(own-other)*homeBehind/100) * arena.Unit
	low := own < other
	switch {
	case axis == 0 && low:
		bounds.Max.X = max(line, bounds.Min.X)
	case axis == 0:
		bounds.Min.X = min(line, bounds.Max.X)
	case low:
		bounds.Max.Z = max(line, bounds.Min.Z)
	default:
		bounds.Min.Z = min(line, bounds.Max.Z)
	}
	return bounds
}
