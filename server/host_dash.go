package server

import (
	"math"
	"time"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/server/dash"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/server/overload"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
)

// showsPerSecond is how often the live page gets a frame while somebody watches.
const showsPerSecond = 4

// view is what the live page is told. The goroutine that plays the ticks owns it.
type view struct {
	page *dash.Dash // nil: there is none

	frame  *dash.Frame // that is being filled; nil while nobody watches
	since  time.Duration
	parts  [metrics.NumSections]uint64 // bytes sent, by section
	bytes  uint64                      // metrics.BytesIn
	stages [len(metrics.TickTimes{}.Stages)]time.Duration
	played tick.Tick    // the newest tick that was looked at
	ground *arena.Arena // that the page has the map of
	ticks  int
	timed  int                                      // of them, those with stages
	means  [len(metrics.TickTimes{}.Stages)]float64 // of those, us a tick by stage
	seats  []seatView                               // by slot
}

// seatView is a player's figures when the frame was begun.
type seatView struct {
	id            netid.ID
	since         time.Duration // its session
	stats         connStats
	newest        uint64
	used, missing uint64
}

// newView makes the page of a lobby.
func newView(l *Lobby) view {
	a := dash.About{Name: l.cfg.Name, Mode: l.cfg.Rules.Game.Mode.Name, Rate: int(l.cfg.Rules.Rate), Interval: l.cfg.SendInterval, MaxPlayers: l.cfg.Players}
	for s := range metrics.Stage(metrics.NumStages) {
		group := s.String()
		if s >= metrics.StageSystems && s < metrics.StageCapture {
			group = "match"
		}
		a.Stages = append(a.Stages, dash.Stage{Name: s.String(), Group: group})
	}
	for p := range metrics.NumSections {
		a.Parts = append(a.Parts, p.String())
	}
	for b := range rig.Bones {
		a.Bones = append(a.Bones, b.String())
	}
	v := view{page: dash.New(a), seats: make([]seatView, len(l.conns)), ground: l.cfg.Arena}
	n := &l.Stats.Count
	v.page.Dropped, v.page.Kicked, v.page.Refused = n[metrics.DashFramesDropped].Inc, n[metrics.DashSlowKicked].Inc, n[metrics.DashRefused].Inc
	v.page.SetMap(mapOf(l.cfg.Arena, l.cfg.ArenaName))
	return v
}

// mapOf is an arena seen from above.
func mapOf(a *arena.Arena, name string) dash.Map {
	m := dash.Map{Arena: name, Min: vecOf(a.Bounds.Min), Max: vecOf(a.Bounds.Max), Solids: make([]dash.Solid, len(a.Solids))}
	for i := range a.Solids {
		s := &a.Solids[i]
		m.Solids[i] = dash.Solid{Min: vecOf(s.Min), Max: vecOf(s.Max), Shape: s.Shape.String()}
		for team := range uint8(arena.Teams) {
			if s.Pass&arena.PassTeam(team) != 0 {
				m.Solids[i].Team = 1 + int(team)
			}
		}
	}
	return m
}

func vecOf(v geom.Vec3) dash.Vec { return dash.Vec{v.X, v.Y, v.Z} }

// display tells the live page of the tick that was just played: late by so much, and over after so long. While nobody watches it does nothing.
func (h *Host) display(now, late, took time.Duration) {
	v, l := &h.view, h.lobby
	if v.page == nil || !v.page.Watched() {
		v.frame = nil
		l.timer.Watched(false)
		return
	}
	if v.frame == nil {
		l.timer.Watched(true)
		v.begin(now, l)
		return
	}
	v.tick(l, late, took)
	if now-v.since < time.Second/showsPerSecond {
		return
	}
	v.follow(l.cfg.Arena, l.cfg.ArenaName)
	v.fill(now, l)
	v.frame.Shed, v.frame.Seconds = overload.Level(h.shed.Load()).String(), h.clock().Seconds()
	v.page.Hang()
	v.begin(now, l)
}

// follow gives the page the map of the arena that the lobby is on by now. Nobody writes into an arena, and its text is not for the tick
// to make.
func (v *view) follow(a *arena.Arena, name string) {
	if v.ground != a {
		v.ground = a
		go func(page *dash.Dash) { page.SetMap(mapOf(a, name)) }(v.page)
	}
}

// close ends the page.
func (v *view) close() {
	if v.page != nil {
		v.page.Close()
	}
}

// begin notes where everything stands that the next frame tells the growth of.
func (v *view) begin(now time.Duration, l *Lobby) {
	v.frame, v.since, v.parts, v.bytes, v.ticks, v.timed = v.page.Next(), now, l.Bandwidth().Sections, l.Stats.Count[metrics.BytesIn].Load(), 0, 0
	clear(v.stages[:])
	for slot := range v.seats {
		v.seats[slot].id = 0
	}
	for _, slot := range l.live {
		c, n := &l.conns[slot], l.match.CommandBuffer(l.conns[slot].id).Count
		v.seats[slot] = seatView{id: c.id, since: c.session.since, stats: c.session.stats, newest: c.session.peer.Newest(), used: n.Used, missing: n.Missing}
	}
}

// tick adds a tick to the frame.
func (v *view) tick(l *Lobby, late, took time.Duration) {
	f := v.frame
	v.ticks++
	times := l.Timer().Last()
	if times.Timed {
		v.timed++
		for i := range v.stages {
			v.stages[i] += times.Stages[i]
		}
	}
	if len(f.Ticks) < dash.MaxTicks {
		f.Ticks = append(f.Ticks, dash.Tick{CPU: micros(times.CPU), Wall: micros(took), Late: micros(max(0, late))})
	}
	if l.match.Tick() == v.played { // the lobby sleeps
		return
	}
	v.played = l.match.Tick()
	out := l.match.Outcome()
	for i := range min(len(out.Shots), len(out.Hits)) {
		v.shot(l, &out.Shots[i], &out.Hits[i])
	}
}

// shot adds a shot: its way, or, if it hit, all that its verdict rests on.
func (v *view) shot(l *Lobby, s *sim.Shot, hit *lagcomp.Hit) {
	f, from, to := v.frame, s.Ray.Origin, s.Ray.At(s.Ray.Max)
	if hit.ID == 0 {
		if len(f.Rays) < dash.MaxRays {
			f.Rays = append(f.Rays, dash.Ray{From: vecOf(from), To: vecOf(to)})
		}
		return
	}
	history := l.match.History()
	then, ok := history.At(s.View, hit.Slot)
	now, here := history.Pose(l.match.Tick(), hit.Slot)
	if !ok || !here {
		return
	}
	told := f.AddShot()
	if told == nil {
		return
	}
	t := l.match.Tick()
	back := float64(int64(t)<<8-lagcomp.Instant(s.View)) / 256
	told.Ray = dash.Ray{From: vecOf(from), To: vecOf(hit.Point)}
	told.Radius, told.Tick, told.Shooter, told.Victim, told.Bone = s.Radius, uint64(t), netid.ID(s.Shooter).Index(), hit.Slot, hit.Bone.String()
	told.Back = rounded(back*1000/float64(l.cfg.Rules.Rate), 10)
	told.Then, told.Now = bodyOf(&then, told.Then), bodyOf(&now, told.Now)
}

// bodyOf appends the capsules of a pose.
func bodyOf(p *rig.Pose, to dash.Body) dash.Body {
	var body rig.Body
	rig.Capsules(p, &body)
	for i := range body {
		c := &body[i]
		to = append(to, dash.Capsule{rounded(float64(c.A.X), 1000), rounded(float64(c.A.Y), 1000), rounded(float64(c.A.Z), 1000),
			rounded(float64(c.B.X), 1000), rounded(float64(c.B.Y), 1000), rounded(float64(c.B.Z), 1000), rounded(float64(c.Radius), 1000)})
	}
	return to
}

// fill completes a frame that has its ticks.
func (v *view) fill(now time.Duration, l *Lobby) {
	f, span := v.frame, max((now-v.since).Seconds(), 1e-3)
	f.Tick, f.Span, f.Arena = uint64(l.match.Tick()), span, l.cfg.ArenaName
	if v.timed > 0 { // else what was last seen stands: few ticks have their stages timed
		for i := range v.means {
			v.means[i] = float64(rounded(float64(v.stages[i])/1e3/float64(v.timed), 100))
		}
	}
	f.Stages = append(f.Stages, v.means[:metrics.NumStages]...)
	total := l.Bandwidth().Sections
	for i := range total {
		rate := math.Round(float64(total[i]-v.parts[i]) / span)
		f.Parts = append(f.Parts, rate)
		f.Down += rate
	}
	f.Up = math.Round(float64(l.Stats.Count[metrics.BytesIn].Load()-v.bytes) / span)
	live := l.live
	poses := l.match.Poses()
	for slot := range l.conns {
		here := len(live) > 0 && int(live[0]) == slot
		if here {
			live = live[1:]
		}
		if id := netid.ID(poses[slot].ID); here || id != 0 {
			v.player(l, slot, here, &poses[slot])
		}
	}
}

// player adds a row to the frame.
func (v *view) player(l *Lobby, slot int, here bool, pose *rig.Pose) {
	c := &l.conns[slot]
	p := dash.Player{Slot: slot, Here: here, Body: pose.ID != 0}
	if row := &l.roster.rows[slot]; row.NetID == uint32(c.id) {
		p.Name = row.Name
	}
	if p.Body {
		p.X, p.Y, p.Z = rounded(float64(pose.Pos.X), 100), rounded(float64(pose.Pos.Y), 100), rounded(float64(pose.Pos.Z), 100)
		p.Yaw, p.Alive = rounded(pose.Yaw.Degrees(), 1), pose.Alive()
	}
	if vital := l.match.Vital(c.id); vital != nil {
		p.Team, p.Health, p.Watches = int(vital.Team), int(max(0, vital.Health)), vital.Spectator
	}
	if here {
		v.connection(l, c, &p)
	}
	v.frame.Players = append(v.frame.Players, p)
}

// connection adds what is known of a session, as it grew since the frame was begun; if it is another one than then, since it began.
func (v *view) connection(l *Lobby, c *conn, p *dash.Player) {
	was := v.seats[p.Slot]
	if was.id != c.id || was.since != c.session.since {
		was = seatView{}
	}
	inbox, rtt, t := l.match.CommandBuffer(c.id), c.session.peer.RTT(), c.session.stats
	n := inbox.Count
	if n.Used < was.used || n.Missing < was.missing { // another player's
		was.used, was.missing = 0, 0
	}
	p.RTT, p.Jitter = rounded(float64(rtt.Smoothed)/1e6, 100), rounded(float64(rtt.Var)/1e6, 100)
	lost, delivered := t.lost-was.stats.lost, t.delivered-was.stats.delivered
	p.LossDown = percent(lost, lost+delivered)
	if due, came := c.session.peer.Newest()-was.newest, t.taken-was.stats.taken; due > came {
		p.LossUp = percent(due-came, due)
	}
	bits := 8e-3 / v.frame.Span
	p.Down, p.Up = rounded(float64(t.down-was.stats.down)*bits, 10), rounded(float64(t.up-was.stats.up)*bits, 10)
	p.Buffer = int(inbox.Lead(l.match.Tick()))
	missing := n.Missing - was.missing
	p.Starved = percent(missing, missing+n.Used-was.used)
	p.Missed, p.Mended, p.Resyncs = c.session.stats.mispredicted, n.Clamped+n.Conflict, c.session.stats.resyncs
}

func percent(part, of uint64) float32 {
	if of == 0 {
		return 0
	}
	return rounded(100*float64(part)/float64(of), 10)
}

// rounded keeps so many parts of one: numbers become text, and nobody reads their sixth digit.
func rounded(x, parts float64) float32 { return float32(math.Round(x*parts) / parts) }

func micros(d time.Duration) float32 { return float32(d/100) / 10 }
