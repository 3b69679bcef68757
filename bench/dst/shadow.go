package dst

import (
	"slices"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
)

// shadow plays the match a second time. The inputs of a tick are kept when the systems of the server's
// match begin. After the tick the shadow match plays it from them, and both matches must be equal: a
// match depends on its inputs, and on the answers of its hit filter and view resolver, alone.
type shadow struct {
	match     *sim.Match
	tick      tick.Tick
	used      map[netid.ID]uint64 // commands that the server's match has used, by player
	changes   []membership        // joins and leaves of the tick, in order
	inputs    []playerInput       // one for each player
	hits      []bool              // answers of the server's hit filter, in the order of its calls
	hitsUsed  int                 // answers that the shadow match has used
	views     []targetViews       // answers of the server's view resolver, in call order
	viewsUsed int
	logged    sim.TickInputs // inputs as the shadow match logs them
}

// membership is a player that joined or left before a tick.
type membership struct {
	id     netid.ID
	joined bool
}

// targetViews is one answer of the view resolver.
type targetViews struct {
	list  []sim.TargetView
	plain []uint64 // bit per slot: the target's last snapshot is its view, and list has no entry for it
}

// playerInput is what a match gets for a player in a tick.
type playerInput struct {
	id     netid.ID
	limits lagcomp.ClampLimits
	in     *sim.CommandBuffer // of the server's match; set even if the player leaves in this tick
	hero   uint8              // requested hero, 1 + its number
}

// begin makes the shadow match of a server that has just started. It wraps the hit filter and the
// view resolver of the server's match. Both depend on what each connection was sent, which the shadow
// match does not know, so it gets their answers.
func (t *shadow) begin(r *run) {
	*t = shadow{used: map[netid.ID]uint64{}}
	m := r.Lobby.Match()
	t.match = sim.New(r.cfg.Players, *m.Rules(), r.pristine)
	t.match.SetInputLog(&t.logged)
	filter := m.HitFilter()
	m.SetHitFilter(func(s *lagcomp.Sweep, id uint32) bool {
		ok := filter(s, id)
		t.hits = append(t.hits, ok)
		return ok
	})
	resolve := m.ViewResolver()
	m.SetViewResolver(func(s *sim.Shot, reach sim.ShotReach) ([]sim.TargetView, []uint64) {
		list, plain := resolve(s, reach)
		n := len(t.views)
		// Reused entries keep their memory, so that allocCheck sees no allocation.
		t.views = slices.Grow(t.views, 1)[:n+1]
		v := &t.views[n]
		v.list, v.plain = append(v.list[:0], list...), append(v.plain[:0], plain...)
		return list, plain
	})
	t.match.SetViewResolver(func(*sim.Shot, sim.ShotReach) ([]sim.TargetView, []uint64) {
		if t.viewsUsed == len(t.views) {
			r.fail(Authority, "tick %d: the shadow match calls the view resolver more often than the server's match",
				t.tick)
			return nil, nil
		}
		v := &t.views[t.viewsUsed]
		t.viewsUsed++
		return v.list, v.plain
	})
	t.match.SetHitFilter(func(*lagcomp.Sweep, uint32) bool {
		if t.hitsUsed == len(t.hits) {
			r.fail(Authority, "tick %d: the shadow match calls the hit filter more often than the server's match",
				t.tick)
			return true
		}
		t.hitsUsed++
		return t.hits[t.hitsUsed-1]
	})
}

// onStage keeps the inputs of a tick just before its systems run: by then all have come. It is the
// EnterStage of the server's Config.
func (r *run) onStage(s metrics.Stage) {
	if s != metrics.StageSystems || r.Sim == nil {
		return
	}
	t, m := &r.shadow, r.Lobby.Match()
	t.changes, t.inputs = t.changes[:0], t.inputs[:0]
	t.hits, t.hitsUsed = t.hits[:0], 0
	t.views, t.viewsUsed = t.views[:0], 0
	m.World.Changes(func(id netid.ID, born bool) { t.changes = append(t.changes, membership{id, born}) })
	for slot := range m.World.Slots() {
		id := m.World.At(slot)
		if v := m.Vital(id); v != nil {
			t.inputs = append(t.inputs, playerInput{id, m.ClampLimits(id), m.CommandBuffer(id), v.RequestedHero})
		}
	}
}

// limitsOf returns the clamp limits that a player had before the tick, which one that leaves in the tick
// still has. An unknown player has none.
func (t *shadow) limitsOf(id netid.ID) lagcomp.ClampLimits {
	for i := range t.inputs {
		if t.inputs[i].id == id {
			return t.inputs[i].limits
		}
	}
	return lagcomp.ClampLimits{}
}

// check plays the tick that the server has played. It compares poses and events, and the hash where a
// recording has one.
func (t *shadow) check(r *run) {
	m := r.Lobby.Match()
	t.tick = m.Tick()
	for _, c := range t.changes {
		switch {
		case !c.joined:
			t.match.Leave(c.id)
		default:
			if id := t.match.Join(); id != c.id {
				r.fail(Sessions, "tick %d: the match spawned %v, the shadow match %v", t.tick, c.id, id)
				return
			}
		}
	}
	for i := range t.inputs {
		g := &t.inputs[i]
		t.match.SetClampLimits(g.id, g.limits)
		if v := t.match.Vital(g.id); v != nil && v.RequestedHero != g.hero {
			v.RequestedHero = g.hero
			t.match.RequestHero(g.id, g.hero-1) // for the log of inputs; it refuses what is no hero
		}
		if g.in.Count.Used != t.used[g.id] {
			if buffer := t.match.CommandBuffer(g.id); buffer != nil {
				buffer.Offer(g.in.Last())
			}
		}
		t.used[g.id] = g.in.Count.Used
	}
	t.match.Begin()
	for i := range sim.Systems() {
		t.match.Run(i)
	}
	t.match.End()
	if t.match.Tick() != m.Tick() {
		r.fail(Authority, "the server's tick is %d after %d ticks", m.Tick(), t.match.Tick())
		return
	}
	if !slices.Equal(t.match.Poses(), m.Poses()) {
		for slot, p := range m.Poses() {
			if other := t.match.Poses()[slot]; other != p {
				r.fail(Authority, "tick %d: slot %d is %v, and %v in the shadow match",
					t.tick, slot, p, other)
			}
		}
	}
	if !slices.Equal(t.match.Outcome().Events, m.Outcome().Events) {
		r.fail(Authority, "tick %d: events are %v, and %v in the shadow match",
			t.tick, m.Outcome().Events, t.match.Outcome().Events)
	}
	if was, ok := r.recordings.hashAt(t.tick); ok && t.tick/hashEvery%2 == 0 && t.match.Hash() != was {
		r.fail(Authority, "tick %d: the hash of the shadow match differs", t.tick)
	}
	r.recordings.noteInputs(&t.logged)
}
