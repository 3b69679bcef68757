package capacity

import "testing"

func TestEncryption(t *testing.T) {
	s := Step{DatagramsInPerTick: 100, DatagramsOutPerTick: 200, StageCPUMicros: []Stage{
		{Name: "receive", Mean: 10}, {Name: "open", Mean: 30}, {Name: "move", Mean: 60}, {Name: "seal", Mean: 70}, {Name: "send", Mean: 30}}}
	e, ok := s.Encryption()
	if want := (Encryption{Percent: 50, OpenNanos: 300, SealNanos: 350, Opened: 100, Sealed: 200, TickMicros: 100}); !ok || e != want {
		t.Errorf("%+v, %v, want %+v", e, ok, want)
	}
	for i, change := range []func(*Step){
		func(s *Step) { s.DatagramsInPerTick = 0 },
		func(s *Step) { s.DatagramsOutPerTick = 0 },
		func(s *Step) { s.StageCPUMicros = s.StageCPUMicros[:1] },
		func(s *Step) { s.StageCPUMicros = nil },
	} {
		bad := s
		change(&bad)
		if e, ok := bad.Encryption(); ok || e != (Encryption{}) {
			t.Errorf("%d: %+v of a step that measured no encryption", i, e)
		}
	}
}
