package client

import (
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
)

const (
	leastBuckets = 8
	leastBucket  = 250 * time.Millisecond // so the fastest of the last two seconds counts
)

// serverClock estimates the server's clock from when snapshots of known ticks arrive. Most are late, none is early: the
// fastest of the last two seconds tells the offset, the others the jitter. Where the path becomes longer, all are late for these two seconds,
// and then none is: what the render clock goes by, offset and jitter together, does not change.
type serverClock struct {
	rate   tick.Rate
	begun  bool
	newest tick.Tick                   // newest that arrived
	epoch  int64                       // now/leastBucket of the newest bucket
	offset time.Duration               // our clock when the fastest snapshot of tick 0 would have come
	jitter time.Duration               // by how much the latest twentieth of ways is later than offset
	gap    time.Duration               // 98th percentile of how old the newest gets before the next one comes
	age    time.Duration               // the same, were all ways as long as the middle of ways
	ahead  time.Duration               // of our clock, as it is shown
	least  [leastBuckets]time.Duration // least offset of each bucket; far where there is none

	followed time.Duration // when ahead was last steered
	ways     recent        // arrivals less the ticks' instants
}

const far = time.Duration(1 << 62)

// arrive notes that a snapshot of tick t has come.
func (c *serverClock) arrive(now time.Duration, t tick.Tick) {
	sample := c.fastest(now, t)
	if t < c.newest {
		c.ways.noise(sample) // others have overtaken it
	} else {
		c.ways.add(sample)
	}
	c.jitter = max(0, min(c.ways.late()-c.offset, maxJitter))
	c.older(now, t)
}

// fastest is the part of arrive that tells the offset, for who has no use for the jitter: nothing of it is known then.
func (c *serverClock) fastest(now time.Duration, t tick.Tick) (sample time.Duration) {
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

// older measures the gap that loss and jitter leave between one newest snapshot and the next: a percentile by steps of a fixed
// size, 49 times as large upwards as downwards.
func (c *serverClock) older(now time.Duration, t tick.Tick) {
	way := c.ways.middle()
	if t > c.newest {
		if c.newest != 0 && now-way-c.rate.At(c.newest) > c.age {
			c.age += 49 * gapStep
		} else {
			c.age = max(0, c.age-gapStep)
		}
		c.newest = t
	}
	c.gap = c.age + way - c.offset
}

const gapStep = 250 * time.Microsecond

// maxJitter bounds what a stall of seconds can do: it is no jitter.
const maxJitter = 200 * time.Millisecond

// arriving is the server time whose snapshot, were it of the fastest, would arrive now.
func (c *serverClock) arriving(now time.Duration) time.Duration { return now - c.offset }

// follow steers what is shown of the server's clock towards what the fastest snapshot and half the fastest round trip say. They do not
// learn of a new path at the same time, and a server's clock does not jump because of one. At once is for when nothing is known yet.
func (c *serverClock) follow(now, half time.Duration, atOnce bool) {
	err := half - c.offset - c.ahead
	if atOnce || err.Abs() > hardLimit {
		c.ahead += err
	} else {
		c.ahead += steer(err, max(0, now-c.followed))
	}
	c.followed = max(now, c.followed)
}
