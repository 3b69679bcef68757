// The flags that plan, plan predict and plan verify share: they choose a scenario and override its
// keys.

package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/runner"
	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/bench/simbench"
	"github.com/tickrate/tickrate/bench/slo"
	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/cmd/internal/assets"
	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim"
)

// Measured time and warm-up of a step with --quick.
const (
	quickDuration = scenario.Duration(3 * time.Second)
	quickWarmup   = scenario.Duration(time.Second)
)

// scenarioFlags choose a scenario and override its keys: they are common to plan, plan predict and
// plan verify.
type scenarioFlags struct {
	scenario       string // name or file
	slo            string // expression of the service level
	model, content string // file of models, folder of the content pack; empty: this build's

	socket, codec, relevance string // as of serve
	maps, mode               string // kind of generated map, mode of the game

	viewDistance     float64       // metres; 0 for no limit
	rate             int           // simulation rate, Hz
	every            int           // ticks between two snapshots to one client; 0 for about 20 Hz
	full             int           // players that decode whole snapshots
	duration, warmup time.Duration // of each step
	perLobby         bool          // a process for each lobby
	seed             uint64        // of maps, matches and players
	traces           []string      // recorded play to follow; none for the scenario's bots

	// s and objective are results of load: the scenario with the overrides, and its service level.
	s         scenario.Scenario
	objective *slo.Objective
}

// register adds the flags to c. Their defaults are shown in the help only: load takes the
// scenario's value for each flag that was not given.
func (f *scenarioFlags) register(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.scenario, "scenario", "one-lobby",
		"`name` of a scenario (plan scenarios lists them), or a TOML file")
	fl.StringVar(&f.slo, "slo", "", "service level, an `expression`; default "+slo.DefaultExpr)
	fl.IntVar(&f.rate, "rate", int(tick.DefaultRate), "simulation rate in `Hz`, 20 to 144")
	fl.IntVar(&f.every, "interval", 0,
		"`ticks` between two snapshots to one client; 0 for the value nearest to 20 Hz")
	fl.IntVar(&f.full, "full", 4,
		"`number` of players that decode everything they receive; the others decode their own state only")
	fl.DurationVar(&f.duration, "duration", 0, "measured `time` of each step; default the scenario's, 6s")
	fl.DurationVar(&f.warmup, "warmup", 0, "warm-up `time` of each step; default the scenario's, 2s")
	fl.StringVar(&f.socket, "socket", "gnet", "socket `backend` of the server: gnet or mmsg")
	fl.StringVar(&f.model, "model", "", "compression model `file`; default the model of this build")
	fl.StringVar(&f.codec, "codec", schema.Huffman.String(),
		"`codec` of snapshots, as of serve: huffman, range, zstd, huffman-zstd or stored")
	fl.StringVar(&f.relevance, "relevance", "auto",
		"interest `management`, as of serve: auto, off, all or grid")
	fl.StringVar(&f.maps, "map", "gen",
		"`kind` of map, generated for each size: gen (low walls) or town (houses that block the view)")
	fl.StringVar(&f.mode, "mode", "deathmatch", assets.ModeUsage)
	fl.StringVar(&f.content, "content", "", assets.ContentUsage)
	fl.Float64Var(&f.viewDistance, "view-distance", 0,
		"`metres` beyond which players are not replicated; 0 for no limit")
	fl.BoolVar(&f.perLobby, "process-per-lobby", false,
		"run each lobby in a process of its own, to compare with all lobbies in one")
	fl.Uint64Var(&f.seed, "seed", 1, "`seed` of maps, matches and players")
	fl.StringArrayVar(&f.traces, "trace", nil,
		"recorded play to follow, one .csv or .csv.gz `file` or more; default none")
	names := func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return scenario.Names(), cobra.ShellCompDirectiveDefault // files, too
	}
	_ = c.RegisterFlagCompletionFunc("scenario", names) // fails for unknown flags only
}

// load reads the scenario, overrides its keys by the flags that were typed, and compiles the
// service level.
func (f *scenarioFlags) load(c *cobra.Command) error {
	s, err := openScenario(f.scenario)
	if err != nil {
		return err
	}
	override := func(flag string, do func()) {
		if c.Flags().Changed(flag) {
			do()
		}
	}
	override("rate", func() { s.Rates.TickHz = f.rate })
	override("interval", func() { s.Rates.SendEvery = f.every })
	override("full", func() { s.Play.Full = f.full })
	override("duration", func() { s.Measure.Duration = scenario.Duration(f.duration) })
	override("warmup", func() { s.Measure.Warmup = scenario.Duration(f.warmup) })
	override("socket", func() { s.Network.Socket = f.socket })
	override("codec", func() { s.Network.Codec = f.codec })
	override("relevance", func() { s.Lobby.Relevance = f.relevance })
	override("map", func() { s.Lobby.Map = f.maps })
	override("mode", func() { s.Lobby.Mode = f.mode })
	override("view-distance", func() { s.Lobby.ViewDistance = f.viewDistance })
	override("process-per-lobby", func() { s.Lobby.ProcessPerLobby = f.perLobby })
	override("seed", func() { s.Play.Seed = f.seed })
	override("trace", func() { s.Play.Traces = f.traces })
	override("slo", func() { s.Measure.SLO = f.slo })
	if err := s.Check(); err != nil {
		return byFlag(c, err)
	}
	return f.at(c, "slo", "measure.slo", f.use(s))
}

// use takes a scenario and compiles its service level.
func (f *scenarioFlags) use(s scenario.Scenario) (err error) {
	f.s = s
	f.objective, err = slo.Compile(slo.Level{TickHz: s.Rates.TickHz, SendEvery: s.Every(),
		Expr: s.Measure.SLO})
	return err
}

// brains returns the bots of the scenario, by player number, and a description of them for reports.
func (f *scenarioFlags) brains(c *cobra.Command) (brain func(n int) swarm.Brain, from string, err error) {
	move, err := assets.Bots(f.s.Play.Traces, f.s.Play.Seed)
	if err != nil {
		return nil, "", f.at(c, "trace", "play.traces", err)
	}
	if len(f.s.Play.Traces) > 0 {
		return move.Brain, move.Name, nil
	}
	return simbench.Brains(f.s), move.Name, nil
}

// config loads the files of the flags and returns the configuration of a runner that reports its
// progress to out.
func (f *scenarioFlags) config(c *cobra.Command, out *screen) (cfg runner.Config, err error) {
	cfg = runner.Config{Scenario: f.s, Objective: f.objective, ContentDir: f.content, ModelFile: f.model}
	if cfg.Models, err = assets.Models(f.model); err != nil {
		return cfg, err
	}
	if cfg.Brain, cfg.Movement, err = f.brains(c); err != nil {
		return cfg, err
	}
	if cfg.Content, err = assets.Content(f.content); err != nil {
		return cfg, err
	}
	if _, err := sim.GameForArena(cfg.Content, simbench.MapName(f.s), f.s.Lobby.Mode); err != nil {
		return cfg, usage.Error(f.at(c, "mode", "lobby.mode", err))
	}
	cfg.Observer = runner.Observer{
		Note: out.note, Ready: out.ready, Step: out.row,
		Playing: func(g *swarm.Figures, players int, played, of time.Duration) {
			out.note("%s", progress(g, players, played, of))
		},
		Search: func(level slo.Level, m measure.Machine, movement string, limit time.Duration) {
			if f.s.SharedProcess() && f.s.Lobby.Grow == "lobbies" {
				out.gamesHz = f.s.Rates.TickHz
			}
			out.begin(fmt.Sprintf("%s, %d processors; %s", m.CPU, m.Cores, movement), f.objective)
			out.began, out.limit = time.Now(), limit
		},
	}
	return cfg, nil
}
