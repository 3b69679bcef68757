package client

import (
	"testing"
	"time"
)

// settling is how a clock took a step of the path.
type settling struct {
	over    time.Duration // farthest beyond where it came to rest
	settled time.Duration // from the step until it stayed within a tick of that
	starved uint64        // ticks the server played without our command meanwhile
	fastest float64       // that the clock ran, of the caller's time
	slowest float64
	stalls  uint64
}

// step changes the path and follows the clocks for 8 s. Up is whether the path becomes longer.
func step(l *lab, s *seat, delay time.Duration, up bool) (predicted, render settling) {
	type moment struct{ at, predicted, render time.Duration }
	var film []moment
	begun, starved, stalls := l.now, l.inbox(s).Missing, s.client.Stats().RenderStalls
	s.up.delay, s.down.delay = delay, delay
	s.each = func(now time.Duration, s *seat) {
		_, p, r := s.client.Clocks()
		film = append(film, moment{now, p - now, r - now})
	}
	l.run(8 * time.Second)
	s.each = nil
	follow := func(of func(moment) time.Duration, rising bool) (out settling) {
		rest, n := time.Duration(0), time.Duration(0)
		for _, m := range film {
			if m.at > begun+6*time.Second {
				rest, n = rest+of(m), n+1
			}
		}
		rest /= n
		for i, m := range film {
			off := of(m) - rest
			if !rising {
				off = -off
			}
			out.over = max(out.over, off)
			if off.Abs() > l.rules.Rate.Period() {
				out.settled = m.at - begun
			}
			if i > 0 {
				ran := 1 + float64(of(m)-of(film[i-1]))/float64(m.at-film[i-1].at)
				if out.fastest = max(out.fastest, ran); out.slowest == 0 || ran < out.slowest {
					out.slowest = ran
				}
			}
		}
		return out
	}
	predicted = follow(func(m moment) time.Duration { return m.predicted }, up)
	render = follow(func(m moment) time.Duration { return m.render }, !up)
	predicted.starved = l.inbox(s).Missing - starved
	render.stalls = s.client.Stats().RenderStalls - stalls
	return
}

func TestRow39StepSettlesWithoutOvershoot(t *testing.T) {
	for _, jitter := range []time.Duration{0, 4 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond, 40 * time.Millisecond} {
		var sum [2]settling
		const seeds = 12
		for seed := range uint64(seeds) {
			l := newLab(t, labConfig{seed: 390 + seed, extras: 3})
			const short, long = 25 * time.Millisecond, 75 * time.Millisecond
			s := l.seat(l.config(), link{delay: short, jitter: jitter})
			l.run(5*time.Second + time.Duration(seed)*7*time.Millisecond)
			for i, delay := range []time.Duration{long, short} {
				p, r := step(l, s, delay, delay == long)
				sum[i].over = max(sum[i].over, p.over)
				sum[i].settled = max(sum[i].settled, p.settled)
				sum[i].starved += p.starved
				sum[i].stalls += r.stalls
			}
		}
		t.Logf("jitter %v: longer: over %v settled %v starved %d stalls %d; shorter over %v settled %v starved %d", jitter, sum[0].over, sum[0].settled, sum[0].starved/seeds, sum[0].stalls, sum[1].over, sum[1].settled, sum[1].starved/seeds)
	}
}
