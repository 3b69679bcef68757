// The commands map check and map draw: what is wrong with a map, and the map from above. The checks
// are in sim/mapcheck.

package main

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/cmd/internal/assets"
	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/content"
	"github.com/tickrate/tickrate/sim/mapcheck"
	"github.com/tickrate/tickrate/sim/mapcheck/mapsvg"
	"github.com/tickrate/tickrate/sim/move"
	"github.com/tickrate/tickrate/sim/pvs"
)

// checkedMap is a map of a content pack, or an arena alone, with its report.
type checkedMap struct {
	pack   *content.Pack
	arena  *arena.Arena
	placed *content.Map // nil for an arena alone
	report *mapcheck.Report
}

// openChecked opens a map by the name that commands give it, and checks it.
func openChecked(name, folder string) (m checkedMap, err error) {
	if m.pack, err = assets.Content(folder); err != nil {
		return m, err
	}
	if m.arena, err = assets.MapOf(m.pack, name); err != nil {
		return m, err
	}
	if i := slices.IndexFunc(m.pack.Maps, func(p content.Map) bool { return p.Name == name }); i >= 0 {
		m.placed = &m.pack.Maps[i]
	}
	in := mapcheck.Input{Arena: m.arena, Map: m.placed, Body: m.pack.Heroes[0].Body}
	in.Widest = widest(m.pack.Heroes)
	m.report, err = mapcheck.Check(in)
	return m, err
}

// widest is the body of the hero that takes the most room over the ground.
func widest(heroes []content.Hero) (p move.Params) {
	for i := range heroes {
		if heroes[i].Body.RadiusMetres > p.RadiusMetres {
			p = heroes[i].Body
		}
	}
	return p
}

// newMapCheck returns the command map check.
func newMapCheck() *cobra.Command {
	var folder string
	var o mapCostOptions
	c := &cobra.Command{
		Use:   "check NAME|FILE",
		Short: "Find spawns in walls and ground out of reach, and estimate what a map costs",
		Long: `check reads a map and prints its size and hash, the ground that players reach, what
walls hide, a cost estimate, and each problem in a line: spawn points inside a
wall, above no floor or cut off from the others; enclosed ground; capture
points, barrels, cubes and teleporters inside a wall or out of reach.

Reach is a flood fill by the movement rules: step height, slopes, jumps and body
size are those of the content pack's first hero, without its abilities. Spawn
points are tested with its widest hero.

The exit code is 0 without a problem, 1 with one, 2 for a file that is no map.`,
		Args: usage.OneArg("one map"), ValidArgsFunction: completeMapArg,
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			m, err := openChecked(args[0], folder)
			if err != nil {
				return err
			}
			describe(c, args[0], m.arena)
			if err := m.print(c.OutOrStdout()); err != nil {
				return err
			}
			if o.players > 0 && len(m.report.Problems) == 0 {
				if err := printMapCost(c.Context(), c.OutOrStdout(), &m, args[0], o); err != nil {
					return err
				}
			}
			return m.verdict(c.OutOrStdout())
		},
	}
	c.Flags().StringVar(&folder, "content", "", assets.ContentUsage)
	c.Flags().IntVar(&o.players, "players", 16, fmt.Sprintf(
		"`players` of the simulated match that estimates the cost, 0 to %d; 0: no estimate", maxMapPlayers))
	c.Flags().DurationVar(&o.duration, "duration", 5*time.Second,
		"virtual `time` of that match that is measured, 1s to 10m")
	return c
}

// newMapDraw returns the command map draw.
func newMapDraw() *cobra.Command {
	var folder string
	c := &cobra.Command{
		Use:   "draw NAME|FILE > map.svg",
		Short: "Draw a map from above as an SVG, with its problems marked",
		Args:  usage.OneArg("one map"), ValidArgsFunction: completeMapArg,
		RunE: func(c *cobra.Command, args []string) error {
			m, err := openChecked(args[0], folder)
			if err != nil {
				return err
			}
			_, err = c.OutOrStdout().Write(mapsvg.Append(nil, mapsvg.Map{Arena: m.arena, Placed: m.placed,
				Zone: m.pack.Zone.Radius, Report: m.report}))
			return err
		},
	}
	c.Flags().StringVar(&folder, "content", "", assets.ContentUsage)
	return c
}

// print writes the ground that is reached and what walls hide.
func (m *checkedMap) print(w io.Writer) error {
	r, h := m.report, &m.pack.Heroes[0]
	fmt.Fprintf(w, "reach: about %.0f m² by %s (radius %g m, height %g m, step %g m, %d jumps of %g m), in squares "+
		"of %g m\n", r.Reached, h.Name, h.Body.RadiusMetres, h.Body.HeightMetres, h.Body.StepMetres,
		h.Body.Jumps, h.Body.JumpMetres, r.Square)
	tops := float32(0)
	for i := range r.Tops {
		tops += r.Tops[i].Area
	}
	fmt.Fprintf(w, "out of reach above: %.0f m² on %d tops that players only fall from\n", tops, len(r.Tops))
	table, err := pvs.Build(m.arena, pvs.Fit(m.arena, pvs.CellFor(m.arena)))
	if err != nil {
		return fmt.Errorf("visible sets: %w", err)
	}
	grid := table.Config()
	standing, anyHeight := r.Hidden(table)
	fmt.Fprintf(w, "visible set: %d x %d cells of %g m on %d levels, %d KiB; of the pairs of places that "+
		"players reach, walls hide %.1f %% from standing players and %.1f %% at any height\n", grid.Wide,
		grid.Deep, grid.Cell, table.Levels(), table.Bytes()/1024, 100*standing, 100*anyHeight)
	return nil
}

// verdict writes the problems. With any, it returns an error that exits with 1.
func (m *checkedMap) verdict(w io.Writer) error {
	for _, p := range m.report.Problems {
		fmt.Fprintln(w, p)
	}
	switch n := len(m.report.Problems); n {
	case 0:
		fmt.Fprintln(w, "no problems")
		return nil
	case 1:
		return fmt.Errorf("the map has a problem")
	default:
		return fmt.Errorf("the map has %d problems", n)
	}
}
