package dst

import (
	"slices"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
)

// shadow plays the match a second time. It gets the inputs of the server's match after each tick,
// and both must then be equal: only inputs change a match, and a shot leaves no trace.
type shadow struct {
	match     *sim.Match
	tick      tick.Tick
	used      map[netid.ID]uint64 // commands used so far, by player
	changes   []membership        // joins and leaves of the tick, in order
	given     []givenInput        // one of each player
	hits      []bool              // answers of the server's hit filter, in the order of its calls
	hitsAsked int                 // answers that the shadow match took so far
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
	plain []uint64 // bit per slot: the row that was sent tells enough
}

// givenInput is what a player's row got before a tick.
type givenInput struct {
	id     netid.ID
	limits lagcomp.ClampLimits
	in     *sim.CommandBuffer // also of a player that leaves in this tick
	hero   uint8              // requested hero, 1 + its number
}

// begin makes the shadow match of a server that has just started. It wraps the hit filter and the
// view resolver of the server's match, which depend on what connections were sent, and gives their
// answers to the shadow match.
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
			r.fail(Authority, "tick %d: played again, a shot calls the view resolver once more", t.tick)
			return nil, nil
		}
		v := &t.views[t.viewsUsed]
		t.viewsUsed++
		return v.list, v.plain
	})
	t.match.SetHitFilter(func(*lagcomp.Sweep, uint32) bool {
		if t.hitsAsked == len(t.hits) {
			r.fail(Authority, "tick %d: played again, a shot calls the hit filter once more", t.tick)
			return true
		}
		t.hitsAsked++
		return t.hits[t.hitsAsked-1]
	})
}

// onStage keeps the inputs of a tick when its systems begin, after all of them have arrived. It is
// the EnterStage of the server's Config.
func (r *run) onStage(s metrics.Stage) {
	if s != metrics.StageSystems || r.Sim == nil {
		return
	}
	t, m := &r.shadow, r.Lobby.Match()
	t.changes, t.given = t.changes[:0], t.given[:0]
	t.hits, t.hitsAsked = t.hits[:0], 0
	t.views, t.viewsUsed = t.views[:0], 0
	m.World.Changes(func(id netid.ID, born bool) { t.changes = append(t.changes, membership{id, born}) })
	for slot := range m.World.Slots() {
		id := m.World.At(slot)
		if v := m.Vital(id); v != nil {
			t.given = append(t.given, givenInput{id, m.ClampLimits(id), m.CommandBuffer(id), v.RequestedHero})
		}
	}
}

// known returns the clamp limits of a player before the tick, also if it left in it.
func (t *shadow) known(id netid.ID) lagcomp.ClampLimits {
	for i := range t.given {
		if t.given[i].id == id {
			return t.given[i].limits
		}
	}
	return lagcomp.ClampLimits{}
}

// check plays the tick that the server has played and compares the matches.
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
	for i := range t.given {
		g := &t.given[i]
		t.match.SetClampLimits(g.id, g.limits)
		if v := t.match.Vital(g.id); v != nil && v.RequestedHero != g.hero {
			v.RequestedHero = g.hero
			t.match.RequestHero(g.id, g.hero-1) // logs the request; there is no hero -1
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
				r.fail(Authority, "tick %d: slot %d is %v, and %v when the inputs are played again",
					t.tick, slot, p, other)
			}
		}
	}
	if !slices.Equal(t.match.Outcome().Events, m.Outcome().Events) {
		r.fail(Authority, "tick %d: %v happened, and %v when the inputs are played again",
			t.tick, m.Outcome().Events, t.match.Outcome().Events)
	}
	if was, ok := r.recordings.hashAt(t.tick); ok && t.tick/hashEvery%2 == 0 && t.match.Hash() != was {
		r.fail(Authority, "tick %d: the match differs when its inputs are played again", t.tick)
	}
	r.recordings.noteInputs(&t.logged)
}
