package sim

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
)

// TickInputs is everything that entered a match from outside for one tick. With a state from Save,
// or a new match, and the inputs of all ticks since, Match.Replay plays the same match again. Its
// memory is reused for the next tick.
type TickInputs struct {
	Tick     tick.Tick       // the tick that was played
	Changes  []Change        // before the tick, in order
	Commands []PlayerCommand // commands in use, by slot; a player without one is left out
	Limits   []PlayerLimits  // clamp limits of players whose actions were judged by a view
	// targets that the hit filter denied, each once, ascending, and targets seen by another view
	Hidden      []HiddenTarget
	TargetViews []ShotTargetView // targets seen by another view that may have been hit there

	closed bool // the tick is over: the next input belongs to the next tick
}

// ChangeKind is a kind of change to a match between two ticks.
type ChangeKind uint8

// The changes.
const (
	ChangeJoin    ChangeKind = iota // Value: joinKind; ID: the new player, 0: the match was full
	ChangeLeave                     // ID
	ChangeHero                      // ID, Value: the requested hero
	ChangeRespawn                   // Value: milliseconds
	ChangeKinds                     // how many there are
)

// String names the act.
func (k ChangeKind) String() string {
	return [...]string{"join", "leave", "hero", "respawn", "?"}[min(k, ChangeKinds)]
}

// Change is one change.
type Change struct {
	Kind  ChangeKind
	ID    netid.ID
	Value int32
}

// PlayerCommand is a player's own command for a tick.
type PlayerCommand struct {
	ID      netid.ID
	Command Command
}

// PlayerLimits is the clamp limits of a player's connection. LastInstant is 0, as the match
// maintains it.
type PlayerLimits struct {
	ID netid.ID
	lagcomp.ClampLimits
}

// HiddenTarget is a player that a shooter had not seen in the view of its shots of a tick.
type HiddenTarget struct{ Shooter, Victim uint32 }

// SetInputLog makes the match write its inputs into d, from now on; nil ends it. d is complete and
// may be read after each Step until anything is done to the match.
func (m *Match) SetInputLog(d *TickInputs) {
	m.inputLog = d
	if d != nil {
		d.reset()
	}
}

// reset empties the lists and keeps their memory.
func (d *TickInputs) reset() {
	*d = TickInputs{Changes: d.Changes[:0], Commands: d.Commands[:0], Limits: d.Limits[:0],
		Hidden: d.Hidden[:0], TargetViews: d.TargetViews[:0]}
}

// Equal reports whether both are the same inputs of the same tick.
func (d *TickInputs) Equal(o *TickInputs) bool {
	return d.Tick == o.Tick && slices.Equal(d.Changes, o.Changes) && slices.Equal(d.Commands, o.Commands) &&
		slices.Equal(d.Limits, o.Limits) &&
		slices.Equal(d.Hidden, o.Hidden) && slices.Equal(d.TargetViews, o.TargetViews)
}

// beginTick empties d if the last tick is over.
func (d *TickInputs) beginTick() {
	if d.closed {
		d.reset()
	}
}

// recordChange records a change.
func (m *Match) recordChange(k ChangeKind, id netid.ID, value int32) {
	if d := m.inputLog; d != nil {
		d.beginTick()
		d.Changes = append(d.Changes, Change{k, id, value})
	}
}

// recordHero records a request for a hero. Of the requests of a player in one tick the last counts,
// so that a flood of them takes one entry.
func (m *Match) recordHero(id netid.ID, hero uint8) {
	if d := m.inputLog; d != nil {
		d.beginTick()
		for i := range d.Changes {
			if c := &d.Changes[i]; c.Kind == ChangeHero && c.ID == id {
				c.Value = int32(hero)
				return
			}
		}
	}
	m.recordChange(ChangeHero, id, int32(hero))
}

// addHidden records a target that the hit filter denied.
func (d *TickInputs) addHidden(s *lagcomp.Sweep, id uint32) {
	d.Hidden = append(d.Hidden, HiddenTarget{s.Except, id})
}

// endTick records what the tick used, before players leave.
func (d *TickInputs) endTick(c *columns) {
	d.Tick = c.clock.Tick
	in := c.commandBuffers.of
	for slot := range in {
		id := c.match.World.At(slot)
		// its own, see CommandBuffer.Take
		if i, ok := c.match.World.Row(id); ok && in[slot].repeats == 0 && c.command[i].Tick == d.Tick {
			d.Commands = append(d.Commands, PlayerCommand{id, c.command[i]})
		}
	}
	row := int32(-1)
	for i := range c.scratch.actions {
		a := &c.scratch.actions[i]
		if NeedsView(a.action.Kind) && a.row != row {
			row = a.row
			k := PlayerLimits{c.id[row], c.clampLimits[row].ClampLimits}
			k.LastInstant = 0
			d.Limits = append(d.Limits, k)
		}
	}
	d.close()
}

// close sorts what shots have asked and ends the tick.
func (d *TickInputs) close() {
	slices.SortFunc(d.Hidden, func(a, b HiddenTarget) int {
		return cmp.Or(cmp.Compare(a.Shooter, b.Shooter), cmp.Compare(a.Victim, b.Victim))
	})
	d.Hidden = slices.Compact(d.Hidden)
	slices.SortFunc(d.TargetViews, func(a, b ShotTargetView) int {
		return cmp.Or(cmp.Compare(a.Shooter, b.Shooter), cmp.Compare(a.Slot, b.Slot))
	})
	d.TargetViews = slices.Compact(d.TargetViews)
	d.closed = true
}

// InterruptedInputs completes the inputs of a tick that a panic has ended between Begin and End, with
// the commands that the tick took or would have taken, and returns them. It returns nil if the match
// logs no inputs or if no tick has begun since the last whole one. The match is invalid then, and
// where its columns are torn this panics.
func (m *Match) InterruptedInputs() *TickInputs {
	d := m.inputLog
	if d == nil || d.closed {
		return nil
	}
	d.Tick, d.Commands, d.Limits = m.Tick(), d.Commands[:0], d.Limits[:0]
	for slot := range m.commandBuffers.of {
		id, b := m.World.At(slot), &m.commandBuffers.of[slot]
		if _, ok := m.World.Row(id); !ok {
			continue
		}
		if b.last.Tick == d.Tick {
			d.Commands = append(d.Commands, PlayerCommand{id, b.last})
		} else if waits := &b.ring[d.Tick%bufferTicks]; waits.Tick == d.Tick {
			d.Commands = append(d.Commands, PlayerCommand{id, *waits})
		}
		known := PlayerLimits{id, m.ClampLimits(id)}
		known.LastInstant = 0
		d.Limits = append(d.Limits, known)
	}
	d.close()
	return d
}

// Replay plays the tick of recorded inputs. An error means that they do not belong to this match
// at this tick; the match is then invalid.
func (m *Match) Replay(d *TickInputs) error { return m.ReplayTimed(d, func(int) {}) }

// ReplayTimed is Replay for callers that time the systems: enter is called before each system of
// Systems with its index, and with their number when the last has run.
func (m *Match) ReplayTimed(d *TickInputs, enter func(system int)) error {
	if d.Tick != m.Tick()+1 {
		return fmt.Errorf("sim: replay: a diary of tick %d after tick %d", d.Tick, m.Tick())
	}
	for i := range d.Changes {
		if err := m.applyChange(&d.Changes[i]); err != nil {
			return err
		}
	}
	for slot := range m.commandBuffers.of { // a saved command may have been dropped before its tick
		m.commandBuffers.of[slot].drop(d.Tick)
	}
	for i := range d.Commands {
		g := &d.Commands[i]
		in := m.CommandBuffer(g.ID)
		if in == nil || g.Command.Tick != d.Tick {
			return fmt.Errorf("sim: replay: tick %d: a command for tick %d of %v", d.Tick, g.Command.Tick,
				g.ID)
		}
		in.Offer(g.Command)
	}
	for i := range d.Limits {
		m.SetClampLimits(d.Limits[i].ID, d.Limits[i].ClampLimits)
	}
	m.SetHitFilter(nil)
	if len(d.Hidden) > 0 {
		m.SetHitFilter(func(s *lagcomp.Sweep, id uint32) bool {
			return !slices.Contains(d.Hidden,
				HiddenTarget{s.Except, id})
		})
	}
	m.SetViewResolver(nil)
	if len(d.TargetViews) > 0 {
		m.SetViewResolver(d.resolver(nil))
	}
	m.Begin()
	for i := range systems {
		enter(i)
		m.Run(i)
	}
	enter(len(systems))
	m.End()
	m.SetHitFilter(nil)
	m.SetViewResolver(nil)
	return nil
}

// joinRecorded adds a player in its recorded slot, which JoinAt may have chosen.
func (m *Match) joinRecorded(id netid.ID, as joinKind) netid.ID {
	if id == 0 {
		return m.spawnPlayer(as) // 0, if the match is full as it was
	}
	return m.addPlayer(m.World.SpawnAt(id.Index(), m.player), as)
}

// applyChange repeats a recorded call of the match's owner. It returns an error for a call that
// this match refuses.
func (m *Match) applyChange(a *Change) error {
	ok := false
	switch a.Kind {
	case ChangeJoin:
		ok = a.Value == int32(joinKind(a.Value)) && (a.Value == 0 || a.Value == int32(spectator) ||
			int(a.Value) <= len(m.Game().Heroes)) &&
			m.joinRecorded(a.ID, joinKind(a.Value)) == a.ID
	case ChangeLeave:
		ok = m.World.KindOf(a.ID) == m.player
		m.Leave(a.ID)
	case ChangeHero:
		ok = a.Value == int32(uint8(a.Value)) && m.RequestHero(a.ID, uint8(a.Value))
	case ChangeRespawn:
		ok = m.SetRespawn(a.Value) == nil
	}
	if !ok {
		return fmt.Errorf("sim: replay: tick %d: %v of %v, %d, cannot be", m.Tick()+1, a.Kind, a.ID, a.Value)
	}
	return nil
}
