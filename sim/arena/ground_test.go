package arena

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
)

// TestGround holds the squares to all solids of the maps: a square's floor fills it, its obstacles
// are all that rises above it within Beside, and their lanes tell what a box overlaps.
func TestGround(t *testing.T) {
	r := rand.New(rand.NewPCG(24, 4))
	floors, overlaps := 0, 0
	for _, a := range []*Arena{Generate(60, 1), Town(60, 2), Generate(1400, 3)} {
		g, size := a.Ground(), a.Bounds.Max.Sub(a.Bounds.Min)
		for range 20000 {
			p := a.Bounds.Min.Add(geom.Vec3{X: r.Float32() * size.X, Z: r.Float32() * size.Z})
			spot := g.at(p.X, p.Z)
			floor := spot.Floor()
			if floor == noFloor {
				continue
			}
			floors++
			// A box of up to Beside around p, somewhere above the floor.
			reach := r.Float32() * (Beside - squareEdge)
			low := floor + float32(r.IntN(64))*Unit
			high := low + 1.8
			filled, want := false, 0
			for i := range a.Solids {
				s := &a.Solids[i]
				dx, dz := max(s.Min.X-p.X, p.X-s.Max.X), max(s.Min.Z-p.Z, p.Z-s.Max.Z)
				filled = filled || s.Max.Y == floor && s.Shape == Box && s.Pass == 0 && dx < 0 && dz < 0
				if dx < reach && dz < reach && s.Max.Y > low && s.Min.Y < high {
					want++
				}
			}
			if !filled {
				t.Fatalf("%s at %v: no floor at %v", a.Name, p, floor)
			}
			plan := spot.Plan + (uint64(reach/LaneUnit)+1)*EachLane
			y := int(g.HeightLane(low))
			height := Lanes(int(g.HeightLane(high))+1, MaxLane-y-1, MaxLane, MaxLane) | LaneGuard
			got := 0
			if (spot.HasObstacles() == 1) != (len(g.Obstacles(&spot)) > 0) {
				t.Fatal("HasObstacles differs from Obstacles")
			}
			for _, o := range g.Obstacles(&spot) {
				if (plan-o.Plan)&(height-o.Height)&LaneGuard == LaneGuard {
					got++
				}
			}
			if got < want || got > want+1 {
				t.Fatalf("%s at %v: %d obstacles overlap, want %d", a.Name, p, got, want)
			}
			overlaps += want
		}
		nan := float32(math.NaN())
		for _, p := range [][2]float32{{nan, nan}, {1e30, 0}, {-1e30, 0}, {a.Bounds.Min.X - 0.1, 0},
			{0, a.Bounds.Max.Z - 0.1}, {float32(math.Inf(-1)), 0}} {
			if spot := g.at(p[0], p[1]); spot.Floor() != noFloor {
				t.Errorf("%s at %v: a floor at %v", a.Name, p, spot.Floor())
			}
		}
	}
	if floors < 40000 || overlaps < 5000 {
		t.Errorf("only %d floors and %d overlaps", floors, overlaps)
	}
}

// at is the spot of a point.
func (g *Ground) at(x, z float32) Spot {
	var spot [1]Spot
	g.Locate(spot[:], []geom.Vec3{{}}, []float32{x}, []float32{z})
	return spot[0]
}

// TestCrowdedGround: an arena with too many obstacles for its squares has larger ones, and at last
// none.
func TestCrowdedGround(t *testing.T) {
	for _, c := range []struct{ side, width, want float32 }{
		{512, 50, 1}, {512, 100, 2}, {512, 150, 4}, {1990, 450, 0},
	} {
		top := geom.Vec3{X: c.side, Y: 300, Z: c.side}
		solids := []Solid{NewSolid(Box, geom.Vec3{Y: -1}, geom.Vec3{X: c.side, Z: c.side})}
		for i := range 250 { // areas, as floors would hide each other
			y := float32(i + 1)
			solids = append(solids, NewArea(0, geom.Vec3{X: 4, Y: y, Z: 4},
				geom.Vec3{X: 4 + c.width, Y: y + 0.5, Z: 4 + c.width}))
		}
		a, err := New("crowded", geom.AABB{Min: geom.Vec3{Y: -1}, Max: top}, solids, nil)
		if err != nil {
			t.Fatal(err)
		}
		g := a.Ground()
		if g.size != c.want {
			t.Errorf("%v m: squares of %v m, want %v", c.width, g.size, c.want)
		}
		want := float32(noFloor)
		if c.want > 0 {
			want = 0
		}
		if spot := g.at(c.side-50, c.side-50); spot.Floor() != want {
			t.Errorf("%v m: a floor at %v, want %v", c.width, spot.Floor(), want)
		}
	}
}
