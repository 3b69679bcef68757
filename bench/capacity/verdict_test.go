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
