package server

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/interest"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/mode"
)

// Relevance says which rows clients are sent.
type Relevance uint8

// The kinds of relevance.
const (
	// RelevanceAuto is RelevanceGrid where something may hide players: there is a Config.PVS or a
	// Config.CellVisible, or Config.ViewDistance is below the size of the map. Else it is
	// RelevanceAll: a grid would cost time and hide nothing.
	RelevanceAuto Relevance = iota

	// RelevanceOff sends all rows, in snapshots that are sent whole or not at all.
	RelevanceOff

	// RelevanceAll sends all rows, so that clients share encoded blocks. A client that is joining,
	// or whose bandwidth is below that, is sent rows by priority.
	RelevanceAll

	// RelevanceGrid sends the players in view distance and in sight of the client's cell, its team,
	// and those that were visible a moment ago. Of others there is nothing in the bytes. Budgets
	// are as with RelevanceAll.
	RelevanceGrid
)

var relevanceNames = [...]string{"auto", "off", "all", "grid"}

// String names the kind, as ParseRelevance takes it.
func (r Relevance) String() string {
	if int(r) >= len(relevanceNames) {
		return "invalid"
	}
	return relevanceNames[r]
}

// ParseRelevance is the reverse of String.
func ParseRelevance(name string) (Relevance, error) {
	for i, n := range relevanceNames {
		if n == name {
			return Relevance(i), nil
		}
	}
	return 0, fmt.Errorf("relevance %q: expected auto, off, all or grid", name)
}

// Limits of the fields of Config about relevance.
const (
	maxHysteresis = 15
	minJoinBytes  = 1200
	maxJoinBytes  = 1 << 20
	minCell       = 1
	maxCells      = 256 // along each side of a grid
)

// DefaultHysteresis is the default of Config.Hysteresis: a fifth of a second at 20 Hz.
const DefaultHysteresis = 4

const (
	defaultCell      = 8 // metres
	defaultJoinBytes = 4800
)

// GridConfig is the grid that covers a map with cells metres wide, as a lobby makes it for
// Config.CellSize. Config.CellVisible is asked for its cells, and pvs.Fit makes the same grid. 0
// metres means the default: 8, or more where a side would have more than 256 cells.
func GridConfig(a *arena.Arena, metres float32) interest.Config {
	size := a.Bounds.Max.Sub(a.Bounds.Min)
	if metres == 0 {
		metres = max(defaultCell, float32(math.Ceil(float64(max(size.X, size.Z)/maxCells))))
	}
	side := func(length float32) int { return max(1, int(math.Ceil(float64(length/metres)))) }
	return interest.Config{
		MinX: a.Bounds.Min.X, MinZ: a.Bounds.Min.Z, Cell: metres, Wide: side(size.X), Deep: side(size.Z),
	}
}

// withRelevance fills and checks what a configuration says of relevance.
func (c Config) withRelevance() (Config, error) {
	switch {
	case c.Relevance > RelevanceGrid:
		return c, fmt.Errorf("relevance %d: expected auto, off, all or grid", c.Relevance)
	case !(c.ViewDistance >= 0 && c.ViewDistance <= 4*arena.Limit): // NaN is neither
		return c, fmt.Errorf("view distance of %g m: expected 0 to %d, 0 for no limit",
			c.ViewDistance, 4*arena.Limit)
	case c.Hysteresis < -1 || c.Hysteresis > maxHysteresis:
		return c, fmt.Errorf("hysteresis of %d snapshots: expected -1 to %d", c.Hysteresis, maxHysteresis)
	case c.JoinBytes != 0 && (c.JoinBytes < minJoinBytes || c.JoinBytes > maxJoinBytes):
		return c, fmt.Errorf("%d bytes of a join snapshot: expected %d to %d",
			c.JoinBytes, minJoinBytes, maxJoinBytes)
	case c.NearestPlayers < -1 || c.NearestPlayers > MaxPlayers:
		return c, fmt.Errorf("%d nearest players: expected 1 to %d, or -1 for all",
			c.NearestPlayers, MaxPlayers)
	case c.ChecksumEvery < -1 || c.ChecksumEvery > 1<<16:
		return c, fmt.Errorf("checksum every %d snapshots: expected 1 to %d, or -1 for none",
			c.ChecksumEvery, 1<<16)
	case c.CellSize != 0 && !(c.CellSize >= minCell && c.CellSize <= arena.Limit):
		return c, fmt.Errorf("cells of %g m: expected %d to %d", c.CellSize, minCell, arena.Limit)
	}
	if err := c.fitGrid(); err != nil {
		return c, err
	}
	c.NearestPlayers = cmp.Or(c.NearestPlayers, defaultNearestPlayers)
	if c.Hysteresis == 0 {
		c.Hysteresis = DefaultHysteresis
	}
	if c.JoinBytes == 0 { // moving rows of a crowd take a third of that
		c.JoinBytes = max(defaultJoinBytes, 10*c.Players)
	}
	if c.ChecksumEvery == 0 {
		c.ChecksumEvery = defaultChecksumEvery
	}
	if c.Relevance == RelevanceAuto {
		c.Relevance = RelevanceAll
		size := c.Arena.Bounds.Max.Sub(c.Arena.Bounds.Min)
		near := c.ViewDistance != 0 && c.ViewDistance < (geom.Vec3{X: size.X, Z: size.Z}).Len()
		if c.PVS != nil || c.CellVisible != nil || near {
			c.Relevance = RelevanceGrid
		}
	}
	return c, nil
}

// fitGrid fills CellSize and checks that PVS is of the arena and its grid.
func (c *Config) fitGrid() error {
	if c.PVS != nil && c.CellSize == 0 {
		c.CellSize = c.PVS.Config().Cell
	}
	g := GridConfig(c.Arena, c.CellSize)
	if c.PVS != nil {
		w := c.PVS.Config()
		switch {
		case c.CellVisible != nil:
			return errors.New("both PVS and CellVisible: expected one of them")
		case c.PVS.Arena() != c.Arena.Hash():
			return errors.New("PVS of another arena: expected that of Config.Arena")
		case w.Cell != g.Cell || w.MinX != g.MinX || w.MinZ != g.MinZ || w.Wide != g.Wide || w.Deep != g.Deep:
			return fmt.Errorf("PVS of %d by %d cells of %g m: expected %d by %d of %g m",
				w.Wide, w.Deep, w.Cell, g.Wide, g.Deep, g.Cell)
		}
	}
	if c.CellSize = g.Cell; max(g.Wide, g.Deep) > maxCells {
		return fmt.Errorf("cells of %g m: %d by %d, expected at most %d along a side",
			g.Cell, g.Wide, g.Deep, maxCells)
	}
	return nil
}

// groupsTeams reports whether the teams of the lobby have slots of their own: a half each of those for
// players. All of a team are visible to it, so their groups go as blocks that its clients share. Fewer
// slots make no run of blocks. Spectators have no row in any snapshot and take the slots after those.
func (c *Config) groupsTeams() bool {
	return c.Relevance == RelevanceGrid && !c.TeamFog &&
		c.playerSlots() >= mode.Teams*snapshot.MinBlockRun*snapshot.GroupRows
}

// playerSlots is how many slots are for players: Players of a filled configuration has those of
// spectators, too.
func (c *Config) playerSlots() int { return c.Players - c.Spectators }

// firstSlot is the first slot of a team: of a whole group.
func (c *Config) firstSlot(team uint8) int {
	share := (c.playerSlots() + mode.Teams - 1) / mode.Teams
	return int(team) * ((share + snapshot.GroupRows - 1) &^ (snapshot.GroupRows - 1))
}

// teamGroups is the groups of a team's slots: first to end-1.
func (c *Config) teamGroups(team uint8) (first, end int) {
	return c.firstSlot(team) / snapshot.GroupRows, c.firstSlot(team+1) / snapshot.GroupRows
}

// CellRadius is the radius in cells for a view distance in metres above 0. Two positions may be a
// cell nearer to each other than the distance of their cells.
func CellRadius(metres, cell float32) int { return int(math.Ceil(float64(metres/cell))) + 1 }

// interestConfig is the configuration of the grid for this lobby.
func (c *Config) interestConfig() interest.Config {
	g := GridConfig(c.Arena, c.CellSize)
	g.Slots = c.Players
	if c.Relevance == RelevanceGrid {
		g.Visible, g.Hysteresis = c.CellVisible, max(c.Hysteresis, 0)
		if c.ViewDistance != 0 {
			g.ViewDistance = CellRadius(c.ViewDistance, g.Cell)
		}
	}
	return g
}
