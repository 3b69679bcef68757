package packet

import "time"

// RTT is what a peer's echoes of the last 2 s say about the path. All zero until the first sample; when echoes stop, the last
// state stays.
//
// A sample is the time from sending a package to receiving one that echoes it, less the time for which the peer held
// the echo. So it contains the way there and back and whatever delays the calls of Append and Receive on this end,
// but not how seldom the peer sends.
type RTT struct {
	Smoothed time.Duration // mean: noise shrinks as in any mean, and a step of the path is forgotten after 2 s
	Var      time.Duration // mean distance of a sample from the mean at its time
	Min      time.Duration // least: a peer that delays its echoes for less than 2 s cannot raise it
}

const (
	rttBuckets    = 8
	rttBucketTime = 2 * time.Second / rttBuckets
)

// rtt estimates an RTT over eight buckets of a quarter second, the newest unfinished: 1.75 to 2 s.
type rttEstimator struct {
	rtt     RTT
	samples uint64    // ever
	epoch   int64     // of the newest bucket: now/rttBucketTime
	total   rttBucket // of all buckets; least is not used
	buckets [rttBuckets]rttBucket
}

type rttBucket struct {
	count           int64
	sum, off, least time.Duration // of samples; of their distances from the mean; least sample
}

// add takes one sample.
func (p *rttEstimator) add(now, sample time.Duration) {
	p.advance(int64(now / rttBucketTime))
	b := &p.buckets[p.epoch%rttBuckets]
	if b.count == 0 || sample < b.least {
		b.least = sample
	}
	p.samples++
	b.count++
	b.sum += sample
	p.total.count++
	p.total.sum += sample
	p.rtt.Smoothed = p.total.sum / time.Duration(p.total.count)
	off := (sample - p.rtt.Smoothed).Abs()
	b.off += off
	p.total.off += off
	p.rtt.Var = p.total.off / time.Duration(p.total.count)
	if p.total.count == 1 || sample < p.rtt.Min {
		p.rtt.Min = sample
	}
}

// advance empties the buckets between the newest and epoch and finds the least of the others.
func (p *rttEstimator) advance(epoch int64) {
	if epoch <= p.epoch {
		return
	}
	for e := max(p.epoch+1, epoch-rttBuckets+1); e <= epoch; e++ {
		b := &p.buckets[e%rttBuckets]
		p.total.count -= b.count
		p.total.sum -= b.sum
		p.total.off -= b.off
		*b = rttBucket{}
	}
	p.epoch = epoch
	if p.total.count == 0 {
		return // the next sample is the least, whatever was before
	}
	p.rtt.Min = 1 << 62
	for i := range p.buckets {
		if b := &p.buckets[i]; b.count > 0 {
			p.rtt.Min = min(p.rtt.Min, b.least)
		}
	}
}
