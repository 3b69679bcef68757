package main

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/bench/scenario"
)

// seven is a scenario that no other test plays: what is known of it was played here.
func seven(t *testing.T, name string) scenario.Scenario {
	t.Helper()
	s, err := scenario.Parse(name, []byte("[lobby]\nplayers = 7\n"))
	if err != nil {
		t.Fatal(err)
	}
	s.Name = name
	return s
}

// What measurements do not tell of is bad use of their file, and nothing is played first. An interrupt is neither's fault.
func TestPredictedSaysWhoseFaultItIs(t *testing.T) {
	m, facts, err := openModel("")
	if err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	var u usage
	if _, err := predicted(over, &m, seven(t, "over"), facts.File); err != context.Canceled {
		t.Errorf("an interrupt: %v", err)
	}
	mode := seven(t, "mode")
	mode.Lobby.Mode = "capture"
	codec := seven(t, "codec")
	codec.Network.Codec = "zip"
	for _, x := range []struct {
		s    scenario.Scenario
		want string
	}{
		{mode, `recorded measurements of this build: lobby.mode "capture": expected deathmatch`},
		{codec, `recorded measurements of this build: codec "zip" was not measured`},
	} {
		if _, err := predicted(over, &m, x.s, facts.File); !errors.As(err, &u) || !strings.HasPrefix(err.Error(), x.want) {
			t.Errorf("%s: %v", x.s.Name, err)
		}
	}
}
