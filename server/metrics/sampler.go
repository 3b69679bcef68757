package metrics

// Sampler selects one event in Every on average. Distances between samples are drawn evenly from 1
// to 2*Every-1, so that no rhythm of the traffic can match the rhythm of the samples.
type Sampler struct {
	Every int // 0: nothing is selected
	left  int // events until the next sample
	rng   uint64
}

// samplerSeed starts the sequence of distances; each sampler of a lobby has a multiple of it.
const samplerSeed = 0x9e3779b97f4a7c15

// NewSampler returns a sampler that selects the first event. every of 0 or less selects none.
func NewSampler(every int, seed uint64) Sampler {
	return Sampler{Every: max(every, 0), left: 1, rng: seed}
}

// Reset changes the rate and selects the next event.
func (s *Sampler) Reset(every int) { s.Every, s.left = max(every, 0), 1 }

// Due counts an event and reports whether it is a sample.
func (s *Sampler) Due() bool {
	if s.left--; s.left > 0 || s.Every == 0 {
		return false
	}
	s.left = s.distance()
	return true
}

// distance draws the number of events until the next sample (xorshift64).
func (s *Sampler) distance() int {
	n := s.rng
	n ^= n << 13
	n ^= n >> 7
	n ^= n << 17
	s.rng = n
	return 1 + int(n>>33)%(2*s.Every-1)
}
