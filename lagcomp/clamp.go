package lagcomp

import (
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/planted"
)

// ClampLimits is what the server itself has measured of a peer; a claimed view is held against it, never the reverse.
// Times are in ticks of the simulation; NaN and negative numbers count as 0.
type ClampLimits struct {
	Rate        tick.Rate // of the simulation; 0 means tick.DefaultRate
	RTTTicks    float32   // round trip: the least of the last two seconds, so that inflating it buys nothing
	InterpTicks float32   // how far behind the newest snapshot the peer may draw
	SlackTicks  float32   // jitter, command buffering, redundancy: what an honest peer may be late besides
	CapTicks    tick.Tick // no view is older than this, nor spans more; 0 means a quarter of a second
	NewestAcked tick.Tick // newest snapshot the peer is known to hold, 0 for none
	Newest      tick.Tick // newest snapshot sent; nothing later can have been seen. 0: nothing was sent
	Oldest      tick.Tick // History.Oldest
	LastInstant int64     // Instant of the view the peer's last shot was judged by, 0 for none

	// Of a peer that says ahead of time how far behind it will look; see ViewDelayTrack. All 0: it is not asked to.
	AnnouncedInstant int64     // instant of the commands of now, as pledged and within limits, in 1/256 tick
	UnclampedInstant int64     // likewise without limits
	From, To         tick.Tick // the two snapshots around Line that it held when it made them; 0 if it held none on one of the sides
}

// Instant is a valid view's place in time, in 1/256 tick: From*256 + (To-From)*Frac, exactly.
func Instant(v tick.View) int64 { return int64(v.From)<<8 + int64(v.To-v.From)*int64(v.Frac) }

// ClampView returns the view that a shot executed at tick now is judged by, and whether that differs from the claim v.
//
// Of a peer that pledges there is one view: at Line, between From and To. A claim of any other is moved there, so it
// makes no difference what is claimed once it can be known who is hit. Line stays within cap, Oldest, Last - 1 and Newest;
// the limits of the path were applied when it was pledged.
//
// Of others the latest instant allowed is Newest. The earliest is the latest of
//
//	now - (RTT + interp + slack)       a snapshot takes half the round trip to the peer, its command the other half
//	NewestAcked - (interp + slack)     a peer that has newer snapshots does not look at older ones
//	now - cap                          the rest must not be paid by those who are shot
//	Oldest                             there is no history beyond
//	Last - 1                           a picture does not run backwards; a tick for command redundancy
//
// but never later than Newest. A claim within is returned as it is: exactness rests on that. A claim outside moves to
// the nearest instant allowed, between neighbouring ticks. So does one that stays in time but names ticks nobody showed
// it: past Newest, before Oldest, or further apart than the cap, which would draw targets on a straight line through
// walls. A claim that is no view at all gets Newest, no rewind. With nothing sent (Newest 0) the result is the zero
// view, which hits nothing.
//
// So the result never is newer than the newest snapshot nor older than allowed, From <= To, clamping twice changes
// nothing, and of two claims the earlier never becomes the later.
func ClampView(v tick.View, now tick.Tick, know ClampLimits) (tick.View, bool) {
	if know.Newest == 0 {
		return tick.View{}, v != tick.View{}
	}
	know = know.withDefaults()
	latest := int64(know.Newest) << 8
	if planted.On(planted.ClampBackwards) {
		know.LastInstant = 0
	}
	if know.AnnouncedInstant != 0 {
		used := know.announcedView(now, latest)
		return used, used != v
	}
	earliest := min(latest, know.earliestInstant(now))
	if planted.On(planted.ClampOpen) {
		earliest = 1 << 8
	}
	if !v.Valid() {
		return viewAt(latest), true
	}
	at := min(max(Instant(v), earliest), latest)
	shown := v.To <= know.Newest && v.From >= know.Oldest && v.To-v.From <= know.CapTicks
	if shown && at == Instant(v) {
		return v, false
	}
	return viewAt(at), true
}

// announcedView is the view of a peer that pledges.
func (k ClampLimits) announcedView(now tick.Tick, latest int64) tick.View {
	earliest := min(latest, k.earliestByCap(now))
	if planted.On(planted.ClampOpen) {
		earliest = 1 << 8
	}
	at := min(max(k.AnnouncedInstant, earliest), latest)
	shown := k.From >= max(k.Oldest, 1) && k.To <= k.Newest && k.From <= k.To && k.To-k.From <= k.CapTicks
	if shown && at == k.AnnouncedInstant {
		return ViewBetween(k.From, k.To, at)
	}
	return viewAt(at)
}

func (k ClampLimits) withDefaults() ClampLimits {
	if k.Rate == 0 {
		k.Rate = tick.DefaultRate
	}
	k.CapTicks = k.capTicks()
	return k
}

// capTicks is CapTicks or its default.
func (k *ClampLimits) capTicks() tick.Tick {
	switch {
	case k.CapTicks != 0:
		return k.CapTicks
	case k.Rate == 0:
		return tick.Tick(tick.DefaultRate / 4)
	}
	return tick.Tick(k.Rate / 4)
}

// earliestInstant is the oldest instant the peer may claim, in 1/256 tick.
func (k ClampLimits) earliestInstant(now tick.Tick) int64 {
	lag := fixed(k.InterpTicks) + fixed(k.SlackTicks)
	return max(int64(now)<<8-fixed(k.RTTTicks)-lag, int64(k.NewestAcked)<<8-lag, k.earliestByCap(now))
}

// earliestByCap is the oldest instant whatever the path is like.
func (k ClampLimits) earliestByCap(now tick.Tick) int64 {
	return max(int64(now)<<8-int64(k.CapTicks)<<8, int64(k.Oldest)<<8, k.LastInstant-1<<8, 1<<8)
}

// EarliestInstants are the oldest instants at which a peer's shots may be judged at tick now, in 1/256 tick: oldest by the cap and the history
// alone, earliest by all that ClampView looks at but the peer's last shot.
func (k ClampLimits) EarliestInstants(now tick.Tick) (oldest, earliest int64) {
	k = k.withDefaults()
	k.LastInstant = 0
	newest := int64(k.Newest) << 8
	oldest = max(int64(now)<<8-int64(k.CapTicks)<<8, int64(k.Oldest)<<8, 1<<8)
	return min(oldest, newest), min(k.earliestInstant(now), newest)
}

// MaxDelay is the longest delay that is believed of a peer at tick now, in 1/256 tick, by what is known of the path and by the cap.
func (k *ClampLimits) MaxDelay(now tick.Tick) int64 {
	lag := fixed(k.InterpTicks) + fixed(k.SlackTicks)
	return min(fixed(k.RTTTicks)+lag, (int64(now)-int64(k.NewestAcked))<<8+lag, int64(k.capTicks())<<8)
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
