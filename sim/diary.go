package sim

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
)

// Diary is everything that came into a match from outside for one tick, as the match took it: with a state from Save, or a new match,
// and the diaries of all ticks since, Match.Replay plays the same match again. Its memory is used again for the next tick.
type Diary struct {
	Tick   tick.Tick // that was played
	Acts   []Act     // before the tick, in the order in which they were done
	Taken  []Taken   // commands that were taken, by slot; whoever is missing had none for this tick
	Known  []Known   // what was known of the connections of those whose actions were judged by a view
	Unseen []Unseen  // what the Witness denied, each once, ascending, and who was seen elsewhere
	Beheld []Behold  // who was seen elsewhere and may have been hit there

	closed bool // the tick is over: what comes is of the next
}

// ActKind is something that is done to a match between two ticks.
type ActKind uint8

// The acts.
const (
	ActJoin    ActKind = iota // Value: who comes in, as the match numbers it; ID: what it was called, 0: the match was full
	ActLeave                  // ID
	ActHero                   // ID, Value: the hero asked for
	ActRespawn                // Value: milliseconds
	Acts                      // how many there are
)

// String names the act.
func (k ActKind) String() string {
	return [...]string{"join", "leave", "hero", "respawn", "?"}[min(k, Acts)]
}

// Act is one of them.
type Act struct {
	Kind  ActKind
	ID    netid.ID
	Value int32
}

// Taken is a player's own command for a tick.
type Taken struct {
	ID      netid.ID
	Command Command
}

// Known is what the server knew of a player's connection. Last is 0: the match knows it.
type Known struct {
	ID netid.ID
	lagcomp.Knowledge
}

// Unseen is a player whom a shooter could not have seen in the view of its shots of a tick.
type Unseen struct{ Shooter, Victim uint32 }

// Keep makes the match write down what enters it, from now on, into d; nil ends it. d is complete, and may be read, after each Step until
// anything is done to the match.
func (m *Match) Keep(d *Diary) {
	m.diary = d
	if d != nil {
		d.reset()
	}
}

func (d *Diary) reset() {
	*d = Diary{Acts: d.Acts[:0], Taken: d.Taken[:0], Known: d.Known[:0], Unseen: d.Unseen[:0], Beheld: d.Beheld[:0]}
}

// Equal reports whether both say the same of the same tick.
func (d *Diary) Equal(o *Diary) bool {
	return d.Tick == o.Tick && slices.Equal(d.Acts, o.Acts) && slices.Equal(d.Taken, o.Taken) && slices.Equal(d.Known, o.Known) &&
		slices.Equal(d.Unseen, o.Unseen) && slices.Equal(d.Beheld, o.Beheld)
}

// open makes room for the next tick, if the last is over.
func (d *Diary) open() {
	if d.closed {
		d.reset()
	}
}

// did notes an act.
func (m *Match) did(k ActKind, id netid.ID, value int32) {
	if d := m.diary; d != nil {
		d.open()
		d.Acts = append(d.Acts, Act{k, id, value})
	}
}

// missed notes that a shooter had not seen somebody.
func (d *Diary) missed(s *lagcomp.Sweep, id uint32) {
	d.Unseen = append(d.Unseen, Unseen{s.Except, id})
}

// close notes what the tick took, before anybody leaves.
func (d *Diary) close(c *columns) {
	d.Tick = c.clock.Tick
	in := c.inboxes.of
	for slot := range in {
		id := c.match.World.At(slot)
		if i, ok := c.match.World.Row(id); ok && in[slot].repeats == 0 && c.command[i].Tick == d.Tick { // its own, see Inbox.Take
			d.Taken = append(d.Taken, Taken{id, c.command[i]})
		}
	}
	row := int32(-1)
	for i := range c.scratch.acts {
		a := &c.scratch.acts[i]
		if Looks(a.action.Kind) && a.row != row {
			row = a.row
			k := Known{c.id[row], c.know[row].Knowledge}
			k.Last = 0
			d.Known = append(d.Known, k)
		}
	}
	slices.SortFunc(d.Unseen, func(a, b Unseen) int {
		return cmp.Or(cmp.Compare(a.Shooter, b.Shooter), cmp.Compare(a.Victim, b.Victim))
	})
	d.Unseen = slices.Compact(d.Unseen)
	slices.SortFunc(d.Beheld, func(a, b Behold) int {
		return cmp.Or(cmp.Compare(a.Shooter, b.Shooter), cmp.Compare(a.Slot, b.Slot))
	})
	d.Beheld = slices.Compact(d.Beheld)
	d.closed = true
}

// Replay plays the tick of a diary. An error says that the diary is not of this match at this tick; then the match is of no use any more.
func (m *Match) Replay(d *Diary) error {
	if d.Tick != m.Tick()+1 {
		return fmt.Errorf("sim: replay: a diary of tick %d after tick %d", d.Tick, m.Tick())
	}
	for i := range d.Acts {
		if err := m.act(&d.Acts[i]); err != nil {
			return err
		}
	}
	for i := range d.Taken {
		g := &d.Taken[i]
		in := m.Inbox(g.ID)
		if in == nil || g.Command.Tick != d.Tick {
			return fmt.Errorf("sim: replay: tick %d: a command for tick %d of %v", d.Tick, g.Command.Tick, g.ID)
		}
		in.Offer(g.Command)
	}
	for i := range d.Known {
		m.Know(d.Known[i].ID, d.Known[i].Knowledge)
	}
	m.Witness(nil)
	if len(d.Unseen) > 0 {
		m.Witness(func(s *lagcomp.Sweep, id uint32) bool { return !slices.Contains(d.Unseen, Unseen{s.Except, id}) })
	}
	m.Behold(nil)
	if len(d.Beheld) > 0 {
		m.Behold(d.how(nil))
	}
	m.Step()
	m.Witness(nil)
	m.Behold(nil)
	return nil
}

// comes brings somebody in again, in the slot that it had: JoinAt may have chosen that.
func (m *Match) comes(id netid.ID, as entry) netid.ID {
	if id == 0 {
		return m.reserve(as) // nobody, if the match is full as it was
	}
	return m.seat(m.World.SpawnAt(id.Index(), m.player), as)
}

func (m *Match) act(a *Act) error {
	ok := false
	switch a.Kind {
	case ActJoin:
		ok = a.Value == int32(entry(a.Value)) && (a.Value == 0 || a.Value == int32(spectator) || int(a.Value) <= len(m.Kit().Heroes)) &&
			m.comes(a.ID, entry(a.Value)) == a.ID
	case ActLeave:
		ok = m.World.KindOf(a.ID) == m.player
		m.Leave(a.ID)
	case ActHero:
		ok = a.Value == int32(uint8(a.Value)) && m.AskHero(a.ID, uint8(a.Value))
	case ActRespawn:
		ok = m.SetRespawn(a.Value) == nil
	}
	if !ok {
		return fmt.Errorf("sim: replay: tick %d: %v of %v, %d, cannot be", m.Tick()+1, a.Kind, a.ID, a.Value)
	}
	return nil
}
