package httpapi

import (
	"math"
	"time"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/stage"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/dash"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/effect"
)

// framesPerSecond is the rate of frames while the live page has readers.
const framesPerSecond = 4

// DashFeed writes the frames of the live page. Ticks of a lobby go in. It belongs to the goroutine
// of the lobby.
type DashFeed struct {
	page  *dash.Dash
	lobby *server.Lobby
	level func() string        // name of the load level
	since func() time.Duration // time since the start of the host

	frame  *dash.Frame         // the frame being filled; nil without readers
	began  time.Duration       // start of the frame
	at     growth              // figures at the start of the frame
	stages stageMeans          // of the ticks in the frame
	newest tick.Tick           // newest tick in a frame
	arena  *arena.Arena        // of the map on the page
	conns  []connTotals        // by slot, at the start of the frame
	views  []server.PlayerView // scratch

	effects effectFeed
}

// growth holds figures of the lobby at the start of a frame.
type growth struct {
	sections [metrics.NumSections]uint64 // bytes sent, by section
	bytesIn  uint64                      // bytes received
}

// stageMeans averages the stages over the timed ticks of a frame.
type stageMeans struct {
	sum   [len(metrics.TickTimes{}.Stages)]time.Duration
	mean  [len(metrics.TickTimes{}.Stages)]float64 // µs, of the newest frame with timed ticks
	timed int                                      // ticks in sum
}

// connTotals are the counts of a connection at the start of the frame.
type connTotals struct {
	id   netid.ID // of the player; another one has begun anew
	conn server.ConnView
}

// NewDashFeed makes the live page of a lobby. level names the load level, and since is the time
// since the start of the host; both are called on the goroutine of the lobby.
func NewDashFeed(l *server.Lobby, level func() string, since func() time.Duration) *DashFeed {
	cfg := l.Config()
	about := dash.About{
		Name: cfg.Name, Mode: cfg.Rules.Game.Mode.Name, Rate: int(cfg.Rules.Rate),
		Interval: cfg.SendInterval, MaxPlayers: cfg.Players,
	}
	for s := range metrics.Stage(metrics.NumStages) {
		about.Stages = append(about.Stages, dash.Stage{Name: s.String(), Group: stage.GroupOf(s.String())})
	}
	for s := range metrics.NumSections {
		about.Parts = append(about.Parts, s.String())
	}
	for k := range effect.Kinds {
		about.Effects = append(about.Effects, k.String())
	}
	for b := range rig.Bones {
		about.Bones = append(about.Bones, rig.HeroBodies.BoneName(0, b))
	}
	f := &DashFeed{page: dash.New(about), lobby: l, level: level, since: since, arena: cfg.Arena,
		conns: make([]connTotals, cfg.Players),
		views: make([]server.PlayerView, 0, cfg.Players)}
	n := &l.Stats.Count
	f.page.Dropped, f.page.Kicked = n[metrics.DashFramesDropped].Inc, n[metrics.DashSlowKicked].Inc
	f.page.Refused = n[metrics.HTTPRefused].Inc
	f.page.SetMap(mapOf(cfg.Arena, cfg.ArenaName))
	return f
}

// Close disconnects all readers. A nil DashFeed has none.
func (f *DashFeed) Close() {
	if f != nil {
		f.page.Close()
	}
}

// Watched reports whether the page has readers. A nil DashFeed has none.
func (f *DashFeed) Watched() bool { return f != nil && f.page.Watched() }

// Tick tells the page of the tick that was just played: late by late, and over after took. Without
// readers it does nothing.
func (f *DashFeed) Tick(now, late, took time.Duration) {
	if f == nil {
		return
	}
	watched := f.page.Watched()
	f.lobby.Timer().Watched(watched)
	switch {
	case !watched:
		f.frame, f.effects.tracker = nil, nil
		return
	case f.frame == nil:
		f.begin(now)
		return
	}
	f.addTick(late, took)
	if now-f.began < time.Second/framesPerSecond {
		return
	}
	f.followMap()
	f.finish(now)
	f.page.Publish()
	f.begin(now)
}

// followMap gives the page the map of the current arena. The text is made on another goroutine:
// arenas are read-only.
func (f *DashFeed) followMap() {
	if cfg := f.lobby.Config(); f.arena != cfg.Arena {
		f.arena = cfg.Arena
		go func(page *dash.Dash, a *arena.Arena, name string) { page.SetMap(mapOf(a, name)) }(f.page,
			cfg.Arena, cfg.ArenaName)
	}
}

// begin starts a frame and notes the figures from which it counts.
func (f *DashFeed) begin(now time.Duration) {
	f.frame, f.began = f.page.Next(), now
	f.at = growth{f.lobby.Bandwidth().Sections, f.lobby.Stats.Count[metrics.BytesIn].Load()}
	f.stages.sum, f.stages.timed = [len(f.stages.sum)]time.Duration{}, 0
	for slot := range f.conns {
		f.conns[slot].id = 0
	}
	f.views = f.lobby.AppendPlayerViews(f.views[:0])
	for i := range f.views {
		if v := &f.views[i]; v.Connected {
			f.conns[v.Slot] = connTotals{v.ID, v.Conn}
		}
	}
}

// addTick adds the newest tick to the frame.
func (f *DashFeed) addTick(late, took time.Duration) {
	times, match := f.lobby.Timer().Last(), f.lobby.Match()
	if times.Timed {
		f.stages.timed++
		for i := range f.stages.sum {
			f.stages.sum[i] += times.Stages[i]
		}
	}
	if len(f.frame.Ticks) < dash.MaxTicks {
		f.frame.Ticks = append(f.frame.Ticks, dash.Tick{CPU: micros(times.CPU), Wall: micros(took),
			Late: micros(max(0, late))})
	}
	if match.Tick() == f.newest { // the lobby sleeps
		return
	}
	f.newest = match.Tick()
	out := match.Outcome()
	for i := range min(len(out.Shots), len(out.Hits)) {
		f.addShot(&out.Shots[i], &out.Hits[i])
	}
	f.effects.tick(f.lobby, f.frame)
}

// addShot adds the ray of a shot, and for a hit the poses that its verdict rests on.
func (f *DashFeed) addShot(s *sim.Shot, hit *lagcomp.Hit) {
	from, to := s.Ray.Origin, s.Ray.At(s.Ray.Max)
	if hit.ID == 0 {
		if len(f.frame.Rays) < dash.MaxRays {
			f.frame.Rays = append(f.frame.Rays, dash.Ray{From: vecOf(from), To: vecOf(to)})
		}
		return
	}
	match := f.lobby.Match()
	history, t := match.History(), match.Tick()
	then, ok := history.At(s.View, hit.Slot)
	now, here := history.Pose(t, hit.Slot)
	if !ok || !here {
		return
	}
	shot := f.frame.AddShot()
	if shot == nil {
		return
	}
	back := float64(int64(t)<<8-lagcomp.Instant(s.View)) / 256
	shot.Ray = dash.Ray{From: vecOf(from), To: vecOf(hit.Point)}
	shot.Radius, shot.Tick, shot.Bone = s.Radius, uint64(t), rig.HeroBodies.BoneName(then.Form.Build(), hit.Bone)
	shot.Shooter, shot.Victim = netid.ID(s.Shooter).Index(), hit.Slot
	shot.Back = rounded(back*1000/float64(f.lobby.Config().Rules.Rate), 10)
	shot.Then, shot.Now = appendBody(shot.Then, &then), appendBody(shot.Now, &now)
}

// finish completes a frame that has its ticks.
func (f *DashFeed) finish(now time.Duration) {
	frame, span := f.frame, max((now-f.began).Seconds(), 1e-3)
	frame.Tick, frame.Span, frame.Arena = uint64(f.lobby.Match().Tick()), span, f.lobby.Config().ArenaName
	frame.LoadLevel, frame.Seconds = f.level(), f.since().Seconds()
	if m := &f.stages; m.timed > 0 { // few ticks are timed; without one the last means stand
		for i := range m.mean {
			m.mean[i] = float64(rounded(float64(m.sum[i])/1e3/float64(m.timed), 100))
		}
	}
	frame.Stages = append(frame.Stages, f.stages.mean[:metrics.NumStages]...)
	for i, total := range f.lobby.Bandwidth().Sections {
		rate := math.Round(float64(total-f.at.sections[i]) / span)
		frame.Parts = append(frame.Parts, rate)
		frame.Down += rate
	}
	frame.Up = math.Round(float64(f.lobby.Stats.Count[metrics.BytesIn].Load()-f.at.bytesIn) / span)
	for team, score := range f.lobby.Match().RoundStatus().Score {
		frame.Score[team] = int(score)
	}
	scene := f.lobby.Match().Scene()
	for i := range scene.Arena.Movers {
		box := scene.Arena.Movers[i].At(scene.Moment())
		frame.Movers = append(frame.Movers, dash.Box{Min: vecOf(box.Min), Max: vecOf(box.Max)})
	}
	f.views = f.lobby.AppendPlayerViews(f.views[:0])
	for i := range f.views {
		f.addPlayer(&f.views[i])
	}
}

// addPlayer adds a row to the frame.
func (f *DashFeed) addPlayer(v *server.PlayerView) {
	p := dash.Player{Slot: v.Slot, Name: v.Name, Connected: v.Connected, Body: v.Pose.ID != 0}
	if p.Body {
		pos := v.Pose.Pos
		p.X, p.Y, p.Z = rounded(float64(pos.X), 100), rounded(float64(pos.Y),
			100), rounded(float64(pos.Z), 100)
		p.Yaw, p.Alive = rounded(v.Pose.Yaw.Degrees(), 1), v.Pose.Alive()
	}
	if v.Vital != nil {
		p.Team, p.Health, p.Spectator = int(v.Vital.Team), int(max(0, v.Vital.Health)), v.Spectates
		p.Kills, p.Deaths = int(v.Vital.Kills), int(v.Vital.Deaths)
	}
	if v.Connected {
		f.addConn(&p, v)
	}
	f.frame.Players = append(f.frame.Players, p)
}

// addConn adds the figures of a connection since the start of the frame, or of the session if that
// is newer.
func (f *DashFeed) addConn(p *dash.Player, v *server.PlayerView) {
	c, was := &v.Conn, f.conns[p.Slot].conn
	if f.conns[p.Slot].id != v.ID || was.Since != c.Since {
		was = server.ConnView{}
	}
	// Counters that fall are another player's.
	if c.Inputs.Used < was.Inputs.Used || c.Inputs.Missing < was.Inputs.Missing {
		was.Inputs.Used, was.Inputs.Missing = 0, 0
	}
	p.RTT, p.Jitter = rounded(float64(c.RTT)/1e6, 100), rounded(float64(c.RTTVar)/1e6, 100)
	lost, acked := c.PacketsLost-was.PacketsLost, c.PacketsAcked-was.PacketsAcked
	p.LossDown = percent(lost, lost+acked)
	if due, came := c.NewestPacket-was.NewestPacket, c.PacketsIn-was.PacketsIn; due > came {
		p.LossUp = percent(due-came, due)
	}
	kbits := 8e-3 / f.frame.Span
	p.Down = rounded(float64(c.BytesOut-was.BytesOut)*kbits, 10)
	p.Up = rounded(float64(c.BytesIn-was.BytesIn)*kbits, 10)
	p.Buffer = c.InputLeadTicks
	missing := c.Inputs.Missing - was.Inputs.Missing
	p.InputsMissing = percent(missing, missing+c.Inputs.Used-was.Inputs.Used)
	p.InputsRejected = c.Inputs.Clamped + c.Inputs.Conflict
	p.Mispredictions, p.Resyncs = c.Mispredictions, c.Resyncs
}

// mapOf is an arena seen from above.
func mapOf(a *arena.Arena, name string) dash.Map {
	m := dash.Map{Arena: name, Min: vecOf(a.Bounds.Min), Max: vecOf(a.Bounds.Max),
		Solids: make([]dash.Solid, len(a.Solids))}
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

// appendBody appends the capsules of a pose.
func appendBody(to dash.Body, p *rig.Pose) dash.Body {
	var body rig.Body
	rig.Capsules(p, &body)
	for i := range body {
		c := &body[i]
		to = append(to, dash.Capsule{
			rounded(float64(c.A.X), 1000), rounded(float64(c.A.Y), 1000), rounded(float64(c.A.Z), 1000),
			rounded(float64(c.B.X), 1000), rounded(float64(c.B.Y), 1000), rounded(float64(c.B.Z), 1000),
			rounded(float64(c.Radius), 1000),
		})
	}
	return to
}

func vecOf(v geom.Vec3) dash.Vec { return dash.Vec{v.X, v.Y, v.Z} }

func percent(part, of uint64) float32 {
	if of == 0 {
		return 0
	}
	return rounded(100*float64(part)/float64(of), 10)
}

// rounded rounds x to 1/parts: frames become text.
func rounded(x, parts float64) float32 { return float32(math.Round(x*parts) / parts) }

func micros(d time.Duration) float32 { return float32(d/100) / 10 }
