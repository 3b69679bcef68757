package lagcomp

import (
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/alloctest"
)

// slowPledges keeps every package and works out each tick anew.
type slowPledges struct {
	said  map[tick.Tick]uint8 // by the tick at the end of the span
	began tick.Tick
	first uint8
}

func (s *slowPledges) take(newest tick.Tick, delay uint8, now tick.Tick) {
	if s.said == nil {
		s.said, s.began, s.first = map[tick.Tick]uint8{}, now, delay
	}
	end := newest/16*16 + 48
	if _, ok := s.said[end]; !ok && now < newest/16*16+16 {
		s.said[end] = delay
	}
}

func (s *slowPledges) line(t tick.Tick) int64 {
	from, to := int64(s.first), int64(s.first)
	for begin := s.began/16*16 + 16; begin <= t; begin += 16 {
		from = to
		if d, ok := s.said[begin+16]; ok {
			to = min(max(int64(d), from-4), from+4)
		}
	}
	return int64(t)*256 - from*128 - (to-from)*8*int64(t%16)
}

// TestPledgesAgreeWithTwin: packages come early, late, twice and not at all, and say one thing and
// then another.
func TestPledgesAgreeWithTwin(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 23))
		var fast ViewDelayTrack
		var slow slowPledges
		delay, last := uint8(20), int64(0)
		for now := tick.Tick(100 + seed); now < 1500; now++ {
			if rng.IntN(4) != 0 {
				if rng.IntN(20) == 0 {
					delay = uint8(max(0, min(255, int(delay)+rng.IntN(21)-10)))
				}
				newest := now + tick.Tick(rng.IntN(24)) - 4
				fast.Announce(newest, delay, now)
				slow.take(newest, delay, now)
			}
			if slow.said == nil {
				continue
			}
			got, asked, ok := fast.InstantAt(now, 1<<40)
			if want := slow.line(now); !ok || got != want || asked != want {
				t.Fatalf("seed %d tick %d: %d and %d, want %d", seed, now, got, asked, want)
			}
			if step := got - last; last != 0 && (step < 256-32 || step > 256+32) {
				t.Fatalf("seed %d tick %d: the picture goes on by %d/256 ticks", seed, now, step)
			}
			last = got
		}
	}
}

// TestPledgesWithinLimits: what is believed is never more than the limit that holds when a span
// begins.
func TestPledgesWithinLimits(t *testing.T) {
	var p ViewDelayTrack
	for now := tick.Tick(32); now < 400; now++ {
		p.Announce(now, 200, now)
		line, asked, _ := p.InstantAt(now, 20*256)
		if back := int64(now)<<8 - line; back > 20*256 || int64(now)<<8-asked != 200*128 {
			t.Fatalf("tick %d: looks back by %d/256 ticks, asked for %d", now, back, int64(now)<<8-asked)
		}
	}
	if n := alloctest.In(100, func() { p.Announce(400, 3, 400); p.InstantAt(400, 1<<20) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestPledgedViewIsTheOnlyOne: whatever is claimed, it is judged at the pledged instant.
func TestPledgedViewIsTheOnlyOne(t *testing.T) {
	know := ClampLimits{Rate: 60, CapTicks: 24, Newest: 99, NewestAcked: 96, Oldest: 20,
		AnnouncedInstant: 88<<8 + 77, UnclampedInstant: 88<<8 + 77, From: 87, To: 90}
	own := ViewBetween(87, 90, know.AnnouncedInstant)
	stood, limited := know, know
	stood.From, stood.To = 0, 0
	limited.UnclampedInstant -= 10 << 8
	for i, c := range []struct {
		know ClampLimits
		v    tick.View
		why  ClampReason
	}{
		{know, own, ClampNone},
		{know, tick.View{}, ClampNoView},
		{know, tick.View{From: 87, To: 90, Frac: own.Frac + 1}, ClampNotAnnounced},
		{know, tick.View{From: 84, To: 90, Frac: 183}, ClampSpan},
		{know, tick.View{From: 99, To: 99}, ClampNotAnnounced},
		{stood, tick.View{From: 87, To: 87}, ClampStalled},
		{limited, ViewBetween(78, 81, limited.UnclampedInstant), ClampPath},
	} {
		used, moved := ClampView(c.v, 100, c.know)
		if d := know.AnnouncedInstant - Instant(used); d < 0 || d >= 3 || moved != (c.why != ClampNone) {
			t.Errorf("%d: %+v is judged by %+v, moved %v", i, c.v, used, moved)
		}
		if why := ClampReasonOf(c.v, used, 100, c.know); why != c.why {
			t.Errorf("%d: %+v is %v, want %v", i, c.v, why, c.why)
		}
	}
}
