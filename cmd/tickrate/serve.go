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

	"github.com/tickrate/tickrate/bench/runner"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/internal/hugepage"
	"github.com/tickrate/tickrate/internal/meter"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/server/query"
	"github.com/tickrate/tickrate/sim"
)

// serveFlags are the flags of serve.
type serveFlags struct {
	listen, socket, http, query, name, arena, model string
	relevance, mode, pack                           string
	far                                             float64
	checksum, receipts                              int
	codec                                           string
	players, rate, interval, kbps, workers          int
	content                                         int
	huge, reserve                                   bool
	seed                                            uint64
	ready, echo, console, hiccup, leash, fog        bool
	exec                                            []string
	record, killcam                                 string
	idleWarn, idleKick                              int
	net, steps, batch, spectators                   int
	spectateAll, awake                              bool
	rotate                                          []string

	key              keyFlags
	protocol         protocolID
	public           []string
	journal, sights  string
	httpToken        string
	seconds, timeout int
}

// ready is the line that serve --ready prints for programs that start it.
type ready struct {
	UDP     string `json:"udp"`
	HTTP    string `json:"http"`
	Connect string `json:"connect"` // URL; a POST to it gives a token; "" for nowhere
	Query   string `json:"query"`   // UDP address that answers server browsers; "" for none
	PID     int    `json:"pid"`
	Walls   string `json:"walls,omitempty"` // what walls hide, where it was looked at
}

// host is what serve runs.
type host interface {
	Addr() netip.AddrPort
	HTTPAddr() string
	ConnectURL() string
	QueryAddr() string
	Run(context.Context) error
}

func newServe() *cobra.Command {
	f := serveFlags{protocol: defaultProtocol}
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run a lobby",
		Long: `serve runs one lobby until it is interrupted. Players come in over UDP; figures, health and profiles go out over HTTP:

  curl http://127.0.0.1:7914/stats
  curl http://127.0.0.1:7914/metrics
  go tool pprof -tagfocus stage=delta http://127.0.0.1:7914/debug/pprof/profile?seconds=10

http://127.0.0.1:7914/ in a browser shows the lobby live. On a port that others can reach it asks for a password, which is
the secret of --http-token; without one it shows nothing there.

A player needs a connect token (netcode 1.02), made with the private key of the server. The first run makes a key file;
TICKRATE_PRIVATE_KEY comes before the file. On this machine the server itself gives tokens:

  curl -X POST http://127.0.0.1:7914/v1/connect

To be played on from elsewhere, it must know its name, and for tokens over HTTP a secret:

  tickrate serve --public-addr 203.0.113.5:7913 --http :7914 --http-token SECRET
  curl -X POST -H 'Authorization: Bearer SECRET' http://203.0.113.5:7914/v1/connect

On a terminal it takes lines for its console, such as help, list, kick NAME, map arena-256, mode assault, game.respawndelay 5s; so it
does over HTTP:

  curl --data 'say the server restarts in a minute' http://127.0.0.1:7914/v1/console

Any netcode 1.02 client can be tried against it, with tokens of its own backend:

  TICKRATE_PRIVATE_KEY=... tickrate serve --echo --protocol-id 0x1122334455667788 --public-addr 192.0.2.7:7913`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return serve(c, f) },
	}
	fl := c.Flags()
	fl.StringVar(&f.listen, "listen", ":7913", "UDP `host:port` for players")
	fl.StringVar(&f.socket, "socket", "gnet", "socket back `end`: gnet (event loop, drained by recvmmsg) or mmsg (no loop, drained by the tick)")
	fl.StringVar(&f.http, "http", "127.0.0.1:7914", "HTTP `host:port` for the live page, /healthz, /metrics, /stats, /v1/bits, /v1/why, /v1/shots, /debug/pprof, /v1/console and /v1/connect; empty for none")
	fl.StringVar(&f.query, "query", "", "UDP `host:port` at which server browsers ask what is played here; see tickrate query; default none")
	fl.StringVar(&f.name, "name", "tickrate", "what server browsers show, at most 255 `bytes`")
	fl.StringVar(&f.arena, "arena", "arena-64", "`map`: arena-16, arena-64, arena-256, arena-1024, gen:PLAYERS:SEED, town:PLAYERS:SEED, a map of the content pack, or a file")
	fl.StringVar(&f.mode, "mode", "deathmatch", modeUsage)
	fl.StringVar(&f.pack, "content", "", contentUsage)
	fl.StringVar(&f.model, "model", "", "compression model `file`; default the one of this build. Players who lack it are sent it, and likewise the map")
	fl.StringVar(&f.codec, "codec", schema.Huffman.String(), "`codec` of snapshots, which clients follow: huffman, range (a little smaller, three times the time) or stored")
	fl.IntVar(&f.players, "players", 64, fmt.Sprintf("most `players` at a time, 1 to %d; with --echo to %d", server.MaxPlayers, netcode.MaxClients))
	fl.IntVar(&f.rate, "rate", int(tick.DefaultRate), "simulation rate in `Hz`, 20 to 128")
	fl.IntVar(&f.workers, "workers", 1, fmt.Sprintf("`processors` that share the systems of a tick, 1 to %d; the match is the same to the last bit. Worth it from some 500 players", server.MaxWorkers))
	fl.IntVar(&f.interval, "interval", 0, "`ticks` between two snapshots to one client, 1 to 20; 0 for what comes nearest to 20 Hz")
	fl.IntVar(&f.net, "net-rate", 0, "snapshots a second to one client in `Hz`, in place of --interval, its default")
	fl.IntVar(&f.steps, "max-steps", 4, "most `ticks` that are played at once to catch up, 1 to 16; what lies further back is given up")
	fl.IntVar(&f.batch, "max-batch", 1, "most `ticks` of those between one look at the socket and the next")
	fl.BoolVar(&f.awake, "awake", false, "play on when nobody is here; otherwise the match then stands still")
	fl.StringArrayVar(&f.rotate, "rotate", nil, "`MAP` or MAP=MODE to be played after a round, in turn; may be repeated; default the same map for ever")
	fl.IntVar(&f.spectators, "spectators", 0, "most `people` who look on at a time, beside the players; they come with tokens that say so; 0 for nobody")
	fl.BoolVar(&f.spectateAll, "spectate-all", false, "they see everybody, and not only what the player sees whom they follow")
	fl.IntVar(&f.kbps, "kbps", 0, "most `kilobits` a second to one client, 16 or more; 0 for no limit")
	fl.IntVar(&f.content, "content-kbps", 0, "most `kilobits` a second to all together who have to be sent the map or the model; 0 for 8000")
	fl.StringVar(&f.relevance, "relevance", "auto", "`who` is told of whom: grid (who is in range and in sight), all, off (all, in snapshots sent whole or not at all), auto (grid where walls or --far hide somebody, else all)")
	fl.StringVar(&f.sights, "sights", "", "`folder` that keeps what a map's walls hide, so that the next start need not work it out; default none")
	fl.Float64Var(&f.far, "far", 0, "`metres` beyond which nobody is seen; 0 for no limit")
	fl.BoolVar(&f.fog, "team-fog", false, "of one's own team, too, only who is in range and in sight is told; otherwise one is always told of all of it")
	fl.StringVar(&f.record, "record", "", "`folder` for recordings of the match, one file a round; see tickrate replay; default none")
	fl.StringVar(&f.killcam, "killcam", "auto", "`whether` who has died is sent the last seconds, if its client asks: on, off, auto (in lobbies of at most 64 players, where relevance hides nobody)")
	fl.IntVar(&f.receipts, "receipts", 4096, "`shots` of which the last receipts are kept, see tickrate inspect shots; 0 for none")
	fl.IntVar(&f.checksum, "checksum", 0, "a checksum in each so many `snapshots` of a client; 0 for 20, -1 for none")
	leashFlag(c, &f.leash)
	fl.Uint64Var(&f.seed, "seed", 1, "`seed` of every random draw of the match")
	fl.BoolVar(&f.ready, "ready", false, "print one line of JSON with the addresses once ready, for programs that start this one")
	fl.BoolVar(&f.hiccup, "hiccup", false, "measure what the machine itself takes, for /stats: how late a thread wakes that only sleeps")
	fl.BoolVar(&f.huge, "huge-pages", true, "have the kernel keep the memory in pages of 2 MiB, where it does so for those who ask: a tick takes a tenth less")
	fl.BoolVar(&f.reserve, "reserve", true, "take the memory of all --players before the first can come, so that no tick waits for the system to give it; =false takes it as they come")
	fl.BoolVar(&f.echo, "echo", false, "no lobby: send every payload back, to try netcode 1.02 clients that know nothing of the game")
	fl.BoolVar(&f.console, "console", false, "read lines for the console from standard input, also if it is no terminal; help lists what there is")
	fl.StringArrayVar(&f.exec, "exec", nil, "`file` of lines for the console to run first, below this directory; may be repeated; default none")
	fl.IntVar(&f.idleWarn, "idle-warn", 120, "`seconds` after which a player who does nothing is warned; 0 for never")
	fl.IntVar(&f.idleKick, "idle-kick", 180, "`seconds` after which such a player is removed; 0 for never")
	f.key.register(c, "made by the first run")
	fl.Var(&f.protocol, "protocol-id", protocolUsage)
	fl.StringArrayVar(&f.public, "public-addr", nil, "`host:port` by which tokens name this server, as players dial it; may be repeated; default the address of --listen")
	fl.StringVar(&f.journal, "journal", "", "`file` that remembers used tokens over a restart; default tickrate-PORT.tokens beside the key file, none for none")
	fl.StringVar(&f.httpToken, "http-token", "", "`secret` to be sent for tokens over HTTP; without it only this machine gets any; on a port that others can reach also for the live page (as password), profiles and resets; also "+tokenVariable)
	fl.IntVar(&f.seconds, "token-seconds", server.DefaultTokenSeconds, "`seconds` that tokens over HTTP live, 1 to 86400")
	fl.IntVar(&f.timeout, "timeout-seconds", server.DefaultTimeoutSeconds, "`seconds` of silence that end a session, as tokens over HTTP say, 1 to 86400; -1 never")
	return c
}

// daySeconds is the longest time that idle players are given.
const daySeconds = 24 * 60 * 60

func serve(c *cobra.Command, f serveFlags) error {
	cfg, err := f.config(c)
	if err != nil {
		return err
	}
	if cfg.Lobby.Netcode.PrivateKey, err = f.key.read(true, os.Stderr); err != nil {
		return err
	}
	places(f.workers + 2)
	if f.reserve {
		cfg.Touch = func() {
			if f.huge {
				hugepage.PrefaultHuge(c.Context())
			} else {
				hugepage.Prefault(c.Context())
			}
		}
	}
	if f.hiccup {
		var stop func()
		cfg.Hiccup, stop = hiccups()
		defer stop()
	}
	h, err := f.open(cfg)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%w; stop the other server, or choose ports with --listen, --http and --query", err)
	}
	if err != nil {
		return err
	}
	if f.huge {
		if f.reserve {
			hugepage.CollapseHeap(c.Context(), func() {}) // what packing took and gave back has left holes in large pages
		}
		go hugepage.KeepCollapsed(c.Context())
	}
	f.announce(c, h)
	return h.Run(leashed(c.Context(), f.leash, c.InOrStdin()))
}

// places sees to so many that goroutines can run in at a time, also where a process is kept to fewer processors, now or later: whoever
// waits for an exact instant keeps its place for the last millisecond, and the socket's loop or an HTTP client shall not wait for that.
func places(n int) { runtime.GOMAXPROCS(max(n, runtime.GOMAXPROCS(0))) }

// hiccups starts a meter of what the machine takes; read gives what it saw since the last time, in microseconds.
func hiccups() (read func() metrics.Spread, stop func()) {
	gaps := meter.NewHistogram(0)
	h := clock.NewHiccup(nil, func(late time.Duration) { gaps.Record(int64(late)) })
	return func() metrics.Spread {
		q := runner.Micros(gaps)
		gaps.Reset()
		return metrics.Spread{P50: q.P50, P99: q.P99, P999: q.P999, Max: q.Max, Mean: q.Mean}
	}, h.Stop
}

// config turns the flags into a configuration, but for the key: what cannot be is refused before a key is made.
func (f *serveFlags) config(c *cobra.Command) (cfg server.HostConfig, err error) {
	if f.rate < 0 || f.rate > 1000 {
		return cfg, badUse(fmt.Errorf("tick rate %d Hz: expected %d to %d", f.rate, tick.MinRate, tick.MaxRate))
	}
	if err := f.key.check(c); err != nil {
		return cfg, err
	}
	if err := checkLives("--token-seconds", f.seconds, "--timeout-seconds", f.timeout); err != nil {
		return cfg, err
	}
	secret, err := httpSecret(f.httpToken)
	if err != nil {
		return cfg, err
	}
	public, err := publicAddrs("--public-addr", f.public)
	if err != nil {
		return cfg, err
	}
	cfg = server.HostConfig{
		Listen: f.listen, Socket: f.socket, HTTP: f.http, Log: os.Stderr, Journal: f.journalFile(), Sights: f.sights,
		HTTPToken: secret, TokenSeconds: f.seconds, TimeoutSeconds: f.timeout,
		Query: f.query, Name: f.name, Build: version, Workers: f.workers,
	}
	if f.workers < 1 { // 0 would be a default
		return cfg, badUse(fmt.Errorf("--workers %d: expected 1 to %d", f.workers, server.MaxWorkers))
	}
	cfg.Lobby.Netcode = netcode.ServerConfig{ProtocolID: uint64(f.protocol), Addresses: public, AllowTestKey: f.key.insecure}
	cfg.Lobby.Players, cfg.Lobby.ShotLogSize = f.players, f.receipts
	if !protocol.ValidText([]byte(f.name), query.MaxText) {
		return cfg, badUse(fmt.Errorf("--name %q: expected at most %d bytes of printable text", f.name, query.MaxText))
	}
	if f.idleWarn < 0 || f.idleWarn > daySeconds || f.idleKick < 0 || f.idleKick > daySeconds {
		return cfg, badUse(fmt.Errorf("--idle-warn %d, --idle-kick %d: expected 1 to %d seconds, or 0 for never", f.idleWarn, f.idleKick, daySeconds))
	}
	cfg.Lobby.IdleWarn, cfg.Lobby.IdleKick = time.Duration(f.idleWarn)*time.Second, time.Duration(f.idleKick)*time.Second
	if f.echo {
		if f.console || len(f.exec) > 0 {
			return cfg, badUse(errors.New("--console, --exec: an echo has no console; leave out --echo"))
		}
		if f.record != "" {
			return cfg, badUse(errors.New("--record: an echo plays nothing; leave out one of --record and --echo"))
		}
		if f.query != "" {
			return cfg, badUse(errors.New("--query: an echo has nothing to tell; leave out one of --query and --echo"))
		}
		if f.players < 1 || f.players > netcode.MaxClients {
			return cfg, badUse(fmt.Errorf("%d players: expected 1 to %d", f.players, netcode.MaxClients))
		}
		return cfg, badUse(cfg.CheckSocket())
	}
	cfg.Exec, cfg.Dir = f.exec, "."
	if f.console || term.IsTerminal(int(os.Stdin.Fd())) {
		readInBackground()
		cfg.Input = os.Stdin
	}
	pack, err := openContent(f.pack)
	if err != nil {
		return cfg, err
	}
	if cfg.Lobby.Arena, err = openGround(pack, f.arena); err != nil {
		return cfg, err
	}
	game, err := sim.GameForArena(pack, arenaName(f.arena), f.mode)
	if err != nil {
		return cfg, badUse(err)
	}
	if cfg.Lobby.Models, err = openModels(f.model); err != nil {
		return cfg, err
	}
	if cfg.Lobby.Codec, err = schema.ParseCodec(f.codec); err != nil {
		return cfg, badUse(err)
	}
	cfg.Lobby.Rules, cfg.Lobby.ArenaName = sim.Rules{Rate: tick.Rate(f.rate), Seed: f.seed, Mix: true, Game: game}, arenaName(f.arena)
	cfg.Lobby.SendInterval, cfg.Lobby.Kbps, cfg.Lobby.ContentKbps = f.interval, f.kbps, f.content
	cfg.Lobby.ViewDistance, cfg.Lobby.TeamFog, cfg.Lobby.ChecksumEvery = float32(f.far), f.fog, f.checksum
	cfg.Record = f.record
	if cfg.Lobby.Killcam, err = server.ParseKillcam(f.killcam); err != nil {
		return cfg, badUse(err)
	}
	cfg.MaxSteps, cfg.MaxBatch, cfg.Lobby.SleepWhenEmpty = f.steps, f.batch, !f.awake
	cfg.Lobby.Spectators, cfg.Lobby.SpectateAll = f.spectators, f.spectateAll
	if f.net != 0 {
		if f.interval != 0 {
			return cfg, badUse(errors.New("--net-rate and --interval say the same: leave out one"))
		}
		if _, cfg.Lobby.SendInterval, err = (server.ClockConfig{Simulation: cfg.Lobby.Rules.Rate, Network: f.net}).Check(); err != nil {
			return cfg, badUse(err)
		}
	}
	cfg.LoadMap = atlas(pack, f.arena)
	if cfg.Lobby.Rotation, err = courses(pack, f.rotate); err != nil {
		return cfg, err
	}
	if cfg.Lobby.Relevance, err = server.ParseRelevance(f.relevance); err != nil {
		return cfg, badUse(err)
	}
	return cfg, badUse(cfg.Check())
}

// httpSecret is a flag's secret, or the environment's.
func httpSecret(flag string) (string, error) {
	secret := cmp.Or(flag, os.Getenv(tokenVariable))
	for _, r := range secret {
		if r <= ' ' || r > '~' {
			return "", badUse(errors.New("--http-token: expected ASCII without spaces"))
		}
	}
	return secret, nil
}

// journalFile is where used tokens are remembered: "" for nowhere. Ports that the kernel chooses have no restart.
func (f *serveFlags) journalFile() string {
	const refusesOld = "no journal of used tokens: takes only tokens of --token-seconds that are issued after the start"
	_, port, err := net.SplitHostPort(f.listen)
	switch {
	case f.journal == "none":
		fmt.Fprintln(os.Stderr, refusesOld)
		return ""
	case f.journal != "":
		return f.journal
	case err != nil || port == "0": // the socket will say what is wrong with the address
		return ""
	case !server.HasJournal:
		fmt.Fprintln(os.Stderr, refusesOld)
		return ""
	}
	dir := "."
	if f.key.fromFile() {
		dir = filepath.Dir(f.key.file)
	}
	return filepath.Join(dir, "tickrate-"+port+".tokens")
}

func (f *serveFlags) open(cfg server.HostConfig) (host, error) {
	if f.echo {
		return server.NewEchoHost(cfg)
	}
	return server.NewHost(cfg)
}

// announce says where the host is.
func (f *serveFlags) announce(c *cobra.Command, h host) {
	walls := ""
	if l, ok := h.(*server.Host); ok {
		walls = l.Walls()
	}
	if f.ready {
		_ = json.NewEncoder(c.OutOrStdout()).Encode(ready{h.Addr().String(), h.HTTPAddr(), h.ConnectURL(), h.QueryAddr(), os.Getpid(), walls})
		return
	}
	what := []string{fmt.Sprintf("lobby of %d on udp %v", f.players, h.Addr()), f.mode + " on map " + f.arena, fmt.Sprintf("%d Hz", f.rate)}
	if f.workers > 1 {
		what = append(what, fmt.Sprintf("%d workers", f.workers))
	}
	if walls != "" {
		what = append(what, walls)
	}
	if f.echo {
		what = []string{fmt.Sprintf("echo for %d on udp %v", f.players, h.Addr()), "protocol id " + f.protocol.String()}
	}
	web := "no HTTP port"
	if f.http != "" {
		web = fmt.Sprintf("figures on http://%s/stats", h.HTTPAddr())
		if !f.echo {
			web = fmt.Sprintf("live page on http://%s/, figures on /stats", h.HTTPAddr())
		}
	}
	if url := h.ConnectURL(); url != "" {
		web += ", tokens by POST to " + url
	}
	if at := h.QueryAddr(); at != "" {
		web += ", queries on udp " + at
	}
	fmt.Fprintf(c.OutOrStdout(), "%s; %s\n", strings.Join(what, ", "), web)
}
