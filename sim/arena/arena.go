package arena

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/tickrate/tickrate/ecs/geom"
)

// Specification: what a map may hold.
const (
	Unit      = 1.0 / 64 // coordinates are multiples of this, in metres
	Limit     = 2000     // and at most this far from the origin
	Teams     = 2        // a spawn belongs to team 0 or 1
	MaxSolids = 1 << 16
	MaxSpawns = 1 << 13
	MaxNear   = 256 // solids Near may return
)

// Spawn is a place where a player of a team may appear: Pos is where the feet stand, Yaw where the
// eyes look.
type Spawn struct {
	Pos  geom.Vec3
	Yaw  geom.Angle
	Team uint8 // 0 or 1
}

// Arena is a finished map. It is read-only: its fields must not be changed, and its slices belong
// to it.
type Arena struct {
	Name   string    // what Open was given, or what the maker called it; not part of Hash
	Bounds geom.AABB // holds every solid; players cannot leave it
	Solids []Solid   // boxes first, then ramps, then team areas, each in the order of the file
	Spawns []Spawn   // sorted by team
	Movers []Mover   // in the order of the file

	first  [Teams + 1]int // where each team's spawns begin
	hash   [32]byte
	near   grid
	rays   grid
	moving []uint64 // movers near each cell of near
	ground Ground
	filled occupancy
	pass   uint8   // of all solids together
	large  []Solid // solids too wide for the ray grid, tested by every ray
}

// New checks the parts of a map and builds the indexes. It keeps the slices, and sorts them. The
// error names the first part that is wrong, as a map file names it: "boxes[3]: ...".
func New(name string, bounds geom.AABB, solids []Solid, spawns []Spawn, movers ...Mover) (*Arena, error) {
	a := &Arena{Name: name, Bounds: bounds, Solids: solids, Spawns: spawns, Movers: movers}
	slices.SortStableFunc(a.Solids, func(x, y Solid) int { return x.class() - y.class() })
	slices.SortStableFunc(a.Spawns, func(x, y Spawn) int { return int(x.Team) - int(y.Team) })
	if err := a.check(); err != nil {
		return nil, err
	}
	for _, s := range a.Spawns {
		for t := int(s.Team) + 1; t <= Teams; t++ {
			a.first[t]++
		}
	}
	if err := a.index(); err != nil {
		return nil, err
	}
	if err := a.indexMovers(); err != nil {
		return nil, err
	}
	a.ground = newGround(a)
	a.filled = newOccupancy(a.Solids, a.Bounds)
	a.hash = a.computeHash()
	return a, nil
}

// Hash is SHA-256 over everything a match depends on: bounds, solids, spawns, movers. Equal hashes
// mean equal ground.
func (a *Arena) Hash() [32]byte { return a.hash }

// Passed returns what the Pass of all solids has together: bit t is set if the map has an area of
// team t.
func (a *Arena) Passed() uint8 { return a.pass }

// TeamSpawns returns the places where players of a team may appear; none for an unknown team. The
// slice is the arena's.
func (a *Arena) TeamSpawns(team uint8) []Spawn {
	if team >= Teams {
		return nil
	}
	return a.Spawns[a.first[team]:a.first[team+1]]
}

// Errors of a map that is well formed but cannot be used.
var (
	ErrTooDense = errors.New("boxes and ramps: more than 256 within a few metres of each other")
	ErrTooLarge = errors.New("boxes and ramps: together they cover too much ground to be indexed")
)

// check validates bounds, solids, spawns and movers, sets the Grade of ramps, and collects pass. Errors
// name rows as a map file counts them: areas and ramps from 0 each.
func (a *Arena) check() error {
	if err := checkBox("bounds", a.Bounds.Min, a.Bounds.Max); err != nil {
		return err
	}
	if n := len(a.Solids); n > MaxSolids {
		return fmt.Errorf("boxes and ramps: %d solids, want at most %d", n, MaxSolids)
	}
	if n := len(a.Spawns); n > MaxSpawns {
		return fmt.Errorf("spawns: %d rows, want at most %d", n, MaxSpawns)
	}
	boxes, ramps := 0, 0
	for i := range a.Solids {
		s := &a.Solids[i]
		where := fmt.Sprintf("boxes[%d]", i)
		switch s.class() {
		case 0:
			boxes++
		case 1:
			where = fmt.Sprintf("ramps[%d]", i-boxes)
			ramps++
		default:
			where = fmt.Sprintf("areas[%d]", i-boxes-ramps)
			if s.Shape != Box || s.Pass >= 1<<Teams || s.Pass&(s.Pass-1) != 0 {
				return fmt.Errorf("%s: shape %d, passes teams %b, want a box that passes one team", where,
					s.Shape, s.Pass)
			}
		}
		if s.Shape >= shapes {
			return fmt.Errorf("%s: shape %d, want 0 to %d", where, s.Shape, shapes-1)
		}
		if err := checkBox(where, s.Min, s.Max); err != nil {
			return err
		}
		a.pass |= s.Pass
		if !inside(s.Min, a.Bounds) || !inside(s.Max, a.Bounds) {
			return fmt.Errorf("%s: reaches from %v to %v, want within bounds", where, s.Min, s.Max)
		}
		s.Grade = NewSolid(s.Shape, s.Min, s.Max).Grade
	}
	for i, s := range a.Spawns {
		where := fmt.Sprintf("spawns[%d]", i)
		if s.Team >= Teams {
			return fmt.Errorf("%s: team %d, want 0 or 1", where, s.Team)
		}
		if err := checkPoint(where, s.Pos); err != nil {
			return err
		}
		if !inside(s.Pos, a.Bounds) {
			return fmt.Errorf("%s: stands at %v, want within bounds", where, s.Pos)
		}
	}
	return a.checkMovers()
}

// checkBox wants two corners on the 1/64 m grid with lo below hi on every axis.
func checkBox(where string, lo, hi geom.Vec3) error {
	if err := checkPoint(where, lo); err != nil {
		return err
	}
	if err := checkPoint(where, hi); err != nil {
		return err
	}
	if lo.X >= hi.X || lo.Y >= hi.Y || lo.Z >= hi.Z {
		return fmt.Errorf("%s: reaches from %v to %v, want the smaller corner first and no side of length 0",
			where, lo, hi)
	}
	return nil
}

// checkPoint wants finite coordinates on the 1/64 m grid within Limit.
func checkPoint(where string, p geom.Vec3) error {
	for i, v := range [3]float32{p.X, p.Y, p.Z} {
		if !(v >= -Limit && v <= Limit) || v*(1/Unit) != float32(math.Trunc(float64(v*(1/Unit)))) {
			return fmt.Errorf("%s: %c = %v, want a multiple of 1/64 from -%d to %d", where, "xyz"[i], v,
				Limit, Limit)
		}
	}
	return nil
}

// inside reports whether p lies in b, its faces included.
func inside(p geom.Vec3, b geom.AABB) bool {
	return p.X >= b.Min.X && p.Y >= b.Min.Y && p.Z >= b.Min.Z && p.X <= b.Max.X && p.Y <= b.Max.Y &&
		p.Z <= b.Max.Z
}

// computeHash hashes the canonical form: counts and coordinates in 1/64 m as little-endian int32,
// in the order of the fields. What team areas let pass follows, then movers, for maps that have some.
func (a *Arena) computeHash() [32]byte {
	h := []byte("tickrate arena 1\n")
	num := func(v int) { h = binary.LittleEndian.AppendUint32(h, uint32(int32(v))) }
	vec := func(p geom.Vec3) {
		num(int(p.X * (1 / Unit)))
		num(int(p.Y * (1 / Unit)))
		num(int(p.Z * (1 / Unit)))
	}
	vec(a.Bounds.Min)
	vec(a.Bounds.Max)
	num(len(a.Solids))
	for _, s := range a.Solids {
		num(int(s.Shape))
		vec(s.Min)
		vec(s.Max)
	}
	num(len(a.Spawns))
	for _, s := range a.Spawns {
		num(int(s.Team))
		vec(s.Pos)
		num(int(s.Yaw))
	}
	for _, s := range a.Solids {
		if s.Pass != 0 {
			num(int(s.Pass))
		}
	}
	for i := range a.Movers {
		if i == 0 {
			h = append(h, "movers\n"...)
		}
		m := &a.Movers[i]
		vec(m.Min)
		vec(m.Max)
		vec(m.Travel)
		num(int(m.TravelMillis))
		num(int(m.DwellMillis))
		num(int(m.PhaseMillis))
	}
	return sha256.Sum256(h)
}
