package impair

import "time"

// fate is what a link decides about datagrams, one after the other. Each kind of misfortune has dice of its own, so
// that adding one to a profile leaves the others as they were.
type fate struct {
	profile Profile
	dice    dice          // loss, duplication, jitter, reordering
	last    time.Duration // when the newest in-order datagram arrives; none behind it arrives earlier
	burst   burst
	pipe    pipe
	harm    harm
	binding uint32
	count   Stats
}

// newFate expects a profile that passed Check.
func newFate(p Profile, seed uint64) fate {
	f := fate{dice: dice(seed)}
	f.burst.dice = dice(seed ^ 0x6275727374) // "burst"
	f.harm.dice = dice(seed ^ 0x6861726d)    // "harm"
	f.set(p)
	return f
}

func (f *fate) set(p Profile) {
	f.profile = p.withDefaults()
	if p.Burst == 0 {
		f.burst.on = false
	}
}

// decide returns the instants at which a datagram of n bytes sent now arrives: none, one or two of due.
func (f *fate) decide(now time.Duration, n int) (due [2]time.Duration, arrivals int) {
	f.count.Pushed++
	f.bind(now)
	if f.dark(now) {
		f.count.Blackholed++
		return due, 0
	}
	loss := f.profile.Loss
	if f.burst.step(now, &f.profile, &f.count) {
		loss = f.profile.BurstLoss
	}
	if f.dice.share() < loss {
		f.count.Lost++
		return due, 0
	}
	if at, ok := f.arrival(now, n); ok {
		due[arrivals] = at
		arrivals++
	}
	if f.dice.share() < f.profile.Duplicate {
		f.count.Duplicated++
		if at, ok := f.arrival(now, n); ok {
			due[arrivals] = at
			arrivals++
		}
	}
	return due, arrivals
}

// arrival sends one copy through the queue and over the distance; not ok if the queue was full.
func (f *fate) arrival(now time.Duration, n int) (at time.Duration, ok bool) {
	p := &f.profile
	leaves := now
	if p.Rate > 0 {
		if leaves, ok = f.pipe.take(now, n, p.Rate, p.Queue); !ok {
			f.count.QueueDrops++
			return 0, false
		}
	}
	at = leaves + p.Delay + time.Duration(f.dice.share()*float64(p.Jitter))
	if f.dice.share() < p.Reorder {
		f.count.Reordered++
		return at + p.ReorderBy, true
	}
	f.last = max(f.last, at)
	return f.last, true
}

// dark reports whether now lies in a blackhole: the end of each BlackholeEvery.
func (f *fate) dark(now time.Duration) bool {
	p := &f.profile
	return p.Blackhole > 0 && now%p.BlackholeEvery >= p.BlackholeEvery-p.Blackhole
}

// bind counts how often the sender's address has changed by now.
func (f *fate) bind(now time.Duration) {
	if f.profile.Rebind == 0 {
		return
	}
	if b := uint32(now / f.profile.Rebind); b != f.binding {
		f.binding = b
		if f.count.Pushed > 1 { // the first datagram has no address to change from
			f.count.Rebound++
		}
	}
}
