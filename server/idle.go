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
	passive idle.Limits  // of players that take no part; see idle.Passive
	players []idlePlayer // by slot
}

// idlePlayer is the input of one connection that is ready, and what its player does.
type idlePlayer struct {
	input   sim.Command // the newest, without its tick and view
	tracker idle.Tracker[sim.Command]
	passive idle.Passive
}

// passiveNotice is how long before its kick a passive player is warned, at most half of the time.
const passiveNotice = time.Minute

func newIdle(c *core) idlePlayers {
	limits := idleLimits(c.cfg.IdleWarn, c.cfg.IdleKick, c.cfg.Rules.Rate)
	return idlePlayers{core: c, limits: limits, passive: passiveLimits(c.cfg.IdlePassive, c.cfg.Rules.Rate),
		players: make([]idlePlayer, c.cfg.Players)}
}

// passiveLimits are those of Config.IdlePassive.
func passiveLimits(kick time.Duration, rate tick.Rate) idle.Limits {
	return idleLimits(kick-min(passiveNotice, kick/2), kick, rate)
}

// idleLimits turns times into ticks; 0 is never in both.
func idleLimits(warn, kick time.Duration, rate tick.Rate) idle.Limits {
	ticks := func(d time.Duration) tick.Tick { t, _ := rate.Since(d); return t }
	return idle.Limits{Warn: ticks(warn), Kick: ticks(kick)}
}

// disconnect forgets the input of a slot's connection.
func (p *idlePlayers) disconnect(slot int) { p.players[slot] = idlePlayer{} }

// off reports whether idle players may stay for ever.
func (p *idlePlayers) off() bool { return p.limits.Warn|p.limits.Kick|p.passive.Kick == 0 }

// input takes the newest commands of a slot's connection, which is ready. A packet repeats commands
// that are not acknowledged, so a player that has just moved seems to move for a while.
func (p *idlePlayers) input(slot int, commands []sim.Command) {
	if p.off() {
		return
	}
	player := &p.players[slot]
	player.passive.Turn(uint16(commands[0].Yaw), uint16(commands[0].Pitch))
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
	now := p.match.Tick()
	if p.conns[slot].roster.role == roleSpectator {
		player.passive = idle.Passive{}
		return player.tracker.Exempt(now, player.input)
	}
	action := player.tracker.Step(now, player.input, p.limits)
	if v := p.match.Vital(p.conns[slot].id); v != nil && v.Alive() && p.passive.Kick != 0 {
		at := p.match.Poses()[slot].Pos
		action = moreUrgent(action, player.passive.Step(now, v.Life, at.X, at.Z, p.passive))
	}
	return action
}

// moreUrgent returns the action that is done if two are due: Kick, Warn, Back, None.
func moreUrgent(a, b idle.Action) idle.Action {
	if a == idle.Kick || b == idle.Kick || a != idle.Warn && b != idle.Warn {
		return max(a, b)
	}
	return idle.Warn
}

// noteHits notes the players that hit others in the tick.
func (p *idlePlayers) noteHits() {
	if p.passive.Kick == 0 {
		return
	}
	for i := range p.match.Outcome().Events {
		e := &p.match.Outcome().Events[i]
		if slot := e.Actor.Index(); e.Actor != e.Victim && slot < len(p.conns) && p.conns[slot].id == e.Actor {
			p.players[slot].passive.Hit(e.Tick)
		}
	}
}

// warning is the line that warns the player in a slot: of the kick that is nearer.
func (p *idlePlayers) warning(slot int) protocol.Chat {
	player, now := &p.players[slot], p.match.Tick()
	ticks := player.tracker.Left(now, p.limits)
	if passive := player.passive.Left(now, p.passive); passive != 0 && (ticks == 0 || passive < ticks) {
		ticks = passive
	}
	left := p.cfg.Rules.Rate.At(ticks)
	return protocol.Chat{Kind: protocol.ChatIdle, Seconds: uint32((left + time.Second/2) / time.Second)}
}

// setLimits changes after which times idle and passive players are warned and removed. The time of
// every player starts anew.
func (p *idlePlayers) setLimits(warn, kick, passive time.Duration) {
	limits, taking := idleLimits(warn, kick, p.cfg.Rules.Rate), passiveLimits(passive, p.cfg.Rules.Rate)
	if limits == p.limits && taking == p.passive {
		return
	}
	p.limits, p.passive = limits, taking
	for i := range p.players {
		p.players[i].tracker, p.players[i].passive = idle.Tracker[sim.Command]{}, idle.Passive{}
	}
}
