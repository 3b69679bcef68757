package server

import (
	"fmt"
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/protocol"
)

// ClockConfig is at which rates a server works, in the terms of Unity Netcode's ClientServerTickRate. Zero fields mean the defaults
// named.
type ClockConfig struct {
	Simulation tick.Rate // SimulationTickRate: ticks a second, 20 to 128; default 60
	Network    int       // NetworkTickRate: snapshots a second to one client; default what comes nearest to 20
	MaxSteps   int       // MaxSimulationStepsPerFrame: most ticks that a frame plays to catch up, 1 to 16; default 4
	MaxBatch   int       // MaxSimulationStepBatchSize: most of them between one look at the socket and the next, 1 to MaxSteps; default 1. They are as long as any: a longer step would be another match
}

// maxSteps is the most ticks of one frame.
const maxSteps = 16

// Check fills and checks a configuration. interval is what Network comes to, in ticks.
func (c ClockConfig) Check() (filled ClockConfig, interval int, err error) {
	if c.Simulation == 0 {
		c.Simulation = tick.DefaultRate
	}
	if !c.Simulation.Valid() {
		return c, 0, fmt.Errorf("tick rate %d Hz: expected %d to %d", c.Simulation, tick.MinRate, tick.MaxRate)
	}
	rate := int(c.Simulation)
	if c.Network == 0 {
		c.Network = max(1, rate/max(1, (rate+10)/20))
	}
	interval = (rate + c.Network/2) / max(c.Network, 1)
	if c.Network < 1 || c.Network > rate || interval > MaxInterval {
		return c, 0, fmt.Errorf("%d snapshots a second at %d Hz: expected %d to %d", c.Network, rate, (rate+MaxInterval-1)/MaxInterval, rate)
	}
	c.MaxSteps, c.MaxBatch = or(c.MaxSteps, 4), or(c.MaxBatch, 1)
	if c.MaxSteps < 1 || c.MaxSteps > maxSteps {
		return c, 0, fmt.Errorf("%d steps a frame: expected 1 to %d", c.MaxSteps, maxSteps)
	}
	if c.MaxBatch < 1 || c.MaxBatch > c.MaxSteps {
		return c, 0, fmt.Errorf("batches of %d steps: expected 1 to %d, the steps of a frame", c.MaxBatch, c.MaxSteps)
	}
	return c, interval, nil
}

// Clock says when the ticks of a server are due. Instants of some other clock go in; how many ticks to play comes out. It reads no
// clock and never waits, so that a second of stalls takes no second to test.
//
// Ticks are due at even distances. Who comes late plays what is due, MaxSteps at most; what lies further back than that is given up, so
// that a stall costs its own time and no more. The zero value is not ready: use NewClock.
type Clock struct {
	cfg   ClockConfig
	from  time.Duration // when tick number 0 since then was due
	count tick.Tick     // ticks handed out since then
	tempo uint16

	GivenUp uint64 // ticks that were not played
	Caught  uint64 // ticks played late, to catch up
	Stalls  uint64 // frames that had to give up ticks
}

// NewClock returns a clock whose first tick is due a period after now. cfg must be one that Check has filled.
func NewClock(cfg ClockConfig, now time.Duration) *Clock {
	return &Clock{cfg: cfg, from: now, tempo: protocol.FullTimescale}
}

// since is how long n ticks take at the tempo.
func (c *Clock) since(n tick.Tick) time.Duration {
	return c.cfg.Simulation.At(n) * protocol.FullTimescale / time.Duration(c.tempo)
}

// Period is how long a tick lasts.
func (c *Clock) Period() time.Duration { return c.since(1) }

// Due is when the next tick is due.
func (c *Clock) Due() time.Duration { return c.from + c.since(c.count+1) }

// Dilate makes the match run slower, or as fast as ever, from the next tick on: so many seconds in protocol.FullTimescale.
func (c *Clock) Dilate(tempo uint16) {
	if tempo != c.tempo {
		c.from, c.count, c.tempo = c.from+c.since(c.count), 0, max(tempo, protocol.MinTimescale)
	}
}

// Frame returns how many ticks are to be played now, 0 to MaxSteps, and how many were given up because they are due longer than that.
// They count as played from here on. late is by how much the first of those to be played is.
func (c *Clock) Frame(now time.Duration) (steps int, late time.Duration, givenUp uint64) {
	if now < c.Due() {
		return 0, 0, 0
	}
	period := c.Period()
	behind := 1 + int((now-c.Due())/period)
	for now >= c.from+c.since(c.count+tick.Tick(behind)+1) { // a period that is no whole number of nanoseconds
		behind++
	}
	if over := behind - c.cfg.MaxSteps; over > 0 {
		givenUp = uint64(over)
		c.count += tick.Tick(over)
		c.GivenUp += givenUp
		c.Stalls++
		behind = c.cfg.MaxSteps
	}
	late = now - c.Due()
	c.count += tick.Tick(behind)
	c.Caught += uint64(behind - 1)
	if c.count > 1<<24 { // arithmetic stays exact
		c.from, c.count = c.from+c.since(c.count), 0
	}
	return behind, late, givenUp
}
