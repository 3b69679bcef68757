package capacity

// lot is some of the measurements.
type lot []Measurement

// with are those of a codec.
func (l lot) with(codec string) (some lot) {
	for _, s := range l {
		if s.Facts.Codec == codec {
			some = append(some, s)
		}
	}
	return some
}

// mainCodec is the one that most was measured with.
func mainCodec(l lot) (best string) {
	counts := map[string]int{}
	for _, s := range l {
		if counts[s.Facts.Codec]++; counts[s.Facts.Codec] > counts[best] {
			best = s.Facts.Codec
		}
	}
	return best
}

// timed are the facts that a step's CPU times are of, and false if it has none.
func (s *Measurement) timed() (Facts, bool) {
	if len(s.StageCPUMicros) == 0 {
		return Facts{}, false
	}
	if s.Timed != nil {
		f := *s.Timed
		f.Played = s.Facts.Played
		return f.sighted(), true
	}
	return s.Facts.sighted(), true
}

// hasParts is whether the parts of a step's bytes were measured.
func (s *Measurement) hasParts() bool { return s.Facts.Parts.Sum() > 0 }

// each returns what of says of the facts of all.
func (l lot) each(of func(Facts) float64) (y []float64) {
	for _, s := range l {
		y = append(y, of(*s.Facts))
	}
	return y
}

func (l lot) facts() (all []Facts) {
	for _, s := range l {
		all = append(all, *s.Facts)
	}
	return all
}

// firstSeconds are those of what was not measured in the long run.
func (l lot) firstSeconds() (some lot) {
	for _, s := range l {
		if !s.Facts.LongRun {
			some = append(some, s)
		}
	}
	return some
}
