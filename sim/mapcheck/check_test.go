package mapcheck

import (
	"strings"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/content"
	"github.com/tickrate/tickrate/sim/move"
	"github.com/tickrate/tickrate/sim/pvs"
)

// box is a box solid from six numbers in metres.
func box(x0, y0, z0, x1, y1, z1 float32) arena.Solid {
	return arena.NewSolid(arena.Box, geom.Vec3{X: x0, Y: y0, Z: z0}, geom.Vec3{X: x1, Y: y1, Z: z1})
}

// yard is a walled square of 16 by 16 m with its floor at 0, and further solids.
func yard(t *testing.T, spawns []arena.Spawn, solids ...arena.Solid) *arena.Arena {
	t.Helper()
	solids = append(solids, box(-9, -1, -9, 9, 0, 9), box(-9, 0, -9, -8, 8, 9), box(8, 0, -9, 9, 8, 9),
		box(-8, 0, -9, 8, 8, -8), box(-8, 0, 8, 8, 8, 9))
	return newArena(t, -8, spawns, solids)
}

// newArena is a map of 32 by 32 m whose bounds begin at a height of low metres.
func newArena(t *testing.T, low float32, spawns []arena.Spawn, solids []arena.Solid) *arena.Arena {
	t.Helper()
	bounds := geom.AABB{Min: geom.Vec3{X: -16, Y: low, Z: -16}, Max: geom.Vec3{X: 16, Y: 16, Z: 16}}
	a, err := arena.New("test", bounds, solids, spawns)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// both is a spawn point of each team, in opposite corners of a yard, and further ones.
func both(more ...arena.Spawn) []arena.Spawn {
	return append([]arena.Spawn{{Pos: geom.Vec3{X: -6, Z: -6}}, {Pos: geom.Vec3{X: 6, Z: 6}, Team: 1}}, more...)
}

func check(t *testing.T, in Input) *Report {
	t.Helper()
	if in.Body == (move.Params{}) {
		in.Body = move.DefaultParams()
	}
	r, err := Check(in)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// room is the walls of a closed room without a roof, 6 m high, 4 by 4 m inside, in the middle.
func room() []arena.Solid {
	return []arena.Solid{box(-3, 0, -3, -2, 6, 3), box(2, 0, -3, 3, 6, 3), box(-2, 0, -3, 2, 6, -2),
		box(-2, 0, 2, 2, 6, 3)}
}

func TestRow73PlantedProblemsAreFound(t *testing.T) {
	at := func(x, y, z float32) arena.Spawn { return arena.Spawn{Pos: geom.Vec3{X: x, Y: y, Z: z}} }
	island := box(12, -1, 12, 16, 0, 16)
	tests := []struct {
		name   string
		spawns []arena.Spawn
		solids []arena.Solid
		things content.Map
		want   []string // "kind: part of the text", in order
	}{
		{name: "nothing", spawns: both()},
		{name: "spawn in a wall", spawns: both(at(7.75, 0, 0)),
			want: []string{"spawn in a wall: spawns[1] of team 0 reaches into the box [8, 0, -9, 9, 8, 9]"}},
		{name: "spawn under a roof that is too low", spawns: both(at(0, 0, 0)),
			solids: []arena.Solid{box(-1, 1.5, -1, 1, 2, 1)},
			want:   []string{"spawn in a wall: spawns[1]"}},
		{name: "spawn in the void", spawns: both(at(13, 0, 0)),
			want: []string{"spawn above no floor: spawns[1]"}},
		{name: "spawn in the air", spawns: both(at(0, 3, 0)),
			want: []string{"spawn in the air: spawns[1] of team 0 is 3 m above its floor"}},
		{name: "spawn in a closed room", spawns: both(at(0, 0, 0)), solids: room(),
			want: []string{"spawn cut off: spawns[1]"}},
		{name: "spawn on an island", spawns: both(at(14, 0, 14)), solids: []arena.Solid{island},
			want: []string{"spawn cut off: spawns[1]"}},
		{name: "spawn on a pillar", spawns: both(at(0, 6, 0)), solids: []arena.Solid{box(-1, 0, -1, 1, 6, 1)}},
		{name: "island", spawns: both(), solids: []arena.Solid{island}, want: []string{"enclosed ground: "}},
		{name: "closed room", spawns: both(), solids: room(), want: []string{"enclosed ground: "}},
		{name: "room with a door", spawns: both(),
			solids: append(room()[1:], box(-3, 0, -3, -2, 6, -0.75), box(-3, 0, 0.75, -2, 6, 3))},
		{name: "room with a door narrower than a body", spawns: both(),
			solids: append(room()[1:], box(-3, 0, -3, -2, 6, -0.25), box(-3, 0, 0.25, -2, 6, 3)),
			want:   []string{"enclosed ground: "}},
		{name: "room with a wall that a double jump clears", spawns: both(),
			solids: append(room()[1:], box(-3, 0, -3, -2, 2, 3))},
		{name: "one team", spawns: both()[:1], want: []string{"team without spawns: team 1"}},
		{name: "objects", spawns: both(), solids: []arena.Solid{box(-3, 0, -3, 3, 6, 3)},
			things: content.Map{
				Points:  []content.Point{{Name: "A"}, {Name: "B", At: geom.Vec3{X: 5}}},
				Barrels: []content.Stand{{At: geom.Vec3{Y: 6}}, {At: geom.Vec3{X: 5}}}},
			want: []string{"object in a wall: capture point A", "object cut off: barrel 0"}},
		{name: "teleporter into a room", spawns: both(), solids: room(),
			things: content.Map{Teleporters: []content.Port{{
				Box: geom.AABB{Min: geom.Vec3{X: 5, Z: -1}, Max: geom.Vec3{X: 7, Y: 2, Z: 1}}}}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := check(t, Input{Arena: yard(t, tt.spawns, tt.solids...), Map: &tt.things})
			if len(r.Problems) != len(tt.want) {
				t.Fatalf("problems %v, want %v", r.Problems, tt.want)
			}
			for i, p := range r.Problems {
				if text := p.Kind.String() + ": " + p.Text; !strings.HasPrefix(text, tt.want[i]) {
					t.Errorf("problem %q, want %q", text, tt.want[i])
				}
			}
		})
	}
}

// What is reached is the free ground, within a square of each side.
func TestReachedGroundIsTheFreeGround(t *testing.T) {
	r := check(t, Input{Arena: yard(t, both())})
	if r.Reached < 15*15 || r.Reached > 16*16 {
		t.Errorf("reached %v m², want 225 to 256", r.Reached)
	}
	r = check(t, Input{Arena: yard(t, both(), room()...)})
	if len(r.Closed) != 1 || r.Closed[0].Area < 9 || r.Closed[0].Area > 16 {
		t.Errorf("closed %v, want one of 9 to 16 m²", r.Closed)
	}
	if len(r.Tops) == 0 {
		t.Error("no tops: walls 6 m high are ground that players only fall from")
	}
}

// A step of the body's height is walked, a wall above the jumps is not passed by any body.
func TestReachFollowsTheBody(t *testing.T) {
	short := move.DefaultParams()
	short.Jumps = 0
	for _, tt := range []struct {
		high   float32
		body   move.Params
		closed bool
	}{{0.5, short, false}, {0.75, short, true}, {0.75, move.DefaultParams(), false},
		{2, move.DefaultParams(), false}, {3.5, move.DefaultParams(), true}} {
		sill := append(room()[1:], box(-3, 0, -3, -2, tt.high, 3))
		r := check(t, Input{Arena: yard(t, both(), sill...), Body: tt.body})
		if got := len(r.Closed) > 0; got != tt.closed {
			t.Errorf("a sill of %v m and %d jumps: closed %v, want %v", tt.high, tt.body.Jumps, got, tt.closed)
		}
	}
}

// Two closed rooms of one size: of the pairs of places, half are in two rooms.
func TestTwoClosedRoomsHideHalf(t *testing.T) {
	spawns := []arena.Spawn{{Pos: geom.Vec3{X: -8}}, {Pos: geom.Vec3{X: 8}, Team: 1}}
	a := newArena(t, -1, spawns, []arena.Solid{
		box(-16, -1, -16, 16, 0, 16), box(-16, 8, -16, 16, 16, 16), // floor, roof
		box(-16, 0, -16, 16, 8, -15), box(-16, 0, 15, 16, 8, 16),
		box(-16, 0, -15, -15, 8, 15), box(15, 0, -15, 16, 8, 15),
		box(-1, 0, -15, 1, 8, 15)})
	r := check(t, Input{Arena: a})
	table, err := pvs.Build(a, pvs.Fit(a, 8))
	if err != nil {
		t.Fatal(err)
	}
	if low, all := r.Hidden(table); low != 0.5 || all != 0.5 {
		t.Errorf("hidden %v standing, %v at any height; want 0.5", low, all)
	}
	if low, all := check(t, Input{Arena: yard(t, nil)}).Hidden(table); low != 0 || all != 0 {
		t.Errorf("hidden %v, %v of no places, want 0", low, all)
	}
}

func TestBodyOutOfRangeIsRefused(t *testing.T) {
	p := move.DefaultParams()
	p.StepMetres = 3
	_, err := Check(Input{Arena: yard(t, both()), Body: p})
	if err == nil || !strings.Contains(err.Error(), "StepMetres") {
		t.Errorf("error %v, want one that names StepMetres", err)
	}
}

// The maps of this build have none of the problems.
func TestRow73ShippedMapsAreClean(t *testing.T) {
	pack := content.Default()
	for i := range pack.Maps {
		m := &pack.Maps[i]
		t.Run(m.Name, func(t *testing.T) {
			if testing.Short() && i > 1 {
				t.Skip("a large map")
			}
			a, _, err := pack.Ground(m.Name)
			if err != nil {
				t.Fatal(err)
			}
			r := check(t, Input{Arena: a, Map: m, Body: pack.Heroes[0].Body, Widest: pack.Heroes[1].Body})
			for _, p := range r.Problems {
				t.Error(p)
			}
			if size := a.Bounds.Max.Sub(a.Bounds.Min); r.Reached < size.X*size.Z/2 {
				t.Errorf("reached %v m² of %v by %v m", r.Reached, size.X, size.Z)
			}
		})
	}
}
