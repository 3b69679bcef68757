package clock

import (
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
)

const (
	leastBuckets = 8
	leastBucket  = 250 * time.Millisecond // 8 buckets: the minimum of two seconds
)

// Server estimates the server's clock from the arrival times of snapshots. The fastest snapshot of
// the last two seconds gives the offset, the others the jitter. When the path becomes longer, every
// snapshot is late for these two seconds and none afterwards: the sum of offset and jitter, which
// the render clock follows, does not change.
type Server struct {
	Jitter time.Duration // from the fastest snapshot to the 95th percentile

	rate   tick.Rate
	begun  bool
	newest tick.Tick                   // newest snapshot that arrived
	epoch  int64                       // number of the newest bucket
	offset time.Duration               // fastest snapshot's local arrival less its tick's instant
	gap    time.Duration               // 98th percentile of a snapshot's age when the next arrives
	age    time.Duration               // likewise, had all snapshots the mean delay
	ahead  time.Duration               // shown server time less local time
	least  [leastBuckets]time.Duration // least offset of each bucket; far: empty

	followed time.Duration // when ahead was last steered
	delays   window        // arrival times less the ticks' instants
}

// far is beyond every instant.
const far = time.Duration(1 << 62)

// maxJitter bounds the effect of a stall of seconds, which is no jitter.
const maxJitter = 200 * time.Millisecond

// Arrive takes the arrival of a part of the snapshot of tick t.
func (c *Server) Arrive(now time.Duration, t tick.Tick) {
	sample := c.ArriveOffset(now, t)
	if t < c.newest {
		c.delays.addNoise(sample) // newer snapshots have overtaken it
	} else {
		c.delays.add(sample)
	}
	c.Jitter = max(0, min(c.delays.late()-c.offset, maxJitter))
	c.updateGap(now, t)
}

// ArriveOffset is the part of Arrive that estimates the offset. A client that shows nothing needs
// no jitter.
func (c *Server) ArriveOffset(now time.Duration, t tick.Tick) (sample time.Duration) {
	sample = now - c.rate.At(t)
	epoch := int64(now / leastBucket)
	if !c.begun || epoch-c.epoch >= leastBuckets {
		for i := range c.least {
			c.least[i] = far
		}
	} else {
		for e := c.epoch + 1; e <= epoch; e++ {
			c.least[uint64(e)%leastBuckets] = far
		}
	}
	c.begun, c.epoch = true, max(epoch, c.epoch)
	b := &c.least[uint64(c.epoch)%leastBuckets]
	*b = min(*b, sample)
	c.offset = far
	for _, v := range c.least {
		c.offset = min(c.offset, v)
	}
	return sample
}

const gapStep = 250 * time.Microsecond

// updateGap tracks the time that loss and jitter leave between one newest snapshot and the next. It
// is a streaming 98th percentile: steps upwards are 49 times as large as downwards.
func (c *Server) updateGap(now time.Duration, t tick.Tick) {
	delay := c.delays.midmean()
	if t > c.newest {
		if c.newest != 0 && now-delay-c.rate.At(c.newest) > c.age {
			c.age += 49 * gapStep
		} else {
			c.age = max(0, c.age-gapStep)
		}
		c.newest = t
	}
	c.gap = c.age + delay - c.offset
}

// Arriving is the server time of a snapshot that arrives now, if its delay is the least.
func (c *Server) Arriving(now time.Duration) time.Duration { return now - c.offset }

// Snap sets the shown server time to the fastest snapshot plus half the least round trip.
func (c *Server) Snap(now, halfRTT time.Duration) {
	c.ahead, c.followed = halfRTT-c.offset, max(now, c.followed)
}

// Follow steers the shown server time towards the fastest snapshot plus half the least round trip.
// The two notice a new path at different times, and the shown time must not jump because of that.
func (c *Server) Follow(now, halfRTT time.Duration) {
	err := halfRTT - c.offset - c.ahead
	if err.Abs() > resetError {
		c.ahead += err
	} else {
		c.ahead += steer(err, max(0, now-c.followed))
	}
	c.followed = max(now, c.followed)
}
