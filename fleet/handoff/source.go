package handoff

import "time"

// SourcePhase is how far a move is at the host that has the lobby.
type SourcePhase uint8

// The phases. From the end of SourceFreezing on the lobby plays no tick, until ActionThaw or its
// end.
const (
	SourceRegistering SourcePhase = iota // this host writes the record that it owns the lobby
	SourceOffering                       // the target makes a lobby for it
	SourceTelling                        // the clients connect to the target
	SourceFreezing                       // the lobby stops and is saved
	SourceFrozen                         // the state is on its way to the target
	SourceReclaiming                     // no news of the target: this host tries to own the lobby again
	SourceMoved                          // the target plays; the lobby ends here in a moment
	SourceStays                          // final: the lobby plays on here
	SourceGone                           // final: the lobby has ended here
)

// Source decides what the host does that has the lobby. Call Step with EventTick about every 20 ms.
type Source struct {
	phase   SourcePhase
	name    string // of this host
	clients int    // that are connected
	ready   int    // of them, connected to the target by its last word
	timer   timer
	moved   bool
}

// NewSource begins to move a lobby with a number of connected clients. The caller carries out the
// actions.
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
		return s.stopped(now, e)
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

// telling waits for the clients to connect to the target. When time is up the lobby moves with
// three quarters of them; the others come to the target later, with the token that they were sent.
// With fewer it stays.
func (s *Source) telling(now time.Duration, e Event) []Action {
	if e.Kind == EventReady {
		s.ready = e.Ready
	}
	late := s.timer.over(now, tellFor)
	switch {
	case e.Kind == EventCancelled:
		return s.stay(now)
	case s.ready >= s.clients, late && 4*s.ready >= 3*s.clients:
		return s.enter(now, SourceFreezing, ActionFreeze)
	case late:
		return s.stay(now)
	}
	return nil
}

// stopped handles the events of a lobby that plays no tick. The target may have the state and play,
// so the lobby plays on here only after the record says that this host owns it.
func (s *Source) stopped(now time.Duration, e Event) []Action {
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
