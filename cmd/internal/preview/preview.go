// Package preview plays a match with its server and all its clients in this process, in virtual
// time. Options go in; the first player's messages, a score board and a comparison of worlds come
// out. Commands call it.
package preview

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/tickrate/tickrate/bench/lobbysim"
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/cmd/internal/assets"
	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim"
)

// MaxPlayers bounds the players of a preview: each decodes everything.
const MaxPlayers = 256

// Options are the settings of a preview.
type Options struct {
	Map, Mode, Content string        // as commands name them; an empty Content is the built-in pack
	Players, Rate      int           // number of clients; ticks a second
	Duration, Delay    time.Duration // of the match; one-way, of each link
	Loss               float64       // share of datagrams lost on each link, 0 to 0.5
	Seed               uint64        // of the match, the players and the links
	Link               string        // profile of each link, see impair; "": Delay and Loss
	ShotLogSize        int           // shot records that the lobby keeps
	Corrections        int           // of its prediction that each client keeps
	RealTime           bool          // plays at the speed of the clock
	Traces             []string      // recorded play that the bots follow; none for seeded bots

	Lobby func(*server.Config) // changes the configuration of the lobby; nil: nothing
}

// Check returns an error that names the first option out of range.
func (o *Options) Check() error {
	switch {
	case o.Players < 1 || o.Players > MaxPlayers:
		return usage.Errorf("%d players: expected 1 to %d", o.Players, MaxPlayers)
	case o.Rate > 1000 || !tick.Rate(o.Rate).Valid():
		return usage.Errorf("rate %d Hz: expected %d to %d", o.Rate, tick.MinRate, tick.MaxRate)
	case o.Duration < time.Second || o.Duration > 10*time.Hour:
		return usage.Errorf("--duration %v: expected 1s to 10h", o.Duration)
	case o.Delay < 0 || o.Delay > time.Second:
		return usage.Errorf("--delay %v: expected 0 to 1s", o.Delay)
	case !(o.Loss >= 0 && o.Loss <= 0.5): // refuses NaN
		return usage.Errorf("--loss %g: expected 0 to 0.5", o.Loss)
	}
	return nil
}

// Open returns the lobby and its clients, joined by links in memory. The caller steps them. All its
// errors are errors of use.
func (o *Options) Open() (*lobbysim.Sim, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	pack, err := assets.Content(o.Content)
	if err != nil {
		return nil, err
	}
	world, err := assets.MapOf(pack, o.Map)
	if err != nil {
		return nil, err
	}
	game, err := assets.Game(pack, assets.MapName(o.Map), o.Mode)
	if err != nil {
		return nil, err
	}
	bots, err := assets.Bots(o.Traces, o.Seed)
	if err != nil {
		return nil, err
	}
	lobby := server.Config{
		Arena: world, ArenaName: assets.MapName(o.Map), Players: o.Players,
		Relevance: server.RelevanceAll, ShotLogSize: o.ShotLogSize,
		Rules: sim.Rules{Rate: tick.Rate(o.Rate), Seed: o.Seed, Mix: true, Game: game},
	}
	if o.Lobby != nil {
		o.Lobby(&lobby)
	}
	link := impair.Profile{Loss: o.Loss, Delay: o.Delay}
	if o.Link != "" {
		if link, err = impair.ParseProfile(o.Link); err != nil {
			return nil, usage.Errorf("--link: %w", err)
		}
	}
	s, err := lobbysim.New(lobbysim.Config{
		Clients: o.Players, Seed: o.Seed, Brain: bots.Brain, Link: link, Lobby: lobby,
		// A client learns the rules from the server.
		ChangeClient: func(_ int, cfg *client.Config) {
			cfg.Rules, cfg.Content, cfg.Corrections = sim.Rules{}, pack, o.Corrections
		},
	})
	return s, usage.Error(err)
}

// match is a preview under way.
type match struct {
	*lobbysim.Sim
	out    io.Writer
	agreed lobbysim.Agreement // comparison of snapshots so far
}

// Run plays a match and writes what the first player is told, the score board, and the comparison
// of each client's snapshots with the server's state. The error wraps ErrDiffers if any differs.
func Run(ctx context.Context, out io.Writer, o Options) error {
	s, err := o.Open()
	if err != nil {
		return err
	}
	m := match{Sim: s, out: out}
	if err := m.play(ctx, &o); err != nil {
		return err
	}
	m.scoreBoard()
	return m.compared(o.Loss == 0)
}

// play steps the match to its end, or to that of ctx, and compares the worlds after each step.
func (p *match) play(ctx context.Context, o *Options) error {
	clk := clock.New()
	start := clk.Now()
	for p.Now() < o.Duration && ctx.Err() == nil {
		if err := p.Step(); err != nil {
			return err
		}
		p.Compare(&p.agreed)
		p.printMessages()
		if o.RealTime {
			clk.Until(start + p.Now())
		}
	}
	return nil
}

// printMessages writes the first player's messages, but for kills, with the time of the match. It
// drains the messages of the other players.
func (p *match) printMessages() {
	for i, c := range p.Clients {
		for l, ok := c.Chat.Next(); ok; l, ok = c.Chat.Next() {
			if i == 0 && l.Kind != client.LineKilled {
				at := int(p.Now() / time.Second)
				fmt.Fprintf(p.out, "%d:%02d  %s\n", at/60, at%60, l.Append(nil, c.ID()))
			}
		}
	}
}

// scoreBoard writes the state of the round, and the board of the first player by team and kills.
func (p *match) scoreBoard() {
	m := p.Lobby.Match()
	at := m.RoundStatus()
	w := p.out
	phase := [...]string{"countdown", "active", "over"}[at.Phase]
	fmt.Fprintf(w, "\n%s, round %d, %s: %d to %d",
		m.Rules().Game.Mode.Name, at.Round+1, phase, at.Score[0], at.Score[1])
	if at.Points > 0 {
		fmt.Fprintf(w, ", %d of %d points captured", at.Point, at.Points)
	}
	fmt.Fprintln(w)
	rows := p.Clients[0].Board.Append(nil)
	slices.SortFunc(rows, func(a, b client.Score) int {
		return cmp.Or(cmp.Compare(a.Team, b.Team), cmp.Compare(b.Kills, a.Kills), cmp.Compare(a.ID, b.ID))
	})
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "team\tplayer\thero\tkills\tdeaths\tping ms\tloss %")
	for _, row := range rows {
		v := m.Vital(row.ID)
		if v == nil {
			continue
		}
		fmt.Fprintf(t, "%d\t%s\t%s\t%d\t%d\t%d\t%.0f\n", row.Team+1, row.Name,
			m.Rules().Game.Heroes[v.Hero].Name, row.Kills, row.Deaths, row.Ping.Milliseconds(), 100*row.Loss)
	}
	_ = t.Flush()
}

// ErrDiffers is the error of a preview in which a client's snapshots differ from the server's
// state.
var ErrDiffers = errors.New("a client's world differs from the server's")

// compared writes the comparison of snapshots. On links that lose nothing few rows may be missing:
// those that a joining client is not sent in its first snapshots.
func (p *match) compared(lossless bool) error {
	a, w, mispredictions := &p.agreed, p.out, uint64(0)
	for _, c := range p.Clients {
		mispredictions += c.Stats().Prediction.Mispredictions
	}
	fmt.Fprintf(w, "\nserver %016x after tick %d; %d snapshots of %d clients compared, %d rows, hash %016x: ",
		p.Lobby.Match().Hash(), p.Lobby.Match().Tick(), a.Snapshots, len(p.Clients), a.Rows, a.Hash)
	switch {
	case a.Differing > 0:
		fmt.Fprintf(w, "%d differ\n", a.Differing)
		return fmt.Errorf("%w in %d snapshots, the first of tick %d", ErrDiffers, a.Differing, a.First)
	case a.Snapshots == 0:
		fmt.Fprintln(w, "nothing to compare")
		return fmt.Errorf("%w: no snapshot arrived", ErrDiffers)
	case lossless && a.Missing > a.Rows/100:
		fmt.Fprintf(w, "%d rows are missing\n", a.Missing)
		return fmt.Errorf("%w: %d rows are missing", ErrDiffers, a.Missing)
	}
	fmt.Fprintln(w, "all agree")
	fmt.Fprintf(w, "%d mispredictions, %d rows lost on links or not sent to joining clients yet\n",
		mispredictions, a.Missing)
	return nil
}
