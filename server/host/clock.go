package host

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server"
)

// ClockConfig holds the rates of a server, in the terms of Unity Netcode's ClientServerTickRate.
// Zero fields mean the defaults named.
type ClockConfig struct {
	Simulation tick.Rate // SimulationTickRate: ticks a second, 20 to 144; default 60
	// NetworkTickRate: snapshots a second to one client, Simulation over a whole number of ticks;
	// default the rate nearest to 20.
	Network int

	// MaxSteps is MaxSimulationStepsPerFrame: most ticks that a frame plays to catch up, 1 to 16;
	// default 4.
	MaxSteps int

	// MaxBatch is MaxSimulationStepBatchSize: most ticks between two reads of the socket, 1 to
	// MaxSteps; default 1. All ticks have the same length: a longer one would play another match.
	MaxBatch int
}

// maxSteps is the most ticks of one frame.
const maxSteps = 16

// Check fills in defaults and checks a configuration. interval is the distance of two snapshots in
// ticks.
func (c ClockConfig) Check() (filled ClockConfig, interval int, err error) {
	if c.Simulation == 0 {
		c.Simulation = tick.DefaultRate
	}
	if !c.Simulation.Valid() {
		return c, 0, fmt.Errorf("tick rate %d Hz: expected %d to %d", c.Simulation, tick.MinRate,
			tick.MaxRate)
	}
	rate := int(c.Simulation)
	if c.Network == 0 {
		interval = max(1, (rate+10)/20)
		c.Network = rate / interval
	} else if interval = sendInterval(rate, c.Network); interval == 0 {
		return c, 0, fmt.Errorf("%d snapshots a second at %d Hz: expected %s, so that a whole number of "+
			"ticks is between two", c.Network, rate, snapshotRates(rate))
	}
	c.MaxSteps, c.MaxBatch = orDefault(c.MaxSteps, 4), orDefault(c.MaxBatch, 1)
	if c.MaxSteps < 1 || c.MaxSteps > maxSteps {
		return c, 0, fmt.Errorf("%d steps a frame: expected 1 to %d", c.MaxSteps, maxSteps)
	}
	if c.MaxBatch < 1 || c.MaxBatch > c.MaxSteps {
		return c, 0, fmt.Errorf("batches of %d steps: expected 1 to %d, the steps of a frame",
			c.MaxBatch, c.MaxSteps)
	}
	return c, interval, nil
}

// sendInterval returns the ticks between two of network snapshots a second, 0 if it is no whole
// number or more than a lobby takes.
func sendInterval(rate, network int) int {
	if network < 1 || network > rate || rate%network != 0 || rate/network > server.MaxInterval {
		return 0
	}
	return rate / network
}

// snapshotRates lists the snapshots a second that a tick rate divides into, for an error.
func snapshotRates(rate int) string {
	var all []string
	for n := range rate + 1 {
		if sendInterval(rate, n) > 0 {
			all = append(all, strconv.Itoa(n))
		}
	}
	last := len(all) - 1
	if last == 0 {
		return all[0]
	}
	return strings.Join(all[:last], ", ") + " or " + all[last]
}

// Clock schedules ticks. Instants of another clock go in; the number of ticks to play comes out. It
// reads no clock and never waits, so a test plays seconds of stalls in no time.
//
// Ticks are due at even distances. A late caller plays the ticks that are due, at most MaxSteps;
// earlier ones are skipped, so that a stall costs its own time and no more. The zero value is not
// ready: use NewClock.
type Clock struct {
	cfg       ClockConfig
	from      time.Duration // instant of tick 0 of count
	count     tick.Tick     // ticks handed out since from
	timescale uint16

	Skipped uint64 // ticks that were not played
	Caught  uint64 // ticks played late, to catch up
	Stalls  uint64 // frames that had to skip ticks
}

// NewClock returns a clock with its first tick due a period after now. cfg must be one that Check
// has filled.
func NewClock(cfg ClockConfig, now time.Duration) *Clock {
	return &Clock{cfg: cfg, from: now, timescale: protocol.FullTimescale}
}

// duration is the time that n ticks take at the timescale.
func (c *Clock) duration(n tick.Tick) time.Duration {
	return c.cfg.Simulation.At(n) * protocol.FullTimescale / time.Duration(c.timescale)
}

// Period is the duration of a tick.
func (c *Clock) Period() time.Duration { return c.duration(1) }

// Due is the instant of the next tick.
func (c *Clock) Due() time.Duration { return c.from + c.duration(c.count+1) }

// Dilate sets the speed of the match from the next tick on: seconds of the match in
// protocol.FullTimescale seconds.
func (c *Clock) Dilate(timescale uint16) {
	if timescale != c.timescale {
		c.from, c.count, c.timescale = c.from+c.duration(c.count), 0, max(timescale, protocol.MinTimescale)
	}
}

// Resume goes on after a pause: ticks that were due in it are neither played nor skipped. The next is
// due within a period. It returns how many were left out.
func (c *Clock) Resume(now time.Duration) (left tick.Tick) {
	was := c.count
	if now >= c.Due() {
		c.count += 1 + tick.Tick((now-c.Due())/c.Period())
	}
	for now >= c.Due() { // periods are fractional
		c.count++
	}
	for c.count > was && now < c.from+c.duration(c.count) {
		c.count--
	}
	left = c.count - was
	c.rebase()
	return left
}

// rebase keeps the arithmetic exact.
func (c *Clock) rebase() {
	if c.count > 1<<24 {
		c.from, c.count = c.from+c.duration(c.count), 0
	}
}

// Frame returns the number of ticks to play now, 0 to MaxSteps, the lateness of the first of them,
// and the number of ticks that are skipped because they were due longer ago. All count as played
// from now on.
func (c *Clock) Frame(now time.Duration) (steps int, late time.Duration, skipped uint64) {
	if now < c.Due() {
		return 0, 0, 0
	}
	period := c.Period()
	behind := 1 + int((now-c.Due())/period)
	for now >= c.from+c.duration(c.count+tick.Tick(behind)+1) { // periods are fractional
		behind++
	}
	if over := behind - c.cfg.MaxSteps; over > 0 {
		skipped = uint64(over)
		c.count += tick.Tick(over)
		c.Skipped += skipped
		c.Stalls++
		behind = c.cfg.MaxSteps
	}
	late = now - c.Due()
	c.count += tick.Tick(behind)
	c.Caught += uint64(behind - 1)
	c.rebase()
	return behind, late, skipped
}
