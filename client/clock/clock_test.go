package clock

import (
	"testing"
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
)

// TestStarvedRaisesLead: the wanted lead grows, up to a limit, when a tick lacked its command
// although the lead was as wanted. It does not when the lead was too small, or when the path has
// just become longer.
func TestStarvedRaisesLead(t *testing.T) {
	c := Predicted{rate: 60}
	now, at := time.Duration(0), tick.Tick(100)
	c.Advance(0, 0, time.Second)
	period := c.rate.Period()
	tell := func(lead int8, starved bool) { // a report each three ticks, of another command each
		now, at = now+3*period, at+3
		c.At = now + time.Second
		c.Issued(now, at+tick.Tick(lead))
		c.Report(now, at, lead, starved)
	}
	// The lead at phase 0 is a second less than reported: want it to be as wanted.
	lead := func(ticks int) int8 { return int8(ticks) }
	for range 20 {
		tell(lead(2), false)
	}
	before := c.Want()
	tell(lead(2), true)
	if got := c.Want() - before; got != period {
		t.Errorf("want %v more after starving", got)
	}
	for range windowSize {
		tell(lead(0), false)
	}
	tell(lead(0), true)
	if got := c.Want() - before; got != period {
		t.Errorf("want %v more although the lead was too small", got)
	}
	for range windowSize {
		tell(lead(3), false)
	}
	for range stepProof {
		tell(lead(-3), true)
	}
	if got := c.Want() - before; got != period {
		t.Errorf("want %v more although the path has become longer", got)
	}
	for range windowSize {
		tell(lead(3), false)
	}
	for range 20 {
		now += time.Second
		c.Advance(now, time.Second, c.At+time.Second)
	}
	if got := c.Want(); got != before {
		t.Errorf("still want %v more after 20 s", got-before)
	}
}

// TestOutageIsNotChased: reports about commands that never arrived do not move the clock away from
// the estimate by the path.
func TestOutageIsNotChased(t *testing.T) {
	c := Predicted{rate: 60}
	dt, ideal := c.rate.Period(), time.Second
	c.Advance(0, 0, ideal)
	c.known, c.margin = true, -time.Hour
	for n := range time.Duration(60 * 20) {
		ideal += dt
		c.Advance(n*dt, dt, ideal)
		if off := (c.At - ideal).Abs(); off > resetError/2+dt/steerLimit || c.Resets != 0 {
			t.Fatalf("after %v: off by %v, %d resets", n*dt, off, c.Resets)
		}
	}
}

// TestOutageIsNoStep: reports fall while no command arrives. That is not a longer path: the wanted
// lead is as before once a command arrives.
func TestOutageIsNoStep(t *testing.T) {
	c := Predicted{rate: 60}
	now, at := time.Duration(0), tick.Tick(100)
	period := c.rate.Period()
	c.Advance(0, 0, time.Second)
	made := at
	for n := range 4 * windowSize {
		now, at = now+3*period, at+3
		c.At = now + time.Second
		if away := n > 2*windowSize && n <= 2*windowSize+20; !away {
			made = at + 2
			c.Issued(now, made)
		}
		c.Report(now, at, int8(made-at), false)
		if n > 2*windowSize+20 && (c.margin < period-time.Second || c.leads.n != windowSize) {
			t.Fatalf("%d reports after an outage the margin is %v of %d",
				n-2*windowSize-20, c.margin, c.leads.n)
		}
	}
}

// TestWaysAfterAStep: the path becomes 60 ms shorter. Snapshots that are overtaken are no evidence
// against that, and are not waited for after a quarter of a second. When the path becomes longer
// again, the gap between snapshots is as before.
func TestWaysAfterAStep(t *testing.T) {
	c := Server{rate: 60}
	now, at := time.Second, tick.Tick(3)
	arrive := func(way time.Duration) {
		at += 3
		now = c.rate.At(at) + way
		c.Arrive(now, at)
	}
	for range 100 {
		arrive(100 * time.Millisecond)
	}
	gap := c.gap
	for n := range 6 {
		arrive(40 * time.Millisecond)
		if n < 3 {
			c.Arrive(now, at-4) // sent before, and slower
		}
	}
	if c.Jitter > time.Millisecond || c.delays.n > 10 {
		t.Errorf("six snapshots later jitter is %v, of %d", c.Jitter, c.delays.n)
	}
	for range 60 {
		arrive(40 * time.Millisecond)
	}
	for range 50 {
		arrive(100 * time.Millisecond)
	}
	if c.Jitter > time.Millisecond || c.gap > gap+60*time.Millisecond {
		t.Errorf("jitter %v, gap %v, before %v", c.Jitter, c.gap, gap)
	}
}

// TestSteering: a clock is steered by at most 5 % and never overshoots.
func TestSteering(t *testing.T) {
	const dt = 16 * time.Millisecond
	for err := -time.Second; err <= time.Second; err += 777 * time.Microsecond {
		by := steer(err, dt)
		if by.Abs() > dt/20 || by != 0 && (by < 0) != (err < 0) || by.Abs() > err.Abs() {
			t.Fatalf("error %v: %v of %v", err, by, dt)
		}
	}
}

// TestScatterRaisesLead: the wanted lead grows with the scatter of reports, by up to six ticks.
func TestScatterRaisesLead(t *testing.T) {
	last := time.Duration(0)
	for scatter := range int8(8) {
		c := Predicted{rate: 60}
		for n := range tick.Tick(400) {
			c.Issued(time.Duration(n)*c.rate.Period(), n+20)
			lead := int8(10) + scatter*int8(n%2*2-1)
			if n > 40 {
				c.Issued(0, tick.Tick(int(n)+int(lead)))
				c.Report(time.Duration(n)*c.rate.Period(), n, lead, false)
			}
		}
		got := c.Want()
		if got < last || scatter >= 2 && got < 2*c.rate.Period()+time.Duration(scatter)*c.rate.Period()/2 ||
			got > 8*c.rate.Period() {
			t.Errorf("scatter of %d ticks: want %v, before %v", scatter, got, last)
		}
		last = got
	}
}
