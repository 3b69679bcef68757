package sim

import (
	"slices"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
)

// TargetViews is a player whom a shooter did not see as its view says.
type TargetView struct {
	Slot    int32
	View    tick.View // by which it is judged
	Seen    tick.View // by which it was seen; another only where that is too long ago, or was said too late
	Expired bool      // it was seen so long ago that nobody knows how: Seen is nothing
}

// SetViewResolver sets what tells how the client of the shooter of a round saw everybody: plain is a bit a slot, those whom it saw as the round's
// view says; list is who else it saw, and how. In other slots it saw nobody. A plain of nil says that this is not known of the round: then
// all but the list are judged by its view, and the Witness is asked. Both are looked at until the next call. nil, as at first: of no round
// is it known. Match calls it in the combat system, in the order of rounds, and it must not change the match.
func (m *Match) SetViewResolver(how func(s *Shot) (list []TargetView, plain []uint64)) {
	m.viewResolver = how
}

// resolveViews judges round i, fired as s, by what its shooter saw of each player. Everybody has been cast at by the round's view; here those
// are taken out whom the shooter did not see so, and the few whom it saw otherwise are tried one by one. It returns who would have been hit
// first but was not seen so, 0 nobody, and the view by which the round was judged in the end.
func (c *columns) resolveViews(i int, s *Shot) (first uint32, used tick.View) {
	var list []TargetView
	var plain []uint64
	if c.match.viewResolver != nil && !s.Clamped {
		list, plain = c.match.viewResolver(s)
	}
	w, hit := &c.scratch.sweeps[i], &c.scratch.hits[i]
	if plain != nil || c.match.hitFilter != nil {
		as := func(id uint32) bool { return c.hittableAsSeen(i, s.Shooter, id, list, plain) }
		if first = hit.ID; first == 0 || as(first) {
			first = 0
		} else {
			c.scene.Players.CastFiltered(c.scratch.sweeps[i:i+1], c.scratch.hits[i:i+1], func(_ int, id uint32) bool { return id != first && as(id) })
		}
	}
	used = w.View
	for _, b := range list {
		near, ok := c.history.CastSlot(w, int(b.Slot), b.View, *hit)
		if *hit = near; near.ID != 0 && near.Slot == int(b.Slot) {
			used = b.View
		}
		if d := c.match.inputLog; ok && d != nil {
			d.TargetViews = append(d.TargetViews, ShotTargetView{s.Shooter, b})
		}
		if b.Expired {
			s.ViewExpired = s.ViewExpired || ok || c.moved(&b)
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

// hittableAsSeen reports whether the shooter of round i may hit a player where the round's view shows it.
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

// SetViewResolver is a TargetView whom a round would have hit, in a TickInputs.
type ShotTargetView struct {
	Shooter uint32
	TargetView
}

// resolver is what a diary says for ShotTargetView. buf is used for it.
func (d *TickInputs) resolver(buf []TargetView) func(s *Shot) ([]TargetView, []uint64) {
	return func(s *Shot) ([]TargetView, []uint64) {
		buf = buf[:0]
		for _, b := range d.TargetViews {
			if b.Shooter == s.Shooter {
				buf = append(buf, b.TargetView)
			}
		}
		return buf, nil
	}
}
