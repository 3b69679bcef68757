package handoff

import "time"

// SourcePhase is how far a move is at the host that has the lobby.
type SourcePhase uint8

// The phases. The lobby stands still from SourceFrozen on, until SourceStays.
const (
	SourceRegistering SourcePhase = iota // the record is written
	SourceOffering                       // the target makes the lobby
	SourceTelling                        // the clients connect to it
	SourceFreezing                       // the lobby is saved
	SourceFrozen                         // the target has the state, or will
	SourceReclaiming                     // nobody knows who owns the lobby
	SourceMoved                          // the target plays; the lobby ends here in a moment
	SourceStays                          // final: the lobby plays on here
	SourceGone                           // final: the lobby has ended here
)

// Source decides at the host that has the lobby. Call Step with EventTick about every 20 ms.
type Source struct {
	phase   SourcePhase
	name    string // of this host
	clients int    // that are connected
	timer   timer
	moved   bool
}

// NewSource begins a move of a lobby with so many connected clients. The caller does the action.
func NewSource(now time.Duration, name string, clients int) (*Source, []Action) {
	return &Source{name: name, clients: clients, timer: startTimer(now)}, []Action{ActionRegister}
}

// Phase returns how far the move is.
func (s *Source) Phase() SourcePhase { return s.phase }

// Ended reports whether the move is over, and whether the lobby has moved.
func (s *Source) Ended() (over, moved bool) { return s.phase >= SourceStays, s.moved }

func (s *Source) enter(now time.Duration, p SourcePhase, do ...Action) []Action {
	s.phase, s.timer = p, startTimer(now)
	return do
}

// stay gives up before the lobby stands still.
func (s *Source) stay(now time.Duration) []Action { return s.enter(now, SourceStays, ActionCancel) }

// Step takes an event and returns what the host is to do, in order.
func (s *Source) Step(now time.Duration, e Event) []Action {
	switch s.phase {
	case SourceRegistering:
		return s.registering(now, e)
	case SourceOffering:
		return s.offering(now, e)
	case SourceTelling:
		return s.telling(now, e)
	case SourceFreezing:
		switch e.Kind {
		case EventFrozen:
			return s.enter(now, SourceFrozen, ActionSend)
		case EventUnsettled, EventCancelled:
			return s.enter(now, SourceStays, ActionThaw, ActionCancel)
		}
	case SourceFrozen, SourceReclaiming:
		return s.still(now, e)
	case SourceMoved:
		if s.timer.over(now, releaseFor) {
			return s.enter(now, SourceGone, ActionEnd)
		}
	}
	return nil
}

func (s *Source) registering(now time.Duration, e Event) []Action {
	switch {
	case e.Kind == EventOwned && e.Owner == s.name:
		return s.enter(now, SourceOffering, ActionOffer)
	case e.Kind == EventOwned, e.Kind == EventUnknown, s.timer.over(now, offerFor):
		return s.stay(now)
	}
	return nil
}

func (s *Source) offering(now time.Duration, e Event) []Action {
	switch {
	case e.Kind == EventPrepared:
		return s.enter(now, SourceTelling, ActionTell)
	case e.Kind == EventRefused, e.Kind == EventCancelled, s.timer.over(now, offerFor):
		return s.stay(now)
	case e.Kind == EventTick && s.timer.due(now):
		return []Action{ActionOffer}
	}
	return nil
}

// telling waits for the clients. Those that are late have the token all the same.
func (s *Source) telling(now time.Duration, e Event) []Action {
	late := s.timer.over(now, tellFor)
	switch {
	case e.Kind == EventCancelled, late && s.clients > 0 && e.Kind != EventReady:
		return s.stay(now)
	case e.Kind == EventReady && (e.Ready >= s.clients || late && e.Ready > 0), s.clients == 0:
		return s.enter(now, SourceFreezing, ActionFreeze)
	}
	return nil
}

// still is a lobby that stands still. It plays on only after the store has said that it is still
// this host's: the target may have it, and play.
func (s *Source) still(now time.Duration, e Event) []Action {
	switch {
	case e.Kind == EventTaken, e.Kind == EventOwned && e.Owner != s.name:
		s.moved = true
		return s.enter(now, SourceMoved)
	case e.Kind == EventOwned:
		return s.enter(now, SourceStays, ActionThaw, ActionCancel)
	case s.phase == SourceFrozen && (e.Kind == EventCancelled || s.timer.over(now, frozenFor)):
		return s.enter(now, SourceReclaiming, ActionClaim)
	case s.phase == SourceFrozen && e.Kind == EventTick && s.timer.due(now):
		return []Action{ActionSend}
	case s.phase == SourceReclaiming && s.timer.over(now, ownerFor):
		return s.enter(now, SourceGone, ActionEnd)
	case s.phase == SourceReclaiming && e.Kind == EventTick && s.timer.due(now):
		return []Action{ActionClaim}
	}
	return nil
}
