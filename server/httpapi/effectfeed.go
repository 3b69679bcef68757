package httpapi

import (
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/dash"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/effect"
	"github.com/tickrate/tickrate/sim/netstate"
)

// effectFeed finds the effects of a lobby for its live page: those that clients are told, and those
// that they find in their rows, by the same tracker.
type effectFeed struct {
	tracker *effect.Tracker // nil without readers
	arena   *arena.Arena    // of the tracker
	found   []effect.Effect // scratch
}

// tick adds the effects of the tick that was just played to a frame.
func (f *effectFeed) tick(l *server.Lobby, frame *dash.Frame) {
	m, cfg := l.Match(), l.Config()
	if f.tracker == nil || f.arena != cfg.Arena {
		f.tracker, f.arena = effect.NewTracker(m.Game(), cfg.Arena, cfg.Players, 0), cfg.Arena
	}
	f.found = effect.AppendTold(f.found[:0], m)
	if t := m.Tick(); int(t)%cfg.SendInterval == 0 {
		f.trackPlayers(l, t)
		f.trackObjects(l, t)
	}
	if len(frame.EffectCounts) == 0 {
		frame.EffectCounts = frame.EffectCounts[:effect.Kinds]
		clear(frame.EffectCounts)
	}
	for i := range f.found {
		e := &f.found[i]
		frame.EffectCounts[e.Kind] += uint64(e.Count)
		if drawn(e.Kind) && len(frame.Effects) < dash.MaxEffects {
			frame.Effects = append(frame.Effects, dashEffect(e))
		}
	}
}

// trackPlayers finds the effects of players' rows, as clients get them.
func (f *effectFeed) trackPlayers(l *server.Lobby, t tick.Tick) {
	rows := l.Frame(t)
	if rows == nil {
		return
	}
	var row [netstate.PublicFields]int32
	var p netstate.PlayerState
	for slot := range min(rows.Slots(), l.Config().Players) {
		id := rows.Row(slot, row[:])
		if id != 0 {
			p.Restore(row[:])
		}
		f.found = f.tracker.Player(f.found, t, slot, id, &p)
	}
}

// trackObjects does so for objects.
func (f *effectFeed) trackObjects(l *server.Lobby, t tick.Tick) {
	rows := l.ObjectFrame(t)
	if rows == nil {
		return
	}
	var row [netstate.ObjectStateFields]int32
	var o netstate.ObjectState
	for slot := range min(rows.Slots(), netstate.ObjectSlots(l.Config().Players)) {
		id := rows.Row(slot, row[:])
		if id != 0 {
			o.Restore(row[:])
		}
		f.found = f.tracker.Object(f.found, t, slot, id, &o)
	}
}

// drawn reports whether the map shows effects of a kind.
func drawn(k effect.Kind) bool {
	return k == effect.Impact || k == effect.Explosion || k == effect.Damage || k == effect.Death
}

// dashEffect is an effect as plain numbers.
func dashEffect(e *effect.Effect) dash.Effect {
	slot := func(id netid.ID) int {
		if id == 0 {
			return -1
		}
		return id.Index()
	}
	return dash.Effect{
		Kind: e.Kind.String(), At: vecOf(e.Pos), Dir: vecOf(e.Dir), Strength: rounded(float64(e.Strength), 10),
		Amount: int(e.Amount), Count: int(e.Count), Source: slot(e.Source), Target: slot(e.Target),
	}
}
