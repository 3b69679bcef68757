package sim

import (
	"slices"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
)

// Beheld is a player whom a shooter did not see as its view says.
type Beheld struct {
	Slot int32
	View tick.View // by which it is judged
	Seen tick.View // by which it was seen; another only where that is too long ago, or was said too late
	Old  bool      // it was seen so long ago that nobody knows how: Seen is nothing
}

// Behold sets what tells how the client of the shooter of a round saw everybody: plain is a bit a slot, those whom it saw as the round's
// view says; list is who else it saw, and how. In other slots it saw nobody. A plain of nil says that this is not known of the round: then
// all but the list are judged by its view, and the Witness is asked. Both are looked at until the next call. nil, as at first: of no round
// is it known. Match calls it in the combat system, in the order of rounds, and it must not change the match.
func (m *Match) Behold(how func(s *Shot) (list []Beheld, plain []uint64)) { m.how = how }

// behold judges round i, fired as s, by what its shooter saw of each player. Everybody has been cast at by the round's view; here those
// are taken out whom the shooter did not see so, and the few whom it saw otherwise are tried one by one. It returns who would have been hit
// first but was not seen so, 0 nobody, and the view by which the round was judged in the end.
func (c *columns) behold(i int, s *Shot) (first uint32, used tick.View) {
	var list []Beheld
	var plain []uint64
	if c.match.how != nil && !s.Clamped {
		list, plain = c.match.how(s)
	}
	w, hit := &c.scratch.rounds[i], &c.scratch.hits[i]
	if plain != nil || c.match.seen != nil {
		as := func(id uint32) bool { return c.asSeen(i, s.Shooter, id, list, plain) }
		if first = hit.ID; first == 0 || as(first) {
			first = 0
		} else {
			c.scene.Players.CastSeen(c.scratch.rounds[i:i+1], c.scratch.hits[i:i+1], func(_ int, id uint32) bool { return id != first && as(id) })
		}
	}
	used = w.View
	for _, b := range list {
		near, ok := c.history.Against(w, int(b.Slot), b.View, *hit)
		if *hit = near; near.ID != 0 && near.Slot == int(b.Slot) {
			used = b.View
		}
		if d := c.match.diary; ok && d != nil {
			d.Beheld = append(d.Beheld, Behold{s.Shooter, b})
		}
		if b.Old {
			s.Faded = s.Faded || ok || c.moved(&b)
		} else if b.Seen != b.View {
			_, was := c.history.Against(w, int(b.Slot), b.Seen, lagcomp.Hit{})
			s.Faded = s.Faded || ok || was
		}
	}
	if s.Faded {
		c.outcome.Faded++
	}
	return first, used
}

// moved reports whether a player may be elsewhere than where it was seen long ago.
func (c *columns) moved(b *Beheld) bool {
	oldest := c.history.Oldest()
	was, ok := c.history.At(tick.View{From: oldest, To: oldest}, int(b.Slot))
	is, _ := c.history.At(b.View, int(b.Slot))
	return !ok || was != is
}

// asSeen reports whether the shooter of round i may hit a player where the round's view shows it.
func (c *columns) asSeen(i int, shooter, id uint32, list []Beheld, plain []uint64) bool {
	if plain == nil {
		return c.match.seen == nil || c.witness(i, id)
	}
	slot := netid.ID(id).Index()
	if plain[slot>>6]>>(slot&63)&1 != 0 {
		return true
	}
	if !slices.ContainsFunc(list, func(b Beheld) bool { return int(b.Slot) == slot }) {
		c.outcome.Unshown++
	}
	if d := c.match.diary; d != nil {
		d.Unseen = append(d.Unseen, Unseen{shooter, id})
	}
	return false
}

// Behold is a Beheld whom a round would have hit, in a Diary.
type Behold struct {
	Shooter uint32
	Beheld
}

// how is what a diary says for Behold. buf is used for it.
func (d *Diary) how(buf []Beheld) func(s *Shot) ([]Beheld, []uint64) {
	return func(s *Shot) ([]Beheld, []uint64) {
		buf = buf[:0]
		for _, b := range d.Beheld {
			if b.Shooter == s.Shooter {
				buf = append(buf, b.Beheld)
			}
		}
		return buf, nil
	}
}
