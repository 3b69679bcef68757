package sim

import (
	"slices"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
)

// TargetView is the view of one target that a shooter did not see as its shot's view says.
type TargetView struct {
	Slot int32
	View tick.View // by which it is judged
	// by which it was seen; differs from View only if that is too long ago, or was announced too
	// late
	Seen    tick.View
	Expired bool // its pose is older than the history: Seen is empty
}

// ViewResolver tells how the client of a shot's shooter saw the other players. plain is a bit a
// slot: players that it saw as the shot's view says. list is the players that it saw otherwise; it
// may lack those that reach rules out, but none that is Expired. In all other slots it saw no
// player. A plain of nil says that this is not known: then all players but those in list are judged
// by the shot's view, and the hit filter is asked. Both are valid until the next call.
type ViewResolver func(s *Shot, reach ShotReach) (list []TargetView, plain []uint64)

// ShotReach finds the players that a shot may touch in any view, on demand.
type ShotReach struct {
	players *lagcomp.Sweeper
	sweep   *lagcomp.Sweep
}

// Slots returns a bit a slot: the players that the shot may touch in any view of up to
// lagcomp.NearSpan ticks; nil if that is not known. They are valid until the next call.
func (r ShotReach) Slots() []uint64 {
	if r.players == nil {
		return nil
	}
	near, ok := r.players.SlotsNear(r.sweep)
	if !ok {
		return nil
	}
	return near
}

// SetViewResolver sets the resolver of views; nil, the default, means that no view is known. The
// match calls it in the combat system, in the order of shots; it must not change the match.
func (m *Match) SetViewResolver(how ViewResolver) { m.viewResolver = how }

// resolveViews judges shot i by what its shooter saw of each player. The shot was cast at all
// players by its own view; this removes the players that the shooter did not see so, and tests
// those that it saw otherwise one by one. It returns the player that would have been hit first but
// was not seen so, 0 for none, and the view by which the shot was judged in the end.
func (c *columns) resolveViews(i int, s *Shot) (first uint32, used tick.View) {
	var list []TargetView
	var plain []uint64
	w, hit := &c.scratch.sweeps[i], &c.scratch.hits[i]
	if c.match.viewResolver != nil && !s.Clamped {
		list, plain = c.match.viewResolver(s, ShotReach{c.scene.Players, w})
	}
	if plain != nil || c.match.hitFilter != nil {
		as := func(id uint32) bool { return c.hittableAsSeen(i, s.Shooter, id, list, plain) }
		if first = hit.ID; first == 0 || as(first) {
			first = 0
		} else {
			c.scene.Players.CastFiltered(c.scratch.sweeps[i:i+1], c.scratch.hits[i:i+1],
				func(_ int, id uint32) bool { return id != first && as(id) })
		}
	}
	used = w.View
	for k := range list {
		b := &list[k]
		near, ok := c.history.CastSlot(w, int(b.Slot), b.View, *hit)
		if *hit = near; near.ID != 0 && near.Slot == int(b.Slot) {
			used = b.View
		}
		if d := c.match.inputLog; ok && d != nil {
			d.TargetViews = append(d.TargetViews, ShotTargetView{s.Shooter, *b})
		}
		if b.Expired {
			s.ViewExpired = s.ViewExpired || ok || c.moved(b)
		} else if b.Seen != b.View {
			_, was := c.history.CastSlot(w, int(b.Slot), b.Seen, lagcomp.Hit{})
			s.ViewExpired = s.ViewExpired || ok || was
		}
	}
	if s.ViewExpired {
		c.outcome.ViewsExpired++
	}
	return first, used
}

// moved reports whether a player may be elsewhere than where it was seen long ago.
func (c *columns) moved(b *TargetView) bool {
	oldest := c.history.Oldest()
	was, ok := c.history.At(tick.View{From: oldest, To: oldest}, int(b.Slot))
	is, _ := c.history.At(b.View, int(b.Slot))
	return !ok || was != is
}

// hittableAsSeen reports whether the shooter of shot i may hit a player where the shot's view
// shows it.
func (c *columns) hittableAsSeen(i int, shooter, id uint32, list []TargetView, plain []uint64) bool {
	if plain == nil {
		return c.match.hitFilter == nil || c.visible(i, id)
	}
	slot := netid.ID(id).Index()
	if plain[slot>>6]>>(slot&63)&1 != 0 {
		return true
	}
	if !slices.ContainsFunc(list, func(b TargetView) bool { return int(b.Slot) == slot }) {
		c.outcome.NotShown++
	}
	if d := c.match.inputLog; d != nil {
		d.Hidden = append(d.Hidden, HiddenTarget{shooter, id})
	}
	return false
}

// ShotTargetView is the view of a target that a shot would have hit, in TickInputs.
type ShotTargetView struct {
	Shooter uint32
	TargetView
}

// resolver answers as the recorded match's view resolver did. buf is scratch memory.
func (d *TickInputs) resolver(buf []TargetView) ViewResolver {
	return func(s *Shot, _ ShotReach) ([]TargetView, []uint64) {
		buf = buf[:0]
		for _, b := range d.TargetViews {
			if b.Shooter == s.Shooter {
				buf = append(buf, b.TargetView)
			}
		}
		return buf, nil
	}
}
