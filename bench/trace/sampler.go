package trace

import (
	"math/rand/v2"
	"sort"
	"time"

	"github.com/tickrate/tickrate/ecs/geom"
)

// Spread is how far a copy is shifted at most from the middle of its track, in metres along x and
// along z.
const Spread = 8

// Sampler plays one track back as one of many players. Copies differ: the copy index picks the
// track; copy and seed pick the start within it, a number of quarter turns, a mirror and a shift.
// Runs are played one after the other without the deaths and gaps between them, and over again from
// the first; where one run ends and the next begins the position jumps, and Sample.Run changes.
//
// A sampler is not for use by several goroutines; the trace may be shared by any number of
// samplers.
type Sampler struct {
	track *Track
	// When each run begins, in played time; the last entry is the length of all.
	starts []time.Duration
	offset time.Duration
	centre geom.Vec3
	shift  geom.Vec3
	turns  uint8 // quarter turns, clockwise from above
	mirror bool  // left and right swapped, before the turn

	run, at int // where the last call looked: players ask for times in order
}

// NewSampler returns the player number copy (0 or more) of a trace. The same arguments give the
// same player.
func NewSampler(t *Trace, copy int, seed uint64) *Sampler {
	rng := rand.New(rand.NewPCG(seed, uint64(copy)))
	s := &Sampler{track: &t.Tracks[copy%len(t.Tracks)]}
	var length time.Duration
	for _, r := range s.track.Runs {
		s.starts = append(s.starts, length)
		length += s.track.Length(r)
	}
	s.starts = append(s.starts, length)
	s.offset = time.Duration(rng.Int64N(int64(length)))
	s.turns, s.mirror = uint8(rng.IntN(4)), rng.IntN(2) == 1
	s.shift = geom.Vec3{X: spread(rng), Z: spread(rng)}
	s.centre = s.track.centre()
	s.centre.Y = 0 // heights stay: only the position on the ground is arbitrary
	s.at = s.track.Runs[0].From
	return s
}

func spread(rng *rand.Rand) float32 { return float32((2*rng.Float64() - 1) * Spread) }

// Length is the time after which the sampler begins anew.
func (s *Sampler) Length() time.Duration { return s.starts[len(s.starts)-1] }

// At returns where the player is at t, counted from the sampler's own start; negative times count
// as 0. Positions, velocities and angles are interpolated, buttons are those of the sample before.
// Alive is always true, and T is t.
func (s *Sampler) At(t time.Duration) Sample {
	t = max(t, 0)
	played := t%s.Length() + s.offset
	lap := t / s.Length()
	if played >= s.Length() {
		played -= s.Length()
		lap++
	}
	a, b := s.seek(played)
	f := float32(float64(s.local(played)-a.T) / float64(b.T-a.T))
	return Sample{
		T:     t,
		Pos:   s.place(a.Pos.Lerp(b.Pos, f)),
		Vel:   s.direct(a.Vel.Lerp(b.Vel, f)),
		Yaw:   s.yaw(a.Yaw.Lerp(b.Yaw, f)),
		Pitch: a.Pitch.Lerp(b.Pitch, f),
		Alive: true, Fire: a.Fire, Jump: a.Jump,
		Run: uint32(lap)*uint32(len(s.track.Runs)) + uint32(s.run),
	}
}

// local turns played time into the track's own time, within the current run.
func (s *Sampler) local(played time.Duration) time.Duration {
	return played - s.starts[s.run] + s.track.Samples[s.track.Runs[s.run].From].T
}

// seek moves to the run and the pair of samples that hold an instant. Most calls move one sample on
// or none.
func (s *Sampler) seek(played time.Duration) (a, b *Sample) {
	if played < s.starts[s.run] || played >= s.starts[s.run+1] {
		s.run = sort.Search(len(s.track.Runs), func(i int) bool { return s.starts[i+1] > played })
		s.at = s.track.Runs[s.run].From
	}
	samples, r, local := s.track.Samples, s.track.Runs[s.run], s.local(played)
	for i := s.at; i < s.at+4 && i+1 < r.To; i++ {
		if samples[i].T <= local && local < samples[i+1].T {
			s.at = i
			return &samples[i], &samples[i+1]
		}
	}
	after := sort.Search(r.To-r.From, func(i int) bool { return samples[r.From+i].T > local })
	s.at = r.From + after - 1
	return &samples[s.at], &samples[s.at+1]
}

func (s *Sampler) place(p geom.Vec3) geom.Vec3 {
	return s.direct(p.Sub(s.centre)).Add(s.shift)
}

func (s *Sampler) direct(v geom.Vec3) geom.Vec3 {
	if s.mirror {
		v.X = -v.X
	}
	for range s.turns { // a quarter turn clockwise from above takes +z to +x and +x to -z
		v.X, v.Z = v.Z, -v.X
	}
	return v
}

func (s *Sampler) yaw(a geom.Angle) geom.Angle {
	if s.mirror {
		a = -a
	}
	return a + geom.Angle(s.turns)<<14
}
