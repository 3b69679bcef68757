package host

import (
	"cmp"
	"encoding/hex"
	"fmt"

	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/httpapi"
	"github.com/tickrate/tickrate/server/overload"
	"github.com/tickrate/tickrate/sim/arena"
)

// lobbyConfig is the configuration of a lobby on demand, without its map: that of the host with what
// was asked for. least is its lowest load level. Errors name the field.
func (h *Host) lobbyConfig(spec httpapi.LobbySpec) (c server.Config, least overload.Level, err error) {
	c = h.cfg.Lobby
	if most := orDefault(c.Players, defaultPlayers); spec.Players < 0 || spec.Players > most {
		return c, 0, fmt.Errorf("players %d: expected 1 to %d, as the server was started for", spec.Players,
			most)
	} else if spec.Players > 0 {
		c.Players = spec.Players
	}
	if most, n := mapRoom*orDefault(c.Players, defaultPlayers), arena.GeneratedPlayers(spec.Map); n > most {
		return c, 0, fmt.Errorf("map %.80q: expected one made for at most %d players, where %d play", spec.Map,
			most, most/mapRoom)
	}
	if hz := spec.RateHz; hz != 0 {
		if hz < int(tick.MinRate) || hz > int(tick.MaxRate) {
			return c, 0, fmt.Errorf("rate_hz %d: expected %d to %d", hz, tick.MinRate, tick.MaxRate)
		}
		c.Rules.Rate, c.SendInterval = tick.Rate(hz), 0
	}
	if least, err = setDetail(&c, &spec); err != nil {
		return c, 0, err
	}
	if !h.ownContent(spec.Content) {
		c.Rotation = nil // of maps of the other pack
	}
	if spec.Name != "" {
		c.Name = spec.Name
	}
	if spec.Seed != 0 {
		c.Rules.Seed = spec.Seed
	}
	return c, least, nil
}

// mapRoom is how many times as many players as play in a lobby a map that is made for it may be for. A map
// for 4096 takes a processor for 17 s.
const mapRoom = 4

// setDetail sets how much clients of a lobby on demand are sent. least is its lowest load level.
func setDetail(c *server.Config, spec *httpapi.LobbySpec) (least overload.Level, err error) {
	if n := spec.SendInterval; n < 0 || n > server.MaxInterval {
		return 0, fmt.Errorf("send_interval %d: expected 1 to %d", n, server.MaxInterval)
	} else if n != 0 {
		c.SendInterval = n
	}
	if spec.Codec != "" {
		if c.Codec, err = schema.ParseCodec(spec.Codec); err != nil {
			return 0, err
		}
	}
	c.Kbps = cmp.Or(spec.Kbps, c.Kbps)
	c.ViewDistance = cmp.Or(spec.ViewDistance, c.ViewDistance)
	if spec.MinLoadLevel == "" {
		return overload.Normal, nil
	}
	// Those above send players or spectators away.
	for level := range overload.NoSpectators {
		if level.String() == spec.MinLoadLevel {
			return level, nil
		}
	}
	return 0, fmt.Errorf("min_load_level %.80q: expected %v, %v, %v or %v", spec.MinLoadLevel,
		overload.Normal, overload.HalfRate, overload.QuarterRate, overload.LowDetail)
}

// startAt puts a lobby that has not played yet on the load level below which it never is.
func (x *hosted) startAt(least overload.Level) {
	if least == overload.Normal {
		return
	}
	x.pace.load.StartAt(least)
	x.lobby.SetLoadLevel(least)
	x.schedule.SetLevel(least)
}

// mapOf is the map that a lobby on demand is for.
func (h *Host) mapOf(spec httpapi.LobbySpec, c *server.Config) server.MapSpec {
	m := server.MapSpec{Map: cmp.Or(spec.Map, c.ArenaName), Mode: cmp.Or(spec.Mode, modeName(c))}
	if !h.ownContent(spec.Content) {
		m.Content = spec.Content
	}
	return m
}

// modeName names the mode of a configuration.
func modeName(c *server.Config) string { return c.Rules.WithDefaults().Game.Mode.Name }

// ownContent reports whether a name of a content pack is of the one that the host was started with.
func (h *Host) ownContent(name string) bool {
	return name == "" || name == contentHash(&h.cfg.Lobby)
}

// contentHash is the hash of a configuration's content pack, as lists of lobbies have it.
func contentHash(c *server.Config) string {
	return hex.EncodeToString(c.Rules.WithDefaults().Game.Pack[:])
}
