package capacity

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
)

// What was measured is compared at the pace that predictions are of, and kept as it was.
func TestVerdictPace(t *testing.T) {
	for i, c := range []struct{ pace, paced, here, off float64 }{
		{0, 105, 100, 100.0/105 - 1}, {1, 105, 100, 100.0/105 - 1}, {1.05, 100, 105, 0}, {2.1, 50, 210, 1}, {0.5, 210, 50, 100.0/210 - 1},
	} {
		v := Verdict{CPU: 105, CPUPredicted: 100, Pace: c.pace}
		if !near(v.Paced(), c.paced, 1e-9) || !near(v.CPUHere(), c.here, 1e-9) || math.Abs(v.CPUError()-c.off) > 1e-9 || v.CPU != 105 {
			t.Errorf("%d: %g as paced, %g predicted here, off by %g; expected %+v", i, v.Paced(), v.CPUHere(), v.CPUError(), c)
		}
		raw, err := json.Marshal(v)
		if err != nil || !strings.Contains(string(raw), `"cpu_us":105,`) || strings.Contains(string(raw), `"pace":`) != (c.pace > 0) {
			t.Errorf("%d: %v, %s", i, err, raw)
		}
	}
}

// Chance in which matches were timed is not in what a prediction is held against: lobbies whose timed matches had three times the shots of all that were played are predicted as others are.
func TestVerdictOfTheMeanMatch(t *testing.T) {
	ms := plantedSet(0)
	for i := range ms.Steps {
		s := &ms.Steps[i]
		if !s.HeldOut {
			continue
		}
		timed := *s.Facts
		timed.Shots *= 3
		timed.TimeUnsure = 0.01
		s.Timed = &timed
		for j := range s.StageCPUMicros {
			if st := &s.StageCPUMicros[j]; st.Name == "combat" {
				st.Mean = 0.5 + 3*timed.Shots
			}
		}
	}
	m, all := judged(t, ms)
	if worst, _, _, _ := Worst(all, true); worst > 0.002 {
		t.Errorf("%.4f off where the laws are known", worst)
	}
	for i, s := range ms.Steps {
		if v, err := m.Judge(s.Step); err != nil || s.HeldOut && (v.CPUError() > -0.005 || all[i].CPU >= v.CPU || all[i].CPUUnsure != 0.01) || !s.HeldOut && all[i].CPU != v.CPU {
			t.Errorf("%d: %+v of the timed matches, %+v of all, %v", i, v, all[i], err)
		}
	}
}
