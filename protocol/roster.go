package protocol

import "github.com/tickrate/tickrate/netio/packet"

// Tags of the messages about players and their lines. Messages of the game and of a session's
// start have other tags.
const (
	MessageRoster        byte = 0xc0 // server to client: players
	MessageChat          byte = 0xc1 // server to client: a line
	MessageChatContinued byte = 0xc2 // server to client: the rest of a text that did not fit
	MessageSay           byte = 0xc4 // client to server: a line for the chat
	MessageConsole       byte = 0xc5 // client to server: a line for the console
)

// Bounds of names. A server allows 16 characters.
const (
	MaxName      = 64 // bytes
	rosterRow    = 6  // bytes before the name
	MaxRosterRow = rosterRow + MaxName
)

// rosterNewBit marks a player that came in after the client was ready, beside the length of the
// name.
const rosterNewBit = 0x80

// RosterRow is the name and team of one player. A roster message is MessageRoster and one or more
// rows, without a count. Each row is complete, so that the last one is right.
//
//	4  net id  not 0
//	1  team    signed; negative for spectators
//	1  bits 0 to 6: length of the name, 0 to 64; 0: the player has left
//	   bit 7: the player came in after the client was ready
//	n  name    printable UTF-8
type RosterRow struct {
	NetID uint32
	Team  int8
	New   bool
	Name  string // "" if the player has left
}

// Size returns the number of bytes that Append writes.
func (r *RosterRow) Size() int { return rosterRow + len(r.Name) }

// Append writes r at the end of dst, after the tag or another row. The name must pass ValidText.
func (r *RosterRow) Append(dst []byte) []byte {
	n := byte(len(r.Name))
	if r.New {
		n |= rosterNewBit
	}
	dst = le.AppendUint32(dst, r.NetID)
	dst = append(dst, byte(r.Team), n)
	return append(dst, r.Name...)
}

// ParseRosterRow reads a row after the tag or another row, and returns what follows it. The
// error is a packet.Drop.
func ParseRosterRow(src []byte) (r RosterRow, rest []byte, err error) {
	if len(src) < rosterRow {
		return r, nil, packet.DropMessage
	}
	r.NetID, r.Team, r.New = le.Uint32(src), int8(src[4]), src[5]&rosterNewBit != 0
	n := int(src[5] &^ rosterNewBit)
	src = src[rosterRow:]
	if r.NetID == 0 || n > len(src) || !ValidText(src[:n], MaxName) || r.New && n == 0 {
		return r, nil, packet.DropMessage
	}
	r.Name = string(src[:n])
	return r, src[n:], nil
}
