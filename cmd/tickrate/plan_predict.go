// The command plan predict: the cost of a scenario from a simulated run on this machine, and the
// hosts and money for a number of players. bench/simbench simulates and bench/runner measures the
// sockets.

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/runner"
	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/bench/simbench"
	"github.com/tickrate/tickrate/cmd/internal/assets"
	"github.com/tickrate/tickrate/cmd/internal/usage"
)

// predictFlags are the flags of plan predict.
type predictFlags struct {
	scenarioFlags
	size       int     // players of a lobby, or lobbies; 0 for the scenario's
	repeats    int     // matches to simulate
	concurrent int     // players online at a time, for hosts and money
	headroom   float64 // share of each host that stays free
	prices     string  // TOML file; empty for a free host
	json       bool
}

// newPredict returns the command plan predict. Its output is of this machine only.
func newPredict() *cobra.Command {
	var f predictFlags
	c := &cobra.Command{
		Use:   "predict",
		Short: "Say what a scenario costs on this machine, from a simulated run",
		Long: `predict plays the scenario in virtual time with the real lobby and real clients,
all players of all lobbies, and measures the CPU time of its ticks: in the
opening seconds of a match and in its steady state. Then it exchanges the same
datagrams over real sockets, with as many server processes as a live run has,
and adds their cost. Nothing is recorded: the prediction is of this machine, now.
Intervals hold what a live run measures nine times of ten; the error of the model,
learned on other scenarios, is part of them.

Hosts and money follow from the cores of whole processes, system calls included.
Where lobbies grow, they are those of a process of 300 players; --size says
another number of lobbies. plan verify tells the error.`,
		Args: assets.MoreTraces(&f.traces),
		RunE: func(c *cobra.Command, _ []string) error { return predict(c, f) },
	}
	f.register(c)
	sizeFlags(c, &f.size, &f.repeats)
	fl := c.Flags()
	fl.BoolVar(&f.json, "json", false, "print JSON")
	fl.StringVar(&f.prices, "prices", "",
		"TOML `file` with the size and the cost of a host, as examples/plan/prices.toml; default 8 "+
			"cores, 16 GB, 1 Gbit/s, free")
	fl.IntVar(&f.concurrent, "concurrent", 10000, "`players` at a time that hosts are wanted for")
	fl.Float64Var(&f.headroom, "headroom", 0.3, "`share` of each host that stays free, 0 to 0.9")
	return c
}

// sizeFlags adds the flags that predict and verify have in common.
func sizeFlags(c *cobra.Command, size, repeats *int) {
	c.Flags().IntVar(size, "size", 0,
		"`number` of players in a lobby, or of lobbies where the scenario grows those; default "+
			"the scenario's")
	c.Flags().IntVar(repeats, "repeats", 3, "`matches` to play, 1 to 100")
}

// sized loads the scenario and applies --size and --repeats.
func (f *scenarioFlags) sized(c *cobra.Command, size, repeats int) error {
	if err := f.load(c); err != nil {
		return err
	}
	if repeats < 1 || repeats > 100 {
		return fmt.Errorf("--repeats %d: expected 1 to 100 matches", repeats)
	}
	if size != 0 {
		f.s = f.s.At(size)
		f.s.Lobby.Most = max(f.s.Lobby.Most, size)
	}
	return byFlag(c, f.s.Check())
}

// predict simulates the scenario and derives hosts and money. A scenario that misses its service
// level is printed all the same, with the reason in place of hosts.
func predict(c *cobra.Command, f predictFlags) error {
	err := f.sized(c, f.size, f.repeats)
	switch {
	case err != nil:
		return usage.Error(err)
	case f.concurrent < 1 || f.concurrent > 1e9:
		return usage.Errorf("--concurrent %d: expected 1 to a billion players", f.concurrent)
	case !(f.headroom >= 0 && f.headroom <= 0.9):
		return usage.Errorf("--headroom %g: expected a share, 0 to 0.9", f.headroom)
	}
	prices, err := readPrices(f.prices)
	if err != nil {
		return err
	}
	if f.size == 0 {
		f.s = fillProcess(f.s)
	}
	out := newScreen(c.OutOrStdout(), f.json)
	cfg, err := f.config(c, out)
	if err != nil {
		return err
	}
	p, _, err := runner.Predict(c.Context(), cfg, runner.PredictConfig{Repeats: f.repeats, Commit: version})
	out.clear()
	if err != nil {
		return err
	}
	// A core carries lobbies up to the share of a tick's period that the service level allows.
	level := f.objective.Level()
	p.Prices = prices
	hosts, err := p.HostsFor(prices, f.demand(f.concurrent, f.headroom))
	// The p99 of the tick is about the mean of the opening times its tail ratio.
	if tick := p.Windows[0].TickMillis.Mean * max(1, p.Windows[0].Tail); err == nil &&
		tick > level.TickLimitMillis {
		err = fmt.Errorf("a lobby of %d does not hold the service level: p99 of its tick is about %.1f "+
			"ms, expected at most %.1f", f.s.Lobby.Players, tick, level.TickLimitMillis)
	}
	if p.Hosts = &hosts; err != nil {
		p.Hosts, p.Refused = nil, err.Error()
	}
	if f.json {
		e := json.NewEncoder(c.OutOrStdout())
		e.SetIndent("", "  ")
		return e.Encode(p)
	}
	printPrediction(&wrapper{w: c.OutOrStdout()}, p, f.headroom)
	return nil
}

// demand is a number of players at a time, with the share of a core that the service level leaves to
// ticks.
func (f *scenarioFlags) demand(concurrent int, headroom float64) simbench.Demand {
	level := f.objective.Level()
	return simbench.Demand{Concurrent: concurrent, Headroom: headroom,
		CoreShare: min(1, level.TickLimitMillis/level.PeriodMillis())}
}

// filledPlayers is the number of players in all lobbies at which a process counts as filled: what it
// takes beside its lobbies is then a small part of them.
const filledPlayers = 300

// fillProcess returns a scenario whose lobbies grow with so many that its process is filled: hosts
// have filled processes, and such a process takes less for a lobby than one of two lobbies.
func fillProcess(s scenario.Scenario) scenario.Scenario {
	if s.Lobby.Grow == "lobbies" && s.SharedProcess() {
		s.Lobby.Lobbies = max(s.Lobby.Lobbies, min(filledPlayers/s.Lobby.Players, s.Lobby.Most))
	}
	return s
}

// readPrices reads a price file and refuses unknown keys. An empty path is a host of the default
// size that costs nothing.
func readPrices(path string) (simbench.Prices, error) {
	p := simbench.DefaultPrices()
	if path == "" {
		return p, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return p, usage.Errorf("prices: %w", err)
	}
	if err := scenario.Decode(path, text, &p); err != nil {
		return p, usage.Error(err)
	}
	if key, want := p.Check(); key != "" {
		line := scenario.Lines(text)[key]
		return p, usage.Error(&scenario.Error{File: path, Line: line, Key: key, Want: want})
	}
	return p, nil
}

// printPrediction prints a prediction for people. headroom is the share of each host that stays
// free.
func printPrediction(w io.Writer, p simbench.Prediction, headroom float64) {
	s := p.Scenario
	fmt.Fprintf(w, "%s: %s of %s at %d Hz, %s simulated on %s\n", s.Name,
		several(s.Lobby.Lobbies, "lobby"), several(s.Lobby.Players, "player"),
		s.Rates.TickHz, several(p.Repeats, "match"), p.Machine.CPU)
	for _, c := range p.Windows {
		printCost(w, p, c)
	}
	in := p.Intervals
	fmt.Fprintf(w, "intervals of %s for a live run, nine of ten, the error of the model in them: "+
		"%.3g to %.3g cores, %.0f to %.0f B/s down\n", p.Windows[0].Window, in.Cores.Low, in.Cores.High,
		in.BytesDown.Low, in.BytesDown.High)
	fmt.Fprintf(w, "memory: %.0f MB (%.0f to %.0f): %.0f a process, %.1f a lobby; %.0f KB of it a player\n",
		p.MemoryBytes/1e6, in.MemoryBytes.Low/1e6, in.MemoryBytes.High/1e6, p.Memory.Process/1e6,
		p.Memory.Lobby/1e6, p.Memory.Player/1e3)
	if p.Refused != "" {
		fmt.Fprintf(w, "no hosts: %s\n", p.Refused)
	}
	if p.Hosts != nil {
		printHosts(w, p, headroom)
	}
}

// printCost prints the cost of one window: the opening of a match or its steady state. It leaves
// out stages below 2 % of the tick.
func printCost(w io.Writer, p simbench.Prediction, c simbench.Cost) {
	hz := float64(p.Scenario.Rates.TickHz)
	fmt.Fprintf(w, "%s: a tick of one lobby takes %.0f µs CPU, %.1f %% of its period; %.3f cores: "+
		"%.3f for lobbies, %.3f for sockets and the rest of each process\n",
		c.Window, 1e3*c.TickMillis.Mean, c.TickMillis.Mean*hz/10, c.ServerCores, c.Lobbies, c.Processes)
	for _, st := range c.Stages {
		if st.Mean >= 0.02*c.TickMillis.Mean {
			fmt.Fprintf(w, "  %-11s %8.1f%s µs %5.1f %%\n", st.Name, 1e3*st.Mean,
				plusMinus(st.Times(1e3)), 100*st.Mean/c.TickMillis.Mean)
		}
	}
	// Costs of sockets are live, since virtual time has no system calls.
	k := c.Sockets
	fmt.Fprintln(w, "  sockets, measured live, CPU time a tick of one process:")
	fmt.Fprintf(w, "    receive %8.1f µs, %6.1f datagrams in %.1f calls\n",
		1e3*k.ReceiveMillis, k.DatagramsIn, k.Receives)
	fmt.Fprintf(w, "    send    %8.1f µs, %6.1f datagrams in %.1f calls, %.0f ns a datagram\n", 1e3*k.SendMillis,
		k.DatagramsOut, k.Sends, 1e6*k.SendMillis/max(k.DatagramsOut, 1e-9))
	fmt.Fprintf(w, "    beside  %8.1f µs: reading the socket between ticks, wake-ups, the runtime\n",
		1e3*k.BesideMillis)
	fmt.Fprintf(w,
		"  a client: %.0f%s B/s down, %.0f up; all: %.2f Mbit/s out, %.0f datagrams/s in, %.0f out\n",
		c.BytesDown.Mean, plusMinus(c.BytesDown), c.BytesUp.Mean, c.EgressMbps, c.PacketsIn, c.PacketsOut)
	if k.Late > 0.01 {
		fmt.Fprintf(w, "  %.1f %% of the socket ticks were late: the machine is busy with something "+
			"else, and the numbers are worth less\n", 100*k.Late)
	}
}

// plusMinus prints the standard error of an estimate, nothing where there is none.
func plusMinus(e measure.Estimate) string {
	if e.StdErr == 0 {
		return ""
	}
	return " ± " + digits(e.StdErr, 2)
}

// printHosts prints how many lobbies a host carries, by each of its resources, and the hosts and
// the money for the demand.
func printHosts(w io.Writer, p simbench.Prediction, headroom float64) {
	h := p.Hosts
	fmt.Fprintf(w, "a host of %s with %.0f %% of it free: %s, %s; bound by %s\n",
		several(p.Prices.HostCores, "core"), 100*headroom,
		several(h.LobbiesPerHost, "lobby"), several(h.PlayersPerHost, "player"), h.Binding)
	for _, l := range h.Limits {
		fmt.Fprintf(w, "  %-8s is enough for %8.0f %s\n", l.Resource, math.Floor(l.Lobbies),
			noun(math.Floor(l.Lobbies) == 1, "lobby"))
	}
	fmt.Fprintf(w, "  %.0f players a core, system calls included, nothing kept free\n",
		math.Floor(h.PlayersPerCore))
	money := ""
	if p.Prices.HostHour > 0 || p.Prices.EgressGB > 0 {
		money = fmt.Sprintf("; %.0f %s a month for hosts, %.0f for egress (%.0f to %.0f together), "+
			"%.5f a player-hour", h.HostsMonth, p.Prices.Currency, h.EgressMonth, h.MonthRange.Low,
			h.MonthRange.High, h.PlayerHour)
	}
	fmt.Fprintf(w, "%s at a time: %s (%.0f to %.0f), %.0f Mbit/s out at peak, %.0f in the steady state%s\n",
		several(h.Concurrent, "player"), several(h.Hosts, "host"), h.HostsRange.Low, h.HostsRange.High,
		h.EgressMbps, h.MeanMbps, money)
}
