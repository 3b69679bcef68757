package mapsvg

import (
	"bytes"
	"encoding/xml"
	"flag"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/content"
	"github.com/tickrate/tickrate/sim/mapcheck"
	"github.com/tickrate/tickrate/sim/move"
)

var update = flag.Bool("update", false, "write the drawings in testdata anew")

// count parses an SVG and counts its elements by class.
func count(t *testing.T, svg []byte) map[string]int {
	t.Helper()
	classes := map[string]int{}
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return classes
		}
		if err != nil {
			t.Fatalf("not XML: %v", err)
		}
		start, _ := token.(xml.StartElement)
		for _, a := range start.Attr {
			if a.Name.Local == "class" {
				classes[strings.Fields(a.Value)[0]]++
			}
		}
	}
}

func TestDrawingHoldsEverythingOnTheMap(t *testing.T) {
	pack := content.Default()
	for i := range pack.Maps {
		m := &pack.Maps[i]
		a, _, err := pack.Ground(m.Name)
		if err != nil {
			t.Fatal(err)
		}
		got := count(t, Append(nil, Map{Arena: a, Placed: m, Zone: pack.Zone.Radius}))
		for class, want := range map[string]int{"spawn": len(a.Spawns), "solid": len(a.Solids),
			"home": len(m.Homes), "point": len(m.Points), "barrel": len(m.Barrels), "cube": len(m.Cubes),
			"object": len(m.Objects), "port": 2 * len(m.Teleporters), "field": len(m.Areas)} {
			if got[class] != want {
				t.Errorf("map %s: %d of class %s, want %d", m.Name, got[class], class, want)
			}
		}
	}
}

// badMap has a spawn in a wall, an island, an area, a ramp, and a name that must be escaped.
func badMap(t *testing.T) *arena.Arena {
	t.Helper()
	v := func(x, y, z float32) geom.Vec3 { return geom.Vec3{X: x, Y: y, Z: z} }
	a, err := arena.New(`a <map> & "name"`, geom.AABB{Min: v(-12, -4, -8), Max: v(18, 8, 8)}, []arena.Solid{
		{Min: v(-8, -1, -8), Max: v(4, 0, 8)}, {Min: v(-4, 0, -2), Max: v(-2, 4, 2)},
		{Min: v(15, -1, 5), Max: v(18, 0, 8)},
		arena.NewSolid(arena.RampPosZ, v(0, 0, 0), v(2, 1, 4)), arena.NewArea(1, v(2, 0, -8), v(4, 3, -4)),
	}, []arena.Spawn{{Pos: v(-6, 0, 0)}, {Pos: v(-3, 0, 0)}, {Pos: v(3, 0, -6), Team: 1}})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestRow73ProblemsAreMarked(t *testing.T) {
	a := badMap(t)
	r, err := mapcheck.Check(mapcheck.Input{Arena: a, Body: move.DefaultParams()})
	if err != nil {
		t.Fatal(err)
	}
	svg := Append(nil, Map{Arena: a, Report: r})
	got := count(t, svg)
	if got["problem"] != 2 || got["closed"] == 0 || got["top"] == 0 || got["spawn"] != 3 || got["area"] != 1 {
		t.Errorf("classes %v of problems %v, want two problems, closed ground, tops, three spawns", got,
			r.Problems)
	}
	const golden = "testdata/problems.svg"
	if *update {
		if err := os.WriteFile(golden, svg, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(svg, want) {
		t.Errorf("the drawing differs from %s; look at it and run with -update", golden)
	}
}

func TestRow55DrawingHoldsMovers(t *testing.T) {
	a, err := arena.Open("lifts")
	if err != nil {
		t.Fatal(err)
	}
	if got := count(t, Append(nil, Map{Arena: a})); got["mover"] != 3 || got["travel"] != 3 {
		t.Errorf("%d movers and %d travels drawn, want 3", got["mover"], got["travel"])
	}
}
