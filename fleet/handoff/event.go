// Package handoff moves a running lobby from one host of a fleet to another.
//
// What hosts tell each other over NATS and what a key-value store answers go in; orders to the two
// hosts come out: make a lobby, tell its clients, stand still, read, play on, end. Source and
// Target decide, without a clock or a connection; Mover carries out what they decide. A record in
// JetStream, written by compare-and-set, says who owns the lobby, so never do both hosts play it.
// Command serve uses it.
package handoff

import "time"

// EventKind says what an Event tells a Source or a Target.
type EventKind uint8

// The events.
const (
	EventTick      EventKind = iota // time has passed
	EventOwned                      // the store says who owns the lobby: Owner, Revision
	EventUnknown                    // the store did not answer: a write may have happened
	EventPrepared                   // source: the target has made the lobby. target: the host has
	EventRefused                    // it has not
	EventReady                      // Ready clients are connected to the target
	EventFrozen                     // the lobby stands still, and its state is known
	EventUnsettled                  // it could not, or its state is not that of a lobby of the target
	EventState                      // target: the state has arrived, for the record of Revision
	EventRead                       // target: the host has read the state
	EventTaken                      // source: the target plays the lobby
	EventCancelled                  // the other host has given up
)

// Event is something that happened to a move.
type Event struct {
	Kind     EventKind
	Ready    int    // clients
	Owner    string // host
	Revision uint64 // of the record
}

// Action is an order to the host of a Source or a Target.
type Action uint8

// The orders.
const (
	ActionRegister Action = iota // source: write a new record that names this host, and tell EventOwned
	ActionOffer                  // source: tell the target about the lobby
	ActionTell                   // source: send the clients tokens for the target
	ActionFreeze                 // source: let the lobby stand still, and save it
	ActionSend                   // source: send the state
	ActionClaim                  // make this host the owner, if the record has its revision, else read it
	ActionThaw                   // let the lobby play: this host owns it
	ActionTaken                  // target: tell the source that this host plays
	ActionReady                  // target: tell the source how many clients are connected
	ActionAnswer                 // target: tell the source that the lobby is made
	ActionRead                   // target: read the state
	ActionCancel                 // tell the other host that the move is off
	ActionEnd                    // end the lobby here; its players are told
)

// Limits of time. A move that takes longer is off, and the lobby plays on where it was.
const (
	repeat     = 200 * time.Millisecond // from one try to the next
	offerFor   = 3 * time.Second        // for the target to make the lobby
	tellFor    = 3 * time.Second        // for the clients to connect to it
	frozenFor  = 600 * time.Millisecond // from the freeze to the news that the target plays
	ownerFor   = 10 * time.Second       // for the store to say who owns the lobby
	awaitFor   = 10 * time.Second       // for the state to arrive
	releaseFor = 2 * time.Second        // for clients to see the first snapshot of the target
)

// timer repeats an action until a limit.
type timer struct{ began, last time.Duration }

func startTimer(now time.Duration) timer { return timer{now, now} }

// due reports whether the action is to be repeated.
func (t *timer) due(now time.Duration) bool {
	if now-t.last < repeat {
		return false
	}
	t.last = now
	return true
}

func (t *timer) over(now, limit time.Duration) bool { return now-t.began >= limit }
