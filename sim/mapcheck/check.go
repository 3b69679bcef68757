package mapcheck

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/move"
)

// Check examines a map. The error names a number of a body that is out of range. An arena of 200 m
// on a side takes a few seconds.
func Check(in Input) (*Report, error) {
	body, err := in.Body.Compile()
	if err != nil {
		return nil, fmt.Errorf("body: %w", err)
	}
	if in.Widest == (move.Params{}) {
		in.Widest = in.Body
	}
	f := newFlood(&in, body)
	r := &Report{Square: f.square}
	r.checkSpawns(&in)
	r.fill(f)
	for _, t := range things(in.Map) {
		r.checkThing(f, &t)
	}
	r.Tops, r.Closed = f.regions()
	for i := range r.Closed {
		c := &r.Closed[i]
		r.add(Enclosed, c.At, "%.6g m² of ground that no player gets to, or off", c.Area)
	}
	slices.SortStableFunc(r.Problems, func(x, y Problem) int { return cmp.Compare(x.Kind, y.Kind) })
	return r, nil
}

func (r *Report) add(k Kind, at geom.Vec3, format string, args ...any) {
	r.Problems = append(r.Problems, Problem{k, at, fmt.Sprintf(format, args...)})
}

// checkSpawns checks that a body fits at each spawn point and has a floor below.
func (r *Report) checkSpawns(in *Input) {
	for team := range uint8(arena.Teams) {
		if len(in.Arena.TeamSpawns(team)) == 0 {
			r.add(SpawnMissing, geom.Vec3{}, "team %d cannot come into the match", team)
		}
	}
	for i := range in.Arena.Spawns {
		s := &in.Arena.Spawns[i]
		if solid, ok := overlapped(in.Arena, &in.Widest, s.Team, s.Pos); ok {
			r.add(SpawnInWall, s.Pos, "spawns[%d] of team %d reaches into %s", i, s.Team, solidName(&solid))
			continue
		}
		if n, ok := crossed(in.Arena, &in.Widest, s.Pos); ok {
			r.add(MoverInTheWay, s.Pos, "movers[%d] comes to spawns[%d] of team %d", n, i, s.Team)
		}
		y, ok := floorBelow(in.Arena, s.Pos)
		switch {
		case !ok:
			r.add(SpawnNoFloor, s.Pos, "spawns[%d] of team %d is above no box or ramp", i, s.Team)
		case s.Pos.Y-y > in.Body.StepMetres:
			r.add(SpawnInAir, s.Pos, "spawns[%d] of team %d is %.6g m above its floor, want at most %g", i,
				s.Team, s.Pos.Y-y, in.Body.StepMetres)
		}
	}
}

// fill floods the map from all spawn points, and reports those that no way leads to or from.
func (r *Report) fill(f *flood) {
	spawns := f.a.Spawns
	of := make([]int32, len(spawns))
	for i := range spawns {
		of[i] = f.begin(&spawns[i])
	}
	most, members := int32(-1), make(map[int32]int)
	for _, g := range of {
		g = f.group(g)
		members[g]++
		if most < 0 || members[g] > members[most] {
			most = g
		}
	}
	for i := range spawns {
		if f.group(of[i]) != most && !r.has(spawns[i].Pos) {
			r.add(SpawnCutOff, spawns[i].Pos, "spawns[%d] of team %d: no way leads to most other spawns, or "+
				"from them", i, spawns[i].Team)
		}
	}
	for i, floors := range f.floors {
		for _, fl := range floors {
			r.places = append(r.places, f.middle(i%f.wide, i/f.wide, fl.at.Y))
		}
	}
	r.Reached = float32(float32(len(r.places)) * float32(f.square*f.square))
}

// has reports whether a spawn point at a place is in a wall or above no floor: then it is cut off, too,
// which is not told as well.
func (r *Report) has(at geom.Vec3) bool {
	return slices.ContainsFunc(r.Problems, func(p Problem) bool {
		return p.At == at && (p.Kind == SpawnInWall || p.Kind == SpawnNoFloor)
	})
}
