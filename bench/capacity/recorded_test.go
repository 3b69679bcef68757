package capacity

import "testing"

// What the recorded model promises: it is judged on lobbies of other sizes, spreads and rates than it was fitted to.
func TestRecordedModel(t *testing.T) {
	ms, err := ParseMeasurements("measured.json", Recorded())
	if err != nil {
		t.Fatal(err)
	}
	m, err := FitModel(ms)
	if err != nil {
		t.Fatal(err)
	}
	all, err := m.JudgeAll(ms)
	if err != nil {
		t.Fatal(err)
	}
	var cpu, bytes, held int
	for _, v := range all {
		if !v.HeldOut {
			continue
		}
		held++
		if e := v.CPUError(); e <= 0.05 && e >= -0.05 {
			cpu++
		}
		if e := v.BytesError(); e <= 0.02 && e >= -0.02 {
			bytes++
		}
		t.Logf("%-52s CPU %8.1f µs %+5.1f %%, bytes %7.0f %+5.1f %%", v.Scenario, v.CPU, 100*v.CPUError(), v.Bytes, 100*v.BytesError())
	}
	worstCPU, worstBytes, meanCPU, meanBytes := Worst(all, true)
	t.Logf("%d held out; within 5 %% CPU %d, within 2 %% bytes %d; CPU %.3f mean, %.3f worst; bytes %.4f mean, %.4f worst", held, cpu, bytes, meanCPU, worstCPU, meanBytes, worstBytes)
	// The aim is 5 % of CPU time and 2 % of bytes for each. Matches of one scenario differ by as much among themselves where it is small, and
	// lobbies in which far players are left out are predicted worst; docs/decisions/0024 tells how far this recording is from the aim.
	if held < 25 || meanCPU > 0.05 || meanBytes > 0.025 || float64(cpu) < 0.8*float64(held) || float64(bytes) < 0.6*float64(held) || worstCPU > 0.15 || worstBytes > 0.1 {
		t.Errorf("%d held out: %d within 5 %% CPU, %d within 2 %% bytes; mean error CPU %.3f, bytes %.4f; worst %.3f, %.3f", held, cpu, bytes, meanCPU, meanBytes, worstCPU, worstBytes)
	}
}
