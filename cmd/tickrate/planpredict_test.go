package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tickrate/tickrate/bench/capacity"
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

// A quick plan, and one that is interrupted, say what predictions are known for and verify none.
func TestVerifyNowIsNotForTheQuick(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for i, x := range []struct {
		ctx   context.Context
		quick bool
	}{{t.Context(), true}, {over, false}} {
		r := &rig{flags: planFlags{s: seven(t, "quick"), quick: x.quick}, plan: &capacity.Plan{}}
		var shown strings.Builder
		before := known()
		r.verifyNow(x.ctx, &screen{w: &shown, live: true})
		if len(r.plan.Config) != 1 || r.plan.Verified != nil || shown.Len() > 0 || known() != before {
			t.Errorf("%d: %v, %v, %q, %d scenarios played", i, r.plan.Config, r.plan.Verified, shown.String(), known()-before)
		}
	}
}

// known counts the scenarios of which is known how they meet, or what they come to do.
func known() (n int) {
	for _, m := range []*sync.Map{&met, &playedKnown} {
		m.Range(func(any, any) bool { n++; return true })
	}
	return n
}

// printable is a prediction whose text is looked at.
func printable() prediction {
	f := capacity.Facts{Lobbies: 2, PerLobby: 10, TickHz: 128, SendEvery: 2, Played: capacity.Played{Matches: 260, Alive: 0.8, Unsure: capacity.Unsure{0.03, 0.03}}}
	c := capacity.Costs{PlayersPerCore: 1962.9, LobbiesPerHost: 362, PlayersPerHost: 3620, Binding: "packets", Concurrent: 20000, Hosts: 6, EgressMbps: 1272,
		Limits: []capacity.Limit{{Resource: "cpu", Lobbies: 1099.4}, {Resource: "packets", Lobbies: 362.9}}, HostsMonth: 1533, EgressMonth: 4179, PlayerHour: 0.00039}
	return prediction{Scenario: scenario.Scenario{Name: "duels"}, Cost: capacity.Prediction{Facts: f, TickMicros: 24}, Money: &c, Headroom: 0.3, Share: 0.6,
		Prices: capacity.Prices{Currency: "EUR", HostCores: 8, HostHour: 0.35, EgressGB: 0.01}}
}

// What a host carries is rounded in one way, and what is of CPU time alone is said to be.
func TestPrintedHosts(t *testing.T) {
	var out strings.Builder
	printPrediction(&out, printable())
	const want = `
a host of 8 cores, 30 % of it kept free: 362 lobbies, 3620 players; bound by packets
  cpu      is enough for     1099 lobbies
  packets  is enough for      362 lobbies
  CPU time alone, with nothing kept free, in ticks that take at most 60 % of their period: 1962 players a core
`
	if !strings.Contains(out.String(), want) {
		t.Error(out.String())
	}
}

// Money is told of where there are prices; one of a thing is not many.
func TestPrintedMoneyAndPlurals(t *testing.T) {
	p := printable()
	text := func() string {
		var out strings.Builder
		printPrediction(&out, p)
		return out.String()
	}
	for i, want := range []string{
		"duels: 2 lobbies of 10 players at 128 Hz, a snapshot each 2 ticks\n",
		"\n20000 players at a time: 6 hosts, 1272 Mbit/s out; 1533 EUR a month for hosts, 4179 for egress, 0.00039 a player-hour\n",
	} {
		if got := text(); !strings.Contains(got, want) {
			t.Errorf("%d: %s", i, got)
		}
	}
	p.Prices = capacity.DefaultPrices()
	f, m := &p.Cost.Facts, p.Money
	f.Lobbies, f.PerLobby, f.Spectators, f.SendEvery = 1, 32, 1, 1
	m.LobbiesPerHost, m.PlayersPerHost, m.Concurrent, m.Hosts = 1, 32, 1, 1
	m.Limits = []capacity.Limit{{Resource: "cpu", Lobbies: 1.9}}
	p.Model.Steps, p.Model.HeldOut = 1, 1
	for i, want := range []string{
		"duels: 1 lobby of 32 players and 1 spectator at 128 Hz, a snapshot each tick\n", "fitted to 1 lobby live", "its error on 1 lobby that",
		": 1 lobby, 32 players; bound by packets\n", "enough for        1 lobby\n", "\n1 player at a time: 1 host, 1272 Mbit/s out\n",
	} {
		if got := text(); !strings.Contains(got, want) {
			t.Errorf("%d: %s", i, got)
		}
	}
}

// How sure the play is, is said of the matches by themselves; a match that tells nothing is not said to be sure.
func TestPlayText(t *testing.T) {
	p := printable().Cost.Facts.Played
	if got, want := playText(p), "260 matches without a server, which by themselves leave about 1.1 % of the bytes open; what was learned elsewhere is mixed in"; got != want {
		t.Error(got)
	}
	p.Unsure = capacity.Unsure{}
	if got, want := playText(p), "260 matches without a server, which do not tell how much of the bytes they leave open"; got != want {
		t.Error(got)
	}
}

// Measurements that hold something out of which they tell nothing are refused by their file's name and in a sentence.
func TestMeasurementsThatCannotBeJudged(t *testing.T) {
	ms, err := capacity.ParseMeasurements("recorded", capacity.Recorded())
	if err != nil {
		t.Fatal(err)
	}
	ms.Steps = slices.DeleteFunc(ms.Steps, func(s capacity.Measurement) bool { return !s.HeldOut && s.Facts.Codec == "range" })
	text, err := ms.Encode()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "m.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"errors"}, {"--predict", "--scenario", "duels"}} {
		want := "tickrate: " + file + `: codec "range" was not measured; those were: `
		if code, out, errs := result(t, append(append([]string{"plan"}, args...), "--measurements", file)...); code != 2 || !strings.HasPrefix(errs, want) {
			t.Errorf("%v: code %d, %s %s", args, code, out, errs)
		}
	}
}

// Times are compared at one pace, that of the recording; how fast the machine was beside it is said, and what that makes of the prediction here.
func TestVerifiedText(t *testing.T) {
	v := capacity.Verdict{CPU: 104.2, CPUPredicted: 102, CPUUnsure: 0.01, Bytes: 5000, BytesPredicted: 5050, BytesUnsure: 0.008}
	for i, c := range []struct {
		pace float64
		want []string
	}{
		{1.042, []string{"CPU 100.0 µs a tick, at the recorded pace (± 1.0 %, as matches differ), predicted 102.0 (+2.0 %)",
			"; this machine, with this build, was 4.2 % slower than the recorded one: here a tick took 104.2 µs, predicted 106.3"}},
		{0.5, []string{"CPU 208.4 µs", "(-51.1 %)", "50.0 % faster than the recorded one: here a tick took 104.2 µs, predicted 51.0"}},
		{1.0001, []string{"CPU 104.2 µs", "was as fast as the recorded one"}},
		{0, []string{"CPU 104.2 µs a tick (± 1.0 %", "(-2.1 %)", "5000 B/s a client (± 0.8 %), predicted 5050 (+1.0 %); the measurements do not tell at what pace"}},
	} {
		v.Pace = c.pace
		for _, want := range c.want {
			if got := verified(v); !strings.Contains(got, want) {
				t.Errorf("%d: %s, expected %s", i, got, want)
			}
		}
	}
}

// A verification is of the recorded pace, where that is known: of one at which all takes no time at all, this machine is as slow as can be.
func TestVerifiedAtThePace(t *testing.T) {
	if testing.Short() {
		t.Skip("matches of a few seconds of CPU time")
	}
	m, facts, err := openModel("")
	if err != nil {
		t.Fatal(err)
	}
	if facts.Pace <= 0 {
		t.Fatal("the recorded measurements have no pace")
	}
	const nothing = 1e-6
	s := seven(t, "pace")
	for _, recorded := range []float64{0, nothing} {
		v, err := verifyModel(t.Context(), &m, s, opening, 1, recorded)
		if err != nil {
			t.Fatal(err)
		}
		raw := v.CPUPredicted/v.CPU - 1
		switch {
		case v.CPU <= 0 || v.CPU > 1e5:
			t.Errorf("a tick of %g µs", v.CPU)
		case recorded == 0 && (v.Pace != 0 || v.CPUError() != raw):
			t.Errorf("no pace is known, and it is %g, off by %g rather than %g", v.Pace, v.CPUError(), raw)
		case recorded > 0 && (v.Pace < 1/nothing || v.CPUError() < 1000*raw):
			t.Errorf("pace %g, off by %g", v.Pace, v.CPUError())
		}
	}
}
