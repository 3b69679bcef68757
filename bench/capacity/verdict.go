package capacity

import "math"

// Verdict is a prediction beside what was measured.
type Verdict struct {
	Scenario       string  `json:"scenario"`
	HeldOut        bool    `json:"held_out"`
	LongRun        bool    `json:"long_run,omitempty"` // of later in a match; else of its first seconds
	CPU            float64 `json:"cpu_us"`
	CPUPredicted   float64 `json:"cpu_predicted_us"`
	Bytes          float64 `json:"bytes"`
	BytesPredicted float64 `json:"bytes_predicted"`
	BytesUnsure    float64 `json:"bytes_unsure"` // standard error of Bytes, relative: matches differ
	CPUUnsure      float64 `json:"cpu_unsure"`   // likewise of CPU

	// Pace is how many times as long a lobby that is always the same took beside CPU as when what the model was fitted to was recorded: 1.04 is a machine,
	// with its build, that is 4 % slower. CPU is of the machine as it was, and CPUPredicted is of the recorded pace; 0: paces are not known, or are the same.
	Pace float64 `json:"pace,omitempty"`
}

// Paced is CPU as it would be at the pace that CPUPredicted is of.
func (v Verdict) Paced() float64 { return v.CPU / v.pace() }

// CPUHere is what is predicted of the machine that CPU was measured on, as it was then: CPUPredicted at its pace.
func (v Verdict) CPUHere() float64 { return v.CPUPredicted * v.pace() }

func (v Verdict) pace() float64 {
	if v.Pace > 0 {
		return v.Pace
	}
	return 1
}

// CPUError and BytesError are relative: 0.03 is 3 % too much. Of CPU time both sides are at one pace.
func (v Verdict) CPUError() float64   { return v.CPUPredicted/v.Paced() - 1 }
func (v Verdict) BytesError() float64 { return v.BytesPredicted/v.Bytes - 1 }

// Judge predicts a step that was measured.
func (m *Model) Judge(s Step) (Verdict, error) {
	p, err := m.Predict(*s.Facts)
	return Verdict{Scenario: s.Facts.Scenario, LongRun: s.Facts.LongRun, CPU: s.stages(), CPUPredicted: p.TickMicros, Bytes: s.Facts.Bytes, BytesPredicted: p.Facts.Bytes, BytesUnsure: s.Facts.Unsure,
		CPUUnsure: s.Facts.TimeUnsure}, err
}

// JudgeMeasured is Judge where few of the matches were timed: CPU is brought to what all of them cost (carry), and is as sure as those few left it.
func (m *Model) JudgeMeasured(s Measurement) (Verdict, error) {
	v, err := m.Judge(s.Step)
	v.HeldOut = s.HeldOut
	if s.Timed != nil {
		v.CPU, v.CPUUnsure = v.CPU*m.carry(s), s.Timed.TimeUnsure
	}
	return v, err
}

// JudgeAll judges the model on all steps that were measured.
func (m *Model) JudgeAll(ms Measurements) (all []Verdict, err error) {
	for _, s := range ms.Steps {
		v, err := m.JudgeMeasured(s)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

// carry is how many times as long a tick takes in the matches whose bytes were measured, many, as in the few that were timed, by the laws and by what was done in both: a control
// variate. What a match costs goes with what flies and who is alive in it, and that is known of hundreds of matches, so chance in which of them were timed need not stay in their mean.
func (m *Model) carry(s Measurement) float64 {
	few, timed := s.timed()
	if !timed {
		return 1
	}
	_, all := m.stages(s.Facts.sighted())
	if _, us := m.stages(few); us > 0 && all > 0 {
		return all / us
	}
	return 1
}

// Worst is the largest error of CPU time and of bytes among verdicts of one kind, and the mean of their sizes. What was not timed says nothing
// of CPU time.
func Worst(all []Verdict, heldOut bool) (cpu, bytes, meanCPU, meanBytes float64) {
	n, timed := 0.0, 0.0
	for _, v := range all {
		if v.HeldOut != heldOut {
			continue
		}
		if v.CPU > 0 {
			c := math.Abs(v.CPUError())
			cpu, meanCPU, timed = max(cpu, c), meanCPU+c, timed+1
		}
		b := math.Abs(v.BytesError())
		bytes, meanBytes, n = max(bytes, b), meanBytes+b, n+1
	}
	return cpu, bytes, meanCPU / max(timed, 1), meanBytes / max(n, 1)
}

// Within counts the verdicts on what was held out, and of these those whose bytes and CPU time are off by no more than so much.
func Within(all []Verdict, cpuAim, bytesAim float64) (held, cpu, bytes int) {
	for _, v := range all {
		if !v.HeldOut {
			continue
		}
		held++
		if v.CPU > 0 && math.Abs(v.CPUError()) <= cpuAim {
			cpu++
		}
		if math.Abs(v.BytesError()) <= bytesAim {
			bytes++
		}
	}
	return held, cpu, bytes
}

// judgeBytes predicts the bytes of a step that was measured, whether there are CPU times or not.
func (m *Model) judgeBytes(s Measurement) Verdict {
	f := *s.Facts
	m.live(&f)
	m.send(&f)
	return Verdict{Scenario: f.Scenario, HeldOut: s.HeldOut, Bytes: s.Facts.Bytes, BytesPredicted: f.Bytes * m.nearBytes.factor(f), BytesUnsure: s.Facts.Unsure}
}
