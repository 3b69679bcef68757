// Package mutation holds bugs that a test puts into the real code, to learn whether the simulator
// of bench/dst finds them.
//
// mutations.patch goes in, a unified diff against this module that inserts each bug behind On; an
// overlay for the go command comes out (make mutation). No ordinary build contains a bug or imports
// this package.
package mutation

import "os"

// Bug is one of the bugs.
type Bug uint8

// The bugs, in the order in which a datagram meets them. None is no bug.
const (
	None Bug = iota

	ReplayAccepted     // netcode: a received sequence is opened again
	WindowBeforeAuth   // netcode: a forged packet moves the replay window
	TokenReused        // netcode: a token is accepted for a second session
	TokenAnywhere      // netcode: a token is accepted from a second address
	ChallengeTwice     // netcode: a request is answered with two challenges
	GlobalFromZero     // netcode: handshake sequences start at 0
	OldAddressKept     // netcode: a migrated session also keeps its old address
	SlotKept           // netcode: the slot of an ended session stays taken
	NeverTimesOut      // netcode: silence ends no session
	DropUncounted      // netcode: a datagram that fails authentication is not counted
	JournalForgotten   // netcode: a start does not read the journal
	AckOffByOne        // packet: acks name the packet before
	AckUnchecked       // packet: an ack of a packet never sent is accepted
	MessageTwice       // packet: a repeated reliable message is delivered again
	MessageOutOfOrder  // packet: a missing reliable message is skipped
	MessageForgotten   // packet: messages of a lost packet count as delivered
	AckBitsShort       // packet: the upper half of the ack bits is read from the lower
	BaselineUnheld     // snapshot: a frame that was only sent serves as a baseline
	BaselineStale      // snapshot: an overwritten entry of the window keeps its rows
	CacheShared        // snapshot: rows encoded against other old baselines are reused
	RemovalUntold      // snapshot: a row that becomes invisible is not removed
	IDReused           // ecs: a reused slot keeps its old id
	InputTwice         // sim: a missing command repeats the last one as if it had arrived
	InputFar           // sim: a command is accepted however far ahead it is
	SubstituteFires    // sim: a bridged command keeps its trigger
	RewindLeft         // sim: a hit player stays where the shooter saw it
	HitOrder           // sim: damage is applied in the order of a map
	ClampOpen          // lagcomp: a view may be arbitrarily old
	ClampBackwards     // lagcomp: a view may go back
	UnseenHit          // server: a player that was never sent can be hit
	RemovedHit         // server: a player that was removed from a client's view can be hit
	VisibleForever     // interest: a player never leaves sight
	WrongRecipient     // server: a packet is sealed for the connection before
	TeamHeardByAll     // chat: the other team hears team chat
	TickAllocates      // server: each tick allocates a buffer
	RecordingForgets   // replay: one of a tick's joins and leaves is not recorded
	RecordingTorn      // replay: a partly written chunk stays in the file
	RecordingNoHistory // sim: a saved state lacks the pose history
	FourSteps          // sim: all bodies sometimes move four times in a tick
	JoinOrder          // server: joins of one tick are handled in the order of a map
	ViewBack           // client: the view jumps back when the announced delay grows
	TurnSkipped        // server: the turn of some far players never comes
	JoinTurnSkipped    // server: likewise of some players of a join burst

	// Those of hosts with many lobbies.

	LobbyMixed         // server: a payload is handed to another lobby
	NeighbourEnds      // server: a lobby that panics takes another one with it
	RouteKept          // server: a lobby that ends keeps the routes of its clients
	MapWritten         // server: a lobby writes the map that all share
	MoveReusesSequence // netcode: a session that moves seals its last sequence again
	MoveForgetsWindow  // netcode: a session that moves forgets what it has received
	HandOverForgets    // server: what waits for a lobby that moves is lost
	NumBugs            // number of bugs, None included
)

var names = [NumBugs]string{
	"none", "replay accepted", "window before auth", "token reused", "token anywhere",
	"challenge twice", "global from zero", "old address kept", "slot kept", "never times out",
	"drop uncounted", "journal forgotten", "ack off by one", "ack unchecked", "message twice",
	"message out of order", "message forgotten", "ack bits short", "baseline unheld", "baseline stale",
	"cache shared", "removal untold", "id reused", "input twice", "input far", "substitute fires",
	"rewind left", "hit order", "clamp open", "clamp backwards", "unseen hit", "removed hit",
	"visible forever", "wrong recipient", "team heard by all", "tick allocates", "recording forgets", "recording torn",
	"recording no history", "four steps", "join order", "view back", "turn skipped", "join turn skipped",
	"lobby mixed", "neighbour ends", "route kept", "map written",
	"move reuses sequence", "move forgets window", "hand-over forgets"}

// OfHosts reports whether the bug shows on hosts with many lobbies alone.
func (b Bug) OfHosts() bool { return b >= LobbyMixed }

// String returns the bug's name.
func (b Bug) String() string {
	if b >= NumBugs {
		return "?"
	}
	return names[b]
}

// Variable is the environment variable that names the bug in force when a process starts.
const Variable = "TICKRATE_MUTATION"

// active is the bug in force. A mutated build runs one test in one goroutine.
var active Bug

func init() {
	for b := range NumBugs {
		if os.Getenv(Variable) == b.String() {
			active = b
		}
	}
}

// On reports whether b is in force.
func On(b Bug) bool { return active == b }

// Set puts b in force and returns the bug that was.
func Set(b Bug) (was Bug) {
	was, active = active, b
	return was
}
