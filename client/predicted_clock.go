package client

import (
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
)

// predictedClock is the server time that commands are made for. The server reports with every owner row how many
// commands waited beyond its tick; from when those commands were made the clock works out the lead that a command made
// now will have, and steers that towards what loss and jitter call for.
//
// A report describes commands made a round trip ago. Since phases are remembered with the commands, what has been
// corrected since is known and not corrected twice.
type predictedClock struct {
	rate   tick.Rate
	begun  bool
	known  bool  // there has been a report
	hungry bool  // the server had to do without a command, and it is not known yet whether the path has become longer
	loss   int32 // share of packages lost on the way to the server, 1/65536
	at     time.Duration
	margin time.Duration // the middle of leads
	spread time.Duration // from it to the least but a twentieth
	bump   time.Duration // added because the server had to do without commands
	eased  time.Duration // when bump was last lowered
	astray time.Duration // for how long the clock has been beyond its limits
	resets uint64
	newest int64  // tick of the newest command that a report told of
	leads  recent // as reported, at phase 0
	phases [ringTicks]phase
}

// phase is by how much the clock was ahead of the caller's when a command was made.
type phase struct {
	tick  tick.Tick
	phase time.Duration
}

const (
	hardLimit = 250 * time.Millisecond // further off than this is not steered
	hardTime  = 500 * time.Millisecond // for this long: an estimate may be off for a moment, the clock need not follow
	maxLead   = 16                     // ticks
	maxBump   = 4                      // ticks
	easeEvery = 8 * time.Second        // from one lowering of bump by a tick to the next
)

// made notes that the command for tick t is made now.
func (c *predictedClock) made(now time.Duration, t tick.Tick) {
	c.phases[t%ringTicks] = phase{t, c.at - now}
}

// report takes in what the server said in the row of tick t: lead commands wait beyond it, and starved says whether it had to do without one
// since the row before. Reports about ticks that had no command of ours say nothing about the clock and are left out.
func (c *predictedClock) report(now time.Duration, t tick.Tick, lead int8, starved bool) {
	c.hungry = c.hungry || starved
	newest := int64(t) + int64(lead)
	p := c.phases[uint64(newest)%ringTicks]
	if newest <= 0 || int64(p.tick) != newest || lead == -128 || lead == 127 {
		return
	}
	period := c.rate.Period()
	sample := time.Duration(lead)*period + period/2 - p.phase // between lead and lead+1 ticks, as seen at phase 0
	if !c.known {
		c.leads, c.known = recent{grain: period}, true
	}
	if newest == c.newest { // no package has come since: a loss, or the path, which the next will tell
		c.leads.noise(sample)
		c.margin = c.leads.middle()
		c.spread = c.margin - min(sample, c.leads.early())
		return
	}
	c.newest = newest
	c.leads.add(sample)
	c.margin = c.leads.middle()
	c.spread = c.margin - c.leads.early()
	c.feed(now)
}

// feed wants more lead if the server had to do without a command although the lead was as wanted. Where the path has become longer it is
// not: more is wanted since the first report of it.
func (c *predictedClock) feed(now time.Duration) {
	period := c.rate.Period()
	if c.hungry && c.lead(now) > c.want()-period {
		c.bump = min(c.bump+period, maxBump*period)
		c.eased = now
	}
	c.hungry = false
}

// lead is how long before its tick a command made now will arrive, as far as the server's reports tell.
func (c *predictedClock) lead(now time.Duration) time.Duration { return c.margin + c.at - now }

// resolved notes the fate of packages that carried commands.
func (c *predictedClock) resolved(delivered, lost int) {
	for range delivered {
		c.loss -= (c.loss + 63) / 64
	}
	for range lost {
		c.loss += (65536 - c.loss) / 64
	}
}

// chances is how often a command must be sent for all of its copies to be lost less than once in 2048.
func (c *predictedClock) chances() int {
	n, all := 1, uint64(c.loss)
	for all > 65536/2048 && n < maxLead {
		all = all * uint64(c.loss) / 65536
		n++
	}
	return n
}

// want is the lead to be had: two ticks, or as many as there must be chances, and more the more reports scatter.
func (c *predictedClock) want() time.Duration {
	period := c.rate.Period()
	want := max(2*period, time.Duration(c.chances())*period-period/2)
	want += max(0, min(c.spread-period/2, 6*period))
	return min(want+c.bump, maxLead*period)
}

// advance lets dt pass. ideal is where the clock would have to be by the server clock and the round trip alone: it is where
// the clock begins, and what it may not leave far behind whatever the server reports. It reports whether it had to be set anew.
func (c *predictedClock) advance(now, dt, ideal time.Duration) (reset bool) {
	if !c.begun {
		c.begun, c.at = true, ideal
		return false
	}
	if c.bump > 0 && now-c.eased > easeEvery {
		c.bump, c.eased = max(0, c.bump-c.rate.Period()), now
	}
	c.at += dt
	c.at += c.steer(now, dt, ideal)
	if (c.at - ideal).Abs() <= hardLimit {
		c.astray = 0
		return false
	}
	if c.astray += dt; c.astray >= hardTime {
		c.at, c.astray, c.known, c.bump = ideal, 0, false, 0
		c.resets++
		return true
	}
	return false
}

func (c *predictedClock) steer(now, dt, ideal time.Duration) time.Duration {
	err := ideal - c.at
	if c.known {
		err = c.want() - c.lead(now)
		if slack := c.rate.Period() / 4; err.Abs() < slack { // a report is only good to a tick
			return 0
		}
		if beyond := c.at - ideal; err > 0 && beyond > hardLimit/2 || err < 0 && beyond < -hardLimit/2 {
			return 0 // packages lost for seconds, not a clock that is wrong
		}
	}
	return steer(err, dt)
}
