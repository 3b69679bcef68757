package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/bench/capacity"
	"github.com/tickrate/tickrate/bench/report"
	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
)

// planFlags are the flags of plan.
type planFlags struct {
	out, model, socket, relevance string
	codec, maps, mode, content    string
	far                           float64
	quick                         bool
	start, max, rate, every, full int
	measure, warm, limit          float64
	share                         float64
	seed                          uint64
	traces                        []string

	scenario, expr                      string
	s                                   scenario.Scenario // in full, after fill
	repeat                              int
	json                                bool
	predict, verify                     bool
	measured, prices, baseline, against string
	concurrent                          int
	headroom                            float64
	slow                                string
}

func newPlan() *cobra.Command {
	var f planFlags
	c := &cobra.Command{
		Use:   "plan",
		Short: "Find how many players this machine carries, and why",
		Long: `plan starts a server as a process of its own and a swarm of players on real UDP sockets, grows the lobby until the service
level no longer holds, and writes a report: index.html, plan.json and bench.txt. Interrupted or killed, it leaves the report of
what it has.

Where there are two processors or more, server and swarm are kept apart: the server has one, the swarm the others.

What is run says a scenario, by name (plan scenarios) or a TOML file; flags go before it:

  tickrate plan --scenario duels
  tickrate plan --scenario mine.toml --level 'p99(tick)<0.5*period && lost(input)==0 && kbps(down)<512'

A service level is comparisons joined by &&. Names: ` + capacity.ObjectiveHelp + `

Without a server and a swarm, from measurements (plan calibrate): --predict, which plays the scenario's matches by themselves to know what players come to do:
about 10 to 25 s of CPU time on all processors. A match is told of twice: its first seconds, after 2 of them, and the long run, after 20, when who dies comes back all
the time, mostly fewer are alive and less is sent; hosts are for the dearer, traffic is paid for as in the long run. --verify plays it in virtual time, too, and tells the error: CPU times are
compared at the pace that the measurements are of, and how much slower or faster this machine is at the moment stands beside it:

  tickrate plan --predict --scenario mine.toml --concurrent 20000 --prices examples/plan/prices.toml

Against a file of plan rounds, of an older build, --baseline plays the same lobbies and fails with exit code 3 if something takes longer.
With --against it compares two such files.`,
		Args: moreTraces(&f.traces),
		RunE: func(c *cobra.Command, _ []string) error { return plan(c, f) },
	}
	c.AddCommand(newCalibrate(), newErrors(), newScenarios(), newRounds(), newSelfTest())
	fl := c.Flags()
	fl.StringVar(&f.out, "out", "report", "`folder` for the report")
	fl.BoolVar(&f.quick, "quick", false, "end within a minute: shorter steps, a coarser knee")
	fl.StringVar(&f.scenario, "scenario", "one-lobby", "`name` of a scenario (plan scenarios lists them), or a TOML file")
	fl.StringVar(&f.expr, "level", "", "service level, an `expression`; default p99 of the tick within --tick-share, no input lost, p99 age within 2 intervals")
	fl.IntVar(&f.repeat, "repeat", 0, "`times` that the size at the knee is measured again, for confidence intervals; default the scenario's, 2")
	fl.BoolVar(&f.predict, "predict", false, "run no server: say what the scenario costs, from measurements and matches by themselves")
	fl.BoolVar(&f.verify, "verify", false, "predict, then play the scenario in virtual time and say the error, and how fast this machine is beside the recorded one")
	fl.StringVar(&f.measured, "measurements", "", "`file` that predictions rest on, of plan calibrate or a plan.json; default those recorded with this build")
	fl.StringVar(&f.prices, "prices", "", "TOML `file` of what a host has and costs, as examples/plan/prices.toml; default 8 cores, 16 GB, 1 Gbit/s, for nothing")
	fl.IntVar(&f.concurrent, "concurrent", 10000, "`players` at a time that hosts are wanted for")
	fl.Float64Var(&f.headroom, "headroom", 0.3, "`share` of each host that stays free, 0 to 0.9")
	fl.StringVar(&f.baseline, "baseline", "", "compare with this `file` of plan rounds: exit code 3 if something takes longer (p < 0.05 and at least 5 %); default none, a plan is made")
	fl.StringVar(&f.against, "against", "", "with --baseline: compare this `file` of plan rounds; default rounds that are played now")
	slowFlag(c, &f.slow)
	fl.BoolVar(&f.json, "json", false, "print lines of JSON: one a step, then the knee")
	fl.IntVar(&f.start, "start", 0, "`number` of players in the first lobby, or of lobbies where the scenario grows those; default the scenario's, 100, or what a lobby in virtual time promises")
	fl.IntVar(&f.max, "max", 0, fmt.Sprintf("largest `number` to try; default the scenario's, 4000; at most %d players or %d lobbies", server.MaxPlayers, scenario.MaxLobbies))
	fl.IntVar(&f.rate, "rate", int(tick.DefaultRate), "simulation rate in `Hz`, 20 to 128")
	fl.IntVar(&f.every, "interval", 0, "`ticks` between two snapshots to one client; 0 for what comes nearest to 20 Hz")
	fl.IntVar(&f.full, "full", 4, "`number` of players that decode all they are sent; the others decode their own state only")
	fl.Float64Var(&f.measure, "measure", 0, "`seconds` to measure at each size; default the scenario's, 6; quick 3")
	fl.Float64Var(&f.warm, "warm", 0, "`seconds` to warm up at each size; default the scenario's, 2; quick 1")
	fl.Float64Var(&f.limit, "limit", 0, "`seconds` after which no step begins; default 85, quick 40")
	fl.Float64Var(&f.share, "tick-share", capacity.DefaultTickShare, "`part` of the tick period that p99 of a tick may take, above 0 and at most 1")
	fl.StringVar(&f.socket, "socket", "gnet", "the server's socket back `end`: gnet or mmsg")
	fl.StringVar(&f.model, "model", "", "compression model `file`; default the one of this build")
	fl.StringVar(&f.codec, "codec", schema.Huffman.String(), "`codec` of snapshots, as of serve: huffman, range or stored; all three are compared in one small lobby")
	fl.StringVar(&f.relevance, "relevance", "auto", "`who` is told of whom, as of serve: auto, off, all or grid")
	fl.StringVar(&f.maps, "maps", "gen", "`kind` of map, made for each size: gen (low walls) or town (houses, which hide who is behind them)")
	fl.StringVar(&f.mode, "mode", "deathmatch", modeUsage)
	fl.StringVar(&f.content, "content", "", contentUsage)
	fl.Float64Var(&f.far, "far", 0, "`metres` beyond which nobody is seen; 0 for no limit")
	fl.Uint64Var(&f.seed, "seed", 1, "`seed` of maps, matches and players")
	fl.StringArrayVar(&f.traces, "trace", nil, "recorded play to follow, one .csv or .csv.gz `file` or more; default none")
	_ = c.RegisterFlagCompletionFunc("scenario", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return scenario.Names(), cobra.ShellCompDirectiveDefault // files, too
	})
	return c
}

// withDefaults fills what depends on other flags and refuses what cannot be.
func (f planFlags) withDefaults() (planFlags, error) {
	pick := func(v *float64, quick, full float64) {
		if *v == 0 {
			*v = full
			if f.quick {
				*v = quick
			}
		}
	}
	if _, err := server.ParseRelevance(f.relevance); err != nil {
		return f, err
	}
	if _, err := schema.ParseCodec(f.codec); err != nil {
		return f, err
	}
	pick(&f.measure, 3, 6)
	pick(&f.warm, 1, 2)
	pick(&f.limit, 40, 85)
	f.mode = cmp.Or(f.mode, "deathmatch")
	if f.every == 0 {
		f.every = max(1, (f.rate+10)/20)
	}
	switch {
	case f.rate > 1000 || !tick.Rate(f.rate).Valid():
		return f, fmt.Errorf("rate %d Hz: expected %d to %d", f.rate, tick.MinRate, tick.MaxRate)
	case f.every < 1 || f.every > server.MaxInterval:
		return f, fmt.Errorf("interval of %d ticks: expected 1 to %d", f.every, server.MaxInterval)
	case f.start < 1 || f.max < f.start || f.max > server.MaxPlayers:
		return f, fmt.Errorf("lobbies of %d to %d players: expected 1 to %d, the smaller first", f.start, f.max, server.MaxPlayers)
	case f.repeat < 0 || f.repeat > 100:
		return f, fmt.Errorf("--repeat %d: expected 0 to 100", f.repeat)
	case !(f.measure >= 0.5 && f.measure <= 3600 && f.warm >= 0 && f.warm <= 3600): // NaN is neither
		return f, fmt.Errorf("measuring %g s after %g s: expected 0.5 to 3600 s after 0 to 3600", f.measure, f.warm)
	case !(f.limit > 0 && f.limit <= 1e6):
		return f, fmt.Errorf("a limit of %g s: expected more than 0, at most a million", f.limit)
	case !(f.share > 0 && f.share <= 1):
		return f, fmt.Errorf("tick share %g: expected more than 0, at most 1", f.share)
	case !(f.far >= 0 && f.far <= 4*arena.Limit):
		return f, fmt.Errorf("a range of %g m: expected 0 to %d, 0 for no limit", f.far, 4*arena.Limit)
	case f.maps != "gen" && f.maps != "town":
		return f, fmt.Errorf("maps %q: expected gen or town", f.maps)
	case f.socket != "gnet" && f.socket != "mmsg":
		return f, fmt.Errorf("socket back end %q: expected gnet or mmsg", f.socket)
	}
	return f, nil
}

// arena is the map for a number of players.
func (f planFlags) arena(players int) string {
	ground := max(players, 2)
	if f.s.Lobby.Spread > 0 {
		ground = f.s.Ground(players)
	}
	return fmt.Sprintf("%s:%d:%d", f.maps, ground, f.seed)
}

func (f planFlags) level() (capacity.Level, error) {
	l := capacity.Level{TickHz: f.rate, SendEvery: f.every, TickShare: f.share}.WithDefaults()
	if f.expr == "" {
		return l, nil
	}
	return l.WithObjective(f.expr)
}

func plan(c *cobra.Command, f planFlags) error {
	if err := f.follow(c); err != nil {
		return err
	}
	f, err := f.withDefaults()
	if err == nil {
		err = f.fill()
	}
	if err != nil {
		return badUse(err)
	}
	if err := f.needs(c); err != nil {
		return badUse(err)
	}
	level, err := f.level()
	if err != nil {
		return badUse(f.at(c, "level", "measure.level", err))
	}
	if f.baseline != "" {
		return gate(c, f)
	}
	if f.predict || f.verify {
		return predict(c, f, level)
	}
	models, err := openModels(f.model)
	if err != nil {
		return err
	}
	move, err := openMovement(f.traces, f.seed)
	if err != nil {
		return f.at(c, "trace", "play.traces", err)
	}
	pack, err := openContent(f.content)
	if err != nil {
		return err
	}
	if _, err := sim.GameOn(pack, f.arena(f.s.Lobby.Players), f.mode); err != nil {
		return badUse(f.at(c, "mode", "lobby.mode", err))
	}
	p := capacity.Plan{
		Machine: machine(), Commit: version, Seed: f.seed, Started: time.Now(), Movement: move.name, Level: level,
		Command: "tickrate " + strings.Join(os.Args[1:], " "),
	}
	r := newRig(f, move, models, pack, &p)
	out := newScreen(c.OutOrStdout(), f.json)
	if err := r.write(p.Level.Knee(nil)); err != nil {
		return err
	}
	out.begin(p)
	search := capacity.Search{Level: p.Level, Start: f.s.At(f.start).Total(), Max: f.s.At(f.max).Total(), Limit: seconds(f.limit)}
	search.Each = f.s.Lobby.Lobbies
	if f.s.Lobby.Grow == "lobbies" {
		search.Each = f.s.Lobby.Players
	} else if !c.Flags().Changed("start") && !f.given(c) {
		search.Start = min(r.guess(c.Context(), out), search.Max)
	}
	out.limit = search.Limit
	if f.quick {
		search.Tolerance = 0.15
	}
	err = r.search(c.Context(), &search, out)
	if err == nil && c.Context().Err() == nil {
		err = r.again(c.Context(), &search, out)
	}
	if err == nil && c.Context().Err() == nil {
		out.note("comparing codecs")
		p.Codecs, err = compareCodecs(c.Context(), f, models)
	}
	if err == nil {
		r.verifyNow(c.Context(), out)
	}
	out.clear()
	p.Partial = c.Context().Err() != nil
	p.Took, p.Knee = time.Since(p.Started), search.Knee()
	p.Fit = capacity.Fit(p.Steps)
	p.Repeats = capacity.RepeatsAt(p.Knee.Players, p.Steps)
	if f.json {
		unwritten := report.Write(f.out, p)
		if unwritten == nil {
			unwritten = json.NewEncoder(c.OutOrStdout()).Encode(map[string]any{"knee": p.Knee, "repeats": p.Repeats, "partial": p.Partial, "report": f.out})
		}
		return cmp.Or(err, unwritten) // the first error is the one to tell
	}
	if unwritten := finish(c.OutOrStdout(), f.out, p); err == nil { // else the first error is the one to tell
		err = unwritten
	}
	return err
}

// needs refuses flags that would have no effect, as they belong to others.
func (f planFlags) needs(c *cobra.Command) error {
	for _, name := range []string{"prices", "concurrent", "headroom", "measurements"} {
		if c.Flags().Changed(name) && (!f.predict && !f.verify || f.baseline != "") {
			return fmt.Errorf("--%s: expected --predict or --verify beside it", name)
		}
	}
	if f.against != "" && f.baseline == "" {
		return fmt.Errorf("--against: expected --baseline beside it")
	}
	return nil
}

// given is whether somebody chose a scenario, whose first size counts.
func (f planFlags) given(c *cobra.Command) bool { return c.Flags().Changed("scenario") }

// search measures one size after another until the knee is known. An interrupt ends it without an error.
func (r *rig) search(ctx context.Context, s *capacity.Search, out *screen) error {
	for {
		out.began = r.plan.Started
		players, ok := s.Next(time.Since(r.plan.Started))
		if !ok || ctx.Err() != nil {
			return nil
		}
		step, err := r.step(ctx, players, out)
		if ctx.Err() != nil {
			return nil // a step cut short proves nothing
		}
		if err != nil {
			return fmt.Errorf("%d players: %w", players, err)
		}
		if err := r.keep(s.Record(step), s, out); err != nil {
			return err
		}
	}
}

// keep takes a judged step into the plan, and writes what there is: it outlives us, whatever happens.
func (r *rig) keep(step capacity.Step, s *capacity.Search, out *screen) error {
	r.plan.Steps = append(r.plan.Steps, step)
	out.row(step)
	return r.write(s.Knee())
}

// write writes what there is so far, before the first step too: a plan that is killed within it leaves a report that says so, rather than none, or that of
// another plan.
func (r *rig) write(knee capacity.Knee) error {
	part := *r.plan
	part.Partial, part.Knee, part.Took = true, knee, time.Since(part.Started)
	return report.Write(r.flags.out, part)
}

// again measures the size at the knee a few times more, for confidence intervals. What they say changes no verdict: it is told.
func (r *rig) again(ctx context.Context, s *capacity.Search, out *screen) error {
	players := s.Knee().Players
	for i := range r.flags.repeat {
		const more = 0.25 // of the search's time, so that the whole ends when it should
		late := time.Since(r.plan.Started)+seconds(r.flags.warm+r.flags.measure) > time.Duration(float64(s.Limit)*(1+more))
		if players == 0 || ctx.Err() != nil || late {
			return nil
		}
		step, err := r.step(ctx, players, out)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%d players: %w", players, err)
		}
		if step.Facts != nil {
			step.Facts.Round = i + 1
		}
		if err := r.keep(s.Level.Judge(step), s, out); err != nil {
			return err
		}
	}
	return nil
}

// guess is the size that a lobby in virtual time promises for three quarters of the level: a search that begins there takes fewer steps.
// It is only where to begin.
func (r *rig) guess(ctx context.Context, out *screen) int {
	out.note("a first guess")
	s := r.flags.s
	s.Lobby.Players, s.Play.Traces, s.Network.Link = 128, nil, "clean"
	s.Measure.Seconds, s.Measure.WarmSeconds = 1, 1
	step, err := rehearse(ctx, s, 1, 1, slowdown{})
	if err != nil || step.TickCPUMillis.P99 <= 0 {
		return capacity.DefaultStart
	}
	// System calls are not in it; they take about as much again. The rest of the load grows a little faster than the players.
	room := 0.75 * r.plan.Level.TickLimitMillis() / (2 * step.TickCPUMillis.P99)
	return max(16, int(128*math.Pow(room, 0.85))/10*10)
}

// finish writes the report and says what it says.
func finish(w io.Writer, dir string, p capacity.Plan) error {
	if err := report.Write(dir, p); err != nil {
		return err
	}
	at, err := filepath.Abs(filepath.Join(dir, "index.html"))
	if err != nil {
		at = filepath.Join(dir, "index.html")
	}
	whose, bound := "knee", ""
	if p.Knee.Swarm {
		whose = "knee of the swarm, not of the server"
	}
	if p.Knee.Bound == capacity.AtLeast {
		bound = "at least "
	}
	if len(p.Steps) == 0 {
		fmt.Fprintf(w, "\nknee: none yet (%s)\n", p.Knee.Reason)
	} else {
		fmt.Fprintf(w, "\n%s: %s%d players (%s)\n", whose, bound, p.Knee.Players, p.Knee.Reason)
	}
	for _, why := range p.Knee.Binding {
		fmt.Fprintf(w, "  at %d players: %s\n", p.Knee.FirstFail, why)
	}
	if s, ok := p.AtKnee(); ok {
		if e, ok := s.Encryption(); ok {
			fmt.Fprintf(w, "  encryption: %.1f %% of the tick at %d players; %.0f ns to open a datagram, %.0f ns to seal one\n", e.Percent, s.Players, e.OpenNanos, e.SealNanos)
		}
	}
	printRepeats(w, p.Repeats)
	if p.Verified != nil {
		fmt.Fprintf(w, "  predictions %s\n", verified(*p.Verified))
	}
	if s, ok := p.Accounted(); ok {
		printBytes(w, s.Players, s.Bytes)
	}
	if p.Codecs != nil {
		printCodecs(w, p.Codecs)
	}
	if p.Partial {
		fmt.Fprintln(w, "partial: interrupted")
	}
	fmt.Fprintf(w, "report: %s\n", at)
	return nil
}

// apart returns which processors the server and the swarm are kept to; nil where there is nothing to divide.
func apart() (forServer, forSwarm []int) {
	all := clock.CPUs()
	if len(all) < 2 {
		return nil, nil
	}
	return all[:1], all[1:]
}
