package server

import (
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/idle"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
)

// maxIdle is the longest time after which an idle player is warned or removed.
const maxIdle = 24 * time.Hour

// idleLimits are times in ticks; 0 is never in both.
func idleLimits(warn, kick time.Duration, rate tick.Rate) idle.Limits {
	ticks := func(d time.Duration) tick.Tick { t, _ := rate.Since(d); return t }
	return idle.Limits{Warn: ticks(warn), Kick: ticks(kick)}
}

// acts notes the wishes of a connection's n newest commands, which are in the window. A package repeats what is not acknowledged, so who
// has just moved seems to for some time longer.
func (l *Lobby) acts(c *conn, n int) {
	limits := l.social.limits
	if limits.Warn|limits.Kick == 0 {
		return
	}
	seat := &l.social.seats[c.id.Index()]
	for i := n - 1; i >= 0 && seat.on; i-- {
		wish := l.window[i]
		wish.Tick, wish.View = 0, tick.View{}
		if wish != seat.wish {
			seat.wish = wish
			seat.watch.Step(l.match.Tick(), wish, false, limits) // it begins anew, and nothing is due
		}
	}
}

// idles warns the connection in a slot, or removes it, if it does nothing.
func (l *Lobby) idles(now time.Duration, slot int) {
	limits := l.social.limits
	if limits.Warn|limits.Kick == 0 {
		return
	}
	c, seat, t := &l.conns[slot], &l.social.seats[slot], l.match.Tick()
	switch seat.watch.Step(t, seat.wish, c.roster.spectates, limits) {
	case idle.Warn:
		l.Stats.Count[metrics.IdleWarned].Inc()
		left := l.cfg.Rules.Rate.At(seat.watch.Left(t, limits))
		l.social.to = append(l.social.to[:0], int32(slot))
		l.convey(now, protocol.Chat{Kind: protocol.ChatIdle, Seconds: uint32((left + time.Second/2) / time.Second), To: uint32(c.id)}, l.social.to)
	case idle.Kick:
		l.Stats.Count[metrics.IdleKicked].Inc()
		l.dismiss(now, c, packet.ReasonIdle)
	}
}

// patience sets after which times idle players are warned and removed. All are watched anew.
func (l *Lobby) patience(warn, kick time.Duration) {
	limits := idleLimits(warn, kick, l.cfg.Rules.Rate)
	if limits == l.social.limits {
		return
	}
	l.social.limits = limits
	for i := range l.social.seats {
		l.social.seats[i].watch = idle.Watch[sim.Command]{}
	}
}
