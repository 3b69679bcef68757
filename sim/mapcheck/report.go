package mapcheck

import (
	"fmt"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/content"
	"github.com/tickrate/tickrate/sim/move"
)

// Input is a map to check.
type Input struct {
	Arena  *arena.Arena
	Map    *content.Map // what stands in the arena; nil: nothing
	Body   move.Params  // that the fill moves
	Widest move.Params  // largest body that spawns; zero: Body
}

// Kind is what a problem is about.
type Kind uint8

// The kinds of problems.
const (
	SpawnMissing  Kind = iota // a team has no spawn point
	SpawnInWall               // a body that spawns overlaps a solid
	SpawnNoFloor              // no solid is below a spawn point
	SpawnInAir                // the floor is more than a step below a spawn point
	SpawnCutOff               // no way leads between a spawn point and the others
	Enclosed                  // ground with no way in and no way out
	ObjectInWall              // a barrel, capture point or teleporter's target is inside a solid
	ObjectCutOff              // players cannot reach one of these
	MoverInTheWay             // a mover comes to where a body spawns or arrives
	kinds
)

// String returns the kind in words.
func (k Kind) String() string {
	if k < kinds {
		return [kinds]string{"team without spawns", "spawn in a wall", "spawn above no floor",
			"spawn in the air", "spawn cut off", "enclosed ground", "object in a wall", "object cut off",
			"mover in the way"}[k]
	}
	return "?"
}

// Problem is one finding.
type Problem struct {
	Kind Kind
	At   geom.Vec3 // metres
	Text string    // the row of the map, and what is wrong with it
}

// String returns the problem in one line.
func (p Problem) String() string {
	return fmt.Sprintf("%s at %.6g %.6g %.6g: %s", p.Kind, p.At.X, p.At.Y, p.At.Z, p.Text)
}

// Region is connected ground that players do not reach.
type Region struct {
	At      geom.Vec3   // a place in it
	Area    float32     // m²
	Squares []geom.Vec3 // middle of each square, at the height of the feet
}

// Report is what Check found.
type Report struct {
	Problems []Problem // by kind, then in the order of the map
	Square   float32   // width of the squares of the flood fill, metres
	Reached  float32   // m² of ground that players reach, each floor counted
	Tops     []Region  // ground that players fall from and do not reach: walls, roofs
	Closed   []Region  // ground with no way in and no way out; a problem each

	places []geom.Vec3 // squares reached, at the height of the feet
}
