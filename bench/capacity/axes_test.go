package capacity

import (
	"fmt"
	"testing"
)

// Amounts are put between powers of two, shares into thirds, and people are counted with both ends.
func TestPlacesOfAxes(t *testing.T) {
	for i, x := range []struct {
		at   func(float64) (string, float64)
		of   float64
		want string
	}{
		{doubling, 0, "0"}, {doubling, 20, "16 to under 32"}, {doubling, 32, "32 to under 64"}, {doubling, 31.9, "16 to under 32"}, {doubling, 0.15, "0.125 to under 0.25"},
		{doubling, 1000 * 0.064, "64 to under 128"}, {doubling, 100 * 0.01 * 0.9999999999999999, "1 to under 2"},
		{thirds, 0, "0"}, {thirds, 0.16, "under 1/3"}, {thirds, 0.5, "1/3 to under 2/3"}, {thirds, 1, "2/3 to 1"},
		{people, 0, "0"}, {people, 1, "1"}, {people, 2, "2 to 3"}, {people, 63, "32 to 63"}, {people, 64, "64 to 127"},
	} {
		if at, _ := x.at(x.of); at != x.want {
			t.Errorf("%d: %g is at %q, want %q", i, x.of, at, x.want)
		}
	}
}

func people(x float64) (string, float64) { return counted(int(x)) }

// Places of every axis ascend, each once, and hold all that was held out.
func TestAxesAscend(t *testing.T) {
	var ms Measurements
	var all []Verdict
	for _, n := range []int{40, 9, 200, 50} {
		for _, far := range []float64{0, 28.33, 30, 58} {
			f := Facts{PerLobby: n, TickHz: 60, SendEvery: 3, Side: 100, Far: far, Codec: "huffman", Bursts: 0.01 * float64(n), Crowd: float64(n) / 200}
			ms.Steps = append(ms.Steps, Measurement{Step: Step{Facts: &f}, HeldOut: true})
			all = append(all, Verdict{HeldOut: true, CPU: 1, CPUPredicted: 1.5, Bytes: 1, BytesPredicted: 1 + float64(n)/1000})
		}
	}
	var got []string
	for _, a := range Axes(ms, all, true) {
		sum := 0
		for k, o := range a.Places {
			if sum += o.Steps; k > 0 && o.low < a.Places[k-1].low {
				t.Errorf("%s: %q behind %q", a.Name, o.At, a.Places[k-1].At)
			}
		}
		if sum != len(all) {
			t.Errorf("%s: %d of %d", a.Name, sum, len(all))
		}
		if a.Name == "players" || a.Name == "metres of sight" {
			for _, o := range a.Places {
				got = append(got, fmt.Sprintf("%s (%d) %.3f %.1f", o.At, o.Steps, o.Bytes, o.CPU))
			}
		}
	}
	const want = "[8 to 15 (4) 0.009 0.5 32 to 63 (8) 0.045 0.5 128 to 255 (4) 0.200 0.5 16 to under 32 (8) 0.075 0.5 32 to under 64 (4) 0.075 0.5 no limit (4) 0.075 0.5]"
	if fmt.Sprint(got) != want {
		t.Errorf("%v", got)
	}
}
