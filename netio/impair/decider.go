package impair

import "time"

// decider decides what happens to each datagram of a link. Each impairment has its own random
// source, so that adding one to a profile leaves the others' decisions unchanged.
type decider struct {
	profile    Profile
	rng        rng           // loss, duplication, jitter, reordering
	last       time.Duration // arrival of the newest in-order datagram, a lower bound
	burst      burst
	bottleneck bottleneck
	corruption corrupter
	binding    uint32
	count      Stats
}

// newDecider expects a profile that passes Check.
func newDecider(p Profile, seed uint64) decider {
	f := decider{rng: rng(seed)}
	f.burst.rng = rng(seed ^ 0x6275727374)    // "burst"
	f.corruption.rng = rng(seed ^ 0x6861726d) // "harm"
	f.set(p)
	return f
}

// set changes the profile and keeps the state of every random source.
func (f *decider) set(p Profile) {
	f.profile = p.withDefaults()
	if p.Burst == 0 {
		f.burst.bad = false
	}
}

// decide returns the instants at which a datagram of n bytes sent now arrives: none, one or two
// of due.
func (f *decider) decide(now time.Duration, n int) (due [2]time.Duration, arrivals int) {
	f.count.Pushed++
	f.rebind(now)
	if f.inBlackhole(now) {
		f.count.Blackholed++
		return due, 0
	}
	loss := f.profile.Loss
	if f.burst.step(now, &f.profile, &f.count) {
		loss = f.profile.BurstLoss
	}
	if f.rng.float64() < loss {
		f.count.Lost++
		return due, 0
	}
	if at, ok := f.arrival(now, n); ok {
		due[arrivals] = at
		arrivals++
	}
	if f.rng.float64() < f.profile.Duplicate {
		f.count.Duplicated++
		if at, ok := f.arrival(now, n); ok {
			due[arrivals] = at
			arrivals++
		}
	}
	return due, arrivals
}

// arrival passes one copy through the queue and adds delay; not ok if the queue was full.
func (f *decider) arrival(now time.Duration, n int) (at time.Duration, ok bool) {
	p := &f.profile
	leaves := now
	if p.Rate > 0 {
		if leaves, ok = f.bottleneck.enqueue(now, n, p.Rate, p.Queue); !ok {
			f.count.QueueDrops++
			return 0, false
		}
	}
	at = leaves + p.Delay + time.Duration(f.rng.float64()*float64(p.Jitter))
	if f.rng.float64() < p.Reorder {
		f.count.Reordered++
		return at + p.ReorderBy, true
	}
	f.last = max(f.last, at)
	return f.last, true
}

// inBlackhole reports whether now is in the last Blackhole of a BlackholeEvery.
func (f *decider) inBlackhole(now time.Duration) bool {
	p := &f.profile
	return p.Blackhole > 0 && now%p.BlackholeEvery >= p.BlackholeEvery-p.Blackhole
}

// rebind counts how often the sender's address has changed by now.
func (f *decider) rebind(now time.Duration) {
	if f.profile.Rebind == 0 {
		return
	}
	if b := uint32(now / f.profile.Rebind); b != f.binding {
		f.binding = b
		if f.count.Pushed > 1 { // the first datagram has no earlier address
			f.count.Rebound++
		}
	}
}
