package server

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/tickrate/tickrate/server/chat"
	"github.com/tickrate/tickrate/server/console"
	"github.com/tickrate/tickrate/server/query"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
)

// consoleVars are the variables that change how the lobby works.
type consoleVars struct {
	name        *console.Var
	respawn     *console.Var
	respawnSet  bool // respawn was changed: from then on it overrides that of the mode
	kbps        *console.Var
	contentKbps *console.Var
	idleWarn    *console.Var
	idleKick    *console.Var
	idlePassive *console.Var

	viewDistance *console.Var
	nearest      *console.Var
	killcam      *console.Var
	chatEvery    *console.Var
}

// Limits of variables.
const (
	maxRespawn   = time.Minute // the longest respawn delay that the console takes
	minChatEvery = 100 * time.Millisecond
	maxChatEvery = time.Minute
)

// add makes the variables and adds them to a console.
func (v *consoleVars) add(to *console.Console, c *Config) {
	// fixed is a variable that cannot change while the lobby runs.
	fixed := func(name, help string, value int64) *console.Var {
		entry := console.Entry{Name: name, Help: help, Flags: console.ServerInfo | console.Remote}
		return console.NewFixed(entry, value)
	}
	v.name = console.NewText(saved("server.name", "what server browsers show"), c.Name, query.MaxText)
	v.addGame(c)
	v.addNet(c)
	to.Add(v.name, v.respawn, v.killcam, v.idleWarn, v.idleKick, v.idlePassive, v.chatEvery, v.kbps,
		v.contentKbps, v.viewDistance, v.nearest,
		fixed("server.tickrate", "ticks a second; given with --rate", int64(c.Rules.Rate)),
		fixed("net.interval", "ticks between two snapshots; given with --send-interval or --snapshot-rate",
			int64(c.SendInterval)))
}

// saved is the entry of a variable that admins set and that a file keeps.
func saved(name, help string) console.Entry {
	return console.Entry{Name: name, Help: help, Flags: console.ServerInfo | console.Remote | console.Save}
}

// addGame makes the variables of the match and of its players.
func (v *consoleVars) addGame(c *Config) {
	millis := func(n int32) time.Duration { return time.Duration(n) * time.Millisecond }
	respawn, rewind := millis(c.Rules.RespawnMillis), millis(c.Rules.RewindMillis)
	v.respawn = console.NewDuration(saved("game.respawndelay", "time from a death to the next life"),
		respawn, rewind, max(maxRespawn, respawn))
	v.idleWarn = console.NewDuration(saved("game.idlewarn", "after which an idle player is warned; 0s for never"),
		c.IdleWarn, 0, maxIdle)
	v.idleKick = console.NewDuration(saved("game.idlekick", "after which an idle player is removed; 0s for never"),
		c.IdleKick, 0, maxIdle)
	v.idlePassive = console.NewDuration(saved("game.idlepassive",
		"after which a player that gives input and takes no part is removed; 0s for never"), c.IdlePassive, 0, maxIdle)
	v.chatEvery = console.NewDuration(saved("chat.every", "time that each line of a player takes, after five at once"),
		chat.DefaultEvery, minChatEvery, maxChatEvery)
	v.killcam = console.NewBool(saved("game.killcam", "whether players that ask for killcams get them"), c.givesKillcams())
	reserved := c.givesKillcams() || c.sendsTogether()
	v.killcam.Check(func(word string) error {
		if on, _ := strconv.ParseBool(word); on && !reserved {
			return errors.New("false: this lobby has no memory for killcams; start it with --killcam on")
		}
		return nil
	})
}

// addNet makes the variables of what clients are sent.
func (v *consoleVars) addNet(c *Config) {
	v.kbps = console.NewInt(saved("net.kbps", "most kilobits a second to one client; 0 for no limit"),
		int64(c.Kbps), 0, maxKbps)
	v.kbps.Check(func(word string) error {
		if n, _ := strconv.Atoi(word); n != 0 && n < sim.MinSnapshotKbps {
			return fmt.Errorf("0, or an integer, %d to %d", sim.MinSnapshotKbps, maxKbps)
		}
		return nil
	})
	v.contentKbps = console.NewInt(saved("net.contentkbps", "kilobits a second of maps and models to all clients together"),
		int64(c.ContentKbps), sim.MinSnapshotKbps, maxKbps)
	v.viewDistance = console.NewFloat(saved("net.viewdistance", "metres beyond which no player is sent; 0 for no limit"),
		float64(c.ViewDistance), 0, 4*arena.Limit)
	v.viewDistance.Check(func(word string) error {
		if x, _ := strconv.ParseFloat(word, 64); c.Relevance != RelevanceGrid && float32(x) != c.ViewDistance {
			return fmt.Errorf("%g: relevance %v hides no player; start the lobby with --relevance grid",
				c.ViewDistance, c.Relevance)
		}
		return nil
	})
	v.nearest = console.NewInt(saved("net.nearestplayers", "nearest players in every snapshot of a large lobby; -1 for all players"),
		int64(c.NearestPlayers), -1, MaxPlayers)
	v.nearest.Check(func(word string) error {
		if n, _ := strconv.Atoi(word); n == 0 {
			return fmt.Errorf("1 to %d, or -1 for all players", MaxPlayers)
		}
		return nil
	})
}

// apply puts the variables into force.
func (s *lobbyConsole) apply() {
	l, v := s.l, &s.vars
	if v.respawn.Changed() || v.respawnSet {
		v.respawnSet = true
		_ = l.match.SetRespawn(int32(v.respawn.Duration() / time.Millisecond)) // a mode may refuse
	}
	l.idle.setLimits(v.idleWarn.Duration(), v.idleKick.Duration(), v.idlePassive.Duration())
	l.chat.room.SetEvery(v.chatEvery.Duration())
	if kbps := int(v.kbps.Int()); kbps != l.cfg.Kbps {
		l.cfg.Kbps = kbps
		for _, slot := range l.live {
			c := &l.conns[slot]
			c.repl.pacing.setRate(c.repl.pacing.every, c.repl.pacing.requestedKbps, &l.cfg)
		}
	}
	if kbps := int(v.contentKbps.Int()); kbps != l.cfg.ContentKbps {
		l.cfg.ContentKbps = kbps
		l.transfers.bucket = newBucket(kbps)
	}
	l.cfg.NearestPlayers = int(v.nearest.Int())
	if on := v.killcam.Bool(); on != l.cfg.givesKillcams() {
		if l.cfg.Killcam = KillcamOff; on {
			l.cfg.Killcam = KillcamOn
		}
	}
	if metres := float32(v.viewDistance.Float()); metres != l.cfg.ViewDistance {
		l.cfg.ViewDistance = metres
		l.replication.setViewDistance()
	}
}

// values are the variables that a lobby takes to another host, as lines: the name of the server only
// if it was changed here.
func (s *lobbyConsole) values() []byte {
	return s.console.AppendValues(nil, func(v *console.Var) bool { return v != s.vars.name || v.Changed() })
}

// setValues takes the variables of the host before. What this lobby refuses keeps its value.
func (s *lobbyConsole) setValues(lines string) {
	s.console.SetValues(lines)
	s.apply()
}

// setViewDistance puts the view distance of the configuration into force.
func (r *replication) setViewDistance() {
	if r.cfg.Relevance != RelevanceGrid {
		return
	}
	cells := r.cfg.interestConfig().ViewDistance
	r.players.interest.grid.SetViewDistance(cells)
	if g := r.objects.interest.grid; g != nil {
		g.SetViewDistance(cells)
	}
}

// keepVariables takes what the console may have changed from the configuration of the map before.
func (c *Config) keepVariables(old *Config) {
	c.Kbps, c.ContentKbps, c.NearestPlayers = old.Kbps, old.ContentKbps, old.NearestPlayers
	c.ViewDistance, c.Killcam = old.ViewDistance, old.Killcam
}
