package protocol

import "github.com/tickrate/tickrate/netio/packet"

// ChatKind is the kind of a chat line.
type ChatKind uint8

// The kinds of lines that a server sends.
const (
	ChatAll          ChatKind = iota
	ChatTeam                  // to the sender's team
	ChatWhisper               // to one player, and back to the sender
	ChatNotice                // from the server, about a line of the client
	ChatAnnouncement          // from the server, to all
	ChatAnswer                // from the server's console, to the client that asked
	ChatIdle                  // a warning without text: an idle player is removed after Seconds
	NumChatKinds              // number of kinds
)

// MaxLine is the longest text of a line, in bytes.
const MaxLine = 256

// chatHead is the length of a Chat without its text.
const chatHead = 1 + 1 + 4 + 4 + 4

// Chat is a line for a client to show, or the first part of one. A message of
// packet.MaxMessageSize bytes is followed by the rest of the text in a MessageChatContinued,
// which may be empty.
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

// Append writes c at the end of dst, with as much of its text as fits, and returns the rest. more
// reports whether the rest must follow in another message, even if it is empty.
func (c *Chat) Append(dst []byte) (message, rest []byte, more bool) {
	dst = append(dst, MessageChat, byte(c.Kind))
	dst = le.AppendUint32(dst, c.Seconds)
	dst = le.AppendUint32(dst, c.From)
	dst = le.AppendUint32(dst, c.To)
	n := min(len(c.Text), packet.MaxMessageSize-chatHead)
	return append(dst, c.Text[:n]...), c.Text[n:], n == packet.MaxMessageSize-chatHead
}

// ParseChat reads a Chat, whose text lies in src. more reports whether the rest of the text
// follows. The error is a packet.Drop.
func ParseChat(src []byte) (c Chat, more bool, err error) {
	if len(src) < chatHead || len(src) > packet.MaxMessageSize || src[0] != MessageChat ||
		src[1] >= byte(NumChatKinds) {
		return c, false, packet.DropMessage
	}
	c = Chat{ChatKind(src[1]), le.Uint32(src[2:]), le.Uint32(src[6:]), le.Uint32(src[10:]), src[chatHead:]}
	return c, len(src) == packet.MaxMessageSize, nil
}

// MaxLinePart is the longest part of a line in one message from a client.
const MaxLinePart = packet.MaxMessageSize - 1

// AppendLine writes the first part of a line after a tag, MessageSay or MessageConsole, at the
// end of dst and returns the rest. Another part, which may be empty, follows a part of
// MaxLinePart bytes; a shorter one ends the line.
func AppendLine(dst []byte, tag byte, line []byte) (message, rest []byte, more bool) {
	n := min(len(line), MaxLinePart)
	return append(append(dst, tag), line[:n]...), line[n:], n == MaxLinePart
}
