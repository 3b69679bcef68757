package packet

// Drop is a reason for which a package was refused. It is an error and an index of counters at once, so that no
// reason can be returned that nobody counts. Zero is none: the package was accepted.
type Drop uint8

// The reasons, in the order in which a package meets them.
const (
	DropNone       Drop = iota
	DropState           // its session has no player yet
	DropSize            // shorter than a header, or longer than MaxPacketSize
	DropClosed          // the session is over
	DropFuture          // a sequence too far ahead
	DropStale           // a sequence behind the window
	DropDuplicate       // a sequence received before
	DropAck             // an ack of something never sent
	DropSection         // a section that does not exist, comes twice or out of order
	DropMessage         // malformed events
	DropVersion         // a Welcome of another version
	DropUnreliable      // malformed unreliable events
	DropFragment        // a malformed fragment, or of a blob that this end does not take
	DropReason          // a Close for a reason that does not exist
	DropCommands        // malformed commands
	DropSnapshot        // a malformed snapshot
	NumDrops            // how many reasons there are, none included
)

var drops = [NumDrops]struct{ name, text string }{
	DropNone:       {"none", "package accepted"},
	DropState:      {"drop_no_player", "package: session has no player yet"},
	DropSize:       {"drop_package_size", "package: size not allowed"},
	DropClosed:     {"drop_closed", "package: session is over"},
	DropFuture:     {"drop_future", "package: sequence too far ahead"},
	DropStale:      {"drop_stale", "package: sequence behind the window"},
	DropDuplicate:  {"drop_duplicate", "package: sequence received before"},
	DropAck:        {"ack_invalid", "package: ack of something never sent"},
	DropSection:    {"drop_message_type", "package: section unknown, repeated or out of order"},
	DropMessage:    {"drop_events", "events: malformed"},
	DropVersion:    {"drop_version", "welcome: of another version"},
	DropUnreliable: {"drop_notes", "notes: malformed"},
	DropFragment:   {"drop_fragment", "fragment: malformed, or of a blob not taken here"},
	DropReason:     {"drop_reason", "close: reason does not exist"},
	DropCommands:   {"drop_commands", "commands: malformed"},
	DropSnapshot:   {"drop_snapshot", "snapshot: malformed"},
}

// String is the reason's name as counters show it.
func (d Drop) String() string {
	if d >= NumDrops {
		return "invalid"
	}
	return drops[d].name
}

// Error says in a few words what was wrong. It never quotes the package.
func (d Drop) Error() string {
	if d >= NumDrops {
		return "invalid drop reason"
	}
	return drops[d].text
}
