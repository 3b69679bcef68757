package packet

// Drop is the reason for which a packet was refused: an error and an index of counters at once,
// so that every reason is counted. Zero means that the packet was accepted.
type Drop uint8

// The reasons, in the order in which a packet meets them.
const (
	DropNone       Drop = iota
	DropState           // the session has no player yet
	DropSize            // shorter than a header, or longer than MaxPacketSize
	DropClosed          // the session is over
	DropFuture          // a sequence too far ahead
	DropStale           // a sequence behind the window
	DropDuplicate       // a sequence received before
	DropAck             // an ack of something never sent
	DropSection         // a section that does not exist, comes twice or out of order
	DropMessage         // malformed reliable messages
	DropVersion         // a Welcome of another version
	DropUnreliable      // malformed unreliable messages
	DropFragment        // a malformed fragment, or of a transfer that this end does not take
	DropReason          // a Close for a reason that does not exist
	DropCommands        // malformed commands
	DropSnapshot        // a malformed snapshot
	NumDrops            // number of reasons, DropNone included
)

var drops = [NumDrops]struct{ name, text string }{
	DropNone:       {"none", "packet accepted"},
	DropState:      {"drop_no_player", "packet: session has no player yet"},
	DropSize:       {"drop_packet_size", "packet: size not allowed"},
	DropClosed:     {"drop_closed", "packet: session is over"},
	DropFuture:     {"drop_future", "packet: sequence too far ahead"},
	DropStale:      {"drop_stale", "packet: sequence behind the window"},
	DropDuplicate:  {"drop_duplicate", "packet: sequence received before"},
	DropAck:        {"ack_invalid", "packet: ack of something never sent"},
	DropSection:    {"drop_section", "packet: section unknown, repeated or out of order"},
	DropMessage:    {"drop_message", "reliable messages: malformed"},
	DropVersion:    {"drop_version", "welcome: of another version"},
	DropUnreliable: {"drop_unreliable", "unreliable messages: malformed"},
	DropFragment:   {"drop_fragment", "fragment: malformed, or of a transfer not taken here"},
	DropReason:     {"drop_reason", "close: reason does not exist"},
	DropCommands:   {"drop_commands", "commands: malformed"},
	DropSnapshot:   {"drop_snapshot", "snapshot: malformed"},
}

// String returns the name of the reason's counter.
func (d Drop) String() string {
	if d >= NumDrops {
		return "invalid"
	}
	return drops[d].name
}

// Error says in a few words what was wrong. It never quotes the packet.
func (d Drop) Error() string {
	if d >= NumDrops {
		return "invalid drop reason"
	}
	return drops[d].text
}
