package scenario

import (
	"math"
	"slices"

	"github.com/tickrate/tickrate/netio/impair"
)

// Scenario is one way to load a server. Keys that a file leaves out have the values of Default.
type Scenario struct {
	Name  string `toml:"-" json:"name"` // of the file, without its folder and ".toml"
	About string `toml:"about" json:"about,omitempty"`

	Lobby   Lobby   `toml:"lobby" json:"lobby"`
	Rates   Rates   `toml:"rates" json:"rates"`
	Play    Play    `toml:"play" json:"play"`
	Network Network `toml:"network" json:"network"`
	Process Process `toml:"process" json:"process"`
	Measure Measure `toml:"measure" json:"measure"`
}

// Lobby is what is played, by how many.
type Lobby struct {
	Players    int     `toml:"players" json:"players"`       // in each lobby: the first size to try where players grow
	Lobbies    int     `toml:"lobbies" json:"lobbies"`       // on the host, each a process of its own: the first number to try where lobbies grow
	Grow       string  `toml:"grow" json:"grow"`             // what a plan grows to find the knee: "players" or "lobbies"
	Most       int     `toml:"most" json:"most"`             // of what grows, the most to try
	Map        string  `toml:"map" json:"map"`               // "gen" (low walls) or "town" (houses)
	Spread     float64 `toml:"spread" json:"spread"`         // the map is made for so many times the players
	FarMetres  float64 `toml:"far_metres" json:"far_metres"` // beyond which nobody is seen; 0: no limit
	Relevance  string  `toml:"relevance" json:"relevance"`   // who is told of whom, as of serve
	Mode       string  `toml:"mode" json:"mode"`
	Spectators int     `toml:"spectators" json:"spectators"` // who look on in each lobby, beside its players, each through a player's eyes
}

// Rates are the server's clocks and its budget.
type Rates struct {
	TickHz    int `toml:"tick_hz" json:"tick_hz"`
	SendEvery int `toml:"send_every_ticks" json:"send_every_ticks"` // between two snapshots to one client; 0: nearest to 20 Hz
	Kbps      int `toml:"kbps" json:"kbps"`                         // most to one client, 1000 bit/s of UDP payload; 0: no limit
}

// Play is what the players do.
type Play struct {
	Seed            uint64   `toml:"seed" json:"seed"` // of map, match, links and players
	Traces          []string `toml:"traces" json:"traces,omitempty"`
	Full            int      `toml:"full" json:"full"`                           // players that decode all they are sent
	ArrivalSeconds  float64  `toml:"arrival_seconds" json:"arrival_seconds"`     // over which the players come in
	LeavesPerMinute float64  `toml:"leaves_per_minute" json:"leaves_per_minute"` // of each player; another takes the place at once
	HotSpot         float64  `toml:"hot_spot" json:"hot_spot"`                   // share of players who stay within HotSpotMetres of the middle of the map
	HotSpotMetres   float64  `toml:"hot_spot_metres" json:"hot_spot_metres"`
	Bursts          float64  `toml:"bursts_per_second" json:"bursts_per_second"` // half a second of fire at nobody, beside the fire at enemies in sight
	Throws          float64  `toml:"throws_per_second" json:"throws_per_second"` // projectiles a second, of a player with an enemy in sight
}

// Network is what lies between.
type Network struct {
	Link       string `toml:"link" json:"link"` // profile of each way, as of tickrate impair
	Socket     string `toml:"socket" json:"socket"`
	Encryption string `toml:"encryption" json:"encryption"`
	Codec      string `toml:"codec" json:"codec"`
}

// Process is how the server's process is run.
type Process struct {
	GOMAXPROCS int `toml:"gomaxprocs" json:"gomaxprocs"` // 0: as it chooses
	GOGC       int `toml:"gogc" json:"gogc"`             // percent; -1: off
}

// Measure is how a plan measures.
type Measure struct {
	Level       string  `toml:"level" json:"level,omitempty"` // the service level, an expression of package capacity; "" for its default
	Seconds     float64 `toml:"seconds" json:"seconds"`
	WarmSeconds float64 `toml:"warm_seconds" json:"warm_seconds"`
	Repeat      int     `toml:"repeat" json:"repeat"` // how often the size at the knee is measured again
}

// Limits of a scenario.
const (
	MaxPlayers = 4096 // in all lobbies together, and so in one
	MaxLobbies = 256
	DefaultHz  = 60
)

// Default is a lobby that grows until it no longer holds the default service level.
func Default() Scenario {
	return Scenario{
		Name:    "one-lobby",
		Lobby:   Lobby{Players: 100, Lobbies: 1, Grow: "players", Most: 4000, Map: "gen", Spread: 1, Relevance: "auto", Mode: "deathmatch"},
		Rates:   Rates{TickHz: DefaultHz},
		Play:    Play{Seed: 1, Full: 4, HotSpotMetres: 10, Bursts: 0.15, Throws: 0.5},
		Network: Network{Link: "clean", Socket: "gnet", Encryption: "netcode-1.02", Codec: "huffman"},
		Process: Process{GOGC: 100},
		Measure: Measure{Seconds: 6, WarmSeconds: 2, Repeat: 2},
	}
}

// Every is the number of ticks between two snapshots to one client.
func (s Scenario) Every() int {
	if s.Rates.SendEvery > 0 {
		return s.Rates.SendEvery
	}
	return max(1, (s.Rates.TickHz+10)/20)
}

// Total is how many players there are in all lobbies.
func (s Scenario) Total() int { return s.Lobby.Players * s.Lobby.Lobbies }

// Lookers is how many look on in all lobbies.
func (s Scenario) Lookers() int { return s.Lobby.Spectators * s.Lobby.Lobbies }

// Ground is for how many players the map of a lobby of n is made.
func (s Scenario) Ground(n int) int {
	return min(max(int(math.Round(float64(n)*s.Lobby.Spread)), 2), MaxPlayers)
}

// At is s with n of what grows.
func (s Scenario) At(n int) Scenario {
	if s.Lobby.Grow == "lobbies" {
		s.Lobby.Lobbies = n
	} else {
		s.Lobby.Players = n
	}
	return s
}

// Size is how many there are of what grows.
func (s Scenario) Size() int {
	if s.Lobby.Grow == "lobbies" {
		return s.Lobby.Lobbies
	}
	return s.Lobby.Players
}

// rule is what a key must hold.
type rule struct {
	key  string // as a file has it
	want string
	ok   func(*Scenario) bool
}

func within(x, low, high float64) bool { return x >= low && x <= high } // false for NaN

func oneOf(s string, all ...string) bool { return slices.Contains(all, s) }

// rules are in the order of the fields.
var rules = []rule{
	{"lobby.players", "1 to 4096 players", func(s *Scenario) bool { return within(float64(s.Lobby.Players), 1, MaxPlayers) }},
	{"lobby.lobbies", "1 to 256 lobbies", func(s *Scenario) bool { return within(float64(s.Lobby.Lobbies), 1, MaxLobbies) }},
	{"lobby.lobbies", "at most 4096 players in all lobbies together", func(s *Scenario) bool { return s.Total() <= MaxPlayers }},
	{"lobby.grow", `"players" or "lobbies"`, func(s *Scenario) bool { return oneOf(s.Lobby.Grow, "players", "lobbies") }},
	{"lobby.most", "at least the size to begin with, at most 4096 players or 256 lobbies", func(s *Scenario) bool {
		high := MaxPlayers
		if s.Lobby.Grow == "lobbies" {
			high = MaxLobbies
		}
		return s.Lobby.Most >= s.Size() && s.Lobby.Most <= high
	}},
	{"lobby.map", `"gen" or "town"`, func(s *Scenario) bool { return oneOf(s.Lobby.Map, "gen", "town") }},
	{"lobby.spread", "0.25 to 16", func(s *Scenario) bool { return within(s.Lobby.Spread, 0.25, 16) }},
	{"lobby.far_metres", "0 (no limit) to 4096 metres", func(s *Scenario) bool { return within(s.Lobby.FarMetres, 0, 4096) }},
	{"lobby.relevance", `"auto", "grid", "all" or "off"`, func(s *Scenario) bool { return oneOf(s.Lobby.Relevance, "auto", "grid", "all", "off") }},
	{"lobby.mode", "the name of a mode", func(s *Scenario) bool { return s.Lobby.Mode != "" }},
	{"lobby.spectators", "0 to 4096, and at most 4096 with the players of all lobbies together", func(s *Scenario) bool {
		return s.Lobby.Spectators >= 0 && s.Lobby.Spectators <= MaxPlayers && (s.Lobby.Players+s.Lobby.Spectators)*s.Lobby.Lobbies <= MaxPlayers
	}},
	{"rates.tick_hz", "20 to 128 Hz", func(s *Scenario) bool { return within(float64(s.Rates.TickHz), 20, 128) }},
	{"rates.send_every_ticks", "1 to 20 ticks, or 0 for what comes nearest to 20 Hz", func(s *Scenario) bool { return within(float64(s.Rates.SendEvery), 0, 20) }},
	{"rates.kbps", "16 to 1000000 kbit/s, or 0 for no limit", func(s *Scenario) bool { return s.Rates.Kbps == 0 || within(float64(s.Rates.Kbps), 16, 1e6) }},
	{"play.full", "1 to 4096 players", func(s *Scenario) bool { return within(float64(s.Play.Full), 1, MaxPlayers) }},
	{"play.arrival_seconds", "0 to 10 seconds", func(s *Scenario) bool { return within(s.Play.ArrivalSeconds, 0, 10) }},
	{"play.leaves_per_minute", "0 to 6 a player", func(s *Scenario) bool { return within(s.Play.LeavesPerMinute, 0, 6) }},
	{"play.hot_spot", "a share, 0 to 1", func(s *Scenario) bool { return within(s.Play.HotSpot, 0, 1) }},
	{"play.hot_spot", "0 where players follow recordings (play.traces)", func(s *Scenario) bool { return s.Play.HotSpot == 0 || len(s.Play.Traces) == 0 }},
	{"play.hot_spot_metres", "1 to 1000 metres", func(s *Scenario) bool { return within(s.Play.HotSpotMetres, 1, 1000) }},
	{"play.bursts_per_second", "0 to 10", func(s *Scenario) bool { return within(s.Play.Bursts, 0, 10) }},
	{"play.throws_per_second", "0 to 10", func(s *Scenario) bool { return within(s.Play.Throws, 0, 10) }},
	{"network.link", `a profile of tickrate impair --list, or settings such as "loss=1%,delay=20ms"`, func(s *Scenario) bool {
		_, err := impair.ParseProfile(s.Network.Link)
		return err == nil
	}},
	{"network.socket", `"gnet" or "mmsg"`, func(s *Scenario) bool { return oneOf(s.Network.Socket, "gnet", "mmsg") }},
	{"network.encryption", `"netcode-1.02": every session of this server is sealed`, func(s *Scenario) bool { return s.Network.Encryption == "netcode-1.02" }},
	{"network.codec", `"huffman", "range" or "stored"`, func(s *Scenario) bool { return oneOf(s.Network.Codec, "huffman", "range", "stored") }},
	{"process.gomaxprocs", "1 to 1024, or 0 for as many as there are", func(s *Scenario) bool { return within(float64(s.Process.GOMAXPROCS), 0, 1024) }},
	{"process.gogc", "1 to 10000 percent, or -1 for off", func(s *Scenario) bool { return s.Process.GOGC == -1 || within(float64(s.Process.GOGC), 1, 10000) }},
	{"measure.seconds", "0.5 to 3600 seconds", func(s *Scenario) bool { return within(s.Measure.Seconds, 0.5, 3600) }},
	{"measure.warm_seconds", "0 to 3600 seconds", func(s *Scenario) bool { return within(s.Measure.WarmSeconds, 0, 3600) }},
	{"measure.repeat", "0 to 100 times", func(s *Scenario) bool { return within(float64(s.Measure.Repeat), 0, 100) }},
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
