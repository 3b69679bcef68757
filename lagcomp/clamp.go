package lagcomp

import (
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/planted"
)

// A peer's picture runs as fast as time but for what its clocks are steered by, which is much when it comes in and little later. So it may
// be off by leeway from one shot to the next, and by what is in its purse, in 1/256 tick: who chooses his instant once he knows which one
// hits has next to nothing to choose from.
const (
	leeway = 64
	purse  = 16 << 8 // what it begins with, and most it can have
	earns  = 256     // ticks for one more
)

// Knowledge is what the server itself has measured of a peer; a claimed view is held against it, never the reverse.
// Times are in ticks of the simulation; NaN and negative numbers count as 0.
type Knowledge struct {
	Rate        tick.Rate // of the simulation; 0 means tick.DefaultRate
	RTTTicks    float32   // round trip: the least of the last two seconds, so that inflating it buys nothing
	InterpTicks float32   // how far behind the newest snapshot the peer may draw
	SlackTicks  float32   // jitter, command buffering, redundancy: what an honest peer may be late besides
	CapTicks    tick.Tick // no view is older than this, nor spans more; 0 means a quarter of a second
	NewestAcked tick.Tick // newest snapshot the peer is known to hold, 0 for none
	Newest      tick.Tick // newest snapshot sent; nothing later can have been seen. 0: nothing was sent
	Oldest      tick.Tick // History.Oldest
	Last        int64     // Instant of the view the peer's last shot was judged by, 0 for none
	LastAt      tick.Tick // the tick in which that was, 0 for none
	Spent       int64     // of the purse by then, in 1/256 tick
	Stalled     tick.Tick // newest snapshot the peer held when it made the command: where its picture stands still if nothing comes, 0 for none
}

// Instant is a valid view's place in time, in 1/256 tick: From*256 + (To-From)*Frac, exactly.
func Instant(v tick.View) int64 { return int64(v.From)<<8 + int64(v.To-v.From)*int64(v.Frac) }

// ClampView returns the view that a shot executed at tick now is judged by, and whether that differs from the claim v.
//
// The latest instant allowed is Newest. The earliest is the latest of
//
//	now - (RTT + interp + slack)       a snapshot takes half the round trip to the peer, its command the other half
//	NewestAcked - (interp + slack)     a peer that has newer snapshots does not look at older ones
//	now - cap                          the rest must not be paid by those who are shot
//	Oldest                             there is no history beyond
//	Last - 1                           a picture does not run backwards; a tick for command redundancy
//	Last + passed - leeway             a picture runs about as fast as time: who chooses his instant once he has seen
//	                                   which one hits, chooses from next to nothing. Not while it stands still at Stalled
//
// and the latest is the earlier of Newest and Last + passed + leeway, where passed is now - LastAt. leeway is a quarter of a tick and what is left in
// the peer's purse: 16 ticks when it comes in, and a tick more each 256. The earliest is never later than Newest. A claim within is returned as it is: exactness rests on that. A claim outside moves to
// the nearest instant allowed, between neighbouring ticks. So does one that stays in time but names ticks nobody showed
// it: past Newest, before Oldest, or further apart than the cap, which would draw targets on a straight line through
// walls. A claim that is no view at all gets Newest, no rewind. With nothing sent (Newest 0) the result is the zero
// view, which hits nothing.
//
// So the result never is newer than the newest snapshot nor older than allowed, From <= To, clamping twice changes
// nothing, and of two claims the earlier never becomes the later.
func ClampView(v tick.View, now tick.Tick, know Knowledge) (tick.View, bool) {
	if know.Newest == 0 {
		return tick.View{}, v != tick.View{}
	}
	know = know.withDefaults()
	if planted.On(planted.ClampBackwards) {
		know.Last, know.LastAt = 0, 0
	}
	newest := int64(know.Newest) << 8
	if !v.Valid() {
		return viewAt(newest), true
	}
	earliest, latest := min(newest, know.earliest(now)), newest
	if planted.On(planted.ClampOpen) {
		earliest = 1 << 8
	}
	if know.LastAt != 0 && know.LastAt <= now {
		passed, leeway := know.passed(now), leeway+purse-know.spent(now)
		if stalled := int64(know.Stalled) << 8; v != (tick.View{From: know.Stalled, To: know.Stalled}) || stalled > know.Last+passed {
			earliest = max(earliest, min(newest, know.Last+passed-leeway))
		}
		latest = max(earliest, min(newest, know.Last+passed+leeway))
	}
	at := min(max(Instant(v), earliest), latest)
	shown := v.To <= know.Newest && v.From >= know.Oldest && v.To-v.From <= know.CapTicks
	if shown && at == Instant(v) {
		return v, false
	}
	return viewAt(at), true
}

func (k Knowledge) withDefaults() Knowledge {
	if k.Rate == 0 {
		k.Rate = tick.DefaultRate
	}
	if k.CapTicks == 0 {
		k.CapTicks = tick.Tick(k.Rate / 4)
	}
	return k
}

// passed is how long ago the last shot was, in 1/256 tick.
func (k *Knowledge) passed(now tick.Tick) int64 { return int64(now-k.LastAt) << 8 }

// spent is what is missing in the purse now.
func (k *Knowledge) spent(now tick.Tick) int64 {
	return min(max(k.Spent-k.passed(now)/earns, 0), purse)
}

// Judged notes that a shot of tick now was judged by v, which ClampView gave.
func (k *Knowledge) Judged(v tick.View, now tick.Tick) {
	at := Instant(v)
	if k.LastAt != 0 && k.LastAt <= now && v.From == v.To && v.From == k.Stalled && at < k.Last+k.passed(now) {
		return // it stands still, and goes on from where it would be, or pays for what it lags then
	}
	if k.LastAt != 0 && k.LastAt <= now {
		off := at - k.Last - k.passed(now)
		k.Spent = min(k.spent(now)+max(off-leeway, -off-leeway, 0), purse)
	}
	k.Last, k.LastAt = at, now
}

// earliest is the oldest instant the peer may claim, in 1/256 tick.
func (k Knowledge) earliest(now tick.Tick) int64 {
	lag := fixed(k.InterpTicks) + fixed(k.SlackTicks)
	return max(
		int64(now)<<8-fixed(k.RTTTicks)-lag,
		int64(k.NewestAcked)<<8-lag,
		int64(now)<<8-int64(k.CapTicks)<<8,
		int64(k.Oldest)<<8,
		k.Last-1<<8,
		1<<8,
	)
}

// Limits are the oldest instants at which a peer's shots may be judged at tick now, in 1/256 tick: oldest by the cap and the history
// alone, earliest by all that ClampView looks at but the peer's last shot.
func (k Knowledge) Limits(now tick.Tick) (oldest, earliest int64) {
	k = k.withDefaults()
	k.Last = 0
	newest := int64(k.Newest) << 8
	oldest = max(int64(now)<<8-int64(k.CapTicks)<<8, int64(k.Oldest)<<8, 1<<8)
	return min(oldest, newest), min(k.earliest(now), newest)
}

// fixed converts ticks to 1/256 tick, within [0, 65536] ticks.
func fixed(ticks float32) int64 {
	if !(ticks > 0) {
		return 0
	}
	return int64(min(ticks, 65536) * 256)
}

// viewAt is the view between neighbouring ticks at an instant of at least 1<<8.
func viewAt(at int64) tick.View {
	v := tick.View{From: tick.Tick(at >> 8), To: tick.Tick(at >> 8), Frac: uint8(at)}
	if v.Frac != 0 {
		v.To++
	}
	return v
}
