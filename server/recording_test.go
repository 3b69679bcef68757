package server

import (
	"testing"

	"github.com/tickrate/tickrate/sim/arena"
)

// The memory of recordings comes with a map, which is prepared outside of ticks. It comes if
// everything is recorded, and if killcams may be wanted in a large lobby and memory is reserved.
func TestRecorderComesWithTheMap(t *testing.T) {
	for i, c := range []struct {
		cfg     Config
		reserve bool
		want    bool
	}{
		{Config{Record: func(RecordingChunk) {}}, false, true},
		{Config{Players: maxTogether + 1}, true, true},
		{Config{Players: maxTogether + 1}, false, false},
		{Config{Players: maxTogether + 1, Killcam: KillcamOff}, true, false},
		{Config{}, true, false},
	} {
		l := newTestLobby(t, c.cfg)
		if c.reserve {
			l.lobby.Reserve()
		}
		l.ticks(3)
		for _, name := range []string{"arena-16", "arena-64"} { // the same map anew, and another
			a, err := arena.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			next := &LoadedMap{Arena: a, Name: name}
			if err := l.lobby.PrepareMap(next); err != nil {
				t.Fatal(err)
			}
			made := next.state.recorder
			if (made.rec != nil) != c.want || c.want && made.of != next.state.match {
				t.Errorf("%d: prepared with the map: %v, want %v", i, made.rec != nil, c.want)
			}
			if err := l.lobby.InstallMap(l.now, *next); err != nil {
				t.Fatal(err)
			}
			l.tick()
			if c.cfg.Record != nil && (l.lobby.recording.rec != made.rec || made.rec == nil) {
				t.Errorf("%d: the tick made a recorder", i)
			}
		}
	}
}
