package lagcomp

import "github.com/tickrate/tickrate/ecs/tick"

// Constants of ViewDelayTrack. Both ends must have the same.
const (
	ViewDelaySpan = 16  // ticks between announced delays, linear in between
	ViewDelayUnit = 128 // of an announced delay: half a tick, in 1/256 tick
	// a packet whose newest command is of span n announces the delay at the end of span n+2
	announceAhead  = 3
	maxDelayStep   = 4 // largest change in a span, in units: an eighth of the time that passes
	announcedSpans = 8
)

// ViewDelayTrack is the interpolation delay that a client announces ahead of time, before the span
// of 16 ticks in which it holds begins, and so before the targets of that span have moved, except
// on the longest network paths. A shot can then be judged at one instant only, which was fixed
// before the targets moved: a false announcement gains nothing.
//
// Ticks are counted in spans of 16. The delay at the end of span n+2 is announced by packets whose
// newest command is of span n, and counts if the first of them arrives before the server plays
// span n+1; otherwise the delay stays. Client and server each keep a track and agree for as long
// as no burst of loss takes all packets of a span.
type ViewDelayTrack struct {
	span      uint32 // of the two ramps
	now       ramp   // delay of this span
	unclamped ramp   // the same without limits
	unlimited bool   // just started: no limit has been applied
	started   bool
	announced [announcedSpans]announcement // by span
}

// ramp is a delay at the beginning and at the end of a span, in units.
type ramp struct{ from, to uint8 }

type announcement struct {
	span  uint32
	delay uint8
	known bool
}

// Started reports whether the client has announced any delay.
func (p *ViewDelayTrack) Started() bool { return p.started }

// Announce notes a delay, in units of half a tick, from a packet whose newest command is of tick
// newest; now is the tick that the receiver plays next. The first announcement for a span stays,
// and the very first takes effect at once. A late one is ignored.
func (p *ViewDelayTrack) Announce(newest tick.Tick, delay uint8, now tick.Tick) {
	span := uint32(newest / ViewDelaySpan)
	if !p.started {
		*p = ViewDelayTrack{started: true, unlimited: true, span: uint32(now / ViewDelaySpan),
			now: ramp{delay, delay}, unclamped: ramp{delay, delay}}
	}
	if uint32(now/ViewDelaySpan) > span || span > uint32(now/ViewDelaySpan)+announcedSpans-announceAhead-1 {
		return
	}
	span += announceAhead - 1
	if s := &p.announced[span%announcedSpans]; !s.known || s.span != span {
		*s = announcement{span, delay, true}
	}
}

// InstantAt is the instant that the command of tick t looks at, in 1/256 tick, with and without
// limits. limit is the longest delay that is believed now, in 1/256 tick; it applies to the span
// after t's. Ticks must not go back. ok is false if nothing was announced.
func (p *ViewDelayTrack) InstantAt(t tick.Tick, limit int64) (instant, unclamped int64, ok bool) {
	if !p.started {
		return 0, 0, false
	}
	most := uint8(min(max(limit, 0)/ViewDelayUnit, 255))
	if p.unlimited {
		p.now, p.unlimited = ramp{min(p.now.from, most), min(p.now.to, most)}, false
	}
	for at := uint32(t / ViewDelaySpan); p.span < at; {
		if at-p.span > announcedSpans {
			p.span = at - announcedSpans // nothing was announced in between
		}
		p.span++
		said := p.announced[p.span%announcedSpans]
		if !said.known || said.span != p.span {
			said.delay = p.unclamped.to
		}
		p.unclamped = ramp{p.unclamped.to, limitStep(said.delay, p.unclamped.to)}
		p.now = ramp{p.now.to, min(limitStep(said.delay, p.now.to), most)}
	}
	return p.now.at(t), p.unclamped.at(t), true
}

// limitStep is delay, limited to what may follow last after a span.
func limitStep(delay, last uint8) uint8 {
	return uint8(min(max(int(delay), int(last)-maxDelayStep), int(last)+maxDelayStep))
}

// at is the instant that the command of tick t looks at.
func (r ramp) at(t tick.Tick) int64 {
	return int64(t)<<8 - int64(r.from)*ViewDelayUnit -
		(int64(r.to)-int64(r.from))*(ViewDelayUnit/ViewDelaySpan)*int64(t%ViewDelaySpan)
}

// Slope is by how much InstantAt grows from one tick to the next, in 1/256 tick.
func (p *ViewDelayTrack) Slope() int64 {
	return 256 - (int64(p.unclamped.to)-int64(p.unclamped.from))*(ViewDelayUnit/ViewDelaySpan)
}

// ViewBetween is the view at an instant between two snapshot ticks around it, rounded down to
// 1/256 of their distance.
func ViewBetween(from, to tick.Tick, instant int64) tick.View {
	if from == to || instant <= int64(from)<<8 {
		return tick.View{From: from, To: to}
	}
	return tick.View{From: from, To: to, Frac: uint8(min((instant-int64(from)<<8)/int64(to-from), 255))}
}
