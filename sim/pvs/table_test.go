package pvs

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tickrate/tickrate/ecs/interest"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/internal/alloctest"
)

func TestTableIsSymmetricAndNested(t *testing.T) {
	for _, a := range scenes(t)[3:] {
		table, err := Build(a, Fit(a, 4))
		if err != nil {
			t.Fatal(err)
		}
		if !table.valid() {
			t.Errorf("%s: not symmetric", a.Name)
		}
		for x := range table.Cells() {
			for y := range table.Cells() {
				for f := range table.Levels() {
					for g := range table.Levels() {
						if table.VisibleAt(x, f, y, g) && (f+1 < table.Levels() &&
							!table.VisibleAt(x, f+1, y, g) || !table.Visible(x, y)) {
							t.Fatalf("%s: %d sees %d on levels %d and %d, but not from higher", a.Name, x,
								y, f, g)
						}
					}
				}
			}
		}
	}
}

func TestConfigErrors(t *testing.T) {
	a := town(24, 3)
	good := Fit(a, 8)
	for i, wrong := range []func(*Config){
		func(c *Config) { c.Cell = 0.5 },
		func(c *Config) { c.Wide = 0 },
		func(c *Config) { c.Deep = 257 },
		func(c *Config) { c.LookAhead = 2 },
		func(c *Config) { c.Speed = -1 },
		func(c *Config) { c.Levels = []float32{2, 1} },
		func(c *Config) { c.Levels = make([]float32, MaxLevels+1) },
		func(c *Config) { c.Effort = -1 },
		func(c *Config) { c.MaxBytes = 100 },
	} {
		c := good
		wrong(&c)
		if _, err := Build(a, c); err == nil {
			t.Errorf("case %d: %+v was built", i, c)
		}
	}
	c := good
	c.Wide--
	if _, err := Build(a, c); !errors.Is(err, ErrGrid) {
		t.Errorf("a grid too small: %v", err)
	}
}

// TestOccupancy: less is visible from the ground than from above, an Occupancy uses the levels of
// its own players, and filling and queries do not allocate. ecs/interest takes it unchanged, with
// the same cells.
func TestOccupancy(t *testing.T) {
	a := rooms(5, 1)
	table, err := Build(a, Fit(a, 4))
	if err != nil {
		t.Fatal(err)
	}
	c := table.Config()
	occupancy := NewOccupancy(table)
	grid := interest.NewGrid(interest.Config{Slots: 2, MinX: c.MinX, MinZ: c.MinZ, Cell: c.Cell,
		Wide: c.Wide, Deep: c.Deep, Visible: occupancy.Visible})
	checked := 0
	for from := range table.Cells() {
		r := c.cellArea(from)
		x, z := (r.x0+r.x1)/2, (r.z0+r.z1)/2
		if table.Cell(x, z) != from || grid.Cell(x, z) != from {
			t.Fatalf("cell %d is %d to the table and %d to the grid", from, table.Cell(x, z), grid.Cell(x, z))
		}
		for level := range table.Levels() {
			occupancy.Reset()
			occupancy.Raise(x, 0, z)
			height := float32(100)
			if level < len(c.Levels) {
				height = table.floor[from] + c.Levels[level]
			}
			occupancy.Raise(x, height, z)
			for to := range table.Cells() {
				if to != from && occupancy.Visible(from, to) != table.VisibleAt(from, level, to, 0) {
					t.Fatalf("occupancy on level %d of cell %d sees %d otherwise than the table",
						level, from, to)
				}
				checked++
			}
			var listed []int
			for _, to := range occupancy.Seen(from, nil) {
				listed = append(listed, int(to))
			}
			if !slices.Equal(listed, []int{from}) {
				t.Fatalf("occupancy in cell %d alone lists %v", from, listed)
			}
		}
	}
	if n := alloctest.In(100, func() {
		occupancy.Reset()
		occupancy.Raise(1, 1, 1)
		occupancy.Visible(3,
			4)
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
	r := rand.New(rand.NewPCG(8, 8))
	for range 50 { // Seen lists the occupied cells that Visible reports
		occupancy.Reset()
		occupied := map[int]bool{}
		for range 40 {
			x, z := c.MinX+60*r.Float32(), c.MinZ+60*r.Float32()
			occupancy.Raise(x, 5*r.Float32(), z)
			occupied[table.Cell(x, z)] = true
		}
		for from := range table.Cells() {
			got := map[int]bool{}
			for _, to := range occupancy.Seen(from, nil) {
				got[int(to)] = true
			}
			for to := range table.Cells() {
				if want := occupied[to] && occupancy.Visible(from, to); got[to] != want {
					t.Fatalf("cell %d lists %d: %v, want %v", from, to, got[to], want)
				}
			}
		}
	}
	occupancy.Reset()
	hidden := -1
	for to := range table.Cells() {
		if !occupancy.Visible(0, to) {
			hidden = to
		}
	}
	if hidden < 0 || checked == 0 {
		t.Fatal("cell 0 sees all: nothing tested")
	}
	near, far := c.cellArea(0), c.cellArea(hidden)
	grid.Fill([]netid.ID{1 << 8, 2 << 8}, []float32{near.x0, far.x0 + 1}, []float32{near.z0, far.z0 + 1},
		[]uint8{0, 0}, nil)
	client := interest.NewClient(grid)
	client.Update(grid, interest.Viewer{Slot: 0, X: near.x0, Z: near.z0}, nil)
	if client.Visible()[0] != 1 {
		t.Errorf("sees %b, want only itself", client.Visible()[0])
	}
}
