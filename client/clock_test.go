package client

import (
	"testing"
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim"
)

// TestStarvedRaisesLead: where the lead is as wanted and a tick went without its command all the same, more is wanted,
// but not for ever; where the lead is known to be too small, or the path has just become longer, it is being mended already.
func TestStarvedRaisesLead(t *testing.T) {
	c := predictedClock{rate: 60}
	now, at := time.Duration(0), tick.Tick(100)
	c.advance(0, 0, time.Second)
	period := c.rate.Period()
	tell := func(lead int8, starved bool) { // a report each three ticks, of another command each
		now, at = now+3*period, at+3
		c.at = now + time.Second
		c.made(now, at+tick.Tick(lead))
		c.report(now, at, lead, starved)
	}
	// The lead at phase 0 is a second less than reported: want it to be as wanted.
	lead := func(ticks int) int8 { return int8(ticks) }
	for range 20 {
		tell(lead(2), false)
	}
	before := c.want()
	tell(lead(2), true)
	if got := c.want() - before; got != period {
		t.Errorf("want %v more after starving", got)
	}
	for range recentSize {
		tell(lead(0), false)
	}
	tell(lead(0), true)
	if got := c.want() - before; got != period {
		t.Errorf("want %v more although the lead was too small", got)
	}
	for range recentSize {
		tell(lead(3), false)
	}
	for range stepProof {
		tell(lead(-3), true)
	}
	if got := c.want() - before; got != period {
		t.Errorf("want %v more although the path has become longer", got)
	}
	for range recentSize {
		tell(lead(3), false)
	}
	for range 20 {
		now += time.Second
		c.advance(now, time.Second, c.at+time.Second)
	}
	if got := c.want(); got != before {
		t.Errorf("still want %v more after 20 s", got-before)
	}
}

// TestOutageIsNotChased: reports of commands that never came do not drive the clock away from where the path says it
// belongs.
func TestOutageIsNotChased(t *testing.T) {
	c := predictedClock{rate: 60}
	dt, ideal := c.rate.Period(), time.Second
	c.advance(0, 0, ideal)
	c.known, c.margin = true, -time.Hour
	for n := range time.Duration(60 * 20) {
		ideal += dt
		c.advance(n*dt, dt, ideal)
		if off := (c.at - ideal).Abs(); off > hardLimit/2+dt/steerMost || c.resets != 0 {
			t.Fatalf("after %v: off by %v, %d resets", n*dt, off, c.resets)
		}
	}
}

// TestOutageIsNoStep: while no command comes the reports fall and fall. That is no path that has become longer: as soon as one comes again, what
// is wanted is what was.
func TestOutageIsNoStep(t *testing.T) {
	c := predictedClock{rate: 60}
	now, at := time.Duration(0), tick.Tick(100)
	period := c.rate.Period()
	c.advance(0, 0, time.Second)
	made := at
	for n := range 4 * recentSize {
		now, at = now+3*period, at+3
		c.at = now + time.Second
		if away := n > 2*recentSize && n <= 2*recentSize+20; !away {
			made = at + 2
			c.made(now, made)
		}
		c.report(now, at, int8(made-at), false)
		if n > 2*recentSize+20 && (c.margin < period-time.Second || c.leads.n != recentSize) {
			t.Fatalf("%d reports after an outage the margin is %v of %d", n-2*recentSize-20, c.margin, c.leads.n)
		}
	}
}

// TestWaysAfterAStep: the path becomes 60 ms shorter. What was under way before is overtaken, and is neither a sign against it, nor is it
// waited for any longer a quarter of a second later. When it becomes longer again the gap between snapshots is what it was.
func TestWaysAfterAStep(t *testing.T) {
	c := serverClock{rate: 60}
	now, at := time.Second, tick.Tick(3)
	arrive := func(way time.Duration) {
		at += 3
		now = c.rate.At(at) + way
		c.arrive(now, at)
	}
	for range 100 {
		arrive(100 * time.Millisecond)
	}
	gap := c.gap
	for n := range 6 {
		arrive(40 * time.Millisecond)
		if n < 3 {
			c.arrive(now, at-4) // sent before, and slower
		}
	}
	if c.jitter > time.Millisecond || c.ways.n > 10 {
		t.Errorf("six snapshots later jitter is %v, of %d", c.jitter, c.ways.n)
	}
	for range 60 {
		arrive(40 * time.Millisecond)
	}
	for range 50 {
		arrive(100 * time.Millisecond)
	}
	if c.jitter > time.Millisecond || c.gap > gap+60*time.Millisecond {
		t.Errorf("jitter %v, gap %v, before %v", c.jitter, c.gap, gap)
	}
}

// TestSteering: never more than 5 %, never past the mark.
func TestSteering(t *testing.T) {
	const dt = 16 * time.Millisecond
	for err := -time.Second; err <= time.Second; err += 777 * time.Microsecond {
		by := steer(err, dt)
		if by.Abs() > dt/20 || by != 0 && (by < 0) != (err < 0) || by.Abs() > err.Abs() {
			t.Fatalf("error %v: %v of %v", err, by, dt)
		}
	}
}

// TestScatterRaisesLead: the more reports scatter, the more lead is wanted, up to six ticks more.
func TestScatterRaisesLead(t *testing.T) {
	last := time.Duration(0)
	for scatter := range int8(8) {
		c := predictedClock{rate: 60}
		for n := range tick.Tick(400) {
			c.made(time.Duration(n)*c.rate.Period(), n+20)
			lead := int8(10) + scatter*int8(n%2*2-1)
			if n > 40 {
				c.made(0, tick.Tick(int(n)+int(lead)))
				c.report(time.Duration(n)*c.rate.Period(), n, lead, false)
			}
		}
		got := c.want()
		if got < last || scatter >= 2 && got < 2*c.rate.Period()+time.Duration(scatter)*c.rate.Period()/2 || got > 8*c.rate.Period() {
			t.Errorf("scatter of %d ticks: want %v, before %v", scatter, got, last)
		}
		last = got
	}
}

func TestEventsOverrun(t *testing.T) {
	c := Client{hears: true}
	for i := range 300 {
		c.events.add(sim.Event{Kind: sim.EventHit, Tick: tick.Tick(i + 1)})
	}
	if s := c.events; s.overrun != 300-eventRing || s.received != 300 {
		t.Errorf("overrun %d of %d", s.overrun, s.received)
	}
	for want := tick.Tick(300 - eventRing + 1); want <= 300; want++ {
		if e, ok := c.NextEvent(); !ok || e.Tick != want {
			t.Fatalf("%+v, want tick %d", e, want)
		}
	}
	if _, ok := c.NextEvent(); ok {
		t.Error("one too many")
	}
}
