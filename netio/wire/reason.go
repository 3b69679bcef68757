package wire

// Reason says why a session was denied or ended. Zero is none and is never sent.
type Reason uint8

// The reasons. 1 to 6 deny entry, the others end a session; Closing does both.
const (
	ReasonFull     Reason = 1  // no place is free
	ReasonVersion  Reason = 2  // another protocol version
	ReasonSchema   Reason = 3  // other schemas: another build of the game
	ReasonModel    Reason = 4  // another compression model
	ReasonArena    Reason = 5  // another arena
	ReasonClosing  Reason = 6  // the server closes
	ReasonLeft     Reason = 7  // the player left
	ReasonTimeout  Reason = 8  // nothing was heard for too long
	ReasonReplaced Reason = 9  // a newer session took the place
	ReasonKicked   Reason = 10 // the server does not want this player
	ReasonFault    Reason = 11 // the lobby ended by a fault of its own
	lastReason            = ReasonFault
)

var reasonTexts = [lastReason + 1]string{
	0:              "no reason",
	ReasonFull:     "server full",
	ReasonVersion:  "server speaks another protocol version",
	ReasonSchema:   "server has other schemas (another build)",
	ReasonModel:    "server has another compression model",
	ReasonArena:    "server plays another arena",
	ReasonClosing:  "server is closing",
	ReasonLeft:     "player left",
	ReasonTimeout:  "timed out",
	ReasonReplaced: "a newer session took the place",
	ReasonKicked:   "kicked",
	ReasonFault:    "lobby closed by an internal fault",
}

// Valid reports whether r may stand in a datagram.
func (r Reason) Valid() bool { return r >= ReasonFull && r <= lastReason }

// String says the reason in words meant for a player.
func (r Reason) String() string {
	if r > lastReason {
		return "unknown reason"
	}
	return reasonTexts[r]
}

// Drop is the counter of a Hello or Response that was denied for reason r; DropNone when r denies nothing.
func (r Reason) Drop() Drop {
	switch r {
	case ReasonFull:
		return DropFull
	case ReasonVersion:
		return DropVersion
	case ReasonSchema:
		return DropSchema
	case ReasonModel:
		return DropModel
	case ReasonArena:
		return DropArena
	case ReasonClosing:
		return DropClosing
	}
	return DropNone
}
