package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/runner"
	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/server"
)

// swarmFlags are the flags of swarm.
type swarmFlags struct {
	servers             []string
	model, content      string
	players, full, rate int
	seconds, chat       float64
	arrival, warm       float64
	seed                uint64
	traces              []string
	json                bool
	watch               int
	http                []string
	httpToken           string
	key                 keyFlags
	protocol            protocolID
	bare, huge          bool
	spectators          int
	looksOn             bool // the tokens to get are of who looks on
}

func newSwarm() *cobra.Command {
	f := swarmFlags{protocol: defaultProtocol}
	c := &cobra.Command{
		Use:   "swarm",
		Short: "Send headless players to a lobby over real UDP",
		Long: `swarm connects players to a lobby and lets them play: by a seeded generator of plausible play, or along recorded
human movement (--trace). It ends with what the players experienced, and says so if it could not keep its own schedule, and how
late it would have been had the machine not taken the processor from it.
A map or a compression model that is not here the server sends; no file is opened because a server names it.

Every player needs a connect token. The server's HTTP port gives them, and says where the lobby is; with the server's
private key (--key-file or TICKRATE_PRIVATE_KEY, unless --http is given) the swarm makes them itself.

  tickrate swarm --players 64
  tickrate swarm --http 203.0.113.5:7914 --http-token SECRET

One swarm plays on several lobbies, whose players it is told in turn: name each one's HTTP port, or each one's address and the key.

  tickrate swarm --players 6000 --full 1000 --http 127.0.0.1:7914 --http 127.0.0.1:7924

A full player decodes all it is sent and predicts itself. A thin one opens every datagram, for its acks and its own row, predicts itself
and sends what a full one sends; it does not decode the others. What it aims at, it sees with the eyes of its lobby's first full player.

With --bare the others decode acks and headers only. They cost two thirds of a thin one, send as much as one that fights nobody, and run
about blindly: for thousands, of whom it matters what they send and not how they play.

  tickrate swarm --players 2000 --full 1 --bare --arrival 4`,
		Args: moreTraces(&f.traces),
		RunE: func(c *cobra.Command, _ []string) error { return runSwarm(c, f) },
	}
	fl := c.Flags()
	fl.StringArrayVar(&f.servers, "server", nil, "UDP `host:port` of the lobby; default what tokens say, or 127.0.0.1:7913 if the swarm makes them; repeated: player n plays on the one of number n modulo their count")
	fl.StringArrayVar(&f.http, "http", []string{"127.0.0.1:7914"}, "HTTP `host:port` of the server, which gives tokens; may be repeated likewise")
	fl.StringVar(&f.httpToken, "http-token", "", "the server's `secret` for tokens; also "+tokenVariable)
	f.key.register(c, "as the server has it, to make tokens here")
	fl.Var(&f.protocol, "protocol-id", protocolUsage+", of tokens made here")
	fl.IntVar(&f.players, "players", 32, fmt.Sprintf("`number` of players, 1 to %d for each lobby", server.MaxPlayers))
	fl.IntVar(&f.spectators, "spectators", 0, "`number` who look on, beside the players, where the server has places for that (serve --spectators); 0 for none")
	fl.IntVar(&f.full, "full", 4, "`number` of them that decode all they are sent; the others decode their own state only")
	fl.BoolVar(&f.bare, "bare", false, "the others decode acks and headers only: nothing of a snapshot, not even their own state; they do not aim, and run about blindly")
	fl.BoolVar(&f.huge, "huge-pages", true, "once all are in, move them into pages of 2 MiB, which makes players cheaper and takes a second or two for each GB; a thousand full players are gigabytes")
	fl.IntVar(&f.rate, "rate", int(tick.DefaultRate), "rate in `Hz` at which players act; use the server's")
	fl.Float64Var(&f.seconds, "seconds", 10, "`seconds` to play; 0 until interrupted")
	fl.Float64Var(&f.warm, "warm", 2, "`seconds` to play before that, after all are in, of which no figures are taken: a server's memory and caches settle")
	fl.Float64Var(&f.arrival, "arrival", 0, "`seconds` over which the players connect, one after another; 0 for all at once")
	fl.Float64Var(&f.chat, "chat", 0, "`seconds` in which each player says something about once; 0 for never")
	fl.Uint64Var(&f.seed, "seed", 1, "`seed` of everything the players do")
	fl.StringArrayVar(&f.traces, "trace", nil, "recorded play to follow, one .csv or .csv.gz `file` or more; default none")
	fl.StringVar(&f.model, "model", "", "compression model `file`; default the one of this build. If the server has another, it sends that")
	fl.StringVar(&f.content, "content", "", contentUsage+"; the server's is told by its hash")
	fl.BoolVar(&f.json, "json", false, "print the figures as JSON")
	fl.IntVar(&f.watch, "watch", -1, "print a line a second of how the connection of the player of this `number` fares, from 0; -1 for none")
	fl.Lookup("watch").NoOptDefVal = "0"
	return c
}

func runSwarm(c *cobra.Command, f swarmFlags) error {
	switch {
	case f.players < 1 || f.players > server.MaxPlayers*max(len(f.http), len(f.servers)):
		return badUse(fmt.Errorf("%d players: expected 1 to %d for each lobby", f.players, server.MaxPlayers))
	case f.spectators < 0 || f.spectators > server.MaxPlayers:
		return badUse(fmt.Errorf("%d spectators: expected 0 to %d", f.spectators, server.MaxPlayers))
	case !(f.arrival >= 0 && f.arrival <= 3600):
		return badUse(fmt.Errorf("--arrival %g: expected 0 to 3600 seconds", f.arrival))
	case !tick.Rate(f.rate).Valid() || f.rate > 1000:
		return badUse(fmt.Errorf("rate %d Hz: expected %d to %d", f.rate, tick.MinRate, tick.MaxRate))
	case !(f.seconds >= 0 && f.seconds <= 1e6): // NaN is neither
		return badUse(fmt.Errorf("%g seconds: expected 0 to a million", f.seconds))
	case !(f.warm >= 0 && f.warm <= 3600):
		return badUse(fmt.Errorf("--warm %g: expected 0 to 3600 seconds", f.warm))
	case f.watch < -1 || f.watch >= f.players:
		return badUse(fmt.Errorf("--watch %d: expected a player, 0 to %d", f.watch, f.players-1))
	case !(f.chat >= 0 && f.chat <= 1e6):
		return badUse(fmt.Errorf("--chat %g: expected 0 to a million seconds", f.chat))
	}
	models, err := openModels(f.model)
	if err != nil {
		return err
	}
	pack, err := openContent(f.content)
	if err != nil {
		return err
	}
	move, err := openMovement(f.traces, f.seed)
	if err != nil {
		return err
	}
	tickets, err := f.tickets(c)
	if err != nil {
		return err
	}
	tokens, err := f.tokens(c, tickets)
	if err != nil {
		return err
	}
	var at []netip.AddrPort
	for _, t := range tickets {
		at = append(at, t.at)
	}
	places(swarmPlaces)
	s, err := swarm.Open(swarm.Config{
		Servers: at, Players: f.players + f.spectators, Full: f.full, Bare: f.bare, Seed: f.seed, Rate: tick.Rate(f.rate), Models: models, Content: pack,
		Brain: move.brain, Token: tokens, ChatEvery: seconds(f.chat), Arrival: seconds(f.arrival),
	})
	if err != nil {
		return err
	}
	defer s.Close() // the figures are out by then
	err = runner.Connect(c.Context(), s, f.players+f.spectators, seconds(f.arrival))
	if err == nil && f.huge {
		err = runner.EnlargePages(c.Context(), s)
	}
	if err != nil {
		return fmt.Errorf("%w; is tickrate serve running at %v%s with room for %s?", err, joined(at), tickets[0].terms, f.people())
	}
	fmt.Fprintf(c.ErrOrStderr(), "%s are in, moving by %s%s\n", f.people(), move.name, fetched(s))
	if err := s.Run(c.Context(), seconds(f.warm), nil); err != nil {
		return err
	}
	s.Reset()
	d := time.Duration(f.seconds * float64(time.Second))
	if d == 0 {
		d = 1 << 62
	}
	graphs, seen := newGraphs(s, f.players), watch(c.ErrOrStderr(), s, f.watch)
	out, begin := newScreen(c.ErrOrStderr(), f.json), time.Now()
	err = s.Run(c.Context(), d, func() bool {
		if seen != nil {
			return seen() // a line a second says more
		}
		if out.ready() {
			out.note("%s", progress(&s.Figures, f.players, time.Since(begin), d))
		}
		return false
	})
	out.clear()
	if err != nil {
		return err
	}
	return printFigures(c.OutOrStdout(), s, f, graphs.take(s))
}

// swarmPlaces is how many goroutines run at a time beside a swarm: itself, its relief, the hiccup meter, and one for the rest.
const swarmPlaces = 4

// progress is what a terminal shows while the players play for a time.
func progress(g *swarm.Figures, players int, played, of time.Duration) string {
	left := "until interrupted"
	if of < 1<<62 {
		left = fmt.Sprintf("%.0f s to go", max(0, (of-played).Seconds()))
	}
	return fmt.Sprintf("%d players, %.0f s, %s; %.1f kbit/s down a client, age p99 %.0f ms, %d rounds fired", players, played.Seconds(), left,
		float64(g.BytesDown)*8/1000/max(played.Seconds(), 0.001)/float64(players), float64(g.Age.Quantile(0.99))/1e6, g.Shots)
}

// fetched says what the server had to send.
func fetched(s *swarm.Swarm) string {
	if n := s.Figures.Fetched; n > 0 {
		return fmt.Sprintf("; the server sent what is not here: %d files", n)
	}
	return ""
}

// joined names addresses.
func joined(at []netip.AddrPort) string {
	text := make([]string, len(at))
	for i := range at {
		text[i] = at[i].String()
	}
	return strings.Join(text, " and ")
}

// tickets decides where tokens come from, and whom the swarm sends to: one for each lobby.
func (f *swarmFlags) tickets(c *cobra.Command) (all []*tickets, err error) {
	if err := f.key.check(c); err != nil {
		return nil, err
	}
	asked := c.Flags().Changed("http")
	if asked && (f.key.fileSet || f.key.hexSet) {
		return nil, badUse(errors.New("--http and a private key: tokens come from one of them"))
	}
	secret, err := httpSecret(f.httpToken)
	if err != nil {
		return nil, err
	}
	var named []netip.AddrPort // of the lobbies: through a proxy, say
	for _, one := range f.servers {
		at, err := publicAddrs("--server", []string{one})
		if err != nil {
			return nil, err
		}
		named = append(named, at...)
	}
	if f.key.given() && !asked {
		return f.minted(c, named)
	}
	if len(named) > 0 && len(named) != len(f.http) {
		return nil, badUse(fmt.Errorf("--server %d times and --http %d times: expected one of each for each lobby", len(named), len(f.http)))
	}
	for i, addr := range f.http {
		t, err := askedTickets(c.Context(), addr, secret, f.looksOn)
		if err != nil {
			return nil, err
		}
		if len(named) > 0 {
			t.at = named[i]
		}
		all = append(all, t)
	}
	return all, nil
}

// minted are tokens made here.
func (f *swarmFlags) minted(c *cobra.Command, named []netip.AddrPort) (all []*tickets, err error) {
	key, err := f.key.read(false, c.ErrOrStderr())
	if err != nil {
		return nil, err
	}
	if named == nil {
		named = []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:7913")}
	}
	for _, at := range named {
		t, err := mintedTickets(key, marked(netcode.Mint{ProtocolID: uint64(f.protocol), TimeoutSeconds: server.DefaultTimeoutSeconds, Servers: []netip.AddrPort{at}}, f.looksOn))
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

// seconds is a number of seconds as a duration.
func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// summary is what swarm prints.
type summary struct {
	Players        int     `json:"players"`
	Seconds        float64 `json:"seconds"`
	TicksPerPlayer float64 `json:"ticks_per_player"`
	KbpsDown       float64 `json:"kbps_down_per_client"`
	KbpsUp         float64 `json:"kbps_up_per_client"`
	AgeP50         float64 `json:"snapshot_age_ms_p50"`
	AgeP99         float64 `json:"snapshot_age_ms_p99"`
	RTTP50         float64 `json:"rtt_ms_p50"`
	RTTP99         float64 `json:"rtt_ms_p99"`
	Mispredictions uint64  `json:"mispredictions"`
	Shots          uint64  `json:"shots"`
	Said           uint64  `json:"chat_lines"`
	LateP999       float64 `json:"swarm_late_ms_p999"`
	Kept           bool    `json:"swarm_schedule_kept"` // that is less than 2 ms
	Relieved       float64 `json:"swarm_relieved"`      // part of the turns that a second thread played, as the first was held up
	Taken          *taken  `json:"swarm_taken"`         // by the machine; null where the system does not tell
	CPU            float64 `json:"swarm_cores"`
	CPUPerTick     float64 `json:"swarm_us_per_client_tick"`
	Void           string  `json:"void,omitempty"`

	Netgraphs []client.Netgraph `json:"netgraphs"` // of the first players, over the whole run

	Bytes *measure.Bytes `json:"bytes"` // what the ones were for that a sample of the players received
}

// taken is what the machine took from the swarm while it wanted to run, and how late it is without that.
type taken struct {
	LateP999  float64  `json:"own_late_ms_p999"`
	Kept      bool     `json:"own_schedule_kept"`
	Millis    float64  `json:"ms"`
	Bursts    uint64   `json:"bursts"` // of half a millisecond or more
	InBursts  float64  `json:"bursts_ms"`
	LongestMs float64  `json:"longest_ms"`
	LateWakes uint64   `json:"late_wakes"` // of half a millisecond or more beside the run delay, so by interrupts or a hypervisor that does not tell; not left out
	Overslept float64  `json:"late_wakes_ms"`
	Stolen    *float64 `json:"stolen_ms"` // by a hypervisor, from all processors that the swarm may use, and not left out; null where the system does not tell
}

func takenFrom(g *swarm.Figures) *taken {
	if !g.RunDelay.Known {
		return nil
	}
	t := &taken{LateP999: millis(g.StealCorrected.Quantile(0.999)), Kept: g.OnScheduleCorrected(), Millis: millis(g.RunDelay.All), Bursts: g.RunDelay.Bursts, InBursts: millis(g.RunDelay.InBursts),
		LongestMs: millis(g.RunDelay.Longest), LateWakes: g.RunDelay.LateWakes, Overslept: millis(g.RunDelay.Overslept)}
	if g.RunDelay.StolenKnown {
		stolen := millis(g.RunDelay.Stolen)
		t.Stolen = &stolen
	}
	return t
}

func millis[T ~int64](ns T) float64 { return float64(ns) / 1e6 }

func printFigures(w io.Writer, s *swarm.Swarm, f swarmFlags, graphs []client.Netgraph) error {
	g := &s.Figures
	ms := millis[int64]
	sec := g.Elapsed.Seconds()
	n := float64(f.players)
	out := summary{
		Players: f.players, Seconds: sec, TicksPerPlayer: float64(g.Ticks) / n,
		KbpsDown: float64(g.BytesDown) * 8 / 1000 / sec / n, KbpsUp: float64(g.BytesUp) * 8 / 1000 / sec / n,
		AgeP50: ms(g.Age.Quantile(0.5)), AgeP99: ms(g.Age.Quantile(0.99)),
		RTTP50: ms(g.RTT.Quantile(0.5)), RTTP99: ms(g.RTT.Quantile(0.99)),
		Mispredictions: g.Mispredictions, Shots: g.Shots, Said: g.Said, LateP999: ms(g.Late.Quantile(0.999)),
		Kept: g.OnSchedule(), Relieved: float64(g.ByBackup) / float64(max(g.Turns, 1)), Taken: takenFrom(g), CPU: g.CPU.Seconds() / sec, CPUPerTick: g.CPU.Seconds() * 1e6 / float64(max(g.Ticks, 1)), Void: g.Void(), Bytes: runner.Account(g), Netgraphs: graphs,
	}
	if f.json {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(out)
	}
	fmt.Fprintf(w, "%d players, %.1f s, %.1f ticks each\n", out.Players, out.Seconds, out.TicksPerPlayer)
	fmt.Fprintf(w, "  down %8.1f kbit/s a client    up %8.1f kbit/s a client\n", out.KbpsDown, out.KbpsUp)
	fmt.Fprintf(w, "  snapshot age  p50 %6.1f ms   p99 %6.1f ms\n", out.AgeP50, out.AgeP99)
	fmt.Fprintf(w, "  round trip    p50 %6.1f ms   p99 %6.1f ms\n", out.RTTP50, out.RTTP99)
	fmt.Fprintf(w, "  %d rounds fired, %d mispredictions\n", out.Shots, out.Mispredictions)
	fmt.Fprintf(w, "  the swarm itself: %.2f of a core, %.1f µs a player and tick, sends late by %.2f ms at p99.9 (limit %.0f ms, %s)\n", out.CPU, out.CPUPerTick,
		out.LateP999, millis(swarm.MaxLate), keptWords(out.Kept, "missed"))
	if out.Relieved > 0 {
		fmt.Fprintf(w, "  %.2f %% of its turns were played by its relief, a second thread, as the first was held up\n", 100*out.Relieved)
	}
	printTaken(w, out.Taken, sec)
	fmt.Fprintf(w, "  player 0      %v\n", graphs[0])
	printBytes(w, f.players, out.Bytes)
	if out.Void != "" {
		fmt.Fprintf(w, "VOID: %s; take these figures for nothing\n", out.Void)
	}
	return nil
}

// printTaken says how idle the machine was, and whether it is that which made the swarm late.
func printTaken(w io.Writer, t *taken, sec float64) {
	if t == nil {
		fmt.Fprintln(w, "  the machine: what it took from the swarm is not known on this system")
		return
	}
	fmt.Fprintf(w, "  the machine took %.1f ms of %.1f s from it, %.1f of them in %d bursts of %.1f ms or more, the longest %.1f; without all of it late by %.2f ms at p99.9 (%s)\n",
		t.Millis, sec, t.InBursts, t.Bursts, millis(swarm.Burst), t.LongestMs, t.LateP999, keptWords(t.Kept, "missed by itself"))
	if t.LateWakes > 0 {
		fmt.Fprintf(w, "  its timer was late %d times by %.1f ms or more, %.1f ms in all: interrupts, or a hypervisor that does not tell; not left out\n", t.LateWakes, millis(swarm.Burst), t.Overslept)
	}
	if t.Stolen != nil && *t.Stolen > 0 {
		fmt.Fprintf(w, "  a hypervisor says that it took %.0f ms of the processors; not left out\n", *t.Stolen)
	}
}

func keptWords(kept bool, missed string) string {
	if kept {
		return "kept"
	}
	return missed
}
