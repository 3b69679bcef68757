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
	match      *sim.Match
	tick       tick.Tick
	used       map[netid.ID]uint64
	changes    []membership
	given      []givenInput
	hitFilter  []bool // answers of the server's hit filter, in the order of the questions
	asked      int
	beheld     []beheld // answers of the view resolver, likewise
	viewsAsked int
	diary      sim.TickInputs // inputs as the shadow match logs them
}

type membership struct {
	id     netid.ID
	joined bool
}

// beheld is one answer of the view resolver.
type beheld struct {
	list  []sim.TargetView
	plain []uint64
}

// givenInput is what a player's row got before a tick.
type givenInput struct {
	id    netid.ID
	know  lagcomp.ClampLimits
	in    *sim.CommandBuffer // also of a player that leaves in this tick
	wants uint8
}

func (t *shadow) begin(w *world) {
	*t = shadow{used: map[netid.ID]uint64{}}
	m := w.Lobby.Match()
	t.match = sim.New(w.cfg.Players, *m.Rules(), w.cfg.Arena)
	t.match.SetInputLog(&t.diary)
	seen := m.HitFilter()
	m.SetHitFilter(func(s *lagcomp.Sweep, id uint32) bool {
		ok := seen(s, id)
		t.hitFilter = append(t.hitFilter, ok)
		return ok
	})
	how := m.ViewResolver()
	m.SetViewResolver(func(s *sim.Shot) ([]sim.TargetView, []uint64) {
		list, plain := how(s)
		n := len(t.beheld)
		// Reused entries keep their memory, so that allocCheck sees no allocation.
		t.beheld = slices.Grow(t.beheld, 1)[:n+1]
		b := &t.beheld[n]
		b.list, b.plain = append(b.list[:0], list...), append(b.plain[:0], plain...)
		return list, plain
	})
	t.match.SetViewResolver(func(*sim.Shot) ([]sim.TargetView, []uint64) {
		if t.viewsAsked == len(t.beheld) {
			w.fail(Authority, "tick %d: played again, a shot asks the view resolver where it did not before", t.tick)
			return nil, nil
		}
		t.viewsAsked++
		return t.beheld[t.viewsAsked-1].list, t.beheld[t.viewsAsked-1].plain
	})
	t.match.SetHitFilter(func(*lagcomp.Sweep, uint32) bool {
		if t.asked == len(t.hitFilter) {
			w.fail(Authority, "tick %d: played again, a shot asks the hit filter where it did not before", t.tick)
			return true
		}
		t.asked++
		return t.hitFilter[t.asked-1]
	})
}

// onStage hears of each stage of the server's tick. All inputs have arrived when the systems
// begin.
func (w *world) onStage(s metrics.Stage) {
	if s != metrics.StageSystems || w.Sim == nil {
		return
	}
	t, m := &w.shadow, w.Lobby.Match()
	t.changes, t.given, t.hitFilter, t.asked, t.beheld, t.viewsAsked = t.changes[:0], t.given[:0], t.hitFilter[:0], 0, t.beheld[:0], 0
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
			return t.given[i].know
		}
	}
	return lagcomp.ClampLimits{}
}

// check plays the tick that the server has played and compares the matches.
func (t *shadow) check(w *world) {
	m := w.Lobby.Match()
	t.tick = m.Tick()
	for _, c := range t.changes {
		switch {
		case !c.joined:
			t.match.Leave(c.id)
		default:
			if id := t.match.Join(); id != c.id {
				w.fail(Sessions, "tick %d: the match spawned %v, the shadow match %v", t.tick, c.id, id)
				return
			}
		}
	}
	for i := range t.given {
		g := &t.given[i]
		t.match.SetClampLimits(g.id, g.know)
		if v := t.match.Vital(g.id); v != nil && v.RequestedHero != g.wants {
			v.RequestedHero = g.wants
			t.match.RequestHero(g.id, g.wants-1) // logs the request; there is no hero -1
		}
		if g.in.Count.Used != t.used[g.id] {
			if twin := t.match.CommandBuffer(g.id); twin != nil {
				twin.Offer(g.in.Last())
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
		w.fail(Authority, "the server's tick is %d after %d ticks", m.Tick(), t.match.Tick())
		return
	}
	if !slices.Equal(t.match.Poses(), m.Poses()) {
		for slot, p := range m.Poses() {
			if other := t.match.Poses()[slot]; other != p {
				w.fail(Authority, "tick %d: slot %d is %v, and %v when the inputs are played again", t.tick, slot, p, other)
			}
		}
	}
	if !slices.Equal(t.match.Outcome().Events, m.Outcome().Events) {
		w.fail(Authority, "tick %d: %v happened, and %v when the inputs are played again", t.tick, m.Outcome().Events, t.match.Outcome().Events)
	}
	if was, ok := w.recordings.hashAt(t.tick); ok && t.tick/hashEvery%2 == 0 && t.match.Hash() != was {
		w.fail(Authority, "tick %d: the match differs when its inputs are played again", t.tick)
	}
	w.recordings.noteInputs(&t.diary)
}
