package server

import (
	"math"

	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/planted"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/sim"
)

// beholder works out how a shooter's client saw those of whom it had not all that its view names. One serves a lobby.
type beholder struct {
	who      uint32 // whose list it is, in tick at
	at       tick.Tick
	view     tick.View
	list     []sim.TargetView
	plain    []uint64
	glimpses []snapshot.Glimpse
	said     []snapshot.Glimpse
	arrivals [sim.MaxArrivals]sim.Arrival
}

func newBeholder(slots int) beholder {
	return beholder{list: make([]sim.TargetView, 0, slots), glimpses: make([]snapshot.Glimpse, 0, slots+64), said: make([]snapshot.Glimpse, 0, slots+64)}
}

// arrived notes what a package says about the n commands in it: which packages had come when each was made. src is what follows them.
func (l *Lobby) arrived(c *conn, pack, src []byte, n int) error {
	delay, pledges, list, err := sim.ParseArrivals(src, n, &l.rewind.resolver.arrivals)
	if err != nil {
		return packet.DropCommands
	}
	if pledges {
		c.rewind.announced.Announce(l.inbound.window[0].Tick, delay, l.match.Tick()+1)
	}
	if len(list) > 0 {
		h, _, err := packet.ParseHeader(pack)
		if err != nil {
			return err
		}
		for _, a := range list {
			c.repl.acks.history.Lacked(h.Ack-uint16(a.Back), l.inbound.window[0].Tick-tick.Tick(a.Since))
		}
	}
	for i := range n {
		if t := l.inbound.window[i].Tick; c.rewind.arrivals[t%64].Tick < t {
			c.rewind.arrivals[t%64] = snapshot.Command{Tick: t, By: l.match.Tick() + 1}
		}
	}
	c.rewind.newestCommand = max(c.rewind.newestCommand, l.inbound.window[0].Tick)
	return nil
}

// beheld is what the match asks of a round: whom its shooter saw as its view says, and how it saw the others, as far as its client had
// acknowledged when it made the command. All rounds of a shooter in a tick have one view.
//
// Who was told of last so long ago that a view may not lie there is judged at the earliest instant that may: a thin line is no licence
// to hit where somebody was long ago. For rows that were never sent that is the cap; for rows that were sent and not acknowledged it is
// all that is known of the path, as here the client's word is all there is.
func (l *Lobby) beheld(s *sim.Shot) (list []sim.TargetView, plain []uint64) {
	slot := int(s.Shooter >> 8)
	if slot >= len(l.conns) {
		return nil, nil
	}
	c := &l.conns[slot]
	if uint32(c.id) != s.Shooter || c.repl.acks.history == nil {
		return nil, nil
	}
	b, now := &l.rewind.resolver, l.match.Tick()
	if b.who == s.Shooter && b.at == now && b.view == s.View {
		return b.list, b.plain
	}
	b.who, b.at, b.view, b.list = s.Shooter, now, s.View, b.list[:0]
	cmd := c.command(now)
	said, late := b.said[:0], c.repl.acks.history.Late(cmd)
	if late { // how the client says that it saw everybody, which it says too late
		said, _ = c.repl.acks.history.Look(s.View, snapshot.Command{Tick: now, By: snapshot.Anytime}, said)
		b.said = said
	}
	b.glimpses, b.plain = c.repl.acks.history.Look(s.View, cmd, b.glimpses[:0])
	glide := lagcomp.MaxInterpGap * c.repl.pacing.spacing
	oldest, earliest := c.rewind.limits.EarliestInstants(now)
	for i := range b.glimpses {
		x := &b.glimpses[i]
		var view tick.View // of nobody
		if x.Was {
			view = bracket(x, s.View, glide)
		}
		seen := view
		if late {
			seen = otherwise(said, x.Slot, s.View, glide)
		}
		limit := oldest
		if x.Lost {
			limit = earliest
		}
		if x.Was && (x.Old || view.From == view.To && lagcomp.Instant(view) < min(limit, lagcomp.Instant(s.View))) {
			view = lagcomp.ViewAt(min(limit, lagcomp.Instant(s.View)))
		}
		if view != (tick.View{}) || seen != view {
			b.list = append(b.list, sim.TargetView{Slot: int32(x.Slot), View: view, Seen: seen, Expired: x.Was && x.Old})
		}
	}
	return b.list, b.plain
}

// otherwise is how a client says too late that it saw somebody.
func otherwise(said []snapshot.Glimpse, slot int, v tick.View, glide tick.Tick) tick.View {
	for i := range said {
		switch x := &said[i]; {
		case x.Slot == slot && x.Was:
			return bracket(x, v, glide)
		case x.Slot == slot:
			return tick.View{}
		}
	}
	return v
}

// bracket is between which snapshots a client saw somebody.
func bracket(x *snapshot.Glimpse, v tick.View, glide tick.Tick) tick.View {
	seen := lagcomp.BracketingTicks(v, x.Before, x.After, glide)
	if seen.From != seen.To && !x.Is {
		seen = tick.View{From: seen.From, To: seen.From}
	}
	return seen
}

// command is the connection's command for a tick, and when it came.
func (c *conn) command(t tick.Tick) snapshot.Command {
	if cmd := c.rewind.arrivals[t%64]; cmd.Tick == t {
		return cmd
	}
	return snapshot.Command{Tick: t, By: t}
}

// look works out between which two snapshots the connection looks with its command for the coming tick, as it has pledged. Who has pledged nothing
// looks at the newest.
func (c *conn) look(l *Lobby, k *lagcomp.ClampLimits) {
	t := l.match.Tick() + 1
	limit := k.MaxDelay(t)
	if planted.On(planted.ClampOpen) {
		limit = math.MaxInt64
	}
	line, asked, ok := c.rewind.announced.InstantAt(t, limit)
	if !ok {
		k.AnnouncedInstant = int64(k.Newest) << 8
		k.UnclampedInstant = k.AnnouncedInstant
		return
	}
	k.AnnouncedInstant, k.UnclampedInstant = max(line, 1), max(asked, 1)
	if in := l.match.CommandBuffer(c.id); in != nil && in.HasView(t) {
		k.From, k.To = c.repl.acks.history.Around(k.AnnouncedInstant, c.command(t))
	}
}
