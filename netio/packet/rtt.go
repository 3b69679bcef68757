package packet

import "time"

// RTT is the round-trip time over the last 2 s. It is zero until the first sample; when echoes
// stop, it keeps its last value.
//
// A sample is the time from sending a packet to receiving one that echoes it, less the time for
// which the peer held the echo. It contains the path both ways and the delays between calls of
// Append and Receive on this end, but not the peer's send interval.
type RTT struct {
	Smoothed time.Duration // mean of the samples
	Var      time.Duration // mean deviation from Smoothed at the time of the sample
	Min      time.Duration // least sample: delayed echoes do not raise it within 2 s
}

const (
	rttBuckets    = 8
	rttBucketTime = 2 * time.Second / rttBuckets
)

// rttEstimator keeps samples in eight buckets of a quarter second. The newest is unfinished, so
// they cover 1.75 to 2 s.
type rttEstimator struct {
	buckets [rttBuckets]rttBucket
	rtt     RTT
	samples uint64    // taken so far
	epoch   int64     // of the newest bucket: now/rttBucketTime
	total   rttBucket // of all buckets; least is not used
}

type rttBucket struct {
	count           int64
	sum, off, least time.Duration // of samples; of their deviations; least sample
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

// advance empties the buckets between the newest and epoch and takes the least sample of the
// others.
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
