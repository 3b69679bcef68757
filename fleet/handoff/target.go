package handoff

import "time"

// TargetPhase is how far a move is at the host that is to have the lobby.
type TargetPhase uint8

// The phases.
const (
	TargetPreparing TargetPhase = iota // the host makes the lobby
	TargetAwaiting                     // clients connect; the state is awaited
	TargetReading                      // the host reads the state
	TargetClaiming                     // the record is written
	TargetPlays                        // final: the lobby plays here
	TargetDropped                      // final: it does not
)

// Target decides at the host that is to have the lobby. Call Step with EventTick about every 20 ms.
type Target struct {
	phase TargetPhase
	name  string // of this host
	ready int    // clients that the source knows of
	timer timer
}

// NewTarget begins with an offer, for which the caller makes the lobby.
func NewTarget(now time.Duration, name string) *Target {
	return &Target{name: name, ready: -1, timer: startTimer(now)}
}

// Phase returns how far the move is.
func (t *Target) Phase() TargetPhase { return t.phase }

// Ended reports whether the move is over, and whether the lobby plays here.
func (t *Target) Ended() (over, plays bool) {
	return t.phase >= TargetPlays, t.phase == TargetPlays
}

func (t *Target) enter(now time.Duration, p TargetPhase, do ...Action) []Action {
	t.phase, t.timer = p, startTimer(now)
	return do
}

// drop gives up. made: there is a lobby to be ended.
func (t *Target) drop(now time.Duration, made bool) []Action {
	if made {
		return t.enter(now, TargetDropped, ActionEnd, ActionCancel)
	}
	return t.enter(now, TargetDropped, ActionCancel)
}

// Step takes an event and returns what the host is to do, in order.
func (t *Target) Step(now time.Duration, e Event) []Action {
	switch t.phase {
	case TargetPreparing:
		switch e.Kind {
		case EventPrepared:
			return t.enter(now, TargetAwaiting, ActionAnswer)
		case EventRefused:
			return t.drop(now, false)
		}
	case TargetAwaiting:
		return t.awaiting(now, e)
	case TargetReading:
		switch {
		case e.Kind == EventRead:
			return t.enter(now, TargetClaiming, ActionClaim)
		case e.Kind == EventUnsettled, t.timer.over(now, awaitFor):
			return t.drop(now, true)
		}
	case TargetClaiming:
		return t.claiming(now, e)
	case TargetPlays:
		if e.Kind == EventState { // the source has missed the news
			return []Action{ActionTaken}
		}
	case TargetDropped:
		if e.Kind == EventState {
			return []Action{ActionCancel}
		}
	}
	return nil
}

func (t *Target) awaiting(now time.Duration, e Event) []Action {
	switch {
	case e.Kind == EventState:
		return t.enter(now, TargetReading, ActionRead)
	case e.Kind == EventCancelled, t.timer.over(now, awaitFor):
		return t.drop(now, true)
	case e.Kind == EventReady && e.Ready != t.ready || e.Kind == EventTick && t.timer.due(now):
		if e.Kind == EventReady {
			t.ready = e.Ready
		}
		return []Action{ActionReady}
	case e.Kind == EventPrepared: // the source has asked again
		return []Action{ActionAnswer}
	}
	return nil
}

// claiming is a lobby that has its state and stands still until the store says that it is this
// host's. A source that has given up may have claimed it before.
func (t *Target) claiming(now time.Duration, e Event) []Action {
	switch {
	case e.Kind == EventOwned && e.Owner == t.name:
		return t.enter(now, TargetPlays, ActionThaw, ActionTaken)
	case e.Kind == EventOwned, t.timer.over(now, ownerFor):
		return t.drop(now, true)
	case e.Kind == EventTick && t.timer.due(now):
		return []Action{ActionClaim}
	}
	return nil
}
