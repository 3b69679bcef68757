package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/bench/capacity"
	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/netio/impair"
)

// prediction is what plan --predict says.
type prediction struct {
	Scenario scenario.Scenario   `json:"scenario"`
	Model    modelFacts          `json:"model"`
	Cost     capacity.Prediction `json:"prediction"`
	Prices   capacity.Prices     `json:"prices"`
	Headroom float64             `json:"headroom"`   // share of each host that stays free
	Share    float64             `json:"tick_share"` // of the tick period that a tick may take
	Money    *capacity.Costs     `json:"costs,omitempty"`
	Refused  string              `json:"refused,omitempty"`  // why there are no costs
	Verified []capacity.Verdict  `json:"verified,omitempty"` // of the first seconds, and in the long run
}

// modelFacts say what a prediction rests on.
type modelFacts struct {
	File        string           `json:"file"`
	Machine     capacity.Machine `json:"machine"`
	Commit      string           `json:"commit"`
	Virtual     bool             `json:"virtual"`
	Pace        float64          `json:"pace_us,omitempty"` // that its CPU times are of: of a tick of the lobby that is always the same; 0: not known
	Steps       int              `json:"steps"`
	modelErrors                  // in a match's first seconds
	LongRun     modelErrors      `json:"long_run"`
}

// modelErrors are those of lobbies that a model was not fitted to.
type modelErrors struct {
	HeldOut       int     `json:"held_out"`
	CPUErrorWorst float64 `json:"cpu_error_worst"` // of the held out ones, relative
	CPUErrorMean  float64 `json:"cpu_error_mean"`
	ByteErrWorst  float64 `json:"bytes_error_worst"`
	ByteErrMean   float64 `json:"bytes_error_mean"`
	HeldOutTimed  int     `json:"held_out_timed"`       // those that have CPU times
	CPUWithin     int     `json:"cpu_within_5_percent"` // of those
	BytesWithin   int     `json:"bytes_within_2_percent"`
}

// errors says how good a model is where it was not fitted.
func (m modelErrors) errors() string {
	if m.HeldOut == 0 {
		return "others is unknown: nothing was held out"
	}
	return fmt.Sprintf("%s that it was not fitted to: CPU %.1f %% mean, %.1f %% worst, %d of %d within 5 %%; bytes %.1f %% mean, %.1f %% worst, %d within 2 %%", several(m.HeldOut, "lobby"),
		100*m.CPUErrorMean, 100*m.CPUErrorWorst, m.CPUWithin, m.HeldOutTimed, 100*m.ByteErrMean, 100*m.ByteErrWorst, m.BytesWithin)
}

// measurementsOf reads a file of measurements, "" for the recorded ones of this build; from is what to call it.
func measurementsOf(path string) (ms capacity.Measurements, from string, err error) {
	if path != "" {
		ms, err = readMeasurements(path)
		return ms, path, err
	}
	const recorded = "recorded measurements of this build"
	ms, err = capacity.ParseMeasurements(recorded, capacity.Recorded())
	return ms, recorded, err
}

// openModel fits a model to a file of measurements, "" for the recorded ones of this build, to which it is fitted once.
func openModel(path string) (capacity.Model, modelFacts, error) {
	if path == "" {
		r := recordedModel()
		return r.m, r.facts, r.err
	}
	return fitModel(path)
}

// recordedModel is the one of the recorded measurements. Nobody changes it.
var recordedModel = sync.OnceValue(func() (r struct {
	m     capacity.Model
	facts modelFacts
	err   error
}) {
	r.m, r.facts, r.err = fitModel("")
	return r
})

func fitModel(path string) (capacity.Model, modelFacts, error) {
	ms, path, err := measurementsOf(path)
	if err != nil {
		return capacity.Model{}, modelFacts{}, err
	}
	m, err := capacity.FitModel(ms)
	if err != nil {
		return m, modelFacts{}, badUse(fmt.Errorf("%s: expected %w", path, err))
	}
	f := modelFacts{File: path, Machine: ms.Machine, Commit: ms.Commit, Virtual: m.Virtual, Pace: ms.Pace, Steps: m.Steps}
	all, err := m.JudgeAll(ms)
	if err != nil {
		return m, f, badUse(fmt.Errorf("%s: %w", path, err))
	}
	late := func(v capacity.Verdict) bool { return v.LongRun }
	f.LongRun = errorsOf(slices.DeleteFunc(slices.Clone(all), func(v capacity.Verdict) bool { return !late(v) }))
	f.modelErrors = errorsOf(slices.DeleteFunc(all, late))
	return m, f, nil
}

// errorsOf sums up verdicts.
func errorsOf(all []capacity.Verdict) (e modelErrors) {
	e.CPUErrorWorst, e.ByteErrWorst, e.CPUErrorMean, e.ByteErrMean = capacity.Worst(all, true)
	e.HeldOut, e.CPUWithin, e.BytesWithin = capacity.Within(all, 0.05, 0.02)
	for _, v := range all {
		if v.HeldOut && v.CPU > 0 {
			e.HeldOutTimed++
		}
	}
	return e
}

// asked are the facts of a scenario that a model predicts from.
func asked(sc scenario.Scenario) capacity.Facts {
	f := capacity.Facts{
		Scenario: sc.Name, Lobbies: sc.Lobby.Lobbies, PerLobby: sc.Lobby.Players, Spectators: sc.Lobby.Spectators, TickHz: sc.Rates.TickHz, SendEvery: sc.Every(),
		Side: sideOf(sc), Meets: meetsOf(sc), Far: sc.Lobby.FarMetres, Walls: sc.Lobby.Map == "town", Crowd: sc.Play.HotSpot, Bursts: sc.Play.Bursts, Throws: sc.Play.Throws,
		Leaves: sc.Play.LeavesPerMinute, Codec: sc.Network.Codec, Cap: float64(sc.Rates.Kbps) * 125,
	}
	if sc.Lobby.Mode != "deathmatch" {
		f.Mode = sc.Lobby.Mode
	}
	if p, err := impair.ParseProfile(sc.Network.Link); err == nil { // a scenario's links were read before
		f.Delay, f.Jitter, f.Loss = (p.Delay + p.Jitter/2).Seconds(), p.Jitter.Seconds(), p.Loss
	}
	return f
}

// readPrices reads a price file, strictly; "" for a host that costs nothing.
func readPrices(path string) (capacity.Prices, error) {
	p := capacity.DefaultPrices()
	if path == "" {
		return p, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return p, badUse(fmt.Errorf("prices: %w", err))
	}
	if err := scenario.Decode(path, text, &p); err != nil {
		return p, badUse(err)
	}
	if key, want := p.Check(); key != "" {
		return p, badUse(&scenario.Error{File: path, Line: scenario.Lines(text)[key], Key: key, Want: want})
	}
	return p, nil
}

// predict answers without running, and with verify runs the scenario, too.
func predict(c *cobra.Command, f planFlags, level capacity.Level) error {
	switch {
	case f.concurrent < 1 || f.concurrent > 1e9:
		return badUse(fmt.Errorf("--concurrent %d: expected 1 to a billion players", f.concurrent))
	case !(f.headroom >= 0 && f.headroom <= 0.9):
		return badUse(fmt.Errorf("--headroom %g: expected a share, 0 to 0.9", f.headroom))
	}
	prices, err := readPrices(f.prices)
	if err != nil {
		return err
	}
	m, facts, err := openModel(f.measured)
	if err != nil {
		return err
	}
	shown := newScreen(c.OutOrStdout(), f.json)
	shown.note("playing matches of %s by themselves", f.s.Name)
	out := prediction{Scenario: f.s, Model: facts, Prices: prices, Headroom: f.headroom, Share: level.WithDefaults().TickShare}
	out.Cost, err = predicted(c.Context(), &m, f.s, facts.File)
	if shown.clear(); err != nil {
		return err
	}
	costs, err := out.Cost.Costs(level, prices, f.concurrent, f.headroom)
	if out.Money = &costs; err != nil {
		out.Money, out.Refused = nil, err.Error()
	}
	if f.verify {
		for _, w := range []window{opening, longRun} {
			shown.note("verifying the prediction, seconds %.0f to %.0f of matches", w.warm, w.warm+w.seconds)
			v, err := verifyModel(c.Context(), &m, f.s, w, w.sure(), facts.Pace)
			if shown.clear(); err != nil {
				return err
			}
			out.Verified = append(out.Verified, v)
		}
	}
	if f.json {
		e := json.NewEncoder(c.OutOrStdout())
		e.SetIndent("", "  ")
		return e.Encode(out)
	}
	printPrediction(c.OutOrStdout(), out)
	return nil
}

// verifyModel plays the scenario in virtual time and compares. A model of live measurements wants a live run, which is plan itself. Recorded is the pace that the
// model's CPU times are of: where it is known, that of the machine is measured beside them.
func verifyModel(ctx context.Context, m *capacity.Model, s scenario.Scenario, w window, sure, recorded float64) (capacity.Verdict, error) {
	if !m.Virtual {
		return capacity.Verdict{}, badUse(errors.New("--verify: these measurements are live ones; run plan on the scenario and give both reports to --predict"))
	}
	// Other matches than any that the model was fitted to, or judged by. What is predicted of them is of their maps.
	s.Play.Seed += 4 * heldSeed
	settle(&s, w)
	step, err := tell(ctx, s, nil, sure, max(mostMatches(s)/2, 2)) // one would not tell how much they differ
	if err != nil {
		return capacity.Verdict{}, err
	}
	timed, pace, err := timedAt(ctx, recorded, s, timedMatches(s, timedMost))
	if err != nil {
		return capacity.Verdict{}, err
	}
	if step.Facts.Played, err = playedOf(ctx, s, w); err != nil {
		return capacity.Verdict{}, err
	}
	step.StageCPUMicros = timed.StageCPUMicros
	v, err := m.JudgeMeasured(capacity.Measurement{Step: step, Timed: timed.Facts})
	v.Pace = pace
	return v, err
}

// timedAt times so many matches, and how many times as long as recorded the machine takes meanwhile; 0 where nothing is recorded to tell that by.
func timedAt(ctx context.Context, recorded float64, s scenario.Scenario, matches int) (capacity.Step, float64, error) {
	if recorded > 0 {
		p := pacer{plays: timedPlays, usual: recorded}
		return p.beside(ctx, s, matches)
	}
	step, err := rehearse(ctx, s, matches, timedPlays, slowdown{})
	return step, 0, err
}

// What a plan verifies the model by, beside the errors that its recording is known for: a small lobby of the plan's own scenario, of a size
// that no model was fitted to, played here and now.
const (
	verifyPlayers = 40
	verifyQuick   = 0.02
)

// verifyNow says how good predictions are: where they were recorded, and on this machine and build. It says nothing of what cannot be predicted.
func (r *rig) verifyNow(ctx context.Context, out *screen) {
	m, facts, err := openModel(r.flags.measured)
	if err != nil {
		return
	}
	set := func(name, value string) {
		r.plan.Config = append(r.plan.Config, capacity.Setting{Name: name, Value: value})
	}
	set("plan --predict", "errors on "+facts.errors())
	if r.flags.quick || ctx.Err() != nil {
		return
	}
	out.note("verifying predictions")
	s := r.flags.s
	s.Lobby.Players, s.Lobby.Lobbies, s.Lobby.Grow = min(verifyPlayers, s.Lobby.Players), 1, "players"
	s.Lobby.Spectators = min(s.Lobby.Spectators, s.Lobby.Players)
	if _, err := predictable(&m, s); err != nil {
		return
	}
	if v, err := verifyModel(ctx, &m, s, opening, verifyQuick, facts.Pace); err == nil {
		r.plan.Verified = &v
		set(fmt.Sprintf("verified, %d players", s.Lobby.Players), verified(v))
	}
}

// playText says how sure matches are by themselves; what was learned elsewhere, which a prediction mixes in, makes it surer.
func playText(p capacity.Played) string {
	text := several(p.Matches, "match") + " without a server, "
	if open := p.Unsure.Bytes(p.Alive); open > 0 {
		return text + fmt.Sprintf("which by themselves leave about %.1f %% of the bytes open; what was learned elsewhere is mixed in", 100*open)
	}
	return text + "which do not tell how much of the bytes they leave open"
}

func printPrediction(w io.Writer, p prediction) {
	c, f := p.Cost, p.Cost.Facts
	beside := ""
	if f.Spectators > 0 {
		beside = " and " + several(f.Spectators, "spectator")
	}
	fmt.Fprintf(w, "%s: %s of %s%s at %d Hz, a snapshot each %s\n", p.Scenario.Name, several(f.Lobbies, "lobby"), several(f.PerLobby, "player"), beside, f.TickHz,
		strings.TrimPrefix(several(f.SendEvery, "tick"), "1 "))
	kind := "live, system calls with it"
	if p.Model.Virtual {
		kind = "in virtual time, without system calls"
	}
	fmt.Fprintf(w, "model: %s (%s, %s), fitted to %s %s\n", p.Model.File, p.Model.Machine.CPU, p.Model.Commit, several(p.Model.Steps, "lobby"), kind)
	fmt.Fprintf(w, "  its error on %s\n", p.Model.errors())
	if c.LongRun != nil {
		fmt.Fprintf(w, "  in the long run, on %s\n", p.Model.LongRun.errors())
	}
	fmt.Fprintf(w, "play: %s\n", playText(f.Played))
	for _, beyond := range c.Extrapolated {
		fmt.Fprintf(w, "  beyond what was measured: %s\n", beyond)
	}
	tick := func(when string, us float64) {
		fmt.Fprintf(w, "a tick of one lobby%s: %.0f µs CPU, %.1f %% of its period\n", when, us, us*float64(f.TickHz)/1e4)
	}
	if c.LongRun == nil {
		tick("", c.TickMicros)
	} else {
		tick(fmt.Sprintf(" in its first seconds, when %.0f %% are alive", 100*f.Alive), c.TickMicros)
	}
	for _, s := range c.Stages {
		if s.Mean >= 0.02*c.TickMicros {
			fmt.Fprintf(w, "  %-11s %8.1f µs %5.1f %%\n", s.Name, s.Mean, 100*s.Mean/c.TickMicros)
		}
	}
	if late := c.LongRun; late != nil {
		tick(fmt.Sprintf(" in the long run, when %.0f %% are alive", 100*late.Facts.Alive), late.TickMicros)
	}
	all := "all lobbies"
	if c.LongRun != nil {
		all += ", in their first seconds"
	}
	fmt.Fprintf(w, "%s: %.2f cores, %.1f MB, %.2f Mbit/s out, %.0f datagrams/s out, %.0f in\n", all, c.Cores, c.MemoryMB, c.EgressMbps, c.PacketsOut, c.PacketsIn)
	down := ""
	if c.LongRun != nil {
		down = fmt.Sprintf(", %.1f in the long run", c.LongRun.KbpsDown)
	}
	fmt.Fprintf(w, "a client: %.1f kbit/s down%s; %.1f up; sees %.1f others\n", c.KbpsDown, down, c.KbpsUp, f.Visible)
	if c.Squeezed {
		fmt.Fprintln(w, "  more would be sent: the budget holds it down, and rows wait")
	}
	if p.Refused != "" {
		fmt.Fprintf(w, "no hosts: %s\n", p.Refused)
	}
	if m := p.Money; m != nil {
		fmt.Fprintf(w, "a host of %s, %.0f %% of it kept free: %s, %s; bound by %s\n", several(p.Prices.HostCores, "core"), 100*p.Headroom, several(m.LobbiesPerHost, "lobby"),
			several(m.PlayersPerHost, "player"), m.Binding)
		for _, l := range m.Limits {
			fmt.Fprintf(w, "  %-8s is enough for %8.0f %s\n", l.Resource, math.Floor(l.Lobbies), noun(math.Floor(l.Lobbies) == 1, "lobby")) // as LobbiesPerHost
		}
		fmt.Fprintf(w, "  CPU time alone, with nothing kept free, in ticks that take at most %.0f %% of their period: %.0f players a core\n", 100*p.Share, math.Floor(m.PlayersPerCore))
		money := "" // who gave no prices asked for none
		if p.Prices.HostHour > 0 || p.Prices.EgressGB > 0 {
			money = fmt.Sprintf("; %.0f %s a month for hosts, %.0f for egress, %.5f a player-hour", m.HostsMonth, p.Prices.Currency, m.EgressMonth, m.PlayerHour)
		}
		out := fmt.Sprintf("%.0f Mbit/s out", m.EgressMbps)
		if c.LongRun != nil {
			out += fmt.Sprintf(", %.0f in the long run", m.LongRunMbps)
		}
		fmt.Fprintf(w, "%s at a time: %s, %s%s\n", several(m.Concurrent, "player"), several(m.Hosts, "host"), out, money)
	}
	for _, v := range p.Verified {
		fmt.Fprintln(w, verified(v))
	}
}

// verified says how far a prediction was off, and how far off the measurements may be; and how fast the machine was that they were made on.
func verified(v capacity.Verdict) string {
	at, when := "", ""
	if v.Pace > 0 {
		at = ", at the recorded pace"
	}
	if v.LongRun {
		when = " in the long run"
	}
	return fmt.Sprintf("verified%s: CPU %.1f µs a tick%s (± %.1f %%, as matches differ), predicted %.1f (%+.1f %%); %.0f B/s a client (± %.1f %%), predicted %.0f (%+.1f %%); %s", when, v.Paced(),
		at, 100*v.CPUUnsure, v.CPUPredicted, 100*v.CPUError(), v.Bytes, 100*v.BytesUnsure, v.BytesPredicted, 100*v.BytesError(), paceText(v))
}

// paceText says how fast the machine was beside the recorded one, or that this is not known.
func paceText(v capacity.Verdict) string {
	if v.Pace == 0 {
		return "the measurements do not tell at what pace they were recorded, so CPU times are compared as they are"
	}
	than := fmt.Sprintf("%.1f %% slower than", 100*(v.Pace-1))
	switch {
	case math.Abs(v.Pace-1) < 0.0005:
		than = "as fast as"
	case v.Pace < 1:
		than = fmt.Sprintf("%.1f %% faster than", 100*(1-v.Pace))
	}
	return fmt.Sprintf("this machine, with this build, was %s the recorded one: here a tick took %.1f µs, predicted %.1f", than, v.CPU, v.CPUHere())
}
