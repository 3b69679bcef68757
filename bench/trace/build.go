package trace

import (
	"fmt"
	"time"

	"github.com/tickrate/tickrate/ecs/geom"
)

// What ends a continuous run.
const (
	// Faster than this over one step is a teleport. The fastest human moves in the recordings
	// (rocket jumps, long falls) reach about 1000 units/s, and a recorder may show two steps as
	// one.
	teleportUnitsPerSecond = 2000
	teleportUnits          = 24 // and no step shorter than this is one, however short its time
	longestGap             = 250 * time.Millisecond
)

const (
	shortestStep  = time.Millisecond      // rows nearer than this are one sample
	shortestPress = 50 * time.Millisecond // one tick at 20 Hz
)

// A QuakeWorld jump leaves the ground at 270 units/s under a gravity of 800: 23 units in 100 ms, 38
// in 200 ms. Stairs rise less in that time, and a player that was rising already did not jump.
const (
	jumpWindow    = 200 * time.Millisecond
	jumpRiseUnits = 30
	jumpBefore    = 50 * time.Millisecond
	jumpStillUnit = 4
)

// builder gathers one track.
type builder struct {
	*Track
	format *format
}

func (b *builder) add(s Sample) error {
	if n := len(b.Samples); n > 0 {
		last := &b.Samples[n-1]
		if s.T < last.T {
			return fmt.Errorf("time goes back from %v to %v for player %d, expected rows in order of time",
				last.T, s.T, b.Player)
		}
		if s.T-last.T < shortestStep {
			last.Fire, last.Jump = last.Fire || s.Fire, last.Jump || s.Jump
			return nil
		}
	}
	b.Samples = append(b.Samples, s)
	return nil
}

// finish cuts the samples into runs and works out what the file does not say.
func (b *builder) finish() {
	for from := 0; from < len(b.Samples); {
		to := from + 1
		for to < len(b.Samples) && b.continuous(b.Samples[to-1], b.Samples[to]) {
			to++
		}
		for i := from; i < to; i++ {
			b.Samples[i].Run = uint32(len(b.Runs))
		}
		if b.Samples[from].Alive && to-from >= 2 {
			b.Runs = append(b.Runs, Run{from, to})
		}
		from = to
	}
	for _, r := range b.Runs {
		samples := b.Samples[r.From:r.To]
		velocities(samples)
		if b.format == &quakeWorld {
			b.jumps(samples)
		}
		press(samples, func(s *Sample) *bool { return &s.Fire })
		press(samples, func(s *Sample) *bool { return &s.Jump })
	}
}

func (b *builder) continuous(p, q Sample) bool {
	dt, step := q.T-p.T, float64(q.Pos.Sub(p.Pos).Len())*b.format.metre
	return p.Alive == q.Alive && dt <= longestGap &&
		(step <= teleportUnits || step <= teleportUnitsPerSecond*dt.Seconds())
}

// velocities takes central differences, one-sided at the ends.
func velocities(samples []Sample) {
	for i := range samples {
		p, q := &samples[max(i-1, 0)], &samples[min(i+1, len(samples)-1)]
		samples[i].Vel = q.Pos.Sub(p.Pos).Scale(float32(1 / (q.T - p.T).Seconds()))
	}
}

func (b *builder) jumps(samples []Sample) {
	unit := float32(1 / b.format.metre)
	before, after := 0, 0
	for i := range samples {
		s := &samples[i]
		for s.T-samples[before].T > jumpBefore {
			before++
		}
		for after < len(samples)-1 && samples[after].T-s.T < jumpWindow {
			after++
		}
		wasStill := s.Pos.Y-samples[before].Pos.Y < jumpStillUnit*unit
		s.Jump = before < i && wasStill && samples[after].Pos.Y-s.Pos.Y > jumpRiseUnits*unit && s.Vel.Y > 0
	}
}

// press makes a button that went down stay so for the shortest press at least.
func press(samples []Sample, button func(*Sample) *bool) {
	until, was := time.Duration(-1), false
	for i := range samples {
		down := button(&samples[i])
		if *down && !was {
			until = samples[i].T + shortestPress
		}
		was = *down
		*down = *down || samples[i].T < until
	}
}

// centre is the middle of what the runs of a track cover.
func (t *Track) centre() geom.Vec3 {
	lo := t.Samples[t.Runs[0].From].Pos
	hi := lo
	for _, r := range t.Runs {
		for _, s := range t.Samples[r.From:r.To] {
			lo, hi = lo.Min(s.Pos), hi.Max(s.Pos)
		}
	}
	return lo.Lerp(hi, 0.5)
}
