package inspect

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tickrate/tickrate/client/predict"
	"github.com/tickrate/tickrate/cmd/internal/preview"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/impair"
)

// predictionOf are the settings of a short match.
func predictionOf(link string) PredictionOptions {
	return PredictionOptions{Cause: "misprediction", Preview: preview.Options{
		Map: "arena-16", Mode: "deathmatch", Players: 6, Rate: 60, Duration: 15 * time.Second, Link: link,
		Seed: 3,
	}}
}

// corrections parses lines of JSON.
func corrections(t *testing.T, text string) (all []correction, total PredictionTotals) {
	t.Helper()
	for line := range strings.Lines(text) {
		var c correction
		var kind struct{ Type string }
		if err := json.Unmarshal([]byte(line), &kind); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if kind.Type == "summary" {
			_ = json.Unmarshal([]byte(line), &total)
			continue
		}
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all = append(all, c)
	}
	return all, total
}

// narrow fails for lines of more than 80 columns.
func narrow(t *testing.T, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// On a clean link nothing differs, and the tool says so.
func TestRow74CleanLinkHasNoMisprediction(t *testing.T) {
	var out strings.Builder
	if err := Prediction(t.Context(), &out, "preview", predictionOf("clean")); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(out.String(), "No prediction differed from the server's state.\n6 players, ") {
		t.Error(out.String())
	}
	narrow(t, out.String())
}

// TestRow74LostCommandsOfAClient: the link of each client in turn loses everything for 300 ms. The
// ticks that the server played without its command are named, and the fields that differ.
func TestRow74LostCommandsOfAClient(t *testing.T) {
	o := predictionOf("delay=20ms")
	o.JSON, o.Preview.Corrections = true, CorrectionLog
	var out strings.Builder
	r, err := NewPredictionReport(&out, o)
	if err != nil {
		t.Fatal(err)
	}
	s, err := o.Preview.Open()
	if err != nil {
		t.Fatal(err)
	}
	starved := map[string][]tick.Tick{} // by player, as the server counts them
	missing := make([]uint64, len(s.Clients))
	for s.Now() < 11*time.Second {
		turn := int(s.Now()/time.Second) - 4
		for i, c := range s.Clients {
			up, _ := s.Links(i)
			if i == turn && s.Now()%time.Second < 300*time.Millisecond {
				up.SetProfile(impair.Profile{Loss: 1})
			} else {
				up.SetProfile(impair.Profile{Delay: 20 * time.Millisecond})
			}
			if err := r.Take(c); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Step(); err != nil {
			t.Fatal(err)
		}
		m := s.Lobby.Match()
		for i, c := range s.Clients {
			if in := m.CommandBuffer(c.ID()); in != nil && in.Count.Missing > missing[i] {
				missing[i] = in.Count.Missing
				starved[c.ID().String()] = append(starved[c.ID().String()], m.Tick())
			}
		}
	}
	found, _ := corrections(t, out.String())
	named := 0
	for _, c := range found {
		named += len(c.Lost)
		for _, at := range c.Lost {
			if !slices.Contains(starved[c.Player], at) {
				t.Errorf("player %s: tick %d is named, the server lacked %v", c.Player, at, starved[c.Player])
			}
		}
		if !slices.ContainsFunc(c.Fields, func(f predict.Field) bool { return f.Differs() }) {
			t.Errorf("player %s, tick %d: no field differs", c.Player, c.Tick)
		}
		if len(c.Commands) == 0 || c.Commands[len(c.Commands)-1].Tick != c.Tick {
			t.Errorf("the commands do not end with tick %d: %+v", c.Tick, c.Commands)
		}
	}
	if len(found) < 3 || named < 5 {
		t.Fatalf("%d differences, %d ticks named; the server lacked %v\n%s", len(found), named, starved, &out)
	}
}

// TestRow74KnockBacksAreNamed: what the server does to a player is told apart from mispredictions,
// with the fields that it changed.
func TestRow74KnockBacksAreNamed(t *testing.T) {
	o := predictionOf("delay=20ms")
	o.Cause, o.JSON = "push", true
	var out strings.Builder
	if err := Prediction(t.Context(), &out, "preview", o); err != nil {
		t.Fatal(err)
	}
	found, total := corrections(t, out.String())
	if len(found) == 0 || uint64(len(found)) != total.Pushes || total.Mispredictions != 0 {
		t.Fatalf("%d pushes, %+v", len(found), total)
	}
	for _, c := range found {
		var differ []string
		for _, f := range c.Fields {
			if f.Differs() {
				differ = append(differ, f.Name)
			}
		}
		if !slices.Contains(differ, "pushes") || len(c.Commands) == 0 || !strings.Contains(c.About, "pushed") {
			t.Errorf("tick %d: %s, %v, %d commands", c.Tick, c.About, differ, len(c.Commands))
		}
	}
	o.JSON = false
	out.Reset()
	o.First, o.All = 2, true
	if err := Prediction(t.Context(), &out, "preview", o); err != nil {
		t.Fatal(err)
	}
	narrow(t, out.String())
	if n := strings.Count(out.String(), "push:"); n != 2 || !strings.Contains(out.String(), "*") {
		t.Errorf("%d shown of --first 2:\n%s", n, &out)
	}
}

func TestPredictionOptions(t *testing.T) {
	for want, o := range map[string]PredictionOptions{
		"--cause":  {Cause: "lag"},
		"--first":  {Cause: "any", First: -1},
		"--player": {Cause: "any", Player: "me"},
	} {
		if _, err := NewPredictionReport(nil, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
