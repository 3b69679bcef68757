// The settings of serve: groups of values, their flags, and the TOML file that holds the same
// values. A setting has one default, in its flag; the file only overrides it.

package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/cmd/internal/assets"
	"github.com/tickrate/tickrate/cmd/internal/serverapi"
	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/host"
	"github.com/tickrate/tickrate/server/httpapi"
)

// serveSettings are the settings of serve. Each is a flag and a key of the TOML file; the help of
// the flag says what it means.
type serveSettings struct {
	match       matchSettings
	network     networkSettings
	replication replicationSettings
	tick        tickSettings
	http        httpSettings
	query       querySettings
	key         keyFlags
	journal     string // file of used tokens; "" for the default, "none" for none
	console     consoleSettings
	record      string // folder of recordings; "" for none
	shotLog     int    // shot records to keep
	capture     captureSettings
	fleet       fleetSettings
	log         logSettings
}

// logSettings are the settings of the log.
type logSettings struct {
	format logFormat
	out    *slog.Logger // set by serve
}

// matchSettings are the settings of map, mode, players and rules.
type matchSettings struct {
	arena, mode, content, killcam string
	players, spectators           int // most of each
	lobbies                       lobbyCount
	lobbyWorkers                  int // threads; 0: one a processor
	rate                          int // Hz
	spectateAll, noIdleSleep      bool
	seed                          uint64
	rotate                        []string      // MAP or MAP=MODE
	idleWarn, idleKick            time.Duration // 0 for never
	idlePassive                   time.Duration // 0 for never
	drainFor                      time.Duration // 0: SIGTERM ends the server at once
}

// networkSettings are the settings of sockets, protocol, send rates and bandwidth.
type networkSettings struct {
	listen, socket, codec, model string
	public                       []string // host:port in tokens
	protocol                     protocolID
	sendInterval                 int // ticks between two snapshots to one client; 0 for about 20 Hz
	snapshotRate                 int // Hz, in place of sendInterval; 0 for that
	kbps, contentKbps            int // kbit/s: one client; transfers to all; 0: default
	checksum                     int // snapshots between two checksums; 0: default, -1: none
	echo                         bool
}

// replicationSettings are the settings of visibility.
type replicationSettings struct {
	relevance    string  // as server.ParseRelevance reads it
	pvsCache     string  // folder; "" for none
	viewDistance float64 // metres; 0 for no limit
	teamFog      bool
	nearest      int // players in every snapshot of a large lobby; 0 for all
}

// tickSettings are the settings of the tick loop, its workers and its memory.
type tickSettings struct {
	maxSteps, maxBatch          int // ticks of one wake-up; ticks between two reads of the socket
	workers                     int // threads
	hiccup, hugePages, prefault bool
}

// httpSettings are the settings of the HTTP server.
type httpSettings struct {
	listen, token  string        // host:port, "" for none; secret
	tokenLifetime  time.Duration // of tokens that it gives
	sessionTimeout time.Duration // silence that ends a session, -1s for never
}

// querySettings are the settings of server queries.
type querySettings struct {
	listen string // host:port; "" for none
	name   string // of the server
	local  bool   // keeps an entry in the list of this machine
}

// consoleSettings are the settings of the console.
type consoleSettings struct {
	stdin bool     // reads standard input though it is no terminal
	exec  []string // files of lines to run first
}

// settingKeys are the TOML keys of the settings, in the order of the file, and their flags. A test
// holds it against the flags of serve: every setting has a key.
var settingKeys = []struct{ key, flag string }{
	{"match.map", "map"}, {"match.mode", "mode"}, {"match.content", "content"}, {"match.rotate", "rotate"},
	{"match.players", "players"}, {"match.spectators", "spectators"}, {"match.spectate_all", "spectate-all"},
	{"match.lobbies", "lobbies"}, {"match.lobby_workers", "lobby-workers"},
	{"match.rate", "rate"}, {"match.seed", "seed"}, {"match.killcam", "killcam"},
	{"match.idle_warn", "idle-warn"}, {"match.idle_kick", "idle-kick"},
	{"match.idle_passive", "idle-passive"},
	{"match.no_idle_sleep", "no-idle-sleep"}, {"match.drain_for", "drain-for"},

	{"network.listen", "listen"}, {"network.public_addr", "public-addr"}, {"network.socket", "socket"},
	{"network.protocol_id", "protocol-id"},
	{"network.send_interval", "send-interval"}, {"network.snapshot_rate", "snapshot-rate"},
	{"network.kbps", "kbps"}, {"network.content_kbps", "content-kbps"},
	{"network.codec", "codec"}, {"network.model", "model"},
	{"network.checksum", "checksum"}, {"network.echo", "echo"},

	{"replication.relevance", "relevance"}, {"replication.view_distance", "view-distance"},
	{"replication.team_fog", "team-fog"}, {"replication.pvs_cache", "pvs-cache"},
	{"replication.nearest_players", "nearest-players"},

	{"tick.max_steps", "max-steps"}, {"tick.max_batch", "max-batch"}, {"tick.workers", "tick-workers"},
	{"tick.huge_pages", "huge-pages"}, {"tick.prefault", "prefault"}, {"tick.hiccup", "hiccup"},

	{"http.listen", "http"}, {"http.token", "http-token"},
	{"http.token_lifetime", "token-lifetime"}, {"http.session_timeout", "session-timeout"},

	{"query.listen", "query"}, {"query.name", "name"},

	{"key.file", "key-file"}, {"key.private_hex", keyFlag},
	{"key.insecure_test_key", "insecure-test-key"}, {"key.journal", "journal"},

	{"console.stdin", "console"}, {"console.exec", "exec"},

	{"recording.folder", "record"}, {"recording.shot_log", "shot-log"},

	{"capture.folder", "capture"}, {"capture.when", "capture-when"}, {"capture.most", "capture-most"},

	{"fleet.nats", "fleet"}, {"fleet.key_file", "fleet-key"}, {"fleet.name", "fleet-name"},
	{"fleet.agones", "agones"},

	{"log.format", "log"},
}

// secretSettings are the flags that serve config leaves out.
var secretSettings = []string{"http-token", keyFlag}

// register adds the flags of all settings to c, with the defaults.
func (s *serveSettings) register(c *cobra.Command) {
	fl := c.Flags()
	s.match.register(fl)
	s.network.register(fl)
	s.replication.register(fl)
	s.tick.register(fl)
	s.http.register(fl)
	s.fleet.register(fl)
	s.capture.register(fl)
	s.log.format.register(fl)
	fl.StringVar(&s.query.listen, "query", "",
		"UDP `host:port` for server browsers; see tickrate query; default none")
	fl.StringVar(&s.query.name, "name", "tickrate", "name in server browsers, at most 255 `bytes`")
	s.key.register(c, "made by the first run")
	fl.StringVar(&s.journal, "journal", "",
		"`file` of used tokens, so that a restart does not accept them again; default "+
			"tickrate-PORT.tokens beside the key file; none for none")
	fl.BoolVar(&s.console.stdin, "console", false,
		"read console lines from standard input even if it is no terminal; the line help lists "+
			"the commands")
	fl.StringArrayVar(&s.console.exec, "exec", nil,
		"`file` of console lines to run first, below this directory; may be repeated; default none")
	fl.StringVar(&s.record, "record", "",
		"`folder` for recordings of the match, one file a round; see tickrate replay; default none")
	fl.IntVar(&s.shotLog, "shot-log", -1,
		"records of the newest `shots` to keep; see tickrate inspect shots; 0 for none, -1 for 64 a "+
			"player, at most 4096")
}

// register adds the flags of these settings to fl.
func (m *matchSettings) register(fl *pflag.FlagSet) {
	fl.StringVar(&m.arena, "map", "arena-64",
		"`map`: arena-16, arena-64, arena-256, arena-1024, lifts, gen:PLAYERS:SEED, town:PLAYERS:SEED, "+
			"a map of the content pack, or a file")
	fl.StringVar(&m.mode, "mode", "deathmatch", assets.ModeUsage)
	fl.StringVar(&m.content, "content", "", assets.ContentUsage)
	fl.StringArrayVar(&m.rotate, "rotate", nil,
		"`MAP` or MAP=MODE to play after a round, in turn; may be repeated; default the same map again")
	fl.Var(&m.lobbies, "lobbies", fmt.Sprintf("lobbies on one port, each of --players, `N` or N:MOST, up "+
		"to %d: N at the start, and up to MOST at a time that POST /v1/lobbies makes; 0 for one alone, "+
		"whose end ends the server", host.MaxLobbies))
	fl.IntVar(&m.lobbyWorkers, "lobby-workers", 1, fmt.Sprintf("`threads` that play lobbies, each lobby on "+
		"one of them, 1 to %d; 0 for one a processor. Worth it when one is busy", host.MaxLobbyWorkers))
	fl.IntVar(&m.players, "players", 64, fmt.Sprintf("most `players`, 1 to %d; with --echo to %d",
		server.MaxPlayers, netcode.MaxClients))
	fl.IntVar(&m.spectators, "spectators", 0,
		"most `spectators`, in slots of their own; their tokens say so; 0 for none")
	fl.BoolVar(&m.spectateAll, "spectate-all", false,
		"show spectators all players, and not only what the player sees that they follow")
	fl.IntVar(&m.rate, "rate", int(tick.DefaultRate), "ticks a second, in `Hz`, 20 to 144")
	fl.Uint64Var(&m.seed, "seed", 1, "`seed` of all random draws of the match")
	fl.StringVar(&m.killcam, "killcam", "auto",
		"`when` to send killcams to clients that ask: on, off, auto (in lobbies of at most 64 "+
			"players where relevance hides nobody)")
	fl.DurationVar(&m.idleWarn, "idle-warn", 2*time.Minute,
		"idle `time` after which a player is warned; 0 for never")
	fl.DurationVar(&m.idleKick, "idle-kick", 3*time.Minute,
		"idle `time` after which a player is kicked; 0 for never")
	fl.DurationVar(&m.idlePassive, "idle-passive", 10*time.Minute,
		"`time` after which a player is kicked that gives input but stays within 10 m, hits nobody, and turns "+
			"its view by fewer than 12 different steps; 0 for never")
	fl.BoolVar(&m.noIdleSleep, "no-idle-sleep", false,
		"play ticks while the lobby is empty; otherwise the match stands still then")
	fl.DurationVar(&m.drainFor, "drain-for", 0,
		"longest `time`, up to 24h, that SIGTERM lets rounds go on before the server ends; the next one "+
			"ends it at once; 0 to end at once; POST /drain waits for 10m then")
}

// register adds the flags of these settings to fl.
func (n *networkSettings) register(fl *pflag.FlagSet) {
	n.protocol = defaultProtocol
	fl.StringVar(&n.listen, "listen", ":7913", "UDP `host:port` for players")
	fl.StringArrayVar(&n.public, "public-addr", nil,
		"`host:port` of this server in tokens, as players dial it; may be repeated; default the "+
			"address of --listen")
	fl.StringVar(&n.socket, "socket", "gnet",
		"socket back `end`: gnet (event loop, drained by recvmmsg) or mmsg (no loop, drained by "+
			"the tick)")
	fl.Var(&n.protocol, "protocol-id", protocolUsage)
	fl.IntVar(&n.sendInterval, "send-interval", 0,
		"`ticks` between two snapshots to one client, 1 to 20; 0 for the interval nearest to 20 Hz")
	fl.IntVar(&n.snapshotRate, "snapshot-rate", 0,
		"snapshots a second to one client, in `Hz`, in place of --send-interval, its default")
	fl.IntVar(&n.kbps, "kbps", 0, "most `kilobits` a second to one client, 16 or more; 0 for no limit")
	fl.IntVar(&n.contentKbps, "content-kbps", 0,
		"most `kilobits` a second for maps and models, to all clients together; 0 for 8000")
	fl.StringVar(&n.codec, "codec", schema.Huffman.String(),
		"`codec` of snapshots, which clients follow: huffman, range (a little smaller, three "+
			"times the time), zstd, huffman-zstd (smaller joins) or stored")
	fl.StringVar(&n.model, "model", "",
		"compression model `file`; default the one of this build. Clients that lack it are sent it")
	fl.IntVar(&n.checksum, "checksum", 0,
		"every how many `snapshots` of a client one has a checksum; 0 for 20, -1 for none")
	fl.BoolVar(&n.echo, "echo", false,
		"play no match: send every payload back, to try netcode 1.02 clients that know nothing "+
			"of the game")
}

// register adds the flags of these settings to fl.
func (r *replicationSettings) register(fl *pflag.FlagSet) {
	fl.StringVar(&r.relevance, "relevance", "auto", "which `players` a client is sent: grid (in range "+
		"and visible), all, off (all, in snapshots sent whole or not at all), "+
		"auto (grid where walls or --view-distance hide somebody, else all)")
	fl.Float64Var(&r.viewDistance, "view-distance", 0,
		"`metres` beyond which players are not sent; 0 for no limit")
	fl.BoolVar(&r.teamFog, "team-fog", false,
		"apply range and visibility to one's own team too; otherwise it is always sent")
	fl.IntVar(&r.nearest, "nearest-players", 64, "about how many `players` are in every snapshot: the nearest, "+
		"in a lobby of more than ten times as many that all see each other; others are in every second one; "+
		"0 for all")
	fl.StringVar(&r.pvsCache, "pvs-cache", "",
		"`folder` that keeps the potentially visible sets of maps between runs; default none")
}

// register adds the flags of these settings to fl.
func (t *tickSettings) register(fl *pflag.FlagSet) {
	fl.IntVar(&t.maxSteps, "max-steps", 4,
		"most `ticks` to play at once to catch up, 1 to 16; earlier ones are skipped")
	fl.IntVar(&t.maxBatch, "max-batch", 1, "most `ticks` of those between two reads of the socket")
	fl.IntVar(&t.workers, "tick-workers", 1, fmt.Sprintf("`threads` that share the systems of one tick, 1 "+
		"to %d; the match stays the same to the last bit. Worth it from some 500 players in a lobby",
		host.MaxTickWorkers))
	fl.BoolVar(&t.hugePages, "huge-pages", true,
		"ask the kernel for pages of 2 MiB: a tick takes a tenth less")
	fl.BoolVar(&t.prefault, "prefault", true,
		"take the memory of all --players before the first joins, so that no tick waits for it")
	fl.BoolVar(&t.hiccup, "hiccup", false,
		"measure the wake-up delays of an idle thread, and how fast the processor is beside its full speed, "+
			"for /stats: what the machine itself takes")
}

// register adds the flags of these settings to fl.
func (h *httpSettings) register(fl *pflag.FlagSet) {
	fl.StringVar(&h.listen, "http", "127.0.0.1:7914", "HTTP `host:port` for the live page, /healthz, "+
		"/metrics, /stats, /v1/bandwidth, /v1/explain, /v1/shots, /debug/pprof, /v1/console and "+
		"/v1/connect; empty for none")
	fl.StringVar(&h.token, "http-token", "", "`secret` for tokens over HTTP; without it only this "+
		"machine gets any; on a port that others can reach also for the live page "+
		"(as password), profiles and resets; also "+serverapi.TokenVariable)
	fl.DurationVar(&h.tokenLifetime, "token-lifetime", httpapi.DefaultTokenLifetime,
		"`time` in which a token over HTTP must be used, 1s to 24h")
	fl.DurationVar(&h.sessionTimeout, "session-timeout", httpapi.DefaultSessionTimeout,
		"silent `time` that ends a session, as tokens over HTTP say, 1s to 24h; -1s for never")
}

// loadSettings sets the flags that were not given on the command line to the values of a TOML file.
// An empty path sets none. Unknown keys and values that do not parse are errors of use.
func loadSettings(fl *pflag.FlagSet, file string) error {
	if file == "" {
		return nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return usage.Errorf("--config: %w", err)
	}
	var tables map[string]any
	if err := toml.Unmarshal(data, &tables); err != nil {
		var wrong *toml.DecodeError
		if errors.As(err, &wrong) {
			row, _ := wrong.Position()
			return usage.Errorf("--config %s:%d: %w", file, row, err)
		}
		return usage.Errorf("--config %s: %w", file, err)
	}
	lines := scenario.Lines(data)
	for _, key := range sortedKeys(tables) {
		table, ok := tables[key].(map[string]any)
		if !ok {
			return usage.Errorf("--config %s:%d: unknown key %q: expected tables such as [match]; see "+
				"tickrate serve config", file, lines[key], key)
		}
		for _, name := range sortedKeys(table) {
			if err := loadSetting(fl, key+"."+name, table[name]); err != nil {
				return usage.Errorf("--config %s:%d: %w", file, lines[key+"."+name], err)
			}
		}
	}
	return nil
}

// loadSetting sets the flag of one key, table.name, to its value in the file. A list replaces the
// whole list of its flag.
func loadSetting(fl *pflag.FlagSet, key string, value any) error {
	for _, s := range settingKeys {
		if s.key != key {
			continue
		}
		f := fl.Lookup(s.flag)
		if f.Changed {
			return nil
		}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			items, ok := value.([]any)
			if !ok {
				return fmt.Errorf("%s: expected a list of strings", key)
			}
			var texts []string
			for _, item := range items {
				texts = append(texts, fmt.Sprint(item))
			}
			err := list.Replace(texts)
			f.Changed = true
			return err
		}
		if err := fl.Set(s.flag, fmt.Sprint(value)); err != nil {
			return fmt.Errorf("%s: %w", key, errors.Unwrap(err))
		}
		return nil
	}
	return fmt.Errorf("unknown key %q; tickrate serve config lists them", key)
}

// sortedKeys returns the keys of m in ascending order.
func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// printSettings writes the settings as TOML, each below a comment with its meaning. Secrets are
// left out.
func printSettings(w io.Writer, fl *pflag.FlagSet) error {
	table := ""
	for _, s := range settingKeys {
		of, name, _ := strings.Cut(s.key, ".")
		if of != table {
			if table != "" {
				fmt.Fprintln(w)
			}
			table = of
			fmt.Fprintf(w, "[%s]\n", table)
		}
		f := fl.Lookup(s.flag)
		fmt.Fprintf(w, "# %s\n", strings.ReplaceAll(f.Usage, "`", ""))
		if slices.Contains(secretSettings, s.flag) {
			fmt.Fprintf(w, "# %s is a secret and not printed\n", name)
			continue
		}
		if _, err := fmt.Fprintf(w, "%s = %s\n", name, tomlValue(f)); err != nil {
			return err
		}
	}
	return nil
}

// tomlValue formats the value of a flag as TOML: numbers and bools bare, all else as quoted
// strings.
func tomlValue(f *pflag.Flag) string {
	if list, ok := f.Value.(pflag.SliceValue); ok {
		var items []string
		for _, item := range list.GetSlice() {
			items = append(items, strconv.Quote(item))
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	switch f.Value.Type() {
	case "bool", "int", "uint64", "float64":
		return f.Value.String()
	}
	return strconv.Quote(f.Value.String())
}

// lobbyCount is the value of --lobbies.
type lobbyCount host.LobbiesConfig

// String writes the value as Set reads it.
func (n *lobbyCount) String() string {
	if n.Most == 0 || n.Most == n.Ahead {
		return strconv.Itoa(n.Ahead)
	}
	return fmt.Sprintf("%d:%d", n.Ahead, n.Most)
}

// Type is of pflag.Value.
func (n *lobbyCount) Type() string { return "N" }

// Set reads N or N:MOST.
func (n *lobbyCount) Set(text string) error {
	ahead, most, several := strings.Cut(text, ":")
	if !several {
		most = ahead
	}
	var errAhead, errMost error
	n.Ahead, errAhead = strconv.Atoi(ahead)
	n.Most, errMost = strconv.Atoi(most)
	if errAhead != nil || errMost != nil || n.Ahead < 0 || n.Most < n.Ahead || n.Most > host.MaxLobbies {
		return fmt.Errorf("expected N or N:MOST, N at most MOST, and that at most %d", host.MaxLobbies)
	}
	return nil
}
