package main

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/cmd/internal/assets"

	"github.com/tickrate/tickrate/cmd/internal/usage"

	"github.com/tickrate/tickrate/bench/runner"
	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/server"
)

// swarmFlags are the flags of swarm.
type swarmFlags struct {
	play      swarmPlay
	tokens    swarmTokens
	model     string
	content   string
	traces    []string
	json      bool
	hugePages bool
	netgraph  int // player; -1: none
}

// swarmPlay is who plays, and for how long.
type swarmPlay struct {
	players, spectators, full, rate int
	decode                          client.Decode
	duration, warmup                time.Duration
	arrival, chatEvery              time.Duration
	seed                            uint64
}

// newSwarm returns the command that runs many bots against servers.
func newSwarm() *cobra.Command {
	f := swarmFlags{tokens: swarmTokens{protocol: defaultProtocol}}
	f.play.decode = client.DecodeOwn
	c := &cobra.Command{
		Use:   "swarm",
		Short: "Send headless players to a lobby over real UDP",
		Long: `swarm connects players to a lobby and lets them play: seeded bots, or recorded
human movement (--trace). It prints what the players experienced, how late the
swarm itself was, and how late without the time that the machine took from it.
Figures are marked VOID if the swarm did not keep its own schedule.

The server sends maps and compression models that are not here. A name that the
server gives never opens a file.

Every player needs a connect token. The server's HTTP port gives them, and the
address of the lobby; with the server's private key (--key-file or
TICKRATE_PRIVATE_KEY, unless --http is given) the swarm makes them itself.

  tickrate swarm --players 64
  tickrate swarm --http 203.0.113.5:7914 --http-token SECRET

One swarm can play on several lobbies: name the HTTP port of each, or the
address of each and the key.

  tickrate swarm --players 6000 --full 1000 --http 127.0.0.1:7914 --http 127.0.0.1:7924

The first players (--full) decode whole snapshots. --decode is how much the
others decode:

  full  everything, too
  own   acks and their own state: they predict themselves and aim at what their lobby's first player sees
  acks  acks only: they cost two thirds of that, move at random and do not aim; for thousands of players

  tickrate swarm --players 2000 --full 1 --decode acks --arrival 4s`,
		Args: assets.MoreTraces(&f.traces),
		RunE: func(c *cobra.Command, _ []string) error { return runSwarm(c, f) },
	}
	f.play.register(c)
	f.tokens.register(c)
	fl := c.Flags()
	fl.BoolVar(&f.hugePages, "huge-pages", true, "move the players' memory into pages of 2 MiB once "+
		"all have joined: less CPU per player; takes a second or two for each GB")
	fl.StringArrayVar(&f.traces, "trace", nil,
		"recorded movement to follow, one .csv or .csv.gz `file` or more; default none")
	fl.StringVar(&f.model, "model", "",
		"compression model `file`; default the one of this build. The server sends its own if it differs")
	fl.StringVar(&f.content, "content", "", assets.ContentUsage+"; the server's is told by its hash")
	fl.BoolVar(&f.json, "json", false, "print the figures as JSON")
	fl.IntVar(&f.netgraph, "netgraph", -1,
		"print the connection quality of the player of this `number` every second, from 0; -1 for none")
	fl.Lookup("netgraph").NoOptDefVal = "0"
	return c
}

// register adds the flags of the bots' play to c.
func (p *swarmPlay) register(c *cobra.Command) {
	fl := c.Flags()
	fl.IntVar(&p.players, "players", 32,
		fmt.Sprintf("`number` of players, 1 to %d for each lobby", server.MaxPlayers))
	fl.IntVar(&p.spectators, "spectators", 0, "`number` of spectators, beside the players, if the "+
		"server admits them (serve --spectators); 0 for none")
	fl.IntVar(&p.full, "full", 4,
		"`number` of players that decode whole snapshots, at least one for each lobby")
	fl.TextVar(&p.decode, "decode", client.DecodeOwn, "how much the other players decode: full, own or acks")
	fl.IntVar(&p.rate, "rate", int(tick.DefaultRate), "command rate in `Hz`; use the server's tick rate")
	fl.DurationVar(&p.duration, "duration", 10*time.Second, "measured `time`; 0 until interrupted")
	fl.DurationVar(&p.warmup, "warmup", 2*time.Second,
		"`time` to play before that, after all have joined, without figures")
	fl.DurationVar(&p.arrival, "arrival", 0,
		"`time` over which the players connect, one after another; 0 for all at once")
	fl.DurationVar(&p.chatEvery, "chat-every", 0,
		"mean `time` between two chat lines of a player; 0 for none")
	fl.Uint64Var(&p.seed, "seed", 1, "`seed` of all decisions")
}

// check reports whether the flags fit together for this number of lobbies.
func (p *swarmPlay) check(lobbies int) error {
	switch {
	case p.players < 1 || p.players > server.MaxPlayers*max(lobbies, 1):
		return fmt.Errorf("%d players: expected 1 to %d for each lobby", p.players, server.MaxPlayers)
	case p.spectators < 0 || p.spectators > server.MaxPlayers:
		return fmt.Errorf("%d spectators: expected 0 to %d", p.spectators, server.MaxPlayers)
	case !tick.Rate(p.rate).Valid() || p.rate > 1000:
		return fmt.Errorf("rate %d Hz: expected %d to %d", p.rate, tick.MinRate, tick.MaxRate)
	}
	for _, d := range []struct {
		flag  string
		value time.Duration
		most  time.Duration
	}{
		{"duration", p.duration, 1000 * time.Hour},
		{"warmup", p.warmup, time.Hour},
		{"arrival", p.arrival, time.Hour},
		{"chat-every", p.chatEvery, 1000 * time.Hour},
	} {
		if d.value < 0 || d.value > d.most {
			return fmt.Errorf("--%s %v: expected 0 to %v", d.flag, d.value, d.most)
		}
	}
	return nil
}

// swarmConfig gathers the configuration of the swarm. addresses are the lobbies'.
func (f *swarmFlags) swarmConfig(c *cobra.Command) (cfg swarm.Config,
	move assets.BotSource, terms string, err error) {
	models, err := assets.Models(f.model)
	if err != nil {
		return cfg, move, "", err
	}
	pack, err := assets.Content(f.content)
	if err != nil {
		return cfg, move, "", err
	}
	if move, err = assets.Bots(f.traces, f.play.seed); err != nil {
		return cfg, move, "", err
	}
	sources, err := f.tokens.sources(c, false)
	if err != nil {
		return cfg, move, "", err
	}
	tokens, err := f.allTokens(c, sources)
	if err != nil {
		return cfg, move, "", err
	}
	p := &f.play
	cfg = swarm.Config{
		Players: p.players + p.spectators, Full: p.full, Decode: p.decode,
		Seed: p.seed, Rate: tick.Rate(p.rate),
		Models: models, Content: pack, Brain: move.Brain, Token: tokens,
		ChatEvery: p.chatEvery, Arrival: p.arrival,
	}
	if p.decode == client.DecodeFull {
		cfg.Full = cfg.Players
	}
	for _, s := range sources {
		cfg.Servers = append(cfg.Servers, s.at)
	}
	return cfg, move, sources[0].terms, nil
}

// runSwarm connects the players of f, plays for its duration and prints the figures.
func runSwarm(c *cobra.Command, f swarmFlags) error {
	if err := f.play.check(max(len(f.tokens.http), len(f.tokens.servers))); err != nil {
		return usage.Error(err)
	}
	if f.netgraph < -1 || f.netgraph >= f.play.players {
		return usage.Errorf("--netgraph %d: expected a player, 0 to %d", f.netgraph, f.play.players-1)
	}
	cfg, move, terms, err := f.swarmConfig(c)
	if err != nil {
		return err
	}
	setMinProcs(swarmPlaces)
	s, err := swarm.Open(cfg)
	if err != nil {
		return err
	}
	defer s.Close() // the figures are printed by then
	err = runner.Connect(c.Context(), s, cfg.Players, cfg.Arrival)
	if err == nil && f.hugePages {
		err = runner.EnlargePages(c.Context(), s)
	}
	if err != nil {
		return fmt.Errorf("%w; is tickrate serve running at %v%s with room for %s?",
			err, joinAddresses(cfg.Servers), terms, f.play.people())
	}
	fmt.Fprintf(c.ErrOrStderr(), "%s have joined, moving by %s%s\n", f.play.people(), move.Name, fetched(s))
	if err := s.Run(c.Context(), f.play.warmup, nil); err != nil {
		return err
	}
	return measureSwarm(c, f, s)
}

// measureSwarm plays for the measured time and prints the figures.
func measureSwarm(c *cobra.Command, f swarmFlags, s *swarm.Swarm) error {
	s.Reset()
	d := f.play.duration
	if d == 0 {
		d = 1 << 62
	}
	graphs, follow := newGraphs(s, f.play.players), followNetgraph(c.ErrOrStderr(), s, f.netgraph)
	out, begin := newScreen(c.ErrOrStderr(), f.json), time.Now()
	err := s.Run(c.Context(), d, func() bool {
		if follow != nil {
			return follow() // a line a second says more
		}
		if out.ready() {
			out.note("%s", progress(&s.Figures, f.play.players, time.Since(begin), d))
		}
		return false
	})
	out.clear()
	if err != nil {
		return err
	}
	return printFigures(c.OutOrStdout(), s, f, graphs.take(s))
}

// swarmPlaces is how many goroutines run at a time beside a swarm: itself, its backup, the hiccup
// meter, and one for the rest.
const swarmPlaces = 4

// progress is what a terminal shows while the players play for a time.
func progress(g *swarm.Figures, players int, played, of time.Duration) string {
	left := "until interrupted"
	if of < 1<<62 {
		left = fmt.Sprintf("%.0f s to go", max(0, (of-played).Seconds()))
	}
	kbps := float64(g.BytesDown) * 8 / 1000 / max(played.Seconds(), 0.001) / float64(players)
	return fmt.Sprintf("%d players, %.0f s, %s; %.1f kbit/s down a client, age p99 %.0f ms, %d shots",
		players, played.Seconds(), left, kbps, float64(g.Age.Quantile(0.99))/1e6, g.Shots)
}

// fetched says what the server had to send.
func fetched(s *swarm.Swarm) string {
	if n := s.Figures.Fetched; n > 0 {
		return fmt.Sprintf("; the server sent what is not here: %d files", n)
	}
	return ""
}

// people says how many players and spectators there are.
func (p *swarmPlay) people() string {
	if p.spectators == 0 {
		return fmt.Sprintf("%d players", p.players)
	}
	return fmt.Sprintf("%d players and %d spectators", p.players, p.spectators)
}

// joinAddresses names addresses.
func joinAddresses(at []netip.AddrPort) string {
	text := make([]string, len(at))
	for i := range at {
		text[i] = at[i].String()
	}
	return strings.Join(text, " and ")
}
