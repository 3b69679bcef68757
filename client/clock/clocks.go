package clock

import (
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
)

// Clocks joins the three clocks of one client. All instants are server time, counted from tick 0.
type Clocks struct {
	Rate      tick.Rate
	Now       time.Duration // local time of the last Advance, at the server's time scale
	buffer    time.Duration // two send intervals
	started   bool
	Timescale Timescale
	Render    Render
	Server    Server
	Predicted Predicted
}

// Start sets the tick rate and the ticks between two snapshots. Clocks that run keep running.
func (c *Clocks) Start(rate tick.Rate, interval tick.Tick) {
	c.Rate, c.Server.rate, c.Predicted.rate = rate, rate, rate
	c.buffer = rate.At(2 * interval)
}

// Reset stops the predicted and the render clock for a change of the map. The server clock, the
// loss of the path and the counters stay.
func (c *Clocks) Reset() {
	c.Predicted = Predicted{rate: c.Rate, loss: c.Predicted.loss, Resets: c.Predicted.Resets}
	c.Render = Render{Stalls: c.Render.Stalls, Resets: c.Render.Resets}
}

// Advance moves Now to a later local time and returns how much server time has passed.
func (c *Clocks) Advance(now time.Duration) (dt time.Duration) {
	now = c.Timescale.At(now)
	if !c.started {
		c.started, c.Now = true, now
	}
	dt = max(0, now-c.Now)
	c.Now = max(now, c.Now)
	return dt
}

// Ideal is the server time whose command, made now, arrives with the wanted lead.
func (c *Clocks) Ideal(rtt time.Duration) time.Duration {
	return max(0, c.Server.Arriving(c.Now)+rtt+c.Predicted.Want())
}

// ServerTime estimates what the server's clock shows now.
func (c *Clocks) ServerTime() time.Duration { return c.Now + c.Server.ahead }

// InterpDelay is how far the render clock runs behind the snapshots that arrive: two send
// intervals, so that one may be lost, and the jitter; more where loss would often make the render
// clock wait.
func (c *Clocks) InterpDelay() time.Duration {
	return min(max(c.buffer+c.Server.Jitter, c.Server.gap), c.buffer+maxJitter)
}

// ViewDelay is how far the predicted clock is ahead of where the render clock should be, in 1/256
// tick.
func (c *Clocks) ViewDelay() int64 {
	d := c.Predicted.At - c.Server.Arriving(c.Now) + c.InterpDelay()
	return max(0, int64(d)*256/int64(c.Rate.Period()))
}

// AdvanceRender moves the render clock while no predicted clock runs that it could follow.
func (c *Clocks) AdvanceRender(dt time.Duration, newest tick.Tick) (reset bool) {
	return c.Render.advance(dt, c.Server.Arriving(c.Now)-c.InterpDelay(), c.Rate.At(newest))
}
