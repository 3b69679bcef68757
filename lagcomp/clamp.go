package lagcomp

import (
	"github.com/tickrate/tickrate/ecs/tick"
)

// ClampLimits is what the server itself has measured of a connection. A claimed view is held
// against it, never the reverse. Times are in simulation ticks; NaN and negative numbers count as
// 0.
type ClampLimits struct {
	Rate tick.Rate // of the simulation; 0 means tick.DefaultRate
	// round trip: the minimum of the last two seconds, so that inflating it gains nothing
	RTTTicks    float32
	InterpTicks float32 // how far behind the newest snapshot the client may draw
	// jitter, command buffering and redundancy: what an honest client may be late besides
	SlackTicks  float32
	CapTicks    tick.Tick // most age and span of a view; 0 means a quarter of a second
	NewestAcked tick.Tick // newest snapshot that the client has acknowledged, 0 for none
	Newest      tick.Tick // newest snapshot sent; 0: none
	Oldest      tick.Tick // History.Oldest
	LastInstant int64     // Instant of the view that the last shot was judged by, 0 for none

	// Of a client that announces its view delay ahead of time, see ViewDelayTrack. All 0 if it
	// does not.
	// instant that the current command looks at, as announced and limited, in 1/256 tick
	AnnouncedInstant int64
	UnclampedInstant int64 // the same without limits
	// the two snapshots around AnnouncedInstant that the client held when it made the command; 0 if
	// it held none on one of the sides
	From, To tick.Tick
}

// Instant is the point in time of a valid view, in 1/256 tick: From*256 + (To-From)*Frac, exactly.
func Instant(v tick.View) int64 { return int64(v.From)<<8 + int64(v.To-v.From)*int64(v.Frac) }

// ClampView returns the view that a shot executed at tick now is judged by, and whether that
// differs from the claim v.
//
// A client that announces its view delay has one possible view: at AnnouncedInstant, between From
// and To. Any other claim is moved there, so a false claim gains nothing once targets are known.
// AnnouncedInstant stays within the cap, Oldest, LastInstant - 1 tick and Newest; limits of the
// network path were applied when it was announced.
//
// For other clients the latest instant allowed is Newest. The earliest is the latest of
//
//	now - (RTT + interp + slack)       snapshot and command take half the round trip each
//	NewestAcked - (interp + slack)     a client does not render snapshots older than its acks
//	now - cap                          victims must not pay for more
//	Oldest                             there is no history before
//	LastInstant - 1 tick               views do not run backwards; a tick for command redundancy
//
// but never later than Newest. A claim within these limits is returned unchanged, which keeps hits
// exact. A claim outside moves to the nearest instant allowed, between neighbouring ticks. So does
// a claim whose instant is allowed but whose ticks were not shown to the client: past Newest,
// before Oldest, or further apart than the cap, which would move targets on a straight line
// through walls. An invalid view becomes Newest, without rewind. If nothing was sent (Newest 0)
// the result is the zero view, which hits nothing.
//
// The result is never newer than the newest snapshot nor older than allowed, From <= To, clamping
// twice changes nothing, and the order of two claims is kept.
func ClampView(v tick.View, now tick.Tick, know ClampLimits) (tick.View, bool) {
	if know.Newest == 0 {
		return tick.View{}, v != tick.View{}
	}
	know = know.withDefaults()
	latest := int64(know.Newest) << 8
	if know.AnnouncedInstant != 0 {
		used := know.announcedView(now, latest)
		return used, used != v
	}
	earliest := min(latest, know.earliestInstant(now))
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

// announcedView is the view of a client that announces its view delay.
func (k ClampLimits) announcedView(now tick.Tick, latest int64) tick.View {
	earliest := min(latest, k.earliestByCap(now))
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

// earliestInstant is the oldest instant that a client may claim, in 1/256 tick.
func (k ClampLimits) earliestInstant(now tick.Tick) int64 {
	lag := fixed(k.InterpTicks) + fixed(k.SlackTicks)
	return max(int64(now)<<8-fixed(k.RTTTicks)-lag, int64(k.NewestAcked)<<8-lag, k.earliestByCap(now))
}

// earliestByCap is the oldest instant allowed whatever the network path, in 1/256 tick.
func (k ClampLimits) earliestByCap(now tick.Tick) int64 {
	return max(int64(now)<<8-int64(k.CapTicks)<<8, int64(k.Oldest)<<8, k.LastInstant-1<<8, 1<<8)
}

// EarliestInstants returns the oldest instants at which shots may be judged at tick now, in 1/256
// tick: oldest by the cap and the history alone, earliest by every limit of ClampView except
// LastInstant.
func (k ClampLimits) EarliestInstants(now tick.Tick) (oldest, earliest int64) {
	k = k.withDefaults()
	k.LastInstant = 0
	newest := int64(k.Newest) << 8
	oldest = max(int64(now)<<8-int64(k.CapTicks)<<8, int64(k.Oldest)<<8, 1<<8)
	return min(oldest, newest), min(k.earliestInstant(now), newest)
}

// MaxDelay is the longest view delay that is believed at tick now, in 1/256 tick, by the network
// path and the cap.
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
