// The command serve: runs lobbies, or echoes netcode payloads, until it is interrupted.
// Settings go in; host.Config and a running host come out. The settings themselves are in
// serve_settings.go.

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/tickrate/tickrate/cmd/internal/assets"
	"github.com/tickrate/tickrate/cmd/internal/serverapi"
	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/fleet/handoff"
	"github.com/tickrate/tickrate/internal/hugepage"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/host"
	"github.com/tickrate/tickrate/sim"
)

// ready is the line of JSON that serve --ready prints for programs that start it.
type ready struct {
	UDP     string `json:"udp"`
	HTTP    string `json:"http"`    // address of the HTTP port; "" for none
	Connect string `json:"connect"` // URL that gives a token for a POST; "" for none
	Query   string `json:"query"`   // UDP address for server browsers; "" for none
	PID     int    `json:"pid"`
	PVS     string `json:"pvs,omitempty"` // state of the visible set, if the map has one
}

// runningHost is a lobby host or an echo host.
type runningHost interface {
	Addr() netip.AddrPort
	HTTPAddr() string
	ConnectURL() string
	QueryAddr() string
	Run(context.Context) error
}

// serveLong is the help of serve.
const serveLong = `serve runs a lobby until it is interrupted. Players join over UDP; figures,
health and profiles are on HTTP:

  curl http://127.0.0.1:7914/stats
  curl http://127.0.0.1:7914/metrics
  go tool pprof -tagfocus stage=snapshot http://127.0.0.1:7914/debug/pprof/profile?seconds=10

http://127.0.0.1:7914/ in a browser shows the lobby live. On a port that others
can reach it asks for a password, which is the secret of --http-token; without
one it shows nothing there.

Every setting is a flag, and a key of a TOML file. Flags override the file:

  tickrate serve config > server.toml
  tickrate serve --config server.toml --players 32

A player needs a connect token (netcode 1.02), made with the private key of the
server. The first run makes a key file; TICKRATE_PRIVATE_KEY overrides the
file. On this machine the server itself gives tokens:

  curl -X POST http://127.0.0.1:7914/v1/connect

Players on other machines need the public address in their tokens, and tokens
over HTTP then need a secret:

  tickrate serve --public-addr 203.0.113.5:7913 --http :7914 --http-token SECRET
  curl -X POST -H 'Authorization: Bearer SECRET' http://203.0.113.5:7914/v1/connect

On a terminal it takes console lines, such as help, list, kick NAME, map
arena-256, mode assault, game.respawndelay 5s; so it does over HTTP:

  curl --data 'say the server restarts in a minute' http://127.0.0.1:7914/v1/console

With --lobbies many matches share the port, and one thread or as many as
--lobby-workers says. Lobbies come and go over HTTP; the live page lists them,
and pages take ?lobby=N; a token names a lobby, or the server takes the fullest
one with room:

  tickrate serve --lobbies 8:100 --players 10
  curl -X POST -d '{"map": "arena-16", "players": 10}' http://127.0.0.1:7914/v1/lobbies
  curl -X POST -H 'Content-Type: application/json' -d '{"lobby": "8"}' http://127.0.0.1:7914/v1/connect
  curl -X DELETE http://127.0.0.1:7914/v1/lobbies/8

With --drain-for, SIGTERM lets matches end before the server does: see
docs/guide/operate.md.

Any netcode 1.02 client can be tried against it, with tokens of its own backend:

  TICKRATE_PRIVATE_KEY=... tickrate serve --echo --protocol-id 0x1122334455667788 \
    --public-addr 192.0.2.7:7913`

// newServe returns the command that runs lobbies.
func newServe() *cobra.Command {
	var s serveSettings
	var file string
	var ready, exitOnStdinEOF bool
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run a lobby, or many on one port",
		Long:  serveLong,
		Args:  usage.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := loadSettings(c.Flags(), file); err != nil {
				return err
			}
			if err := s.checkAgones(); err != nil {
				return err
			}
			ctx, drain := c.Context(), (<-chan struct{})(nil)
			if s.match.drainFor > 0 {
				var stop func()
				ctx, drain, stop = drainSignals(ctx)
				defer stop()
			}
			if exitOnStdinEOF {
				ctx = untilEOF(ctx, c.InOrStdin())
			}
			report := s.announce
			if ready {
				report = printReady
			}
			return s.serve(ctx, c, func(c *cobra.Command, h runningHost) {
				report(c, h)
				drainOn(ctx, drain, h)
			})
		},
	}
	s.register(c)
	configFlag(c, &file)
	c.Flags().BoolVar(&ready, "ready", false, "print one line of JSON with the addresses once ready, "+
		"for programs that start this one")
	exitOnStdinEOFFlag(c, &exitOnStdinEOF)
	c.Flags().BoolVar(&s.query.local, "local-list", true, "keep an entry with map, mode and players for tickrate "+
		"query --local, which lists the servers of this user on this machine")
	c.Flags().BoolVar(&s.capture.from, "capture-from-reset", false, "capture no tick before the figures of all "+
		"lobbies are reset (POST /stats/reset?lobby=all), for programs that measure, as plan")
	c.AddCommand(newServeConfig())
	return c
}

// configFlag registers the flag that names the configuration file.
func configFlag(c *cobra.Command, file *string) {
	c.Flags().StringVar(file, "config", "", "TOML `file` of settings, as tickrate serve config prints "+
		"them; flags override it; default none")
}

// newServeConfig returns the command that prints the settings of serve as TOML.
func newServeConfig() *cobra.Command {
	var s serveSettings
	var file string
	c := &cobra.Command{
		Use:   "config",
		Short: "Print the effective settings of serve as TOML",
		Long: `config prints all settings as serve would use them: defaults, then the file of
--config, then flags. Each has a comment. The output is a file for serve
--config; secrets are left out.`,
		Args: usage.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := loadSettings(c.Flags(), file); err != nil {
				return err
			}
			return printSettings(c.OutOrStdout(), c.Flags())
		},
	}
	s.register(c)
	configFlag(c, &file)
	return c
}

// serve runs the host of the settings until ctx ends. report prints its addresses once its sockets
// are open.
func (s *serveSettings) serve(ctx context.Context, c *cobra.Command,
	report func(*cobra.Command, runningHost)) error {
	s.log.out = s.log.format.logger(os.Stderr)
	cfg, err := orEnd(ctx, func() (host.Config, error) { return s.config(c) })
	if err != nil {
		return err
	}
	// The key comes last: all other settings are valid by now.
	if cfg.Lobby.Netcode.PrivateKey, err = s.key.read(makeKey, warningWriter{s.log.out}); err != nil {
		return err
	}
	setMinProcs(max(s.tick.workers, cfg.Lobbies.Workers) + 2) // these, the socket's loop, and all else
	if s.tick.prefault {
		// The host calls it when the lobby has its memory, before the first player joins.
		cfg.Prefault = func() {
			if s.tick.hugePages {
				hugepage.PrefaultHuge(ctx)
			} else {
				hugepage.Prefault(ctx)
			}
		}
	}
	stop, err := s.observe(&cfg)
	if err != nil {
		return err
	}
	defer stop()
	if err = s.fleet.fillAddress(ctx, &cfg); err != nil {
		return err
	}
	h, err := orEnd(ctx, func() (runningHost, error) { return s.open(cfg) })
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%w; stop the other server, or choose ports with --listen, --http and --query", err)
	}
	if err != nil {
		return err
	}
	if s.tick.hugePages {
		if s.tick.prefault {
			// Memory that was freed during the start has left holes in huge pages.
			hugepage.CollapseHeap(ctx, func() {})
		}
		go hugepage.KeepCollapsed(ctx)
	}
	leave, err := s.fleet.join(ctx, h, s.log.out)
	if err != nil {
		return err
	}
	defer leave()
	defer s.listLocally(h)()
	report(c, h)
	defer s.fleet.runAgones(h, s.log.out)()
	return h.Run(ctx)
}

// setMinProcs sets GOMAXPROCS to at least n, even where the process is limited to fewer processors:
// the pacing thread spins for the last millisecond before a tick, and the event loop of the socket
// and HTTP requests must not wait for it.
func setMinProcs(n int) { runtime.GOMAXPROCS(max(n, runtime.GOMAXPROCS(0))) }

// config turns the settings into a configuration without the key, so that a wrong setting is
// refused before a key file is made.
func (s *serveSettings) config(c *cobra.Command) (cfg host.Config, err error) {
	if err := s.check(c); err != nil {
		return cfg, err
	}
	secret, err := serverSecret(s.http.token)
	if err != nil {
		return cfg, err
	}
	public, err := publicAddrs("--public-addr", s.network.public)
	if err != nil {
		return cfg, err
	}
	cfg = host.Config{
		UDP: host.UDPConfig{Listen: s.network.listen, Backend: s.network.socket},
		HTTP: host.HTTPConfig{Listen: s.http.listen, Secret: secret,
			TokenLifetime: s.http.tokenLifetime, SessionTimeout: s.http.sessionTimeout},
		Query: host.QueryConfig{Listen: s.query.listen, Build: version},
		Files: host.FilesConfig{Journal: s.journalFile(), PVSCache: s.replication.pvsCache,
			Recordings: s.record, Dumps: s.dumpFolder()},
		Name: s.query.name, TickWorkers: s.tick.workers, MaxSteps: s.tick.maxSteps,
		MaxBatch: s.tick.maxBatch, Log: s.log.out,
	}
	cfg.Lobby.Netcode = netcode.ServerConfig{ProtocolID: uint64(s.network.protocol), Addresses: public,
		AllowTestKey: s.key.insecure}
	cfg.Lobby.Players, cfg.DrainFor = s.match.players, s.match.drainFor
	if s.fleet.url != "" {
		cfg.MoveFirst = handoff.MoveFirst
	}
	cfg.Lobbies = host.LobbiesConfig(s.match.lobbies)
	if cfg.Lobbies.Workers = s.match.lobbyWorkers; s.match.lobbyWorkers == 0 {
		cfg.Lobbies.Workers = min(runtime.NumCPU(), host.MaxLobbyWorkers)
	}
	if s.network.echo {
		return cfg, usage.Error(errors.Join(s.checkEcho(), cfg.UDP.Check()))
	}
	// Console lines come from a terminal, or from any standard input that --console allows.
	cfg.Console.Exec, cfg.Console.Dir = s.console.exec, "."
	if s.console.stdin || term.IsTerminal(int(os.Stdin.Fd())) {
		readInBackground()
		cfg.Console.Input = os.Stdin
		if s.log.format == logText {
			cfg.Console.Output = os.Stderr
		}
	}
	if err := s.lobby(&cfg); err != nil {
		return cfg, err
	}
	return cfg, usage.Error(cfg.Check())
}

// lobby fills in the lobby's part of the configuration: it loads map, rules and models, and parses
// the settings that are words.
func (s *serveSettings) lobby(cfg *host.Config) error {
	m, n, r, l := &s.match, &s.network, &s.replication, &cfg.Lobby
	// The content pack, and what it decides: the map, and the rules of the mode on that map.
	pack, err := assets.Content(m.content)
	if err != nil {
		return err
	}
	if l.Arena, err = assets.MapOf(pack, m.arena); err != nil {
		return err
	}
	game, err := sim.GameForArena(pack, assets.MapName(m.arena), m.mode)
	if err != nil {
		return usage.Error(err)
	}
	l.Rules, l.ArenaName = sim.Rules{Rate: tick.Rate(m.rate), Seed: m.seed, Mix: true,
		Game: game}, assets.MapName(m.arena)
	// How snapshots are coded and what each client is sent.
	if l.Models, err = assets.Models(n.model); err != nil {
		return err
	}
	if l.Codec, err = schema.ParseCodec(n.codec); err != nil {
		return usage.Error(err)
	}
	if l.Killcam, err = server.ParseKillcam(m.killcam); err != nil {
		return usage.Error(err)
	}
	if l.Relevance, err = server.ParseRelevance(r.relevance); err != nil {
		return usage.Error(err)
	}
	// The maps that may follow.
	maps := newMapResolver(pack, m.content, m.arena)
	cfg.Maps, s.capture.maps = maps.load, maps
	if l.Rotation, err = parseRotation(pack, m.rotate); err != nil {
		return err
	}
	// Plain values; server.Config.Check refuses those out of range.
	l.Kbps, l.ContentKbps, l.ChecksumEvery = n.kbps, n.contentKbps, n.checksum
	l.ViewDistance, l.TeamFog, l.NearestPlayers = float32(r.viewDistance), r.teamFog, r.nearest
	if l.NearestPlayers == 0 {
		l.NearestPlayers = -1
	}
	l.Spectators, l.SpectateAll, l.ShotLogSize = m.spectators, m.spectateAll, s.shotLog
	l.IdleWarn, l.IdleKick, l.IdlePassive = m.idleWarn, m.idleKick, m.idlePassive
	l.SleepWhenEmpty = !m.noIdleSleep
	l.SendInterval = n.sendInterval
	if n.snapshotRate != 0 {
		_, l.SendInterval, err = (host.ClockConfig{Simulation: l.Rules.Rate, Network: n.snapshotRate}).Check()
	}
	return usage.Error(err)
}

// maxIdle bounds --idle-warn and --idle-kick.
const maxIdle = 24 * time.Hour

// httpSecret returns the secret of the HTTP port, from the flag or else the environment; "" for
// none.
func httpSecret(flag string) (string, error) {
	secret := cmp.Or(flag, os.Getenv(serverapi.TokenVariable))
	for _, r := range secret {
		if r <= ' ' || r > '~' {
			return "", usage.Error(errors.New("--http-token: expected ASCII without spaces"))
		}
	}
	return secret, nil
}

// minSecret is the shortest secret that a server takes: 64 bits in hexadecimal, which nobody guesses at
// the few wrong ones a second that a port lets an address try.
const minSecret = 16

// serverSecret is httpSecret of a server, which takes none that can be guessed.
func serverSecret(flag string) (string, error) {
	secret, err := httpSecret(flag)
	if err == nil && secret != "" && len(secret) < minSecret {
		return "", usage.Errorf("--http-token of %d characters: expected %d or more, as from openssl rand -hex 16",
			len(secret), minSecret)
	}
	return secret, err
}

// journalFile returns the path of the journal of used tokens, "" for none. A server on a port that
// the kernel chooses has no journal, since its successor would get another port.
func (s *serveSettings) journalFile() string {
	const noJournal = "no journal of used tokens: only tokens issued after the start, with lifetime " +
		"--token-lifetime, are valid"
	_, port, err := net.SplitHostPort(s.network.listen)
	switch {
	case s.journal == "none":
		s.log.out.Warn(noJournal)
		return ""
	case s.journal != "":
		return s.journal
	case err != nil || port == "0": // opening the socket reports a wrong address
		return ""
	case !host.HasJournal:
		s.log.out.Warn(noJournal)
		return ""
	}
	dir := "."
	if s.key.fromFile() {
		dir = filepath.Dir(s.key.file)
	}
	return filepath.Join(dir, "tickrate-"+port+".tokens")
}

// dumpFolder returns the folder for dumps of lobbies that panic: beside the recordings, or else
// beside the key file.
func (s *serveSettings) dumpFolder() string {
	switch {
	case s.record != "":
		return s.record
	case s.key.fromFile():
		return filepath.Dir(s.key.file)
	}
	return "."
}

// open returns a lobby host, or an echo host if the settings say so.
func (s *serveSettings) open(cfg host.Config) (runningHost, error) {
	if s.network.echo {
		return host.NewEchoHost(cfg)
	}
	return host.New(cfg)
}

// pvsOf returns the state of the potentially visible set of a lobby host's map, "" for an echo
// host.
func pvsOf(h runningHost) string {
	if l, ok := h.(*host.Host); ok {
		return l.PVS()
	}
	return ""
}

// printReady prints the addresses of a host as one line of JSON.
func printReady(c *cobra.Command, h runningHost) {
	r := ready{h.Addr().String(), h.HTTPAddr(), h.ConnectURL(), h.QueryAddr(), os.Getpid(), pvsOf(h)}
	_ = json.NewEncoder(c.OutOrStdout()).Encode(r)
}

// announce prints what is played and the addresses of the host for people, one to a line and all in
// one write; with a log of JSON it is a record of that.
func (s *serveSettings) announce(c *cobra.Command, h runningHost) {
	m, b := &s.match, &strings.Builder{}
	if s.log.format == logJSON {
		s.log.out.Info("serving", "echo", s.network.echo, "lobbies", max(1, m.lobbies.Ahead), "players", m.players,
			"mode", m.mode, "map", m.arena, "rate_hz", m.rate, "udp", h.Addr(), "http", h.HTTPAddr(),
			"connect", h.ConnectURL(), "query", h.QueryAddr(), "pid", os.Getpid())
		return
	}
	if s.network.echo {
		lobbies := max(1, m.lobbies.Ahead)
		fmt.Fprintf(b, "echo: %d slots in %d lobbies, protocol id %v\n", lobbies*m.players, lobbies,
			&s.network.protocol)
	} else {
		if n := m.lobbies; n.Most > 0 {
			fmt.Fprintf(b, "lobbies: %d, at most %d, each", n.Ahead, n.Most)
		} else {
			fmt.Fprint(b, "lobby:")
		}
		fmt.Fprintf(b, " of %d, %s on map %s, %d Hz", m.players, m.mode, m.arena, m.rate)
		if s.tick.workers > 1 {
			fmt.Fprintf(b, ", %d workers a tick", s.tick.workers)
		}
		if m.lobbyWorkers > 1 {
			fmt.Fprintf(b, ", on %d workers", m.lobbyWorkers)
		}
		fmt.Fprintln(b)
	}
	if pvs := pvsOf(h); pvs != "" {
		fmt.Fprintf(b, "map: %s\n", pvs)
	}
	fmt.Fprintf(b, "players: udp %v\n", h.Addr())
	switch {
	case s.http.listen == "":
		fmt.Fprintln(b, "no HTTP port")
	case s.network.echo:
		fmt.Fprintf(b, "figures: http://%s/stats\n", h.HTTPAddr())
	default:
		fmt.Fprintf(b, "live page: http://%s/, figures on /stats\n", h.HTTPAddr())
	}
	if url := h.ConnectURL(); url != "" {
		fmt.Fprintf(b, "tokens: POST %s\n", url)
	}
	if at := h.QueryAddr(); at != "" {
		fmt.Fprintf(b, "queries: udp %s\n", at)
	}
	fmt.Fprint(c.OutOrStdout(), b)
}
