package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/bench/capacity"
	"github.com/tickrate/tickrate/bench/report"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/pace"
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
}

func newPlan() *cobra.Command {
	var f planFlags
	c := &cobra.Command{
		Use:   "plan",
		Short: "Find how many players this machine carries, and why",
		Long: `plan starts a server as a process of its own and a swarm of players on real UDP sockets, grows the lobby until the service
level no longer holds, and writes a report: index.html, plan.json and bench.txt. Interrupted, it leaves the report of
what it has.

Where there are two processors or more, server and swarm are kept apart: the server has one, the swarm the others.`,
		Args: moreTraces(&f.traces),
		RunE: func(c *cobra.Command, _ []string) error { return plan(c, f) },
	}
	c.AddCommand(newCalibrate())
	fl := c.Flags()
	fl.StringVar(&f.out, "out", "report", "`folder` for the report")
	fl.BoolVar(&f.quick, "quick", false, "end within a minute: shorter steps, a coarser knee")
	fl.IntVar(&f.start, "start", 100, "`players` in the first lobby")
	fl.IntVar(&f.max, "max", 4000, fmt.Sprintf("`players` in the largest lobby to try, at most %d", server.MaxPlayers))
	fl.IntVar(&f.rate, "rate", int(tick.DefaultRate), "simulation rate in `Hz`, 20 to 128")
	fl.IntVar(&f.every, "interval", 0, "`ticks` between two snapshots to one client; 0 for what comes nearest to 20 Hz")
	fl.IntVar(&f.full, "full", 4, "`number` of players that decode all they are sent; the others decode their own state only")
	fl.Float64Var(&f.measure, "measure", 0, "`seconds` to measure at each size; default 10, quick 3")
	fl.Float64Var(&f.warm, "warm", 0, "`seconds` to warm up at each size; default 3, quick 1")
	fl.Float64Var(&f.limit, "limit", 0, "`seconds` after which no step begins; default 280, quick 52")
	fl.Float64Var(&f.share, "tick-share", capacity.DefaultTickShare, "part of the tick period that p99 of a tick may take")
	fl.StringVar(&f.socket, "socket", "gnet", "the server's socket back `end`: gnet or mmsg")
	fl.StringVar(&f.model, "model", "", "compression model `file`; default the one of this build")
	fl.StringVar(&f.codec, "codec", schema.Huffman.String(), "how snapshots are coded, as of serve: huffman, range or stored; all three are compared in one small lobby")
	fl.StringVar(&f.relevance, "relevance", "auto", "`who` is told of whom, as of serve: auto, off, all or grid")
	fl.StringVar(&f.maps, "maps", "gen", "`kind` of map, made for each size: gen (low walls) or town (houses, which hide who is behind them)")
	fl.StringVar(&f.mode, "mode", "deathmatch", modeUsage)
	fl.StringVar(&f.content, "content", "", contentUsage)
	fl.Float64Var(&f.far, "far", 0, "`metres` beyond which nobody is seen; 0 for no limit")
	fl.Uint64Var(&f.seed, "seed", 1, "seed of maps, matches and players")
	fl.StringArrayVar(&f.traces, "trace", nil, "recorded play to follow, one .csv or .csv.gz `file` or more")
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
	pick(&f.measure, 3, 10)
	pick(&f.warm, 1, 3)
	pick(&f.limit, 52, 280)
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
	return fmt.Sprintf("%s:%d:%d", f.maps, max(players, 2), f.seed)
}

func (f planFlags) level() capacity.Level {
	return capacity.Level{TickHz: f.rate, SendEvery: f.every, TickShare: f.share}.WithDefaults()
}

func plan(c *cobra.Command, f planFlags) error {
	f, err := f.withDefaults()
	if err != nil {
		return badUse(err)
	}
	models, err := openModels(f.model)
	if err != nil {
		return err
	}
	move, err := openMovement(f.traces, f.seed)
	if err != nil {
		return err
	}
	pack, err := openContent(f.content)
	if err != nil {
		return err
	}
	if _, err := sim.GameOn(pack, f.arena(f.start), f.mode); err != nil {
		return badUse(err)
	}
	p := capacity.Plan{
		Machine: machine(), Commit: version, Seed: f.seed, Started: time.Now(), Movement: move.name, Level: f.level(),
		Command: "tickrate " + strings.Join(os.Args[1:], " "),
	}
	r := newRig(f, move, models, pack, &p)
	out := newScreen(c.OutOrStdout())
	out.begin(p)
	search := capacity.Search{Level: p.Level, Start: f.start, Max: f.max, Limit: time.Duration(f.limit * float64(time.Second))}
	if f.quick {
		search.Tolerance = 0.15
	}
	err = r.search(c.Context(), &search, out)
	if err == nil && c.Context().Err() == nil {
		out.note("comparing codecs")
		p.Codecs, err = compareCodecs(c.Context(), f, models)
	}
	out.clear()
	p.Partial = c.Context().Err() != nil
	p.Took, p.Knee = time.Since(p.Started), search.Knee()
	p.Fit = capacity.Fit(p.Steps)
	if unwritten := finish(c.OutOrStdout(), f.out, p); err == nil { // else the first error is the one to tell
		err = unwritten
	}
	return err
}

// search measures one size after another until the knee is known. An interrupt ends it without an error.
func (r *rig) search(ctx context.Context, s *capacity.Search, out *screen) error {
	for {
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
		step = s.Record(step)
		r.plan.Steps = append(r.plan.Steps, step)
		out.row(step)
		part := *r.plan // what is written so far outlives us, whatever happens
		part.Partial, part.Knee, part.Took = true, s.Knee(), time.Since(part.Started)
		if err := report.Write(r.flags.out, part); err != nil {
			return err
		}
	}
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
	bound := ""
	if p.Knee.Bound == capacity.AtLeast {
		bound = "at least "
	}
	fmt.Fprintf(w, "\nknee: %s%d players (%s)\n", bound, p.Knee.Players, p.Knee.Reason)
	for _, why := range p.Knee.Binding {
		fmt.Fprintf(w, "  at %d players: %s\n", p.Knee.FirstFail, why)
	}
	if s, ok := p.AtKnee(); ok {
		if e, ok := s.Encryption(); ok {
			fmt.Fprintf(w, "  encryption: %.1f %% of the tick at %d players; %.0f ns to open a datagram, %.0f ns to seal one\n", e.Percent, s.Players, e.OpenNanos, e.SealNanos)
		}
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
	all := pace.CPUs()
	if len(all) < 2 {
		return nil, nil
	}
	return all[:1], all[1:]
}
