package pvs

import (
	"fmt"
	"math"

	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/move"
)

// Config is the grid, which must be the one that the answers are used with, and the movement
// limits of a body. Zero fields mean the defaults named, except in the grid: Fit makes one.
type Config struct {
	MinX, MinZ float32 // corner of the grid, metres
	Cell       float32 // edge of a cell, metres, 1 to 16
	Wide, Deep int     // cells along x and z, 1 to 256 each; they must cover the arena

	LookAhead float32 // seconds that a client may be behind, up to 1; default 0.25. Negative: none
	// metres per second over the ground, up to 64; default 11.4, the most that turning in the air
	// gains
	Speed float32
	// metres per second upwards, up to 64; default 6: a jump has 3.4, pushed up by an edge it is
	// more
	Climb float32
	// metres above a cell's lowest ground, rising, at most 3; default 0.25 and 1.5. Empty, not nil:
	// none
	Levels   []float32
	Effort   int // pairs of parts tested per pair of cells, up to 1e6; default 256
	MaxBytes int // of the table; default 64 MiB
}

// Defaults of Config.
const (
	DefaultLookAhead = 0.25
	DefaultSpeed     = 11.4 // RunSpeed * sqrt(acceleration / friction in the air) is 11.31
	DefaultClimb     = 6
	DefaultEffort    = 256
	DefaultMaxBytes  = 64 << 20
	MaxLevels        = 3 // of Config; the level of any height comes on top
)

// Fit returns the grid that covers an arena with cells of cell metres; other fields are defaults, but
// for Speed if the map has movers: their velocity comes on top.
func Fit(a *arena.Arena, cell float32) Config {
	size := a.Bounds.Max.Sub(a.Bounds.Min)
	fastest := float32(0)
	for i := range a.Movers {
		fastest = max(fastest, a.Movers[i].Speed())
	}
	if fastest > 0 {
		fastest += DefaultSpeed
	}
	return Config{
		Speed: fastest,
		MinX:  a.Bounds.Min.X, MinZ: a.Bounds.Min.Z, Cell: cell,
		Wide: int(math.Ceil(float64(size.X / cell))), Deep: int(math.Ceil(float64(size.Z / cell))),
	}
}

// defaultLevels separates standing on the ground, standing on a crate or a plain jump, and the
// rest.
var defaultLevels = [...]float32{0.25, 1.5}

func (c Config) withDefaults() Config {
	or := func(p *float32, v float32) {
		if *p == 0 {
			*p = v
		}
	}
	or(&c.LookAhead, DefaultLookAhead)
	c.LookAhead = max(c.LookAhead, 0)
	or(&c.Speed, DefaultSpeed)
	or(&c.Climb, DefaultClimb)
	if c.Levels == nil {
		c.Levels = defaultLevels[:]
	}
	if c.Effort == 0 {
		c.Effort = DefaultEffort
	}
	if c.MaxBytes == 0 {
		c.MaxBytes = DefaultMaxBytes
	}
	return c
}

// check checks a config with defaults.
func (c *Config) check() error {
	in := func(v, lo, hi float32) bool { return v >= lo && v <= hi } // false for NaN
	switch {
	case !in(c.Cell, 1, 16):
		return fmt.Errorf("pvs: cells of %v m, want 1 to 16", c.Cell)
	case c.Wide < 1 || c.Wide > 256 || c.Deep < 1 || c.Deep > 256:
		return fmt.Errorf("pvs: a grid of %d x %d cells, want 1 to 256 each way", c.Wide, c.Deep)
	case !in(c.MinX, -2*arena.Limit, 2*arena.Limit) || !in(c.MinZ, -2*arena.Limit, 2*arena.Limit):
		return fmt.Errorf("pvs: a grid at %v, %v, want it within %d m", c.MinX, c.MinZ, 2*arena.Limit)
	case !in(c.LookAhead, 0, 1):
		return fmt.Errorf("pvs: a look-ahead of %v s, want at most 1", c.LookAhead)
	case !in(c.Speed, 0, move.TopSpeed) || !in(c.Climb, 0, move.TopSpeed):
		return fmt.Errorf("pvs: speeds of %v and %v m/s, want 0 to %d", c.Speed, c.Climb, move.TopSpeed)
	case c.Effort < 1 || c.Effort > 1e6:
		return fmt.Errorf("pvs: an effort of %d, want 1 to 1000000", c.Effort)
	case len(c.Levels) > MaxLevels:
		return fmt.Errorf("pvs: %d levels, want at most %d", len(c.Levels), MaxLevels)
	}
	last := float32(0)
	for _, h := range c.Levels {
		if !in(h, last, arena.Limit) {
			return fmt.Errorf("pvs: levels %v, want them to rise from 0", c.Levels)
		}
		last = h
	}
	if need := c.bytes(); need > c.MaxBytes {
		return fmt.Errorf("pvs: %d x %d cells on %d levels take a table of %d bytes, "+
			"want at most %d: take larger cells or fewer levels",
			c.Wide, c.Deep, c.levels(), need, c.MaxBytes)
	}
	return nil
}

func (c *Config) levels() int { return len(c.Levels) + 1 }
func (c *Config) cells() int  { return c.Wide * c.Deep }
func (c *Config) words() int  { return (c.cells()*c.levels() + 63) / 64 } // of a row of the table

// bytes is the size of the table.
func (c *Config) bytes() int { return c.cells() * c.levels() * c.words() * 8 }

// reach is how far a body gets over the ground, with a margin for rounded positions.
func (c *Config) reach() float32 { return float32(c.LookAhead*c.Speed) + 1./64 }

// rise is how much higher a body gets without a step or a ramp.
func (c *Config) rise() float32 { return float32(c.LookAhead*c.Climb) + 1./64 }
