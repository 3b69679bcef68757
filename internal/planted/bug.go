package planted

// Bug is one of the bugs.
type Bug uint8

// The bugs, in the order in which a datagram would meet them. None is no bug.
const (
	None Bug = iota

	ReplayTaken      // netcode: a sequence that was received before is opened again
	WindowBeforeAuth // netcode: a forgery moves the replay window
	TokenReused      // netcode: a token is good for a second session
	TokenAnywhere    // netcode: a token is good from another address than the first
	AnswerTwice      // netcode: a request is answered with two challenges
	GlobalFromZero   // netcode: sequences of handshakes begin at 0
	OldAddressKept   // netcode: a session that has moved is also where it was
	SlotKept         // netcode: the slot of a session that ended is not free
	NeverTimesOut    // netcode: silence ends no session
	DropUncounted    // netcode: a datagram that does not open is not counted
	JournalForgotten // netcode: a start does not read the journal
	AckOffByOne      // packet: acks name the package before
	AckUnchecked     // packet: an ack of what was never sent is taken
	EventTwice       // packet: an event is handed out again when its package comes again
	EventOutOfOrder  // packet: a missing event is jumped over
	EventForgotten   // packet: what a lost package carried counts as delivered
	AckBitsShort     // wire: the upper half of the acks is read from the lower
	BaselineUnheld   // snapshot: a baseline that was merely sent
	BaselineStale    // snapshot: what an interval of the window held is not forgotten with it
	BlockShared      // snapshot: blocks against other old baselines are taken for ours
	DeathUntold      // snapshot: a row that must not be seen any more is not said to be gone
	IDReused         // ecs: a slot is given away under the id that it had
	InputTwice       // sim: the last command is applied again where one is missing, as if it had come
	InputFar         // sim: a command is taken however far ahead it is
	SubstituteFires  // sim: a missing command is bridged with its trigger
	RewindLeft       // sim: who was hit stays where its shooter saw it
	HitOrder         // sim: wounds are dealt out in the order of a map
	ClampOpen        // lagcomp: a view may be as old as it likes
	ClampBackwards   // lagcomp: a picture may run backwards
	UnseenHit        // server: who was not shown can be hit
	SightTooFar      // interest: nobody is ever out of sight again
	WrongEnvelope    // server: a package is sealed for the guest before
	TeamHeardByAll   // chat: the other team hears what a team says
	TickAllocates    // server: a buffer is made anew in every tick
	FilmForgets      // replay: who comes or goes in a tick is not all written down
	FilmTorn         // replay: what a full disk took of a chunk stays in the file
	FilmBlind        // sim: a state is saved without where everybody was before it
	BodiesHurry      // sim: now and then everybody moves four times in a tick
	JoinOrder        // server: who comes in the same tick gets players in the order of a map
	RenderBack       // client: the view jumps back where what was pledged lies behind what was drawn
	NumBugs          // how many there are, None included
)

var names = [NumBugs]string{"none", "replay taken", "window before auth", "token reused", "token anywhere", "answer twice", "global from zero",
	"old address kept", "slot kept", "never times out", "drop uncounted", "journal forgotten", "ack off by one", "ack unchecked", "event twice",
	"event out of order", "event forgotten", "ack bits short", "baseline unheld", "baseline stale", "block shared", "death untold", "id reused",
	"input twice", "input far", "substitute fires", "rewind left", "hit order", "clamp open", "clamp backwards", "unseen hit", "sight too far",
	"wrong envelope", "team heard by all", "tick allocates", "film forgets", "film torn", "film blind",
	"bodies hurry", "join order", "render back"}

// String names the bug.
func (b Bug) String() string {
	if b >= NumBugs {
		return "?"
	}
	return names[b]
}
