package simbench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/tickrate/tickrate/bench/lobbysim"
	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/content"
	"github.com/tickrate/tickrate/sim/netstate"
)

// Options change how a scenario is played. Zero fields mean the defaults named.
type Options struct {
	Brain  func(n int) swarm.Brain       // of client n; default Brains of the scenario
	Lobby  func(*server.Config)          // changes the lobby's configuration; default nothing
	Conn   func(netio.Conn) netio.Conn   // wraps the server's connection; default nothing
	Link   impair.Profile                // its Delay is added to that of the scenario's link
	Around func(tick func() error) error // runs the ticks; default the caller
	Warm   bool                          // ticks follow one another at once, not by the wall clock

	// Played is called after each tick with the virtual time that the match has been played for, of how
	// much; match is its number, from 0. Default nothing.
	Played func(match int, played, of time.Duration)
}

// Match is one lobby of a scenario and its clients, in virtual time, or all lobbies of a process. One
// goroutine owns it.
type Match struct {
	*lobbysim.Sim
	s     scenario.Scenario
	full  int // clients that decode everything, and stay
	churn *rand.Rand
	leave float64 // chance that a player leaves within a tick
}

// Brains are the bots of a scenario without recordings, as the live swarm has them.
func Brains(s scenario.Scenario) func(n int) swarm.Brain {
	h := swarm.Profile{Bursts: float32(s.Play.Bursts), Throws: float32(s.Play.Throws),
		Crowd: float32(s.Play.HotSpot), CrowdNear: float32(s.Play.HotSpotMetres)}
	return func(n int) swarm.Brain { return swarm.NewBotWithProfile(s.Play.Seed, n, h) }
}

// Decode is what the players of a scenario decode beyond those that decode everything.
func Decode(s scenario.Scenario) client.Decode {
	if s.Play.Decode == client.DecodeAcks.String() {
		return client.DecodeAcks
	}
	return client.DecodeOwn
}

// blindBrains replaces the brains of players that decode nothing but acks by random ones, as a live
// swarm does.
func blindBrains(s scenario.Scenario, full int, all func(n int) swarm.Brain) func(n int) swarm.Brain {
	if Decode(s) != client.DecodeAcks {
		return all
	}
	return func(n int) swarm.Brain {
		if n < full {
			return all(n)
		}
		b := swarm.NewBlindBot(s.Play.Seed, n)
		return &b
	}
}

// MapName is the name of the map for a lobby of a scenario.
func MapName(s scenario.Scenario) string {
	return fmt.Sprintf("%s:%d:%d", s.Lobby.Map, s.MapPlayers(s.Lobby.Players), s.Play.Seed)
}

// Lobby is the server's configuration for a lobby of a scenario, as the live runner gives it to
// serve.
func Lobby(s scenario.Scenario) (cfg server.Config, err error) {
	name := MapName(s)
	ground, err := arena.Open(name)
	if err != nil {
		return cfg, err
	}
	game, err := sim.GameForArena(content.Default(), name, s.Lobby.Mode)
	if err != nil {
		return cfg, err
	}
	cfg = server.Config{
		Arena: ground, ArenaName: name, Players: s.Lobby.Players, Spectators: s.Lobby.Spectators,
		SendInterval: s.Every(), Kbps: s.Rates.Kbps, Models: netstate.Trained(),
		ViewDistance: float32(s.Lobby.ViewDistance), ShotLogSize: 4096,
		Rules: sim.Rules{Rate: tick.Rate(s.Rates.TickHz), Seed: s.Play.Seed, Mix: true, Game: game},
	}
	if cfg.Codec, err = schema.ParseCodec(s.Network.Codec); err != nil {
		return cfg, err
	}
	if cfg.Relevance, err = server.ParseRelevance(s.Lobby.Relevance); err != nil {
		return cfg, err
	}
	cfg, _, err = server.PVSFor(cfg, nil)
	return cfg, err
}

// NewMatch sets up a match of one lobby. Its clients begin to connect with the first Step.
func NewMatch(s scenario.Scenario, o Options) (*Match, error) {
	s.Lobby.Lobbies = 1
	cfg, err := simConfig(s, o)
	if err != nil {
		return nil, err
	}
	m, err := newMatch(s, cfg)
	if err != nil {
		return nil, err
	}
	m.Lobby.PackContent()
	return m, nil
}

// newMatch sets up a match of clients.
func newMatch(s scenario.Scenario, cfg lobbysim.Config) (*Match, error) {
	b, err := lobbysim.New(cfg)
	return &Match{Sim: b, s: s, full: decodeAll(s), churn: rand.New(rand.NewPCG(s.Play.Seed, 7)),
		leave: s.Play.LeavesPerMinute / 60 / float64(s.Rates.TickHz)}, err
}

// decodeAll is the number of clients that decode everything: one of each lobby at least.
func decodeAll(s scenario.Scenario) int { return max(s.Play.Full, s.Lobby.Lobbies) }

// simConfig is the configuration of a simulation of the lobbies of a scenario.
func simConfig(s scenario.Scenario, o Options) (cfg lobbysim.Config, err error) {
	if cfg.Lobby, err = Lobby(s); err != nil {
		return cfg, err
	}
	if o.Lobby != nil {
		o.Lobby(&cfg.Lobby)
	}
	if o.Brain == nil {
		o.Brain = Brains(s)
	}
	if cfg.Link, err = impair.ParseProfile(s.Network.Link); err != nil {
		return cfg, err
	}
	cfg.Link.Delay += o.Link.Delay
	full := decodeAll(s)
	cfg.Clients, cfg.Spectators = s.Total()+s.Spectators(), s.Spectators()
	cfg.Seed, cfg.Decode, cfg.Brain = s.Play.Seed, Decode(s), blindBrains(s, full, o.Brain)
	cfg.Conn, cfg.WrapTick = o.Conn, o.Around
	cfg.ChangeClient = func(n int, c *client.Config) {
		if n < full {
			c.Decode = client.DecodeFull
		}
	}
	return cfg, nil
}

// Step plays a tick. Before it clients leave and others take their slots, as the scenario says.
func (m *Match) Step() error {
	for i := m.full; m.leave > 0 && i < len(m.Clients); i++ {
		if m.churn.Float64() < m.leave && m.joined(i) {
			m.Leave(i)
			if err := m.Connect(i); err != nil {
				return err
			}
		}
	}
	return m.Sim.Step()
}

// joined reports whether client i is in the match.
func (m *Match) joined(i int) bool {
	c := m.Clients[i]
	if c == nil {
		return false
	}
	state, _ := c.State()
	return state == client.Joined
}

// Run plays a number of ticks, or until ctx ends.
func (m *Match) Run(ctx context.Context, ticks int) error {
	for range ticks {
		if err := m.Step(); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}
