package dst

import (
	"slices"

	"github.com/tickrate/tickrate/ecs"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/planted"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim"
)

// twin is the match a second time. Whatever comes into the server's match from outside is given to the twin after the tick, and then
// both must be equal: so nothing but inputs moves a match, and a shot leaves no trace of where it looked.
type twin struct {
	match   *sim.Match
	tick    tick.Tick
	used    map[ecs.NetID]uint64
	born    []change
	brought []given
	answers []bool // of the witness, in the order in which it was asked
	asked   int
	beheld  []beheld // likewise of Behold
	looked  int
	diary   sim.Diary // what the twin writes down of what comes into it
}

type change struct {
	id   ecs.NetID
	born bool
}

// beheld is how a shooter saw everybody.
type beheld struct {
	list  []sim.Beheld
	plain []uint64
}

// given is what a player's row was given before a tick.
type given struct {
	id    ecs.NetID
	know  lagcomp.Knowledge
	in    *sim.Inbox // of who leaves in this tick, too
	wants uint8
}

func (t *twin) begin(w *world) {
	*t = twin{used: map[ecs.NetID]uint64{}}
	m := w.Lobby.Match()
	t.match = sim.New(w.cfg.Players, *m.Rules(), w.cfg.Arena)
	t.match.Keep(&t.diary)
	seen := m.Seen()
	m.Witness(func(s *lagcomp.Shot, id uint32) bool {
		ok := seen(s, id)
		t.answers = append(t.answers, ok)
		return ok
	})
	how := m.Beholds()
	m.Behold(func(s *sim.Shot) ([]sim.Beheld, []uint64) {
		list, plain := how(s)
		n := len(t.beheld)
		t.beheld = slices.Grow(t.beheld, 1)[:n+1] // a place of before keeps its memory: invariant 12 counts that of the tick around us
		b := &t.beheld[n]
		b.list, b.plain = append(b.list[:0], list...), append(b.plain[:0], plain...)
		return list, plain
	})
	t.match.Behold(func(*sim.Shot) ([]sim.Beheld, []uint64) {
		if t.looked == len(t.beheld) {
			w.fail(Authority, "tick %d: played again, a shot asks how somebody saw the others whom it did not ask of", t.tick)
			return nil, nil
		}
		t.looked++
		return t.beheld[t.looked-1].list, t.beheld[t.looked-1].plain
	})
	t.match.Witness(func(*lagcomp.Shot, uint32) bool {
		if t.asked == len(t.answers) {
			w.fail(Authority, "tick %d: played again, a shot asks of somebody whom it did not ask of", t.tick)
			return true
		}
		t.asked++
		return t.answers[t.asked-1]
	})
}

// entered hears of the stages of the server's tick. When the systems begin, all that came from outside is there.
func (w *world) entered(s metrics.Stage) {
	if s != metrics.StageSystems || w.Sim == nil {
		return
	}
	t, m := &w.twin, w.Lobby.Match()
	t.born, t.brought, t.answers, t.asked, t.beheld, t.looked = t.born[:0], t.brought[:0], t.answers[:0], 0, t.beheld[:0], 0
	m.World.Changes(func(id ecs.NetID, born bool) { t.born = append(t.born, change{id, born}) })
	for slot := range m.World.Slots() {
		id := m.World.At(slot)
		if v := m.Vital(id); v != nil {
			t.brought = append(t.brought, given{id, m.Known(id), m.Inbox(id), v.Wants})
		}
	}
}

// known is what a player's row was given before the tick; it may have left in it.
func (t *twin) known(id ecs.NetID) lagcomp.Knowledge {
	for i := range t.brought {
		if t.brought[i].id == id {
			return t.brought[i].know
		}
	}
	return lagcomp.Knowledge{}
}

// check plays the tick that the server has played, and compares.
func (t *twin) check(w *world) {
	m := w.Lobby.Match()
	t.tick = m.Tick()
	defer planted.Set(planted.Set(planted.None)) // the twin is right
	for _, c := range t.born {
		switch {
		case !c.born:
			t.match.Leave(c.id)
		default:
			if id := t.match.Join(); id != c.id {
				w.fail(Sessions, "tick %d: the match gave away %v, where %v was free", t.tick, c.id, id)
				return
			}
		}
	}
	for i := range t.brought {
		g := &t.brought[i]
		t.match.Know(g.id, g.know)
		if v := t.match.Vital(g.id); v != nil && v.Wants != g.wants {
			v.Wants = g.wants
			t.match.AskHero(g.id, g.wants-1) // so that it is in its diary; there is no hero -1
		}
		if g.in.Count.Used != t.used[g.id] {
			if twin := t.match.Inbox(g.id); twin != nil {
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
	if was, ok := w.films.mark(t.tick); ok && t.tick/markEvery%2 == 0 && t.match.Hash() != was {
		w.fail(Authority, "tick %d: the match is another when its inputs are played again", t.tick)
	}
	w.films.page(&t.diary)
}
