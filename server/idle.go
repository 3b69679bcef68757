package server

import (
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/idle"
	"github.com/tickrate/tickrate/sim"
)

// maxIdle is the longest time after which an idle player is warned or removed.
const maxIdle = 24 * time.Hour

// idlePlayers tells which players give no input.
type idlePlayers struct {
	*core
	limits  idle.Limits
	players []idlePlayer // by slot
}

// idlePlayer is the input of one connection that is ready.
type idlePlayer struct {
	input   sim.Command // the newest, without its tick and view
	tracker idle.Tracker[sim.Command]
}

func newIdle(c *core) idlePlayers {
	limits := idleLimits(c.cfg.IdleWarn, c.cfg.IdleKick, c.cfg.Rules.Rate)
	return idlePlayers{core: c, limits: limits, players: make([]idlePlayer, c.cfg.Players)}
}

// idleLimits turns times into ticks; 0 is never in both.
func idleLimits(warn, kick time.Duration, rate tick.Rate) idle.Limits {
	ticks := func(d time.Duration) tick.Tick { t, _ := rate.Since(d); return t }
	return idle.Limits{Warn: ticks(warn), Kick: ticks(kick)}
}

// disconnect forgets the input of a slot's connection.
func (p *idlePlayers) disconnect(slot int) { p.players[slot] = idlePlayer{} }

// off reports whether idle players may stay for ever.
func (p *idlePlayers) off() bool { return p.limits.Warn|p.limits.Kick == 0 }

// input takes the newest commands of a slot's connection, which is ready. A packet repeats commands
// that are not acknowledged, so a player that has just moved seems to move for a while.
func (p *idlePlayers) input(slot int, commands []sim.Command) {
	if p.off() {
		return
	}
	player := &p.players[slot]
	for i := range commands {
		input := commands[i]
		input.Tick, input.View = 0, tick.View{}
		if input != player.input {
			player.input = commands[0]
			player.input.Tick, player.input.View = 0, tick.View{}
			player.tracker.Exempt(p.match.Tick(), player.input) // starts anew: nothing is due
			return
		}
	}
}

// due returns what is due for the player in a slot. Spectators are never idle.
func (p *idlePlayers) due(slot int) idle.Action {
	if p.off() {
		return idle.None
	}
	player := &p.players[slot]
	if p.conns[slot].roster.role == roleSpectator {
		return player.tracker.Exempt(p.match.Tick(), player.input)
	}
	return player.tracker.Step(p.match.Tick(), player.input, p.limits)
}

// warning is the line that warns the player in a slot.
func (p *idlePlayers) warning(slot int) protocol.Chat {
	left := p.cfg.Rules.Rate.At(p.players[slot].tracker.Left(p.match.Tick(), p.limits))
	return protocol.Chat{Kind: protocol.ChatIdle, Seconds: uint32((left + time.Second/2) / time.Second)}
}

// setLimits changes after which times idle players are warned and removed. The time of every player
// starts anew.
func (p *idlePlayers) setLimits(warn, kick time.Duration) {
	limits := idleLimits(warn, kick, p.cfg.Rules.Rate)
	if limits == p.limits {
		return
	}
	p.limits = limits
	for i := range p.players {
		p.players[i].tracker = idle.Tracker[sim.Command]{}
	}
}
