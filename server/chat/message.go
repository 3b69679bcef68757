package chat

import "fmt"

// Kind is the audience of a message.
type Kind uint8

// The kinds.
const (
	All Kind = iota
	Team
	Whisper      // to one player, and back to the sender
	Notice       // from the server to one player, about a line of that player
	Announcement // from the server
)

// Message is a line as it is delivered. Text is memory of the room, valid until the room's next
// call.
type Message struct {
	Kind     Kind
	Refusal  Refusal // of a notice: why
	Seconds  uint32  // since the start of the round
	From, To uint32  // ids of players; From 0: the server; To 0: not to one player
	FromName string
	ToName   string // of a whisper
	FromTeam int8
	Text     []byte // clean, at most MaxText bytes
}

// Append appends the message as the player with the id viewer reads it.
func (m *Message) Append(dst []byte, viewer uint32) []byte {
	dst = fmt.Appendf(dst, "[%d:%02d] ", m.Seconds/60, m.Seconds%60)
	switch {
	case m.Kind == Announcement:
		dst = append(dst, "* "...)
	case m.Kind == Whisper && m.From == viewer:
		dst = append(append(append(dst, "to "...), m.ToName...), ": "...)
	case m.Kind == Whisper:
		dst = append(append(dst, m.FromName...), " whispers: "...)
	case m.Kind == Team:
		dst = append(append(append(dst, "(team) "...), m.FromName...), ": "...)
	case m.Kind == All:
		dst = append(append(dst, m.FromName...), ": "...)
	}
	return append(dst, m.Text...)
}

// Refusal is why a line was refused.
type Refusal uint8

// The refusals.
const (
	RefusedNone      Refusal = iota
	RefusedRate              // too many lines; the sender is told once per limit
	RefusedLong              // more than MaxText bytes
	RefusedText              // not UTF-8
	RefusedEmpty             // no visible text
	RefusedMuted             // the sender may not speak
	RefusedCommand           // unknown command
	RefusedName              // a whisper without a name, or with an open quote
	RefusedUnknown           // no player has the name
	RefusedAmbiguous         // several players have it
	RefusedSelf              // a whisper to oneself
	RefusedReply             // no whisper came, or its sender has left
	NumRefusals              // how many there are
)

var refusalNames = [NumRefusals]string{
	"none", "chat_rate", "chat_long", "chat_text", "chat_empty", "chat_muted", "chat_command", "chat_name",
	"chat_unknown", "chat_ambiguous", "chat_self", "chat_reply",
}

// String returns the refusal's name in reports.
func (r Refusal) String() string { return refusalNames[r] }
