package interpolate

import (
	"time"

	"github.com/tickrate/tickrate/client/clock"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim/netstate"
)

// Interpolator holds what a client knows of other players and the instant that it shows.
type Interpolator struct {
	View    tick.View         // the instant shown
	Decoder *snapshot.Decoder // nil: rows of others are not decoded
	Age     time.Duration     // of the newest snapshot at the last Advance, by the server's clock
	maxGap  tick.Tick         // longest gap that is interpolated across
	poses   poses             // allocated with the first
	ticks   ticks
	delay   viewDelay
}

// Start prepares for a match. decoder is nil where rows of others are not decoded; interval is the
// ticks between two snapshots.
func (p *Interpolator) Start(decoder *snapshot.Decoder, interval tick.Tick) {
	p.Decoder, p.poses = decoder, nil
	p.maxGap = lagcomp.MaxInterpGap * interval
}

// Reset forgets snapshots and the announced delays for a change of the map. The decoder stays until
// Start.
func (p *Interpolator) Reset() {
	p.ticks, p.delay, p.View = ticks{}, viewDelay{}, tick.View{}
}

// MaxGap is the longest gap between two snapshots of a player or an object that is interpolated
// across, in ticks.
func (p *Interpolator) MaxGap() tick.Tick { return p.maxGap }

// Arrived takes the arrival of a part of the snapshot of tick t and reports whether it is the
// first.
func (p *Interpolator) Arrived(t tick.Tick) bool { return p.ticks.add(t) }

// Newest returns the tick of the newest snapshot that has arrived, in part or whole; 0 before the
// first.
func (p *Interpolator) Newest() tick.Tick {
	if p.ticks.n == 0 {
		return 0
	}
	return p.ticks.newest()
}

// Delay is the view delay that packets announce now, in units of half a tick.
func (p *Interpolator) Delay() uint8 { return p.delay.delay }

// ViewOf is the view that the command of tick t carries, by the announced delay. Ticks must ascend,
// and a snapshot must have arrived.
func (p *Interpolator) ViewOf(t tick.Tick, clocks *clock.Clocks) tick.View {
	return p.ticks.viewAt(p.delay.instant(t, clocks.ViewDelay()))
}

// AnnounceOnly keeps the announced delays going for the command of tick t, which carries no view.
func (p *Interpolator) AnnounceOnly(t tick.Tick, clocks *clock.Clocks) {
	p.delay.instant(t, clocks.ViewDelay())
}

// FollowRender shows the render clock's instant, while no command has a view yet. A snapshot that
// is older than the first and arrives late does not move the view backwards.
func (p *Interpolator) FollowRender(clocks *clock.Clocks) {
	v := p.ticks.viewAtTime(clocks.Rate, clocks.Render.At)
	if v.To > p.View.From || v.From >= p.View.From {
		p.View = v
	}
	p.UpdateAge(clocks)
}

// maxAhead is how many ticks after the newest command the view may advance.
const maxAhead = 16

// FollowCommands shows the announced instant of the command of tick t, which is the newest or the
// next if that is due, and the time since. The picture never runs backwards.
func (p *Interpolator) FollowCommands(t tick.Tick, clocks *clock.Clocks) {
	at, period := p.delay.instant(t, clocks.ViewDelay()), clocks.Rate.Period()
	if passed := clocks.Predicted.At - clocks.Rate.At(t); passed > 0 {
		at += int64(min(passed, maxAhead*period)) * p.delay.Slope() / int64(period)
	}
	clocks.Render.Follow(clocks.Rate, at, p.ticks.newest())
	v := p.ticks.viewAt(at)
	if lagcomp.Instant(v) >= lagcomp.Instant(p.View) {
		p.View = v
	}
	p.UpdateAge(clocks)
}

// UpdateAge sets Age.
func (p *Interpolator) UpdateAge(clocks *clock.Clocks) {
	p.Age = max(0, clocks.ServerTime()-clocks.Rate.At(p.ticks.newest()))
}

// Pose is the pose of a slot in the view: rig.Lerp between its two snapshots, as the server
// computes it. False if the slot was empty or unknown at the first of them, or rows of others are not
// decoded.
//
// If a snapshot lacks the slot, or its datagram was lost, the nearest snapshots with the slot stand
// in, one before the instant and one after it, and lagcomp.BracketingTicks gives the fraction
// between those. The server knows which packets had arrived and judges a shot at this slot by the
// same two. A player appears when the view reaches the first snapshot that has it: what an older one
// said of its slot may be forgotten here and remembered there.
func (p *Interpolator) Pose(slot int) (rig.Pose, bool) {
	a, b, frac := p.bracket(slot)
	if a == nil {
		return rig.Pose{}, false
	}
	if p.poses == nil {
		p.poses = make(poses, p.Decoder.Groups()*snapshot.GroupRows)
	}
	from, ok := p.poses.at(a, slot)
	if !ok || b == nil || frac == 0 {
		return from, ok
	}
	to, ok := p.poses.at(b, slot)
	if !ok {
		return from, true
	}
	return rig.Lerp(&from, &to, frac), true
}

// bracket finds the two snapshots of a slot around the view's instant and the fraction between
// them. b is nil if there is only one.
func (p *Interpolator) bracket(slot int) (a, b *snapshot.Frame, frac uint8) {
	v := p.View
	if p.Decoder == nil || v.From == 0 {
		return nil, nil, 0
	}
	a, b = p.Decoder.At(v.From), p.Decoder.At(v.To)
	if a == nil || !a.HasRow(slot) {
		a = p.Decoder.Before(slot, v.From)
	}
	if b == nil || !b.HasRow(slot) {
		b = p.Decoder.After(slot, v.To)
	}
	var before, after tick.Tick
	if a != nil {
		before = a.Tick
	}
	if b != nil {
		after = b.Tick
	}
	at := lagcomp.BracketingTicks(v, before, after, p.maxGap)
	switch {
	case a == nil: // the view has not reached the first snapshot that has the slot
		return nil, nil, 0
	case at.To == before:
		return a, nil, 0
	}
	return a, b, at.Frac
}

// poses caches the poses of the last two snapshots by slot. A picture crosses from one snapshot to
// the next in several frames, and a decoded row does not change.
type poses [][2]cachedPose

type cachedPose struct {
	tick tick.Tick // 0: empty
	ok   bool      // the slot was taken
	pose rig.Pose
}

// at is poseIn, cached.
func (p poses) at(f *snapshot.Frame, slot int) (rig.Pose, bool) {
	two := &p[slot]
	e := &two[0]
	if two[1].tick == f.Tick || two[0].tick != f.Tick && two[1].tick < two[0].tick {
		e = &two[1]
	}
	if e.tick != f.Tick {
		e.tick = f.Tick
		e.pose, e.ok = poseIn(f, slot)
	}
	return e.pose, e.ok
}

func poseIn(f *snapshot.Frame, slot int) (rig.Pose, bool) {
	var row [netstate.PublicFields]int32
	id := f.Row(slot, row[:])
	if id == 0 {
		return rig.Pose{}, false
	}
	return netstate.PoseOf(id, row[:]), true
}
