package server

import (
	"time"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/aim"
)

// rewind answers the questions of lag compensation: within which limits a shooter may look back,
// how its client saw each target, and whether it had been sent the target at all.
type rewind struct {
	*core
	replication *replication
	resolver    viewResolver
	log         *lagcomp.ShotLog // nil: none is kept
	aim         *aim.Tracker
	loaded      tick.Tick                    // of Lobby.Resume: older snapshots were another host's, who knows who saw them
	arrivals    [sim.MaxArrivals]sim.Arrival // of the packet at hand
}

// viewResolver resolves the view for targets that are missing from one of the shooter's two
// snapshots, shot by shot.
type viewResolver struct {
	view    tick.View
	gap     tick.Tick // longest gap that the client interpolates
	targets []sim.TargetView
	plain   []uint64 // targets that are as the view says
	rows    []snapshot.TargetView
	claimed []snapshot.TargetView
}

func newViewResolver(slots int) viewResolver {
	return viewResolver{
		targets: make([]sim.TargetView, 0, slots), plain: make([]uint64, (slots+63)/64),
		rows: make([]snapshot.TargetView, 0, slots+64), claimed: make([]snapshot.TargetView, 0, slots+64),
	}
}

// takeArrivals takes what a packet says about its commands, the newest first: the view delay, and
// which packets of ours had not arrived when each was made. src is what follows the commands.
func (w *rewind) takeArrivals(c *conn, pkt, src []byte, commands []sim.Command) error {
	newest, next := commands[0].Tick, w.match.Tick()+1
	delay, announces, missing, err := sim.ParseArrivals(src, len(commands), &w.arrivals)
	if err != nil {
		return packet.DropCommands
	}
	if announces {
		c.rewind.announced.Announce(newest, delay, next)
	}
	if len(missing) > 0 && len(c.session.peer.Delivered()) > 0 { // else it acknowledges nothing new
		h, _, err := packet.ParseHeader(pkt)
		if err != nil {
			return err
		}
		for _, a := range missing {
			c.repl.acks.packets.ArrivedAfter(h.Ack-uint16(a.Back), newest-tick.Tick(a.Since))
		}
	}
	for i := range commands {
		c.arrivals.add(commands[i].Tick, next)
	}
	c.rewind.newestCommand = max(c.rewind.newestCommand, newest)
	return nil
}

// hitFilter reports whether a shooter's client had the target before it, as far as its acks tell,
// in the view that the shot is judged by. A shooter without a client sees all players.
func (w *rewind) hitFilter(s *lagcomp.Sweep, target uint32) bool {
	shooter := netid.ID(s.Except)
	c := &w.conns[shooter.Index()]
	if c.id != shooter || w.loaded > 0 && s.View.From <= w.loaded {
		return true
	}
	if c.repl.acks.tracker.SawInView(w.replication.players.frames, netid.ID(target), s.View) {
		return true
	}
	w.Stats.Count[metrics.HitsFiltered].Inc()
	return false
}

// targetViews returns the views of the targets that a shooter's client did not see as its view
// says, as far as it had acknowledged when it made the command; plain has the others.
//
// A target whose newest row is too old for any view is judged at the earliest instant that a view
// may have: low bandwidth must not allow hits at old positions. For rows that were
// never sent that is the cap. For rows that were sent and not acknowledged only the client's word
// is known, so it is what the path allows.
func (w *rewind) targetViews(s *sim.Shot, reach sim.ShotReach) (targets []sim.TargetView, plain []uint64) {
	slot := int(s.Shooter >> 8)
	if slot >= len(w.conns) {
		return nil, nil
	}
	c := &w.conns[slot]
	if uint32(c.id) != s.Shooter || c.repl.acks.packets == nil || w.loaded > 0 && s.View.From <= w.loaded {
		return nil, nil
	}
	v, history, now := &w.resolver, c.repl.acks.packets, w.match.Tick()
	v.view, v.targets, v.gap = s.View, v.targets[:0], lagcomp.MaxInterpGap*c.repl.pacing.spacing
	cmd := c.arrivals.command(now)
	plain, missing := history.FindMissing(v.view, cmd)
	if !missing {
		return v.targets, plain
	}
	v.plain = append(v.plain[:0], plain...)
	near := []uint64(nil)
	if max(v.gap, v.view.To-v.view.From) <= lagcomp.NearSpan {
		near = reach.Slots()
	}
	v.rows = history.ResolveMissing(v.view, cmd, near, v.rows[:0])
	v.claimed = v.claimed[:0]
	late := len(v.rows) > 0 && history.HasLateAcks(cmd)
	if late { // the claim comes too late to be believed, but the client has predicted by it
		any := snapshot.CommandTime{Tick: now, AckDeadline: snapshot.NoDeadline}
		if _, missing := history.FindMissing(v.view, any); missing {
			v.claimed = history.ResolveMissing(v.view, any, near, v.claimed)
		}
	}
	v.judge(now, w.match.ClampLimits(c.id), late)
	return v.targets, v.plain
}

// judge fills targets from rows, and from claimed if acks came late.
func (v *viewResolver) judge(now tick.Tick, limits lagcomp.ClampLimits, late bool) {
	oldest, earliest := limits.EarliestInstants(now)
	shot := lagcomp.Instant(v.view)
	claimed := v.claimed
	for i := range v.rows {
		row := &v.rows[i]
		var view tick.View // none
		if row.VisibleBefore {
			view = bracket(row, v.view, v.gap)
		}
		seen := view
		if late {
			seen = v.claimedView(&claimed, row.Slot)
		}
		limit := oldest
		if row.Lost {
			limit = earliest
		}
		limit = min(limit, shot)
		if row.VisibleBefore && (row.Expired || view.From == view.To && lagcomp.Instant(view) < limit) {
			view = lagcomp.ViewAt(limit)
		}
		if view != (tick.View{}) || seen != view {
			v.targets = append(v.targets, sim.TargetView{})
			target := &v.targets[len(v.targets)-1]
			target.Slot, target.View, target.Seen = int32(row.Slot), view, seen
			target.Expired = row.VisibleBefore && row.Expired
		}
	}
}

// claimedView is the view of a target as the client claims it too late. Slots must ascend from one
// call to the next, and claimed begins with the first that may be it.
func (v *viewResolver) claimedView(claimed *[]snapshot.TargetView, slot int) tick.View {
	for len(*claimed) > 0 && (*claimed)[0].Slot < slot {
		*claimed = (*claimed)[1:]
	}
	switch {
	case len(*claimed) == 0 || (*claimed)[0].Slot > slot:
		return v.view
	case (*claimed)[0].VisibleBefore:
		return bracket(&(*claimed)[0], v.view, v.gap)
	}
	return tick.View{}
}

// bracket is the two snapshots between which a client saw a row. A client interpolates over gap
// ticks at most.
func bracket(row *snapshot.TargetView, v tick.View, gap tick.Tick) tick.View {
	seen := lagcomp.BracketingTicks(v, row.Before, row.After, gap)
	if seen.From != seen.To && !row.VisibleAfter {
		seen = tick.View{From: seen.From, To: seen.From}
	}
	return seen
}

// What an honest client may be late by, besides its path.
const (
	bufferTicks        = 6                      // wait in the command buffer, and quantised clocks
	maxSnapshotGap     = 200 * time.Millisecond // most that a client draws behind after loss
	lagSwitchSilence   = 250 * time.Millisecond // an honest client sends every 50 ms
	lagSwitchClearAcks = 10                     // acknowledged packets that clear a suspicion
)

// updateClampLimits sets the match's limits for the client's shots of the coming tick, from the
// server's own measurements. Shots of a client without an acknowledged snapshot hit no player. A
// client suspected of a lag switch may not rewind. oldest is the match's History.Oldest.
func (w *rewind) updateClampLimits(now time.Duration, c *conn, oldest tick.Tick) {
	silence := time.Duration(0)
	if c.session.ready {
		silence = c.session.peer.SinceReceive(now)
	}
	if c.rewind.lagSwitch.update(silence) {
		w.Stats.Count[metrics.LagSwitchSuspected].Inc()
	}
	rate := w.cfg.Rules.Rate
	ticks := func(d time.Duration) float32 { return float32(d) * float32(rate) / float32(time.Second) }
	rtt, interp := c.session.peer.RTT(), float32(2*c.repl.pacing.spacing)
	var k lagcomp.ClampLimits
	k.Rate = rate
	k.RTTTicks = ticks(rtt.Min)
	k.InterpTicks = max(interp, min(ticks(c.rewind.snapshotGap.age), interp+ticks(maxSnapshotGap)))
	k.SlackTicks = bufferTicks + ticks(4*rtt.Var)
	k.CapTicks = tick.Tick(int64(w.cfg.Rules.RewindMillis) * int64(rate) / 1000)
	k.NewestAcked, k.Newest, k.Oldest = c.repl.acks.newest, c.repl.pacing.sent, oldest
	w.setAnnouncedView(c, &k)
	if c.rewind.lagSwitch.suspected {
		k.RTTTicks, k.InterpTicks, k.SlackTicks, k.CapTicks = 0, 0, 0, 1
	}
	if c.repl.acks.newest == 0 {
		k.Newest = 0
	}
	k.CapTicks = max(k.CapTicks, 1)
	w.match.SetClampLimits(c.id, k)
}

// setAnnouncedView adds the view that the client has announced for the coming tick, and the two
// snapshots around it. Without an announcement the view is the newest snapshot.
func (w *rewind) setAnnouncedView(c *conn, k *lagcomp.ClampLimits) {
	t := w.match.Tick() + 1
	limit := k.MaxDelay(t)
	clamped, unclamped, ok := c.rewind.announced.InstantAt(t, limit)
	if !ok {
		k.AnnouncedInstant = int64(k.Newest) << 8
		k.UnclampedInstant = k.AnnouncedInstant
		return
	}
	k.AnnouncedInstant, k.UnclampedInstant = max(clamped, 1), max(unclamped, 1)
	if in := w.match.CommandBuffer(c.id); in != nil && in.HasView(t) {
		k.From, k.To = c.repl.acks.packets.BracketingTicks(k.AnnouncedInstant, c.arrivals.command(t))
	}
}
