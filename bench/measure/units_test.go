package measure

import (
	"math"
	"testing"
)

func TestUnits(t *testing.T) {
	s := Step{Players: 1500, Lobbies: 2, DatagramsInPerTick: 750, DatagramsOutPerTick: 300,
		CommandsPerTick: 740, SnapshotsPerTick: 250,
		StageCPUMicros: []Stage{{Name: "receive", Mean: 1530}, {Name: "open", Mean: 300}, {Name: "move",
			Mean: 500}, {Name: "combat", Mean: 240},
			{Name: "snapshot", Mean: 1460}, {Name: "seal", Mean: 90}, {Name: "send", Mean: 0}}}
	want := map[string]float64{"receive": 2040, "open": 400, "match": 1000, "snapshot": 1460e3 / 250 / 750,
		"seal": 300}
	got := s.Units()
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for _, u := range got {
		if math.Abs(u.Nanos-want[u.Stage]) > 1e-9 {
			t.Errorf("%+v, want %g ns", u, want[u.Stage])
		}
	}
	if us, percent, ok := s.Encryption(); !ok || us != 390 || math.Abs(percent-100*390/4120.) > 1e-9 {
		t.Errorf("encryption %g µs, %g %%, %v", us, percent, ok)
	}
	if _, _, ok := (Step{}).Encryption(); ok || len((Step{}).Units()) > 0 {
		t.Error("a step without stages has costs")
	}
}
