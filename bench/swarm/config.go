package swarm

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/content"
	"github.com/tickrate/tickrate/sim/netstate"
)

// Config describes a swarm. Zero fields mean the defaults named.
type Config struct {
	Server netip.AddrPort
	// Of several processes: player n plays on n modulo their count; default Server.
	Servers []netip.AddrPort
	// Tokens name several servers, and each player joins the nearest, wherever others do. It sees for
	// itself: all but blind players are full. Server, Servers and Lobbies are not used.
	Choose bool
	// Lobbies on all servers together, as many on each; player n plays in n modulo their count, which
	// its token says. Default one for each server.
	Lobbies int
	Players int
	// Number of the first player: several swarms that share the players of a test have seeds, brains
	// and tokens by number. Lobbies and Full count from it. Default 0.
	First int
	// Number from which players are spectators, whose ticks are not counted; 0: all play.
	FirstSpectator int
	Seed           uint64 // of all decisions
	Rate           tick.Rate

	// Full is how many players decode whole snapshots; default 1, and at least one for each lobby.
	// The first of them, up to 8, count their bits. Decode is how much the others decode;
	// DecodeFull, the default, means DecodeOwn. With DecodeAcks they play by BlindBot, whatever
	// Brain says.
	Full   int
	Decode client.Decode

	// A connect token for player n; required.
	Token func(n int) ([]byte, error)
	// Called by Settled for each player that the server has refused; the others play on. nil: a refused
	// player is an error of the swarm.
	Refused func(n int, why error)
	// Compression of all players; default netstate.Trained.
	Models netstate.Models
	Arena  func(name string, hash [32]byte) (*arena.Arena, error) // default client.Known
	// Of all players; default the pack of this build.
	Content *content.Pack
	// Of player n; default NewBot(Seed, n).
	Brain func(n int) Brain

	// Of each player, both ways, seeded by its number; default a perfect one. It is played here, without
	// a proxy: the clients' datagrams leave their sockets when they have crossed it.
	Link impair.Profile

	Corrections    int           // that each player keeps, see client.Config; default none
	ChatEvery      time.Duration // mean time between two chat lines of a player; default never
	Arrival        time.Duration // over which the players start to connect; default all at once
	ChurnPerMinute float64       // how often each player but the full ones is replaced by another
}

// ErrNoTokens is Open's error for a Config without Token.
var ErrNoTokens = errors.New("swarm: Config.Token is missing")

// maxSampled is how many players count the bits that they receive: more would cost the swarm CPU.
const maxSampled = 8

func (cfg Config) withDefaults() (Config, error) {
	if cfg.Rate == 0 {
		cfg.Rate = tick.DefaultRate
	}
	if cfg.Models == (netstate.Models{}) {
		cfg.Models = netstate.Trained()
	}
	if cfg.Brain == nil {
		seed := cfg.Seed
		cfg.Brain = func(n int) Brain { return NewBot(seed, n) }
	}
	if cfg.Token == nil {
		return cfg, ErrNoTokens
	}
	if cfg.Choose {
		return cfg.choosing(), nil
	}
	if len(cfg.Servers) == 0 {
		cfg.Servers = []netip.AddrPort{cfg.Server}
	}
	if cfg.Lobbies = max(cfg.Lobbies, len(cfg.Servers)); cfg.Lobbies%len(cfg.Servers) != 0 {
		return cfg, fmt.Errorf("swarm: %d lobbies on %d servers: expected as many on each", cfg.Lobbies,
			len(cfg.Servers))
	}
	if cfg.Decode == client.DecodeFull {
		cfg.Decode = client.DecodeOwn
	}
	cfg.Full = max(cfg.Full, cfg.Lobbies) // one for the view of each lobby
	return cfg, nil
}

// choosing is a configuration whose players choose their servers: each full one is a view of its
// own.
func (cfg Config) choosing() Config {
	cfg.Servers = nil
	if cfg.Decode != client.DecodeAcks {
		cfg.Full, cfg.Decode = cfg.Players, client.DecodeOwn
	}
	cfg.Full = max(cfg.Full, 1)
	cfg.Lobbies = cfg.Full
	return cfg
}

// spectates reports whether player n only watches.
func (cfg *Config) spectates(n int) bool {
	return cfg.FirstSpectator > 0 && cfg.First+n >= cfg.FirstSpectator
}

// blind reports whether player n sees nothing, not even itself.
func (cfg *Config) blind(n int) bool { return cfg.Decode == client.DecodeAcks && n >= cfg.Full }

// decode is how much player n decodes.
func (cfg *Config) decode(n int) client.Decode {
	if n < cfg.Full {
		return client.DecodeFull
	}
	return cfg.Decode
}
