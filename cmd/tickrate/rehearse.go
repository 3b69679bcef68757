package main

import (
	"context"
	"fmt"
	"net/netip"
	"runtime"
	"time"

	"github.com/tickrate/tickrate/server/metrics"

	"github.com/tickrate/tickrate/bench/capacity"
	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim"
)

// rehearsal plays one lobby of a scenario in virtual time. The same scenario is the same match again, tick by tick, so each tick is
// played several times and its least CPU time counts: what the machine did to the others is not the lobby's.
type rehearsal struct {
	s     scenario.Scenario
	seeds int // matches, which differ in their seed alone
	plays int
	slow  slowdown

	begun  int               // ticks of the matches before this one
	ticks  [][]time.Duration // by measured tick, by stage: the least of all plays
	facts  capacity.Facts
	tale   tale
	memory float64
}

// slowdown burns a share of what a stage took in it once more: a planted regression, to see that it is found.
type slowdown struct {
	stage string
	share float64
	turns float64 // of spin's loop in a nanosecond
}

// tuned is s with turns: the fastest of some tries, as that is what the machine did not interrupt.
func (s slowdown) tuned() slowdown {
	const turns = 100_000
	runtime.LockOSThread() // the clock is that of the thread
	defer runtime.UnlockOSThread()
	least := time.Duration(1 << 62)
	for range 30 {
		from := clock.ThreadCPU()
		spin(turns)
		least = min(least, clock.ThreadCPU()-from)
	}
	s.turns = turns / float64(max(least, 1))
	return s
}

// burn takes its share of a time. It reads no clock: that takes a good part of what there is to burn.
func (s slowdown) burn(took time.Duration) { spin(int(float64(took) * s.share * s.turns)) }

// spun keeps the compiler from leaving spin out.
var spun uint64

func spin(turns int) {
	x := spun | 1
	for range turns {
		x = x*6364136223846793005 + 1442695040888963407
	}
	spun = x
}

// rehearse measures so many matches of a scenario, which differ in their seed alone. It returns an error where ctx ends first.
func rehearse(ctx context.Context, s scenario.Scenario, seeds, plays int, slow slowdown) (capacity.Step, error) {
	r := newRehearsal(s, seeds, plays, slow)
	runtime.LockOSThread() // for its CPU time
	defer runtime.UnlockOSThread()
	for range plays {
		if err := r.round(ctx); err != nil {
			return capacity.Step{}, err
		}
	}
	return r.step(), nil
}

// newRehearsal has played nothing.
func newRehearsal(s scenario.Scenario, seeds, plays int, slow slowdown) *rehearsal {
	return &rehearsal{s: s, seeds: seeds, plays: plays, slow: slow}
}

// round plays all matches once. Its thread is locked.
func (r *rehearsal) round(ctx context.Context) error {
	seed := r.s.Play.Seed
	defer func() { r.s.Play.Seed = seed }()
	r.begun = 0
	first := len(r.ticks) == 0
	for range r.seeds {
		if err := r.play(ctx, first); err != nil {
			return err
		}
		r.s.Play.Seed++
	}
	return nil
}

// lobby is the server's configuration, and notes what it is of.
func (r *rehearsal) lobby() (cfg server.Config, err error) {
	cfg, side, err := lobbyOf(r.s)
	r.facts = asked(r.s)
	r.facts.Virtual, r.facts.Plays, r.facts.Lobbies, r.facts.Side, r.facts.LongRun = true, r.plays, 1, side, windowOf(r.s) == longRun
	return cfg, err
}

// lobbyOf is the configuration of a scenario's lobby in virtual time, and the edge of its map in metres.
func lobbyOf(s scenario.Scenario) (cfg server.Config, side float64, err error) {
	name := fmt.Sprintf("%s:%d:%d", s.Lobby.Map, s.Ground(s.Lobby.Players), s.Play.Seed)
	ground, err := openArena(name)
	if err != nil {
		return cfg, 0, err
	}
	game, err := openGame("", name, s.Lobby.Mode)
	if err != nil {
		return cfg, 0, err
	}
	models, err := openModels("")
	if err != nil {
		return cfg, 0, err
	}
	cfg = server.Config{
		Arena: ground, ArenaName: name, Players: s.Lobby.Players, Spectators: s.Lobby.Spectators, Interval: s.Every(), Kbps: s.Rates.Kbps, Models: models,
		ViewDistance: float32(s.Lobby.FarMetres), Rules: sim.Rules{Rate: tick.Rate(s.Rates.TickHz), Seed: s.Play.Seed, Mix: true, Game: game},
	}
	if cfg.Codec, err = schema.ParseCodec(s.Network.Codec); err != nil {
		return cfg, 0, err
	}
	if cfg.Relevance, err = server.ParseRelevance(s.Lobby.Relevance); err != nil {
		return cfg, 0, err
	}
	size := ground.Bounds.Max.Sub(ground.Bounds.Min)
	cfg, err = server.WithWalls(cfg)
	return cfg, float64(max(size.X, size.Z)), err
}

// brainOf makes the brains of a scenario: that of client n.
func brainOf(s scenario.Scenario, move movement) func(n int) swarm.Brain {
	if len(s.Play.Traces) > 0 {
		return move.brain
	}
	h := swarm.Habit{Bursts: float32(s.Play.Bursts), Throws: float32(s.Play.Throws), Crowd: float32(s.Play.HotSpot), CrowdNear: float32(s.Play.HotSpotMetres)}
	return func(n int) swarm.Brain { return swarm.NewHabitual(s.Play.Seed, n, h) }
}

func (r *rehearsal) play(ctx context.Context, first bool) error {
	cfg, err := r.lobby()
	if err != nil {
		return err
	}
	if first && r.begun == 0 {
		if r.memory, err = memoryOf(cfg); err != nil {
			return err
		}
	}
	var spent []time.Duration // of the tick that is played, by stage
	stage, since := metrics.StageIdle, time.Duration(0)
	cfg.Enter = func(next metrics.Stage) {
		if next == stage {
			return
		}
		now := clock.ThreadCPU()
		if int(stage) < len(spent) {
			if r.slow.share > 0 && stage.String() == r.slow.stage {
				r.slow.burn(now - since)
				now = clock.ThreadCPU()
			}
			spent[stage] += now - since
		}
		stage, since = next, now
	}
	g, err := newGame(r.s, cfg, first)
	if err != nil {
		return err
	}
	if err := g.warm(ctx); err != nil {
		return err
	}
	runtime.GC() // what making it all left is not the ticks'
	g.begin()
	for i := range g.ticks() {
		spent = make([]time.Duration, metrics.NumStages)
		stage, since = metrics.StageIdle, clock.ThreadCPU()
		if err := g.step(ctx); err != nil {
			return err
		}
		if r.begun+i == len(r.ticks) {
			r.ticks = append(r.ticks, spent)
		}
		least := r.ticks[r.begun+i]
		for k, took := range spent {
			least[k] = min(least[k], took)
		}
		g.look(i)
	}
	r.begun += g.ticks()
	if first {
		r.tale.add(g.end())
	}
	return nil
}

// memoryOf is what one more lobby takes of the heap, in bytes: the less of two, as what the process does beside counts in either.
func memoryOf(cfg server.Config) (least float64, err error) {
	cfg.Gate = netcode.ServerConfig{ProtocolID: protocol.ProtocolID, PrivateKey: netcode.Key{1, 2, 3}, Entropy: [32]byte{4, 5, 6},
		Addresses: []netip.AddrPort{netip.MustParseAddrPort("10.0.0.2:7913")}}
	for i := range 2 {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		l, err := server.NewLobby(cfg)
		if err != nil {
			return 0, err
		}
		l.PackContent()
		runtime.GC()
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(l)
		if took := max(0, float64(after.HeapAlloc)-float64(before.HeapAlloc)); i == 0 || took < least {
			least = took
		}
	}
	return least, nil
}

// step sums up.
func (r *rehearsal) step() capacity.Step {
	f := r.tale.facts(r.facts)
	f.Memory = r.memory
	s := r.tale.step(f)
	var whole []float64
	for _, t := range r.ticks {
		all := time.Duration(0)
		for _, d := range t {
			all += d
		}
		whole = append(whole, float64(all)/1e6)
	}
	s.Facts.TimeUnsure = unsureOf(means(whole, f.Matches)) // before whole is sorted
	s.TickCPUMillis = capacity.QuantilesOf(whole)
	for k := range metrics.NumStages {
		each := make([]float64, len(r.ticks))
		for i, t := range r.ticks {
			each[i] = float64(t[k]) / 1e3
		}
		q := capacity.QuantilesOf(each)
		s.StageCPUMicros = append(s.StageCPUMicros, capacity.Stage{Name: metrics.Stage(k).String(), Mean: q.Mean, P99: q.P99})
	}
	return s
}

// means are those of so many equal parts of values, one after the other.
func means(values []float64, parts int) (all []float64) {
	each := len(values) / max(parts, 1)
	for i := 0; each > 0 && i+each <= len(values); i += each {
		sum := 0.0
		for _, v := range values[i : i+each] {
			sum += v
		}
		all = append(all, sum/float64(each))
	}
	return all
}
