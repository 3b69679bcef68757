package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/bench/lobbysim"
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim"
)

// previewFlags are the flags of preview.
type previewFlags struct {
	arena, mode, content string
	players, rate        int
	duration, delay      time.Duration
	receipts             int // of shots, that the lobby keeps
	loss                 float64
	seed                 uint64
	real                 bool
	traces               []string
}

// maxPreview bounds a preview's players: each of them decodes all of it.
const maxPreview = 256

func newPreview() *cobra.Command {
	f := previewFlags{}
	c := &cobra.Command{
		Use:   "preview",
		Short: "Play a match with its server and all its clients in this process, and compare their worlds",
		Long: `preview runs a lobby and its players in one process, in virtual time, over links in memory: no socket, no key, and
the same match for the same flags. It prints the messages of the first player, the score board, and a comparison of
every client's snapshots with the server's state by hash. The exit code is 1 if any differs.

  tickrate sim preview --players 16 --mode assault --map town:16:7 --duration 2m
  tickrate sim preview --real-time --delay 40ms --loss 0.02`,
		Args: moreTraces(&f.traces),
		RunE: func(c *cobra.Command, _ []string) error { return preview(c, f) },
	}
	fl := c.Flags()
	fl.IntVar(&f.players, "players", 8, fmt.Sprintf("`number` of players, 1 to %d", maxPreview))
	fl.StringVar(&f.arena, "map", "arena-16", "`map`: a name, a file, or gen:PLAYERS:SEED")
	fl.StringVar(&f.mode, "mode", "deathmatch", modeUsage)
	fl.StringVar(&f.content, "content", "", contentUsage)
	fl.DurationVar(&f.duration, "duration", time.Minute, "`length` of the match, 1s to 10h")
	fl.IntVar(&f.rate, "rate", int(tick.DefaultRate), "simulation rate in `Hz`, 20 to 128")
	fl.DurationVar(&f.delay, "delay", 0, "one-way `delay` of each link, 0 to 1s")
	fl.Float64Var(&f.loss, "loss", 0, "`share` of datagrams lost on each link, 0 to 0.5")
	fl.BoolVar(&f.real, "real-time", false, "play at the speed of the clock instead of as fast as possible")
	playFlags(c, &f.seed, &f.traces)
	return c
}

func (f *previewFlags) check() error {
	switch {
	case f.players < 1 || f.players > maxPreview:
		return fmt.Errorf("%d players: expected 1 to %d", f.players, maxPreview)
	case f.rate > 1000 || !tick.Rate(f.rate).Valid():
		return fmt.Errorf("rate %d Hz: expected %d to %d", f.rate, tick.MinRate, tick.MaxRate)
	case f.duration < time.Second || f.duration > 10*time.Hour:
		return fmt.Errorf("--duration %v: expected 1s to 10h", f.duration)
	case f.delay < 0 || f.delay > time.Second:
		return fmt.Errorf("--delay %v: expected 0 to 1s", f.delay)
	case !(f.loss >= 0 && f.loss <= 0.5):
		return fmt.Errorf("--loss %g: expected 0 to 0.5", f.loss)
	}
	return nil
}

func preview(c *cobra.Command, f previewFlags) error {
	if err := f.check(); err != nil {
		return badUse(err)
	}
	b, err := f.open()
	if err != nil {
		return err
	}
	p := previewing{Sim: b, c: c, kills: map[netid.ID]int{}}
	if err := p.run(c.Context(), f); err != nil {
		return err
	}
	p.scoreboard()
	return p.verdict(f.loss == 0)
}

// open makes the lobby and its players.
func (f *previewFlags) open() (*lobbysim.Sim, error) {
	pack, err := openContent(f.content)
	if err != nil {
		return nil, err
	}
	ground, err := openGround(pack, f.arena)
	if err != nil {
		return nil, err
	}
	game, err := sim.GameForArena(pack, arenaName(f.arena), f.mode)
	if err != nil {
		return nil, badUse(err)
	}
	move, err := openMovement(f.traces, f.seed)
	if err != nil {
		return nil, err
	}
	b, err := lobbysim.New(lobbysim.Config{
		Clients: f.players, Seed: f.seed, Brain: move.brain,
		Link: impair.Profile{Loss: f.loss, Delay: f.delay},
		Lobby: server.Config{
			Arena: ground, ArenaName: arenaName(f.arena), Players: f.players, Relevance: server.RelevanceAll, ShotLogSize: f.receipts,
			Rules: sim.Rules{Rate: tick.Rate(f.rate), Seed: f.seed, Mix: true, Game: game},
		},
		Client: func(_ int, cfg *client.Config) { cfg.Rules, cfg.Content = sim.Rules{}, pack }, // of the game it knows what it is told
	})
	return b, badUse(err)
}

// previewing is a preview under way.
type previewing struct {
	*lobbysim.Sim
	c      *cobra.Command
	agreed lobbysim.Agreement
	kills  map[netid.ID]int // as the first client heard of them
}

func (p *previewing) run(ctx context.Context, f previewFlags) error {
	clock := clock.New()
	begin := clock.Now()
	for end := f.duration; p.Now() < end && ctx.Err() == nil; {
		if err := p.Step(); err != nil {
			return err
		}
		p.Compare(&p.agreed)
		p.listen()
		if f.real {
			clock.Until(begin + p.Now())
		}
	}
	return nil
}

// listen prints what the first player is told, but for the kills, which it counts.
func (p *previewing) listen() {
	for i, c := range p.Clients {
		for l, ok := c.Chat.Next(); ok; l, ok = c.Chat.Next() {
			switch {
			case i > 0:
			case l.Kind == client.LineKilled:
				if l.From != l.To {
					p.kills[l.From]++
				}
			default:
				at := int(p.Now() / time.Second)
				fmt.Fprintf(p.c.OutOrStdout(), "%d:%02d  %s\n", at/60, at%60, l.Append(nil, c.ID()))
			}
		}
	}
}

// scoreboard prints how the round stands and who has done what.
func (p *previewing) scoreboard() {
	m := p.Lobby.Match()
	at := m.RoundStatus()
	w := p.c.OutOrStdout()
	fmt.Fprintf(w, "\n%s, round %d, %s: %d to %d", m.Rules().Game.Mode.Name, at.Round+1, [...]string{"countdown", "active", "over"}[at.Phase], at.Score[0], at.Score[1])
	if at.Points > 0 {
		fmt.Fprintf(w, ", %d of %d points captured", at.Point, at.Points)
	}
	fmt.Fprintln(w)
	var rows []client.Player
	for slot := range len(p.Clients) {
		if who, ok := p.Clients[0].Chat.Player(slot); ok {
			rows = append(rows, who)
		}
	}
	slices.SortFunc(rows, func(a, b client.Player) int {
		return cmp.Or(cmp.Compare(a.Team, b.Team), cmp.Compare(p.kills[b.ID], p.kills[a.ID]), cmp.Compare(a.ID, b.ID))
	})
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "team\tplayer\thero\tkills\tdeaths")
	for _, who := range rows {
		v := m.Vital(who.ID)
		if v == nil {
			continue
		}
		fmt.Fprintf(t, "%d\t%s\t%s\t%d\t%d\n", who.Team+1, who.Name, m.Rules().Game.Heroes[v.Hero].Name, p.kills[who.ID], v.Deaths)
	}
	_ = t.Flush() // to where everything goes
}

// errDisagree is a preview whose client saw another world.
var errDisagree = errors.New("a client's world was not the server's")

// verdict says whether the hashes agreed. On links that lose nothing little may be missing either: what newcomers to a large lobby are
// not told in their first snapshots.
func (p *previewing) verdict(clean bool) error {
	a, w, wrong := &p.agreed, p.c.OutOrStdout(), uint64(0)
	for _, c := range p.Clients {
		wrong += c.Stats().Prediction.Mispredictions
	}
	fmt.Fprintf(w, "\nserver %016x after tick %d; %d snapshots of %d clients compared, %d rows, hash %016x: ",
		p.Lobby.Match().Hash(), p.Lobby.Match().Tick(), a.Snapshots, len(p.Clients), a.Rows, a.Hash)
	switch {
	case a.Differing > 0:
		fmt.Fprintf(w, "%d differ\n", a.Differing)
		return fmt.Errorf("%w in %d snapshots, the first of tick %d", errDisagree, a.Differing, a.First)
	case a.Snapshots == 0:
		fmt.Fprintln(w, "nothing to compare")
		return fmt.Errorf("%w: no snapshot arrived", errDisagree)
	case clean && a.Missing > a.Rows/100:
		fmt.Fprintf(w, "%d rows are missing\n", a.Missing)
		return fmt.Errorf("%w: %d rows are missing", errDisagree, a.Missing)
	}
	fmt.Fprintln(w, "all agree")
	fmt.Fprintf(w, "%d mispredictions, %d rows lost on links or not told to newcomers yet\n", wrong, a.Missing)
	return nil
}
