package pvs

import (
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/move"
)

// TestBodiesStayInTheirPlaces runs and jumps bodies about with move.Step: wherever one gets within
// the look-ahead is in the parts of the node in which it began.
func TestBodiesStayInTheirPlaces(t *testing.T) {
	const rate, ticks = 60, 15 // a quarter of a second
	for i, a := range scenes(t) {
		c := Fit(a, 4).withDefaults()
		table := newTable(c, a.Hash())
		b := &builder{c: &table.c, t: table, walls: newWalls(a), ground: newGround(a, &table.c)}
		b.computeFloors()
		r := rand.New(rand.NewPCG(uint64(i), 3))
		hero := move.DefaultParams().MustCompile()
		for body := range 32 {
			var trail []geom.Vec3
			m := move.Motion{Pos: a.Spawns[r.IntN(len(a.Spawns))].Pos}
			if len(a.Movers) > 0 && body%2 == 0 { // on the elevator
				m.Pos = a.Movers[0].Min.Lerp(a.Movers[0].Max, 0.5)
				m.Pos.Y = a.Movers[0].Max.Y
			}
			in := move.Input{}
			for at := range 2000 {
				stays := len(a.Movers) > 0 && at/200%2 == 1 // with what carries it
				if r.IntN(8) == 0 {
					in = move.Input{Yaw: geom.Angle(r.Uint32()), MoveYaw: uint8(r.IntN(2) * r.IntN(64)),
						MoveMag: 255, Buttons: move.Sprint}
				}
				in.Yaw += geom.Angle(r.IntN(1000))
				if body%2 == 0 {
					in.Buttons = in.Buttons&^move.Jump | uint16(r.IntN(2))*move.Jump
				}
				if stays {
					in.MoveMag, in.Buttons = uint8(at%60/59)*255, 0
				}
				m = hero.Step(m, in, move.NoTeam, a, arena.Moment{Tick: tick.Tick(at + 1), Rate: rate})
				trail = append(trail, m.Pos)
				if at >= ticks {
					then := trail[at-ticks]
					cell := table.Cell(then.X, then.Z)
					if then.Y < table.floor[cell]-1./64 {
						t.Fatalf("%s: at %v, below the ground of cell %d at %v", a.Name, then, cell,
							table.floor[cell])
					}
					for level := table.Level(cell, then.Y); level < table.Levels(); level++ {
						if !holds(b.nodeParts(level*table.Cells()+cell), m.Pos) {
							part := b.nodeParts(level*table.Cells() + cell)[0]
							t.Fatalf("%s: body %d was at %v and is at %v (%+v), "+
								"in no part of cell %d, level %d: %+v",
								a.Name, body, then, m.Pos, m, cell, level, part)
						}
					}
				}
			}
		}
	}
}

// holds reports whether one of the smallest parts holds feet, but for rounding.
func holds(all parts, p geom.Vec3) bool {
	const slack = 1. / 128
	for i := len(all) / 2; i < len(all); i++ {
		q := &all[i]
		if p.X >= q.x0-slack && p.X <= q.x1+slack && p.Z >= q.z0-slack && p.Z <= q.z1+slack &&
			p.Y >= q.y0-slack && p.Y <= q.y1+slack {
			return true
		}
	}
	return false
}
