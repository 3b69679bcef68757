// The command swarm: headless players that play on lobbies over real UDP, and the figures of what
// they experienced. bench/swarm plays; the tokens and the output are in swarm_*.go.

package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tickrate/tickrate/bench/runner"
	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/cmd/internal/assets"
	"github.com/tickrate/tickrate/cmd/internal/inspect"
	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
)

// swarmFlags are the flags of swarm.
type swarmFlags struct {
	play      swarmPlay
	tokens    swarmTokens
	model     string   // file of models; "" for those of this build
	content   string   // folder of the content pack; "" for that of this build
	traces    []string // recorded play that the bots follow; none for seeded bots
	json      bool
	hugePages bool // moves the players' memory into pages of 2 MiB
	netgraph  int  // number of the player whose netgraph is followed; -1 for none
	// number of the player whose corrections are followed; -1 for none
	corrections int
	asked       int // players, with those that the server then refused
}

// swarmPlay says how many clients play, how, and for how long.
type swarmPlay struct {
	players, spectators int
	full                int           // players that decode whole snapshots
	decode              client.Decode // of the other players
	rate                int           // commands a second; 0: the server's tick rate
	duration            time.Duration // measured; 0 until interrupted
	warmup              time.Duration // played before measuring
	arrival             time.Duration // over which the players connect
	link                string        // profile of each player's link
	chatEvery           time.Duration // mean between two chat lines of a player; 0 for none
	seed                uint64        // of all decisions
}

// newSwarm returns the command that connects headless players to servers and measures what they
// experience.
func newSwarm() *cobra.Command {
	f := swarmFlags{tokens: swarmTokens{protocol: defaultProtocol}}
	f.play.decode = client.DecodeOwn
	c := &cobra.Command{
		Use:   "swarm",
		Short: "Send headless players to a lobby over real UDP",
		Long: `swarm connects players to a lobby and lets them play: seeded bots, or recorded
human movement (--trace). It prints what the players experienced, how late the
swarm itself was, and how late without the time that the machine took from it.
Figures are marked VOID, and the exit code is 4, if the swarm did not keep its
own schedule: then they say more about this machine than about the server.

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

Each player can have a bad link (--link), which is played in the swarm itself, up
and down, seeded by the player's number; tickrate impair is the same as a proxy.

  tickrate swarm --players 64 --link mobile

The first players (--full) decode whole snapshots. --decode is how much the
others decode:

  full  everything, too
  own   acks and their own state: they predict themselves and aim at
        what their lobby's first player sees
  acks  acks only: they cost two thirds of that, move at random and do not
        aim; for thousands of players

  tickrate swarm --players 2000 --full 1 --decode acks --arrival 4s

With --nearest each token names all servers: a player pings them three times and
joins the one with the shortest round trip. The figures say who joined where.
Such players decode whole snapshots, or acks only.

  tickrate swarm --nearest --server 198.51.100.7:7913 --server 203.0.113.5:7913

A fleet's director gives each player a place on one host or several:

  tickrate swarm --director 127.0.0.1:7920 --hosts 3 --players 64`,
		Args: assets.MoreTraces(&f.traces),
		RunE: func(c *cobra.Command, _ []string) error { return runSwarm(c, f) },
	}
	c.AddCommand(newSwarmAgent())
	f.play.register(c)
	f.tokens.register(c)
	f.register(c)
	return c
}

// register adds the flags that swarm and client share, beside those of play and tokens.
func (f *swarmFlags) register(c *cobra.Command) {
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
	fl.IntVar(&f.corrections, "corrections", -1, "print where the server's state differed from what the "+
		"player of this `number` predicted, from 0; -1 for none. See tickrate inspect prediction")
}

// register adds the flags of p to c.
func (p *swarmPlay) register(c *cobra.Command) {
	fl := c.Flags()
	fl.IntVar(&p.players, "players", 32,
		fmt.Sprintf("`number` of players, 1 to %d for each lobby", server.MaxPlayers))
	fl.IntVar(&p.spectators, "spectators", 0,
		"`number` of spectators, beside the players, if the server admits them (serve --spectators); "+
			"0 for none")
	fl.IntVar(&p.full, "full", 4,
		"`number` of players that decode whole snapshots, at least one for each lobby")
	fl.TextVar(&p.decode, "decode", client.DecodeOwn,
		"`amount` that the other players decode: full, own or acks")
	fl.IntVar(&p.rate, "rate", 0, "tick rate in `Hz` that the server must have; 0 for any")
	fl.DurationVar(&p.duration, "duration", 10*time.Second, "measured `time`; 0 until interrupted")
	fl.DurationVar(&p.warmup, "warmup", 2*time.Second,
		"`time` to play before measuring, after all have joined, without figures")
	fl.DurationVar(&p.arrival, "arrival", 0,
		"`time` over which the players connect, one after another; 0 for all at once")
	fl.DurationVar(&p.chatEvery, "chat-every", 0,
		"mean `time` between two chat lines of a player; 0 for none")
	p.registerSeed(fl)
}

// registerSeed adds the flags of what is drawn by the seed.
func (p *swarmPlay) registerSeed(fl *pflag.FlagSet) {
	fl.Uint64Var(&p.seed, "seed", 1, "`seed` of all decisions, and of the links")
	fl.StringVar(&p.link, "link", "clean", "`profile` of each player's link, both ways: clean, wifi, mobile, bad, "+
		"hell, or settings as of tickrate impair, such as delay=40ms,loss=2%")
}

// check returns an error for values out of range; lobbies is the number of lobbies, 0 for one.
func (p *swarmPlay) check(lobbies int) error {
	switch {
	case p.players < 1 || p.players > server.MaxPlayers*max(lobbies, 1):
		return fmt.Errorf("%d players: expected 1 to %d for each lobby", p.players, server.MaxPlayers)
	case p.spectators < 0 || p.spectators > server.MaxPlayers:
		return fmt.Errorf("%d spectators: expected 0 to %d", p.spectators, server.MaxPlayers)
	case p.rate != 0 && (!tick.Rate(p.rate).Valid() || p.rate > 1000):
		return fmt.Errorf("--rate %d: expected %d to %d Hz, or 0 for the server's", p.rate, tick.MinRate,
			tick.MaxRate)
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
	_, err := p.profile()
	return err
}

// profile is the profile of the players' links.
func (p *swarmPlay) profile() (link impair.Profile, err error) {
	if link, err = impair.ParseProfile(p.link); err != nil {
		return link, fmt.Errorf("--link: %w", err)
	}
	if link.Rebind != 0 {
		return link, fmt.Errorf("--link %s: rebind needs a socket for each address: tickrate impair has it", p.link)
	}
	return link, nil
}

// swarmSetup is a swarm that is ready to open.
type swarmSetup struct {
	cfg      swarm.Config
	movement string // description of the bots
	terms    string // what the server must match, for errors
}

// setup loads the files of the flags, asks for the first token of each lobby, and returns the
// configuration of the swarm.
func (f *swarmFlags) setup(c *cobra.Command) (*swarmSetup, error) {
	models, err := assets.Models(f.model)
	if err != nil {
		return nil, err
	}
	pack, err := assets.Content(f.content)
	if err != nil {
		return nil, err
	}
	move, err := assets.Bots(f.traces, f.play.seed)
	if err != nil {
		return nil, err
	}
	sources, err := f.tokens.sources(c, asPlayer)
	if err != nil {
		return nil, err
	}
	tokens, err := f.allTokens(c, sources)
	if err != nil {
		return nil, err
	}
	p := &f.play
	link, err := p.profile()
	if err != nil {
		return nil, usage.Error(err)
	}
	cfg := swarm.Config{
		Link:    link,
		Players: p.players + p.spectators, FirstSpectator: p.players, Full: min(p.full, p.players), Decode: p.decode,
		Seed: p.seed, Rate: tick.Rate(p.rate), ChatEvery: p.chatEvery, Arrival: p.arrival,
		Models: models, Content: pack, Brain: move.Brain, Token: tokens,
		Choose: f.tokens.nearest || f.tokens.match.director != "", // which may name another host for each player
	}
	// Full counts the clients that decode everything, from the first.
	if p.decode == client.DecodeFull {
		cfg.Full = cfg.Players
	}
	for _, s := range sources {
		cfg.Servers = append(cfg.Servers, s.at)
	}
	return &swarmSetup{cfg, move.Name, sources[0].terms}, nil
}

// runSwarm connects the players of f, plays the warm-up, and then measures. It fails if not all
// players join.
func runSwarm(c *cobra.Command, f swarmFlags) error {
	if err := f.play.check(max(len(f.tokens.http), len(f.tokens.servers))); err != nil {
		return usage.Error(err)
	}
	if f.netgraph < -1 || f.netgraph >= f.play.players {
		return usage.Errorf("--netgraph %d: expected a player, 0 to %d", f.netgraph, f.play.players-1)
	}
	if f.corrections < -1 || f.corrections >= f.play.players {
		return usage.Errorf("--corrections %d: expected a player, 0 to %d", f.corrections, f.play.players-1)
	}
	setup, err := f.setup(c)
	if err != nil {
		return err
	}
	setMinProcs(swarmProcs)
	if f.corrections >= 0 {
		setup.cfg.Corrections = inspect.CorrectionLog
	}
	f.asked = f.play.players
	refused := refusedClients{asked: f.asked, w: c.ErrOrStderr()}
	setup.cfg.Refused = refused.add
	s, err := swarm.Open(setup.cfg)
	if err != nil {
		return err
	}
	defer s.Close() // after the figures are printed
	err = runner.Connect(c.Context(), s, setup.cfg.Players, setup.cfg.Arrival)
	if err == nil && f.hugePages {
		err = runner.EnlargePages(c.Context(), s)
	}
	if err != nil {
		return fmt.Errorf("%w; is tickrate serve running at %v%s with room for %s?",
			err, joinAddresses(setup.cfg.Servers), setup.terms, f.play.people())
	}
	f.play.players, f.play.spectators = f.play.players-refused.players, f.play.spectators-refused.spectators
	if err := f.play.takeRate(s); err != nil {
		return err
	}
	fmt.Fprintf(c.ErrOrStderr(), "joined: %s, moving by %s%s\n",
		f.play.people(), setup.movement, fetched(s))
	if err := s.Run(c.Context(), f.play.warmup, nil); err != nil {
		return err
	}
	return errors.Join(measureSwarm(c, f, s), refused.err())
}

// takeRate makes the server's tick rate that of the swarm, and refuses another --rate.
func (p *swarmPlay) takeRate(s *swarm.Swarm) error {
	rate := s.ServerRate()
	if p.rate != 0 && p.rate != int(rate) {
		return usage.Errorf("--rate %d: the server plays %d ticks a second, and its clients with it: "+
			"leave --rate out, or start tickrate serve --rate %d", p.rate, rate, p.rate)
	}
	p.rate = int(rate)
	s.SetRate(rate)
	return nil
}

// measureSwarm plays for the measured time and prints the figures.
func measureSwarm(c *cobra.Command, f swarmFlags, s *swarm.Swarm) error {
	s.Reset() // the warm-up does not count
	d := f.play.duration
	if d == 0 {
		d = 1 << 62 // until the context ends
	}
	graphs, follow := newGraphs(s, f.asked), followNetgraph(c.ErrOrStderr(), s, f.netgraph)
	corrected := followCorrections(c.ErrOrStderr(), s, f.corrections)
	out, begin := newScreen(c.ErrOrStderr(), f.json), time.Now()
	err := s.Run(c.Context(), d, func() bool {
		if corrected != nil && corrected() {
			return true
		}
		if follow != nil {
			return follow() // in place of the progress
		}
		if out.ready() {
			out.note("%s", progress(&s.Figures, f.play.clients(), time.Since(begin), d))
		}
		return false
	})
	out.clear()
	if err != nil {
		return err
	}
	return printFigures(c.OutOrStdout(), s, f, graphs.take(s))
}

// swarmProcs is the least GOMAXPROCS of a swarm: the sender, its backup, the hiccup meter, and one
// for all else.
const swarmProcs = 4

// progress formats the state of a measurement for the terminal: played of the whole time of.
func progress(g *swarm.Figures, players int, played, of time.Duration) string {
	left := "until interrupted"
	if of < 1<<62 {
		left = fmt.Sprintf("%.0f s to go", max(0, (of-played).Seconds()))
	}
	kbps := float64(g.BytesDown) * 8 / 1000 / max(played.Seconds(), 0.001) / float64(players)
	return fmt.Sprintf("%s, %.0f s, %s; %.1f kbit/s down, age p99 %.0f ms, %s",
		several(players, "player"), played.Seconds(), left, kbps,
		float64(g.Age.Quantile(0.99))/1e6, several(int(g.Shots), "shot"))
}

// fetched formats the number of files that the server had to send, empty for none.
func fetched(s *swarm.Swarm) string {
	if n := s.Figures.Fetched; n > 0 {
		return fmt.Sprintf("; the server sent what is not here: %s", several(int(n), "file"))
	}
	return ""
}
