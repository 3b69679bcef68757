package scenario

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/tickrate/tickrate/netio/impair"
)

// Scenario is one way to load a server. Keys that a file leaves out have the values of Default. The tag
// help of a field says what it is; rules say its range.
type Scenario struct {
	Name  string `toml:"-" json:"name"` // of the file, without its folder and ".toml"
	About string `toml:"about" json:"about,omitempty" help:"one line that plan scenarios lists"`

	Lobby   Lobby   `toml:"lobby" json:"lobby"`
	Rates   Rates   `toml:"rates" json:"rates"`
	Play    Play    `toml:"play" json:"play"`
	Network Network `toml:"network" json:"network"`
	Process Process `toml:"process" json:"process"`
	Measure Measure `toml:"measure" json:"measure"`
}

// Lobby is the game and its size.
type Lobby struct {
	Players         int     `toml:"players" json:"players" help:"players of each lobby; the first size to try where players grow"`
	Lobbies         int     `toml:"lobbies" json:"lobbies" help:"lobbies of the host; the first number to try where lobbies grow"`
	ProcessPerLobby bool    `toml:"process_per_lobby" json:"process_per_lobby" help:"run each lobby in a process of its own; otherwise one process has all of them, on one UDP port"`
	Grow            string  `toml:"grow" json:"grow" help:"what a plan grows to find the knee"`
	Most            int     `toml:"most" json:"most" help:"the largest number of players or lobbies to try"`
	Map             string  `toml:"map" json:"map" help:"kind of the generated map: gen has low walls, town has houses that block the view"`
	Spread          float64 `toml:"spread" json:"spread" help:"size of the map, as a multiple of what the players need"`
	ViewDistance    float64 `toml:"view_distance" json:"view_distance" help:"metres beyond which players are not replicated"`
	Relevance       string  `toml:"relevance" json:"relevance" help:"interest management, as of serve"`
	Mode            string  `toml:"mode" json:"mode" help:"mode of the game as the content pack names it"`
	Spectators      int     `toml:"spectators" json:"spectators" help:"spectators of each lobby; each follows a player"`
}

// Rates are the server's rates and its bandwidth limit.
type Rates struct {
	TickHz    int `toml:"tick_hz" json:"tick_hz" help:"ticks a second"`
	SendEvery int `toml:"send_every_ticks" json:"send_every_ticks" help:"ticks between two snapshots to one client"`
	Kbps      int `toml:"kbps" json:"kbps" help:"limit of what one client is sent, 1000 bit/s of UDP payload"`
}

// Play is the behaviour of the players.
type Play struct {
	Seed            uint64   `toml:"seed" json:"seed" help:"seed of map, match, links and players"`
	Traces          []string `toml:"traces" json:"traces,omitempty" help:"recorded play to follow, .csv or .csv.gz files; none: bots"`
	Full            int      `toml:"full" json:"full" help:"players that decode everything they receive"`
	Decode          string   `toml:"decode" json:"decode" help:"what the other players decode: own, their own state, and they aim at what the lobby's first player sees; acks, nothing, they play at random and cost the swarm two thirds"`
	Arrival         Duration `toml:"arrival" json:"arrival" help:"time over which the players connect"`
	LeavesPerMinute float64  `toml:"leaves_per_minute" json:"leaves_per_minute" help:"how often a minute each player leaves; another takes the slot at once"`
	HotSpot         float64  `toml:"hot_spot" json:"hot_spot" help:"share of the players that stay within hot_spot_metres of the middle of the map"`
	HotSpotMetres   float64  `toml:"hot_spot_metres" json:"hot_spot_metres" help:"radius of the hot spot, metres"`
	Bursts          float64  `toml:"bursts_per_second" json:"bursts_per_second" help:"bursts of half a second that a player fires at random, a second"`
	Throws          float64  `toml:"throws_per_second" json:"throws_per_second" help:"projectiles a second of a player with a visible enemy"`
}

// Network is the path between server and players.
type Network struct {
	Link       string `toml:"link" json:"link" help:"impairment of each direction, as of tickrate impair"`
	Socket     string `toml:"socket" json:"socket" help:"socket back end of the server"`
	Encryption string `toml:"encryption" json:"encryption" help:"encryption of sessions"`
	Codec      string `toml:"codec" json:"codec" help:"codec of snapshots"`
}

// Process is the environment of the server's process.
type Process struct {
	GOMAXPROCS int `toml:"gomaxprocs" json:"gomaxprocs" help:"GOMAXPROCS of the server's process"`
	GOGC       int `toml:"gogc" json:"gogc" help:"GOGC of the server's process, percent"`
}

// Measure is how a plan measures.
type Measure struct {
	SLO      string   `toml:"slo" json:"slo,omitempty" help:"service level, an expression as of plan --slo; empty for the default"`
	Duration Duration `toml:"duration" json:"duration" help:"measured time of a step"`
	Warmup   Duration `toml:"warmup" json:"warmup" help:"time that players play before it, from when all have joined"`
	Repeat   int      `toml:"repeat" json:"repeat" help:"further measurements of the size at the knee"`
}

// Duration is a time that files write as Go does: "2s", "500ms".
type Duration time.Duration

// MarshalText writes a duration.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads a duration.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("a duration such as \"2s\", got %q", text)
	}
	*d = Duration(v)
	return nil
}

// Seconds is d in seconds.
func (d Duration) Seconds() float64 { return time.Duration(d).Seconds() }

// Limits of a scenario.
const (
	MaxPlayers = 4096 // in all lobbies together, and so in one
	MaxLobbies = 256
	DefaultHz  = 60
)

// Default is a lobby that grows until it no longer holds the default service level.
func Default() Scenario {
	return Scenario{
		Name: "one-lobby",
		Lobby: Lobby{Players: 100, Lobbies: 1, Grow: "players", Most: 4000, Map: "gen", Spread: 1,
			Relevance: "auto", Mode: "deathmatch"},
		Rates:   Rates{TickHz: DefaultHz},
		Play:    Play{Seed: 1, Full: 4, Decode: "own", HotSpotMetres: 10, Bursts: 0.15, Throws: 0.5},
		Network: Network{Link: "clean", Socket: "gnet", Encryption: "netcode-1.02", Codec: "huffman"},
		Process: Process{GOGC: 100},
		Measure: Measure{Duration: Duration(6 * time.Second), Warmup: Duration(2 * time.Second), Repeat: 2},
	}
}

// Every is the number of ticks between two snapshots to one client.
func (s Scenario) Every() int {
	if s.Rates.SendEvery > 0 {
		return s.Rates.SendEvery
	}
	return max(1, (s.Rates.TickHz+10)/20)
}

// Total is the number of players in all lobbies.
func (s Scenario) Total() int { return s.Lobby.Players * s.Lobby.Lobbies }

// SharedProcess reports whether the lobbies share a process, a loop and a UDP port, as those of
// serve --lobbies do.
func (s Scenario) SharedProcess() bool {
	return !s.Lobby.ProcessPerLobby && (s.Lobby.Lobbies > 1 || s.Lobby.Grow == "lobbies")
}

// Spectators is the number of spectators in all lobbies.
func (s Scenario) Spectators() int { return s.Lobby.Spectators * s.Lobby.Lobbies }

// MapPlayers is the number of players that the map of a lobby of n is made for.
func (s Scenario) MapPlayers(n int) int {
	return min(max(int(math.Round(float64(n)*s.Lobby.Spread)), 2), MaxPlayers)
}

// Ticks is the number of ticks in a time.
func (s Scenario) Ticks(d Duration) int {
	return int(math.Round(time.Duration(d).Seconds() * float64(s.Rates.TickHz)))
}

// At returns s with n players in a lobby or, where lobbies grow, with n lobbies.
func (s Scenario) At(n int) Scenario {
	if s.Lobby.Grow == "lobbies" {
		s.Lobby.Lobbies = n
	} else {
		s.Lobby.Players = n
	}
	return s
}

// Size is the number that At sets.
func (s Scenario) Size() int {
	if s.Lobby.Grow == "lobbies" {
		return s.Lobby.Lobbies
	}
	return s.Lobby.Players
}

// rule is the condition of one key.
type rule struct {
	key  string // as a file has it
	want string
	ok   func(*Scenario) bool
}

func within(x, low, high float64) bool { return x >= low && x <= high } // false for NaN

func oneOf(s string, all ...string) bool { return slices.Contains(all, s) }

// rules are in the order of the fields.
var rules = []rule{
	{"lobby.players", "1 to 4096 players",
		func(s *Scenario) bool { return within(float64(s.Lobby.Players), 1, MaxPlayers) }},
	{"lobby.lobbies", "1 to 256 lobbies",
		func(s *Scenario) bool { return within(float64(s.Lobby.Lobbies), 1, MaxLobbies) }},
	{"lobby.lobbies", "at most 4096 players in all lobbies together",
		func(s *Scenario) bool { return s.Total() <= MaxPlayers }},
	{"lobby.grow", `"players" or "lobbies"`,
		func(s *Scenario) bool { return oneOf(s.Lobby.Grow, "players", "lobbies") }},
	{"lobby.most", "at most 4096 players",
		func(s *Scenario) bool { return s.Lobby.Grow == "lobbies" || s.Lobby.Most <= MaxPlayers }},
	{"lobby.most", "at most 256 lobbies",
		func(s *Scenario) bool { return s.Lobby.Grow != "lobbies" || s.Lobby.Most <= MaxLobbies }},
	{"lobby.most", "at least the size to begin with", func(s *Scenario) bool { return s.Lobby.Most >= s.Size() }},
	{"lobby.map", `"gen" or "town"`, func(s *Scenario) bool { return oneOf(s.Lobby.Map, "gen", "town") }},
	{"lobby.spread", "0.25 to 16", func(s *Scenario) bool { return within(s.Lobby.Spread, 0.25, 16) }},
	{"lobby.view_distance", "0 (no limit) to 4096 metres",
		func(s *Scenario) bool { return within(s.Lobby.ViewDistance, 0, 4096) }},
	{"lobby.relevance", `"auto", "grid", "all" or "off"`,
		func(s *Scenario) bool { return oneOf(s.Lobby.Relevance, "auto", "grid", "all", "off") }},
	{"lobby.mode", "the name of a mode", func(s *Scenario) bool { return s.Lobby.Mode != "" }},
	{"lobby.spectators", "0 to 4096, and at most 4096 with the players of all lobbies together",
		func(s *Scenario) bool {
			return s.Lobby.Spectators >= 0 && s.Lobby.Spectators <= MaxPlayers &&
				(s.Lobby.Players+s.Lobby.Spectators)*s.Lobby.Lobbies <= MaxPlayers
		}},
	{"rates.tick_hz", "20 to 144 Hz",
		func(s *Scenario) bool { return within(float64(s.Rates.TickHz), 20, 144) }},
	{"rates.send_every_ticks", "1 to 20 ticks, or 0 for what comes nearest to 20 Hz",
		func(s *Scenario) bool { return within(float64(s.Rates.SendEvery), 0, 20) }},
	{"rates.kbps", "16 to 1000000 kbit/s, or 0 for no limit",
		func(s *Scenario) bool { return s.Rates.Kbps == 0 || within(float64(s.Rates.Kbps), 16, 1e6) }},
	{"play.full", "1 to 4096 players",
		func(s *Scenario) bool { return within(float64(s.Play.Full), 1, MaxPlayers) }},
	{"play.decode", `"own" or "acks"`, func(s *Scenario) bool { return oneOf(s.Play.Decode, "own", "acks") }},
	{"play.arrival", "0s to 10s", func(s *Scenario) bool { return within(s.Play.Arrival.Seconds(), 0, 10) }},
	{"play.leaves_per_minute", "0 to 6 a player",
		func(s *Scenario) bool { return within(s.Play.LeavesPerMinute, 0, 6) }},
	{"play.hot_spot", "a share, 0 to 1", func(s *Scenario) bool { return within(s.Play.HotSpot, 0, 1) }},
	{"play.hot_spot", "0 where players follow recordings (play.traces)",
		func(s *Scenario) bool { return s.Play.HotSpot == 0 || len(s.Play.Traces) == 0 }},
	{"play.hot_spot_metres", "1 to 1000 metres",
		func(s *Scenario) bool { return within(s.Play.HotSpotMetres, 1, 1000) }},
	{"play.bursts_per_second", "0 to 10", func(s *Scenario) bool { return within(s.Play.Bursts, 0, 10) }},
	{"play.throws_per_second", "0 to 10", func(s *Scenario) bool { return within(s.Play.Throws, 0, 10) }},
	{"network.link", `a profile of tickrate impair --list, or settings such as "loss=1%,delay=20ms"`,
		func(s *Scenario) bool {
			_, err := impair.ParseProfile(s.Network.Link)
			return err == nil
		}},
	{"network.socket", `"gnet" or "mmsg"`,
		func(s *Scenario) bool { return oneOf(s.Network.Socket, "gnet", "mmsg") }},
	{"network.encryption", `"netcode-1.02": every session of this server is sealed`,
		func(s *Scenario) bool { return s.Network.Encryption == "netcode-1.02" }},
	{"network.codec", `"huffman", "range", "zstd", "huffman-zstd" or "stored"`,
		func(s *Scenario) bool {
			return oneOf(s.Network.Codec, "huffman", "range", "zstd", "huffman-zstd", "stored")
		}},
	{"process.gomaxprocs", "1 to 1024, or 0 for the default of Go",
		func(s *Scenario) bool { return within(float64(s.Process.GOMAXPROCS), 0, 1024) }},
	{"process.gogc", "1 to 10000 percent, or -1 for off",
		func(s *Scenario) bool { return s.Process.GOGC == -1 || within(float64(s.Process.GOGC), 1, 10000) }},
	{"measure.duration", "0.5s to 1h",
		func(s *Scenario) bool { return within(s.Measure.Duration.Seconds(), 0.5, 3600) }},
	{"measure.warmup", "0s to 1h",
		func(s *Scenario) bool { return within(s.Measure.Warmup.Seconds(), 0, 3600) }},
	{"measure.repeat", "0 to 100 times",
		func(s *Scenario) bool { return within(float64(s.Measure.Repeat), 0, 100) }},
}

// Check says what is wrong with s, an *Error without a line.
func (s Scenario) Check() error {
	for _, r := range rules {
		if !r.ok(&s) {
			return &Error{File: s.Name, Key: r.key, Want: r.want}
		}
	}
	return nil
}
