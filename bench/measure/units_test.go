package measure

import (
	"math"
	"testing"
)

func TestUnits(t *testing.T) {
	s := Step{Players: 1500, Lobbies: 2, DatagramsInPerTick: 750, DatagramsOutPerTick: 300,
		CommandsPerTick: 740, SnapshotsPerTick: 250,
		StageCPUMillis: []Stage{{Name: "receive", Mean: 1530}, {Name: "open", Mean: 300}, {Name: "move",
			Mean: 500}, {Name: "combat", Mean: 240},
			{Name: "snapshot", Mean: 1460}, {Name: "seal", Mean: 90}, {Name: "send", Mean: 0}}}
	want := map[string]float64{"receive": 2040, "open": 400, "match": 1000, "snapshot": 1460e3 / 250 / 750,
		"seal": 300}
	got := s.Units()
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for _, u := range got {
		if math.Abs(1e3*u.Millis-want[u.Stage]) > 1e-9 {
			t.Errorf("%+v, want %g", u, want[u.Stage])
		}
	}
	if ms, percent, ok := s.Encryption(); !ok || ms != 390 || math.Abs(percent-100*390/4120.) > 1e-9 {
		t.Errorf("encryption %g µs, %g %%, %v", ms, percent, ok)
	}
	if _, _, ok := (Step{}).Encryption(); ok || len((Step{}).Units()) > 0 {
		t.Error("a step without stages has costs")
	}
}
