package client

import (
	"github.com/tickrate/tickrate/ecs"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim/ghost"
)

// View is the instant that the client looks at since the last Advance. It is what a command that fires carries.
func (c *Client) View() tick.View { return c.view }

// Pose is what the current view shows in a slot: rig.Lerp between the view's two snapshots, as the server will
// compute it. False if there was nobody at the first of them, or the client is thin.
//
// If one of the two snapshots did not tell of this slot, or the datagram was lost, the nearest ones that do know it stand
// in, before the instant and after it, and the fraction is worked out between those: the picture stays smooth. The
// server, which knows only the view, then judges a shot at this slot by slightly other poses. Where these two lie further apart
// than maxGlide send intervals, the player was out of sight in between, or nothing was heard of it: nobody glides through
// what lies between. It stays where it was seen last, unless the server said that it is gone, until the view comes to where it was
// seen again. Who was never seen before appears at once where it is seen first.
func (c *Client) Pose(slot int) (rig.Pose, bool) {
	a, b, frac := c.bracket(slot)
	if a == nil {
		return rig.Pose{}, false
	}
	from, ok := poseIn(a, slot)
	if !ok || b == nil || frac == 0 {
		return from, ok
	}
	to, ok := poseIn(b, slot)
	if !ok {
		return from, true
	}
	return rig.Lerp(&from, &to, frac), true
}

// bracket finds the two frames that know a slot around the view's instant, and the fraction between them; the second is nil
// if there is only one.
func (c *Client) bracket(slot int) (a, b *snapshot.Frame, frac uint8) {
	v := c.view
	if c.decoder == nil || v.From == 0 {
		return nil, nil, 0
	}
	a, b = c.decoder.At(v.From), c.decoder.At(v.To)
	lacksA, lacksB := a == nil || !a.HasRow(slot), b == nil || !b.HasRow(slot)
	if !lacksA && !lacksB {
		return a, b, v.Frac
	}
	if lacksA {
		a = c.decoder.Before(slot, v.From)
	}
	if lacksB {
		b = c.decoder.After(slot, v.To)
	}
	switch {
	case a == nil: // nothing so old: rather a moment too early than not at all
		return b, nil, 0
	case b == nil:
		return a, nil, 0
	case b.Tick-a.Tick > c.glide():
		return a, nil, 0
	}
	return a, b, between(v, a.Tick, b.Tick)
}

// maxGlide is how many of our send intervals may lie between two snapshots that knew of a slot for the player to glide from one to
// the other: more than two, as a thin line tells of those who matter little each third or fourth time.
const maxGlide = 8

// glide is maxGlide in ticks.
func (c *Client) glide() tick.Tick {
	return maxGlide * tick.Tick(c.welcome.SendInterval) * tick.Tick(c.cfg.Every)
}

// between is the fraction of the way from tick a to tick b at which view v lies, a <= v.From <= v.To <= b.
func between(v tick.View, a, b tick.Tick) uint8 {
	if a == b {
		return 0
	}
	at := uint64(v.From-a)*256 + uint64(v.To-v.From)*uint64(v.Frac)
	return uint8(min(at/uint64(b-a), 255))
}

func poseIn(f *snapshot.Frame, slot int) (rig.Pose, bool) {
	var row [ghost.PublicFields]int32
	id := f.Row(slot, row[:])
	if id == 0 {
		return rig.Pose{}, false
	}
	return ghost.PoseOf(id, row[:]), true
}

// Row copies what was decoded of a slot at snapshot tick t into dst, ghost.PublicFields long, and tells who is there:
// 0 for nobody. False if that is not known.
func (c *Client) Row(t tick.Tick, slot int, dst []int32) (id ecs.NetID, ok bool) {
	if c.decoder == nil {
		return 0, false
	}
	f := c.decoder.At(t)
	if f == nil || !f.HasRow(slot) {
		return 0, false
	}
	return f.Row(slot, dst), true
}

// Newest is the newest snapshot tick of which anything has arrived, 0 before the first.
func (c *Client) Newest() tick.Tick {
	if c.held.n == 0 {
		return 0
	}
	return c.held.newest()
}

// Self is the newest that the server told us of ourselves, and for which tick; tick 0 before the first.
func (c *Client) Self() (ghost.Self, tick.Tick) { return c.self, c.selfTick }
