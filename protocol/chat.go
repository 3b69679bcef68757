package protocol

import "github.com/tickrate/tickrate/netio/packet"

// ChatKind says what a line is.
type ChatKind uint8

// The kinds of lines that a server sends.
const (
	ChatAll          ChatKind = iota
	ChatTeam                  // to the sender's team
	ChatWhisper               // to one player, and back to who said it
	ChatNotice                // of the server, about what the client said
	ChatAnnouncement          // of the server, to all
	ChatAnswer                // of the server's console, to who asked it
	ChatIdle                  // a warning without a text: who does nothing is removed when Seconds are over
	NumChatKinds              // how many there are
)

// MaxLine is the longest text of a line, in bytes.
const MaxLine = 256

// chatHead is the length of a Chat without its text.
const chatHead = 1 + 1 + 4 + 4 + 4

// Chat is a line that a client is to show, or the first part of it: if the event is packet.MaxMessageSize bytes long, the next one is the rest of
// the text behind MessageChatContinued, which may be nothing.
//
//	1  tag      0xc1
//	1  kind
//	4  seconds  since the round began; of ChatIdle: until the player is removed
//	4  from     net id, 0 for the server
//	4  to       net id, 0 for all
//	n  text     UTF-8, 0 to 242 bytes
type Chat struct {
	Kind     ChatKind
	Seconds  uint32
	From, To uint32
	Text     []byte
}

// Append writes c at the end of dst, with as much of its text as there is room for, and returns the rest of it. more tells whether
// that has to follow, though it may be nothing.
func (c *Chat) Append(dst []byte) (event, rest []byte, more bool) {
	dst = append(dst, MessageChat, byte(c.Kind))
	dst = le.AppendUint32(dst, c.Seconds)
	dst = le.AppendUint32(dst, c.From)
	dst = le.AppendUint32(dst, c.To)
	n := min(len(c.Text), packet.MaxMessageSize-chatHead)
	return append(dst, c.Text[:n]...), c.Text[n:], n == packet.MaxMessageSize-chatHead
}

// ParseChat reads a Chat, whose text lies in src. The error is a packet.Drop. more tells whether the rest of the text follows.
func ParseChat(src []byte) (c Chat, more bool, err error) {
	if len(src) < chatHead || len(src) > packet.MaxMessageSize || src[0] != MessageChat || src[1] >= byte(NumChatKinds) {
		return c, false, packet.DropMessage
	}
	c = Chat{ChatKind(src[1]), le.Uint32(src[2:]), le.Uint32(src[6:]), le.Uint32(src[10:]), src[chatHead:]}
	return c, len(src) == packet.MaxMessageSize, nil
}

// MaxLinePart is the most of a line that one event from a client carries.
const MaxLinePart = packet.MaxMessageSize - 1

// AppendLine writes the first part of a line behind a tag, MessageSay or MessageConsole, at the end of dst and returns the rest. A part of
// MaxLinePart bytes is followed by another, which may be empty; a shorter one ends the line.
func AppendLine(dst []byte, tag byte, line []byte) (event, rest []byte, more bool) {
	n := min(len(line), MaxLinePart)
	return append(append(dst, tag), line[:n]...), line[n:], n == MaxLinePart
}
