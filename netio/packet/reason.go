package packet

// Reason is why a session was denied or ended. Zero is none and is never sent.
type Reason uint8

// The reasons. Only a client's own state shows ReasonFull and ReasonLeft: a netcode denial has no
// room for a reason, and a client that leaves needs none.
const (
	ReasonFull     Reason = 1  // no slot is free, or the server closes
	ReasonVersion  Reason = 2  // another protocol version
	ReasonSchema   Reason = 3  // other schemas: another build of the game
	ReasonModel    Reason = 4  // another compression model
	ReasonArena    Reason = 5  // an arena that the client does not have
	ReasonClosing  Reason = 6  // the server closes
	ReasonLeft     Reason = 7  // the player left
	ReasonTimeout  Reason = 8  // no packet came for too long
	ReasonReplaced Reason = 9  // a newer session of the player took the slot
	ReasonKicked   Reason = 10 // the server removed this player
	ReasonFault    Reason = 11 // an internal error ended the lobby
	ReasonIdle     Reason = 12 // the player did nothing for too long
	ReasonContent  Reason = 13 // the server plays another content pack
	ReasonOverload Reason = 14 // the server is overloaded and removes spectators
	ReasonNoLobby  Reason = 15 // the lobby of the token does not exist, or has ended
	// ReasonOtherHost: the lobby of the token is another host's, or an earlier process's.
	ReasonOtherHost Reason = 16
	lastReason             = ReasonOtherHost
)

var reasonTexts = [lastReason + 1]string{
	0:               "no reason",
	ReasonFull:      "server full or closing",
	ReasonVersion:   "server speaks another protocol version",
	ReasonSchema:    "server has other schemas (another build)",
	ReasonModel:     "server has another compression model",
	ReasonArena:     "server plays an arena that is not here",
	ReasonClosing:   "server is closing",
	ReasonLeft:      "player left",
	ReasonTimeout:   "timed out",
	ReasonReplaced:  "a newer session took the place",
	ReasonKicked:    "kicked",
	ReasonFault:     "lobby closed by an internal fault",
	ReasonIdle:      "player was idle for too long",
	ReasonContent:   "server plays another content pack",
	ReasonOverload:  "server is overloaded",
	ReasonNoLobby:   "lobby does not exist any more",
	ReasonOtherHost: "lobby is on another host",
}

// Valid reports whether a close may carry r.
func (r Reason) Valid() bool { return r >= ReasonFull && r <= lastReason }

// String returns the reason in words meant for a player.
func (r Reason) String() string {
	if r > lastReason {
		return "unknown reason"
	}
	return reasonTexts[r]
}
