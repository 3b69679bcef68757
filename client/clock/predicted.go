package clock

import (
	"time"
	"unsafe"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/prefetch"
)

// History is how many ticks of commands are remembered, two seconds at 60 Hz: the longest path that
// is predicted.
const History = 128

// Predicted is the server time that commands are made for. Each owner row reports how many commands
// waited beyond its tick. From the clock's phase when those commands were made follows the lead
// that a command made now will have; that lead is steered towards the one that loss and jitter
// require.
//
// A report describes commands made a round trip ago. Phases are remembered with the commands, so a
// correction since then is not applied twice.
type Predicted struct {
	At     time.Duration // instant that commands are made for
	Resets uint64        // times the clock was set anew
	rate   tick.Rate
	begun  bool
	known  bool          // a report has arrived
	hungry bool          // the server missed a command, and a longer path is not ruled out yet
	loss   int32         // share of packets lost on the way to the server, 1/65536
	margin time.Duration // mean of leads
	spread time.Duration // margin less the 5th percentile of leads
	Boost  time.Duration // added to the lead because the server missed commands
	eased  time.Duration // when Boost was last lowered
	astray time.Duration // time since the clock left its limits
	newest int64         // tick of the newest command that a report counted
	leads  window        // reported leads, at phase 0
	phases [History]phase
}

// phase is At less local time when a command was made.
type phase struct {
	tick  tick.Tick
	phase time.Duration
}

const (
	resetError = 250 * time.Millisecond // a larger error is not steered away
	resetAfter = 500 * time.Millisecond // of a larger error: a momentary estimate may be wrong
	maxLead    = 16                     // ticks
	maxBoost   = 4                      // ticks
	easeEvery  = 8 * time.Second        // Boost falls by a tick each time
)

// Issued records that the command for tick t is made now.
func (c *Predicted) Issued(now time.Duration, t tick.Tick) {
	c.phases[t%History] = phase{t, c.At - now}
}

// Prefetch asks for the place of tick t.
func (c *Predicted) Prefetch(t tick.Tick) {
	prefetch.Bytes(unsafe.Pointer(&c.phases[t%History]), unsafe.Sizeof(phase{}))
}

// Report takes the server's report in the owner row of tick t: lead commands wait beyond it, and
// starved says that a tick since the row before had no command. A report about ticks without own
// commands says nothing of the clock and is ignored.
func (c *Predicted) Report(now time.Duration, t tick.Tick, lead int8, starved bool) {
	c.hungry = c.hungry || starved
	newest := int64(t) + int64(lead)
	p := c.phases[uint64(newest)%History]
	if newest <= 0 || int64(p.tick) != newest || lead == -128 || lead == 127 {
		return
	}
	period := c.rate.Period()
	sample := time.Duration(lead)*period + period/2 - p.phase // a lead of n ticks is n to n+1
	if !c.known {
		c.leads, c.known = window{grain: period}, true
	}
	if newest == c.newest { // no packet arrived since: loss or a longer path, the next one tells
		c.leads.addNoise(sample)
		c.margin = c.leads.midmean()
		c.spread = c.margin - min(sample, c.leads.early())
		return
	}
	c.newest = newest
	c.leads.add(sample)
	c.margin = c.leads.midmean()
	c.spread = c.margin - c.leads.early()
	c.raiseBoost(now)
}

// Forget ignores the reports so far: they are of commands that the server has passed.
func (c *Predicted) Forget() { c.known = false }

// raiseBoost raises the wanted lead if the server missed a command although the lead was as wanted.
// After a step of the path it was not: the first report of the step has raised the wanted lead.
func (c *Predicted) raiseBoost(now time.Duration) {
	period := c.rate.Period()
	if c.hungry && c.lead(now) > c.Want()-period {
		c.Boost = min(c.Boost+period, maxBoost*period)
		c.eased = now
	}
	c.hungry = false
}

// lead is how long before its tick a command made now arrives, by the server's reports.
func (c *Predicted) lead(now time.Duration) time.Duration { return c.margin + c.At - now }

// CountPackets updates the loss by the outcome of packets that carried commands.
func (c *Predicted) CountPackets(delivered, lost int) {
	for range delivered {
		c.loss -= (c.loss + 63) / 64
	}
	for range lost {
		c.loss += (65536 - c.loss) / 64
	}
}

// Loss is the smoothed share of packets lost on the way to the server.
func (c *Predicted) Loss() float32 { return float32(c.loss) / 65536 }

// redundancy is how often a command must be sent for all its copies to be lost less than once in
// 2048.
func (c *Predicted) redundancy() int {
	n, all := 1, uint64(c.loss)
	for all > 65536/2048 && n < maxLead {
		all = all * uint64(c.loss) / 65536
		n++
	}
	return n
}

// Want is the lead that is steered for: two ticks, or enough for the redundancy, and more the more
// the reports scatter.
func (c *Predicted) Want() time.Duration {
	period := c.rate.Period()
	want := max(2*period, time.Duration(c.redundancy())*period-period/2)
	want += max(0, min(c.spread-period/2, 6*period))
	return min(want+c.Boost, maxLead*period)
}

// Advance lets dt pass. ideal is the position by the server clock and the round trip alone: the
// clock starts there and may not stray far from it whatever the server reports. reset reports that
// the clock had to be set anew.
func (c *Predicted) Advance(now, dt, ideal time.Duration) (reset bool) {
	if !c.begun {
		c.begun, c.At = true, ideal
		return false
	}
	if c.Boost > 0 && now-c.eased > easeEvery {
		c.Boost, c.eased = max(0, c.Boost-c.rate.Period()), now
	}
	c.At += dt
	c.At += c.steer(now, dt, ideal)
	if (c.At - ideal).Abs() <= resetError {
		c.astray = 0
		return false
	}
	if c.astray += dt; c.astray >= resetAfter {
		c.At, c.astray, c.known, c.Boost = ideal, 0, false, 0
		c.Resets++
		return true
	}
	return false
}

func (c *Predicted) steer(now, dt, ideal time.Duration) time.Duration {
	err := ideal - c.At
	if c.known {
		err = c.Want() - c.lead(now)
		if slack := c.rate.Period() / 4; err.Abs() < slack { // a report is only good to a tick
			return 0
		}
		if off := c.At - ideal; err > 0 && off > resetError/2 || err < 0 && off < -resetError/2 {
			return 0 // seconds of packet loss, not a wrong clock
		}
	}
	return steer(err, dt)
}
