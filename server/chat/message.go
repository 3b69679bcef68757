package chat

import "fmt"

// Kind says who a message is for.
type Kind uint8

// The kinds.
const (
	All Kind = iota
	Team
	Whisper      // goes to whom it is for, and back to who said it
	Notice       // from the server to one player, about what that player said
	Announcement // from the server
)

// Message is what was said. Its Text is the room's memory, and good until the room's next call.
type Message struct {
	Kind     Kind
	Refusal  Refusal // of a notice: why
	Seconds  uint32  // since the round began
	From, To uint32  // ids of players; 0 for the server, and for nobody
	FromName string
	ToName   string // of a whisper
	FromTeam int8
	Text     []byte // clean, at most MaxText bytes
}

// Append writes a message as a player sees it.
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

// Refusal says why a line was not carried out.
type Refusal uint8

// The refusals.
const (
	RefusedNone      Refusal = iota
	RefusedRate              // said too much of late; told once, until the sender is quiet for a while
	RefusedLong              // more than MaxText bytes
	RefusedText              // no UTF-8
	RefusedEmpty             // nothing to see in it
	RefusedMuted             // the sender may not speak
	RefusedCommand           // a command that there is not
	RefusedName              // a whisper without a name, or with a quote that does not end
	RefusedUnknown           // nobody has the name
	RefusedAmbiguous         // several have it
	RefusedSelf              // a whisper to oneself
	RefusedReply             // nobody has whispered, or who did has left
	NumRefusals              // how many there are
)

var refusalNames = [NumRefusals]string{"none", "chat_rate", "chat_long", "chat_text", "chat_empty", "chat_muted", "chat_command", "chat_name", "chat_unknown", "chat_ambiguous", "chat_self", "chat_reply"}

// String is the refusal's name in reports.
func (r Refusal) String() string { return refusalNames[r] }
