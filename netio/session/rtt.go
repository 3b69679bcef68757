package session

import "time"

// RTT is what a peer's echoes say about the path. All zero until the first sample.
//
// A sample is the time from sending a package to receiving one that echoes it, less the time for which the peer held
// the echo. So it contains the way there and back and whatever delays the calls of Append and Receive on this end,
// but not how seldom the peer sends.
type RTT struct {
	Smoothed time.Duration // mean that forgets with a time constant of 0.75 s
	Var      time.Duration // mean distance of a sample from Smoothed, forgotten alike
	Min      time.Duration // least of the last 2 s: a peer that delays its echoes for less cannot raise it
}

const (
	rttForget  = 750 * time.Millisecond
	minBuckets = 8
	minBucket  = 2 * time.Second / minBuckets
)

// path estimates an RTT. Sums are in microseconds, so that products fit 64 bits.
type path struct {
	rtt     RTT
	samples int64
	last    time.Duration
	epoch   int64                     // now/minBucket of the newest bucket
	least   [minBuckets]time.Duration // least sample of each bucket; negative: none
}

// add takes one sample. Its weight grows with the time since the one before, so that a peer heard at 20 Hz and one heard at 128 Hz
// are smoothed alike; the first samples are averaged evenly.
func (p *path) add(now, sample time.Duration) {
	dt := max(min(now-p.last, time.Second), time.Millisecond)
	p.last = now
	p.samples++
	num, den := int64(dt/time.Microsecond), int64((rttForget+dt)/time.Microsecond)
	if num*p.samples < den {
		num, den = 1, p.samples
	}
	if p.samples == 1 {
		p.rtt.Smoothed = sample
	} else {
		p.rtt.Smoothed += blend(sample-p.rtt.Smoothed, num, den)
		p.rtt.Var += blend((sample-p.rtt.Smoothed).Abs()-p.rtt.Var, num, den)
	}
	p.addMin(now, sample)
}

// blend is d*num/den, to the microsecond.
func blend(d time.Duration, num, den int64) time.Duration {
	return time.Duration(int64(d/time.Microsecond)*num/den) * time.Microsecond
}

// addMin keeps the least sample of eight buckets of a quarter second, so the window's length is 1.75 to 2 s.
func (p *path) addMin(now, sample time.Duration) {
	epoch := int64(now / minBucket)
	if p.samples == 1 || epoch-p.epoch >= minBuckets {
		for i := range p.least {
			p.least[i] = -1
		}
	} else {
		for e := p.epoch + 1; e <= epoch; e++ {
			p.least[e%minBuckets] = -1
		}
	}
	p.epoch = max(epoch, p.epoch)
	if b := &p.least[p.epoch%minBuckets]; *b < 0 || sample < *b {
		*b = sample
	}
	p.rtt.Min = sample
	for _, b := range p.least {
		if b >= 0 && b < p.rtt.Min {
			p.rtt.Min = b
		}
	}
}
