package client

import (
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim/netstate"
)

// View is the instant that the client looks at since the last Advance. It is what a command that fires carries.
func (c *Client) View() tick.View { return c.view }

// Pose is what the current view shows in a slot: rig.Lerp between the view's two snapshots, as the server will
// compute it. False if there was nobody at the first of them, or the client is thin.
//
// If one of the two snapshots did not tell of this slot, or the datagram was lost, the nearest ones that do know it stand
// in, before the instant and after it, and the fraction is worked out between those by lagcomp.BracketingTicks: the picture stays smooth. The
// server knows which of its packages had arrived, and judges a shot at this slot by the same two.
func (c *Client) Pose(slot int) (rig.Pose, bool) {
	a, b, frac := c.bracket(slot)
	if a == nil {
		return rig.Pose{}, false
	}
	if c.poses == nil {
		c.poses = make(poses, c.decoder.Groups()*snapshot.GroupRows)
	}
	from, ok := c.poses.at(a, slot)
	if !ok || b == nil || frac == 0 {
		return from, ok
	}
	to, ok := c.poses.at(b, slot)
	if !ok {
		return from, true
	}
	return rig.Lerp(&from, &to, frac), true
}

// poses remembers of each slot the poses of the two snapshots that were looked at last: a picture goes from one to the next in several frames,
// and what is known of a slot in a snapshot stays as it is.
type poses [][2]posed

// posed is who was in a slot in the snapshot of a tick.
type posed struct {
	at   tick.Tick // 0: not worked out
	is   bool      // somebody was there
	pose rig.Pose
}

// at is poseIn of a slot that a frame knows.
func (p poses) at(f *snapshot.Frame, slot int) (rig.Pose, bool) {
	two := &p[slot]
	e := &two[0]
	if two[1].at == f.Tick || two[0].at != f.Tick && two[1].at < two[0].at { // this one, or the older of two others
		e = &two[1]
	}
	if e.at != f.Tick {
		e.at = f.Tick
		e.pose, e.is = poseIn(f, slot)
	}
	return e.pose, e.is
}

// bracket finds the two frames that know a slot around the view's instant, and the fraction between them; the second is nil
// if there is only one.
func (c *Client) bracket(slot int) (a, b *snapshot.Frame, frac uint8) {
	v := c.view
	if c.decoder == nil || v.From == 0 {
		return nil, nil, 0
	}
	a, b = c.decoder.At(v.From), c.decoder.At(v.To)
	if a == nil || !a.HasRow(slot) {
		a = c.decoder.Before(slot, v.From)
	}
	if b == nil || !b.HasRow(slot) {
		b = c.decoder.After(slot, v.To)
	}
	var before, after tick.Tick
	if a != nil {
		before = a.Tick
	}
	if b != nil {
		after = b.Tick
	}
	at := lagcomp.BracketingTicks(v, before, after, c.glide())
	switch {
	case a == nil: // nothing so old: rather a moment too early than not at all
		return b, nil, 0
	case at.To == before:
		return a, nil, 0
	}
	return a, b, at.Frac
}

// glide is lagcomp.MaxInterpGap in ticks.
func (c *Client) glide() tick.Tick {
	return lagcomp.MaxInterpGap * tick.Tick(c.welcome.SendInterval) * tick.Tick(c.cfg.Every)
}

func poseIn(f *snapshot.Frame, slot int) (rig.Pose, bool) {
	var row [netstate.PublicFields]int32
	id := f.Row(slot, row[:])
	if id == 0 {
		return rig.Pose{}, false
	}
	return netstate.PoseOf(id, row[:]), true
}

// Row copies what was decoded of a slot at snapshot tick t into dst, netstate.PublicFields long, and tells who is there:
// 0 for nobody. False if that is not known.
func (c *Client) Row(t tick.Tick, slot int, dst []int32) (id netid.ID, ok bool) {
	f := c.Frame(t)
	if f == nil || !f.HasRow(slot) {
		return 0, false
	}
	return f.Row(slot, dst), true
}

// Frame is all that was decoded of snapshot tick t, nil if nothing is held of it or the client is thin. It is the client's own, to be read
// until the next Receive.
func (c *Client) Frame(t tick.Tick) *snapshot.Frame {
	if c.decoder == nil {
		return nil
	}
	return c.decoder.At(t)
}

// Newest is the newest snapshot tick of which anything has arrived, 0 before the first.
func (c *Client) Newest() tick.Tick {
	if c.held.n == 0 {
		return 0
	}
	return c.held.newest()
}

// Self is the newest that the server told us of ourselves, and for which tick; tick 0 before the first.
func (c *Client) Self() (netstate.Self, tick.Tick) { return c.self, c.selfTick }
