package lagcomp

import "github.com/tickrate/tickrate/ecs/tick"

// Constants of ViewDelayTrack. Both ends must have the same.
const (
	ViewDelaySpan  = 16  // ticks from one pledged delay to the next; between them it changes evenly
	ViewDelayUnit  = 128 // of a pledged delay: 1/256 ticks, so half a tick
	announceAhead  = 3   // a package with a newest command in span n pledges the delay at the end of span n+2
	maxDelayStep   = 4   // most by which it may change in a span, in units: an eighth of the time that passes
	announcedSpans = 8
)

// ViewDelayTrack is how far behind its commands a peer has said that it will look, each delay said before the span of 16 ticks in which it
// holds has begun, and before whatever is seen in it has happened, but for the longest paths. So there is one instant at which a shot can
// be judged, and it was fixed when nobody could know whom it would hit: to lie about it buys nothing.
//
// Ticks are counted in spans of 16. The delay at the end of span n+2 is said by packages whose newest command is of span n, and counts if the
// first of them arrives before the server plays span n+1; where none does, the delay stays as it was. Client and server
// both keep one, and come to the same delays for as long as no burst of loss takes all packages of a span. Its memory is its own.
type ViewDelayTrack struct {
	announced [announcedSpans]announcement // by span whose end it is of
	span      uint32                       // that from and to are of
	now       ramp                         // of this span
	unclamped ramp                         // likewise without limits
	unlimited bool                         // begun, and no limit has been applied
	started   bool
}

// ramp is a delay at the beginning and at the end of a span, in units.
type ramp struct{ from, to uint8 }

type announcement struct {
	span  uint32
	delay uint8
	known bool
}

// Started reports whether the peer has pledged anything.
func (p *ViewDelayTrack) Started() bool { return p.started }

// Announce notes a delay, in units of half a tick, that a package said whose newest command is of tick newest; now is the tick that is played next where it
// arrived. The first that was said for a span stays, and the very first holds at once. What comes too late counts for nothing.
func (p *ViewDelayTrack) Announce(newest tick.Tick, delay uint8, now tick.Tick) {
	span := uint32(newest / ViewDelaySpan)
	if !p.started {
		*p = ViewDelayTrack{started: true, unlimited: true, span: uint32(now / ViewDelaySpan), now: ramp{delay, delay}, unclamped: ramp{delay, delay}}
	}
	if uint32(now/ViewDelaySpan) > span || span > uint32(now/ViewDelaySpan)+announcedSpans-announceAhead-1 {
		return
	}
	span += announceAhead - 1
	if s := &p.announced[span%announcedSpans]; !s.known || s.span != span {
		*s = announcement{span, delay, true}
	}
}

// InstantAt is the instant at which the peer looks with the command of tick t, in 1/256 tick, and what that would be without limits. limit is the
// longest delay that is believed now, in 1/256 tick: it holds for what is said of the span after t's. Ticks must not go back. False
// if nothing was pledged, or nothing so early.
func (p *ViewDelayTrack) InstantAt(t tick.Tick, limit int64) (line, asked int64, ok bool) {
	if !p.started {
		return 0, 0, false
	}
	most := uint8(min(max(limit, 0)/ViewDelayUnit, 255))
	if p.unlimited {
		p.now, p.unlimited = ramp{min(p.now.from, most), min(p.now.to, most)}, false
	}
	for at := uint32(t / ViewDelaySpan); p.span < at; {
		if at-p.span > announcedSpans {
			p.span = at - announcedSpans // nothing is known of those between
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

// limitStep is delay, or what is nearest to it of what may come a span after last.
func limitStep(delay, last uint8) uint8 {
	return uint8(min(max(int(delay), int(last)-maxDelayStep), int(last)+maxDelayStep))
}

// at is the instant with the command of tick t of the ramp's span.
func (r ramp) at(t tick.Tick) int64 {
	return int64(t)<<8 - int64(r.from)*ViewDelayUnit - (int64(r.to)-int64(r.from))*(ViewDelayUnit/ViewDelaySpan)*int64(t%ViewDelaySpan)
}

// Slope is by how much the instant of Line grows from its tick to the next, in 1/256 tick.
func (p *ViewDelayTrack) Slope() int64 {
	return 256 - (int64(p.unclamped.to)-int64(p.unclamped.from))*(ViewDelayUnit/ViewDelaySpan)
}

// ViewBetween is the view at an instant between two snapshot ticks that lie around it, rounded down to the 1/256 of their distance.
func ViewBetween(from, to tick.Tick, instant int64) tick.View {
	if from == to || instant <= int64(from)<<8 {
		return tick.View{From: from, To: to}
	}
	return tick.View{From: from, To: to, Frac: uint8(min((instant-int64(from)<<8)/int64(to-from), 255))}
}
