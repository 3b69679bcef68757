package wire

// Drop is a reason for which a datagram was refused. It is an error and an index of counters at once, so that no
// reason can be returned that nobody counts. Zero is none: the datagram was accepted.
type Drop uint8

// The reasons, in the order in which a datagram meets them.
const (
	DropNone      Drop = iota
	DropSize           // empty, longer than MaxDatagram, or not a length its kind can have
	DropKind           // a kind that does not exist or that this end does not take
	DropUnknown        // a session's datagram from an address that has none
	DropMagic          // a Hello of another game
	DropVersion        // a Hello of another version
	DropPadding        // a Hello whose padding is not zero
	DropSchema         // a Hello with other schemas than ours
	DropModel          // a Hello with another compression model than ours
	DropArena          // a Hello that wants another arena
	DropClosing        // a Hello or Response while the server closes
	DropText           // a name that is too long, not UTF-8 or not printable
	DropCookie         // a Response whose cookie is forged, from elsewhere or too old
	DropFull           // a good Response, but no place is free
	DropNonce          // an answer to somebody else's Hello
	DropState          // an answer that nobody waits for any more
	DropValue          // a field outside its range
	DropToken          // not this session's token
	DropClosed         // the session is over
	DropFuture         // a sequence too far ahead
	DropStale          // a sequence behind the window
	DropDuplicate      // a sequence received before
	DropAck            // an ack of something never sent
	DropSection        // a section that does not exist, comes twice or out of order
	DropEvents         // malformed events
	DropNotes          // malformed unreliable events
	DropFragment       // a malformed fragment, or of a blob that this end does not take
	DropCommands       // malformed commands
	DropSnapshot       // a malformed snapshot
	DropBudget         // a stranger's, beyond what a tick has time for
	NumDrops           // how many reasons there are, none included
)

var dropNames = [NumDrops]string{
	DropNone: "none", DropSize: "size", DropKind: "kind", DropUnknown: "unknown", DropMagic: "magic", DropVersion: "version",
	DropPadding: "padding", DropSchema: "schema", DropModel: "model", DropArena: "arena", DropClosing: "closing",
	DropText: "text", DropCookie: "cookie", DropFull: "full", DropNonce: "nonce", DropState: "state", DropValue: "value",
	DropToken: "token", DropClosed: "closed", DropFuture: "future", DropStale: "stale", DropDuplicate: "duplicate",
	DropAck: "ack", DropSection: "section", DropEvents: "events", DropNotes: "notes", DropFragment: "fragment",
	DropCommands: "commands", DropSnapshot: "snapshot",
	DropBudget: "budget",
}

var dropTexts = [NumDrops]string{
	DropNone:      "datagram accepted",
	DropSize:      "datagram: size not allowed",
	DropKind:      "datagram: kind not taken here",
	DropUnknown:   "datagram: no session at this address",
	DropMagic:     "hello: of another game",
	DropVersion:   "hello: of another version",
	DropPadding:   "hello: padding is not zero",
	DropSchema:    "hello: other schemas",
	DropModel:     "hello: other compression model",
	DropArena:     "hello: other arena",
	DropClosing:   "server is closing",
	DropText:      "text: too long, not UTF-8 or not printable",
	DropCookie:    "response: cookie is not ours or too old",
	DropFull:      "response: server is full",
	DropNonce:     "answer to another hello",
	DropState:     "answer that nobody waits for",
	DropValue:     "field out of its range",
	DropToken:     "payload: not this session's token",
	DropClosed:    "session is over",
	DropFuture:    "payload: sequence too far ahead",
	DropStale:     "payload: sequence behind the window",
	DropDuplicate: "payload: sequence received before",
	DropAck:       "payload: ack of something never sent",
	DropSection:   "payload: section unknown, repeated or out of order",
	DropEvents:    "events: malformed",
	DropNotes:     "notes: malformed",
	DropFragment:  "fragment: malformed, or of a blob not taken here",
	DropCommands:  "commands: malformed",
	DropSnapshot:  "snapshot: malformed",
	DropBudget:    "too many strangers at once",
}

// String is the reason's name as counters show it: one lower-case word.
func (d Drop) String() string {
	if d >= NumDrops {
		return "invalid"
	}
	return dropNames[d]
}

// Error says in a few words what was wrong. It never quotes the datagram.
func (d Drop) Error() string {
	if d >= NumDrops {
		return "invalid drop reason"
	}
	return dropTexts[d]
}
