package client

import (
	"cmp"
	"fmt"
	"unicode/utf8"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/internal/ringbuf"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/sim"
)

// LineKind is the kind of a Line.
type LineKind uint8

// The kinds of lines. Those after LineAnswer have no text of the server: Append puts them into
// words.
const (
	LineAll          LineKind = iota // From said it, to all
	LineTeam                         // From said it, to its team
	LineWhisper                      // From said it, to To
	LineNotice                       // the server's answer to a line of ours
	LineAnnouncement                 // of the server, to all
	LineAnswer                       // of the server's console, to our command
	LineIdle                         // the player is idle, and kicked when Seconds are over
	LineJoined                       // From joined
	LineLeft                         // From left
	LineRenamed                      // From is now called ToName
	LineKilled                       // From killed To; both may be the same
	LineRound                        // Round of the round
)

// anonymous is the name of a player without a known one.
func anonymous(name string) string { return cmp.Or(name, "somebody") }

// Line is a line of chat, or something to be shown between those.
type Line struct {
	Kind     LineKind
	Seconds  uint32   // since the round began, by the server; of LineIdle: until the kick
	From, To netid.ID // 0: the server, or all
	FromName string   // when the line arrived; "" for the server, and for unknown players
	ToName   string
	Text     string // UTF-8 without invisible or bidirectional controls; not escaped for HTML
	Round    sim.RoundEvent
}

// Append appends a line as its player sees it. self is the player's id.
func (l *Line) Append(dst []byte, self netid.ID) []byte {
	if l.Kind <= LineAnnouncement {
		dst = fmt.Appendf(dst, "[%d:%02d] ", l.Seconds/60, l.Seconds%60)
	}
	switch l.Kind {
	case LineAll:
		return fmt.Appendf(dst, "%s: %s", l.FromName, l.Text)
	case LineTeam:
		return fmt.Appendf(dst, "(team) %s: %s", l.FromName, l.Text)
	case LineWhisper:
		if l.From == self {
			return fmt.Appendf(dst, "to %s: %s", l.ToName, l.Text)
		}
		return fmt.Appendf(dst, "%s whispers: %s", l.FromName, l.Text)
	case LineAnnouncement:
		return fmt.Appendf(dst, "* %s", l.Text)
	case LineIdle:
		return fmt.Appendf(dst, "* you do nothing: move, or you are removed in %d s", l.Seconds)
	case LineJoined:
		return fmt.Appendf(dst, "* %s has come in", l.FromName)
	case LineLeft:
		return fmt.Appendf(dst, "* %s has left", l.FromName)
	case LineRenamed:
		return fmt.Appendf(dst, "* %s is now called %s", l.FromName, l.ToName)
	case LineKilled:
		if l.From == l.To {
			return fmt.Appendf(dst, "* %s died of its own doing", anonymous(l.FromName))
		}
		return fmt.Appendf(dst, "* %s killed %s", anonymous(l.FromName), anonymous(l.ToName))
	case LineRound:
		return appendRoundEvent(append(dst, "* "...), &l.Round)
	}
	return append(dst, l.Text...)
}

// Player is the roster entry of a slot. It is known of players out of sight, too.
type Player struct {
	ID   netid.ID
	Team int8   // negative: a spectator
	Name string // unique
}

// maxLines is how many lines wait for Next.
const maxLines = 64

// Chat is the lines and the roster that the server has sent, the lines in a queue that overwrites
// its oldest; and the way to say something.
type Chat struct {
	pending   bool // Next may have a line
	linesOnly bool // keep no roster, and add no lines of kills and rounds
	conn      *conn
	ring      ringbuf.Ring[Line]
	partial   Line // its text continues in the next message
	open      bool // partial is in use
	players   []Player
}

// Next returns the next line, each once and in the order of the server. The oldest of more than 64
// are lost.
func (c *Chat) Next() (l Line, ok bool) {
	if !c.pending {
		return l, false
	}
	l, ok = c.ring.Pop()
	c.pending = ok
	return l, ok
}

// Player returns the roster entry of a slot. A player that just joined may be visible before its
// name is known. Only a client with DecodeFull knows any.
func (c *Chat) Player(slot int) (p Player, ok bool) {
	if slot < 0 || slot >= len(c.players) {
		return p, false
	}
	p = c.players[slot]
	return p, p.ID != 0
}

// ErrLine is an error of Say and Console. Others are ErrNotJoined and packet.ErrReliableFull: too
// many earlier lines are not acked yet.
var ErrLine = fmt.Errorf("client: line: expected 1 to %d bytes of UTF-8", protocol.MaxLine)

// Say sends a line to all, or to others by its command: /team, /whisper NAME, /reply. The server
// answers a line that it cannot deliver with a LineNotice.
func (c *Chat) Say(line string) error { return c.send(protocol.MessageSay, line) }

// Console has the server's console run a command, with a player's rights. Its answer comes as lines
// of kind LineAnswer.
func (c *Chat) Console(line string) error { return c.send(protocol.MessageConsole, line) }

func (c *Chat) send(tag byte, line string) error {
	if c.conn.state != Joined {
		return ErrNotJoined
	}
	if len(line) == 0 || len(line) > protocol.MaxLine || !utf8.ValidString(line) {
		return ErrLine
	}
	peer := c.conn.peer
	var message [packet.MaxMessageSize]byte
	part, rest, more := protocol.AppendLine(message[:0], tag, []byte(line))
	if more && peer.ReliablePending() == packet.MaxReliable-1 { // room for half of the line
		return packet.ErrReliableFull
	}
	err := peer.QueueReliable(part)
	if err == nil && more {
		part, _, _ = protocol.AppendLine(message[:0], tag, rest)
		err = peer.QueueReliable(part)
	}
	return err
}

// message takes a message with a line or names. known is false for any other message.
func (c *Chat) message(raw []byte, slots int) (known bool, err error) {
	switch raw[0] {
	case protocol.MessageRoster:
		err = c.readRoster(raw[1:], slots)
	case protocol.MessageChat:
		err = c.readLine(raw)
	case protocol.MessageChatContinued:
		err = c.readRest(raw[1:])
	default:
		return false, nil
	}
	c.pending = true
	return true, err
}

// readRoster takes rows of the roster: those before an invalid one stay.
func (c *Chat) readRoster(rows []byte, slots int) error {
	if len(rows) == 0 {
		return packet.DropMessage
	}
	if c.linesOnly {
		return nil
	}
	for len(rows) > 0 {
		row, rest, err := protocol.ParseRosterRow(rows)
		if err != nil {
			return err
		}
		slot := netid.ID(row.NetID).Index()
		if slot >= slots {
			return packet.DropMessage
		}
		c.setPlayer(slot, row)
		rows = rest
	}
	return nil
}

// setPlayer takes a row of the roster and adds the line that it implies.
func (c *Chat) setPlayer(slot int, row protocol.RosterRow) {
	id, known := netid.ID(row.NetID), Player{}
	if slot < len(c.players) {
		known = c.players[slot]
	}
	switch {
	case row.Name == "" && known.ID != id: // left before we knew of it
		return
	case known.ID != 0 && (known.ID != id || row.Name == ""):
		c.add(Line{Kind: LineLeft, From: known.ID, FromName: known.Name})
	case known.ID == id && known.Name != row.Name:
		c.add(Line{Kind: LineRenamed, From: id, FromName: known.Name, ToName: row.Name})
	}
	if row.Name == "" {
		c.players[slot] = Player{}
		return
	}
	if row.New && known.ID != id {
		c.add(Line{Kind: LineJoined, From: id, FromName: row.Name})
	}
	for slot >= len(c.players) {
		c.players = append(c.players, Player{})
	}
	c.players[slot] = Player{id, row.Team, row.Name}
}

// addKill adds the line of a kill.
func (c *Chat) addKill(e *sim.Event) {
	if e.Kind == sim.EventKill && !c.linesOnly {
		c.pending = true
		c.add(Line{
			Kind: LineKilled, From: e.Actor, To: e.Victim,
			FromName: c.name(e.Actor), ToName: c.name(e.Victim),
		})
	}
}

// addRoundEvent adds the line of an announcement.
func (c *Chat) addRoundEvent(n sim.RoundEvent) {
	if !c.linesOnly {
		c.pending = true
		c.add(Line{Kind: LineRound, Round: n})
	}
}

// name is the name of a player, "" if unknown.
func (c *Chat) name(id netid.ID) string {
	if slot := id.Index(); id != 0 && slot < len(c.players) && c.players[slot].ID == id {
		return c.players[slot].Name
	}
	return ""
}

// readLine takes a message with a line, or with the first part of a long one.
func (c *Chat) readLine(raw []byte) error {
	chat, more, err := protocol.ParseChat(raw)
	if err != nil || c.open {
		return packet.DropMessage
	}
	l := Line{
		Kind: LineKind(chat.Kind), Seconds: chat.Seconds, Text: string(chat.Text),
		From: netid.ID(chat.From), To: netid.ID(chat.To),
	}
	l.FromName, l.ToName = c.name(l.From), c.name(l.To)
	if more {
		c.partial, c.open = l, true
		return nil
	}
	return c.complete(l)
}

// readRest takes the message with the second part of a line.
func (c *Chat) readRest(rest []byte) error {
	if !c.open {
		return packet.DropMessage
	}
	c.open = false
	c.partial.Text += string(rest)
	return c.complete(c.partial)
}

// complete takes a line with all of its text.
func (c *Chat) complete(l Line) error {
	if len(l.Text) > protocol.MaxLine || !protocol.ValidText([]byte(l.Text), protocol.MaxLine) {
		return packet.DropMessage
	}
	c.add(l)
	return nil
}

func (c *Chat) add(l Line) { c.ring.Push(l) }

// reset forgets the roster for a change of the map. Lines that wait stay.
func (c *Chat) reset() { c.players, c.open = c.players[:0], false }
