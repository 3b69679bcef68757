package client

import (
	"cmp"
	"fmt"
	"unicode/utf8"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/sim"
)

// LineKind says what a line is.
type LineKind uint8

// The kinds of lines. Those behind LineAnswer have no text of the server: they are for whoever shows them to put into words.
const (
	LineAll          LineKind = iota // From said it, to all
	LineTeam                         // to its team
	LineWhisper                      // to To; both get it
	LineNotice                       // the server, about what we said
	LineAnnouncement                 // the server, to all
	LineAnswer                       // the server's console, to what we asked it
	LineIdle                         // we do nothing, and are removed when Seconds are over
	LineJoined                       // From has come in
	LineLeft                         // From has gone
	LineRenamed                      // From is now called ToName
	LineKilled                       // From has killed To, which may be itself
	LineNews                         // News of the round
)

// anonymous is what somebody is called of whom we do not know more.
func anonymous(name string) string { return cmp.Or(name, "somebody") }

// Line is something to be shown between the players' own lines, or one of those.
type Line struct {
	Kind     LineKind
	Seconds  uint32   // since the round began, as the server counts; of LineIdle: until we are removed
	From, To netid.ID // 0 for the server, and for all
	FromName string   // when the line came; "" of the server, and of somebody whom we do not know, as a Thin client does nobody
	ToName   string
	Text     string // UTF-8 without anything that is invisible or turns the direction of writing; may be "<b>" or anything else that is text
	News     sim.RoundEvent
}

// Append writes a line as its player sees it, at the end of dst. self is our own id.
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
	case LineNews:
		return appendNews(append(dst, "* "...), &l.News)
	}
	return append(dst, l.Text...)
}

// Player is what we are told of who is in a slot. Its team is also in what it looks like; here it is of those out of sight, too.
type Player struct {
	ID   netid.ID
	Team int8   // negative for who looks on
	Name string // nobody else has it
}

// lineRing is how many lines wait for NextLine.
const lineRing = 64

// talk is the lines and names that the server has told us.
type talk struct {
	in, out uint64
	ring    []Line // made with the first
	overrun uint64
	half    Line // whose text goes on in the next event
	open    bool
	players []Player // by slot, as far as anybody is known
}

// NextLine returns the next line to be shown, each once and in the order in which the server told it. Of more than 64 that nobody asked
// for the oldest are gone.
func (c *Client) NextLine() (Line, bool) {
	if !c.reads {
		return Line{}, false
	}
	t := &c.talk
	if t.in == t.out {
		c.reads = false
		return Line{}, false
	}
	at := &t.ring[t.out%lineRing]
	l := *at
	*at = Line{}
	t.out++
	return l, true
}

// Player returns who is in a slot, as far as the server has told us. Who has just come in may be seen before its name is known; a Thin
// client knows nobody.
func (c *Client) Player(slot int) (p Player, ok bool) {
	if slot < 0 || slot >= len(c.talk.players) {
		return p, false
	}
	p = c.talk.players[slot]
	return p, p.ID != 0
}

// ErrLine is an error of Say and Console; ErrNotJoined and packet.ErrReliableFull are others: too much of what was said before is not acknowledged yet.
var ErrLine = fmt.Errorf("client: line: expected 1 to %d bytes of UTF-8", protocol.MaxLine)

// Say says a line to all, or as its command tells: /team, /whisper NAME, /reply. The server refuses what it cannot carry out with a
// LineNotice.
func (c *Client) Say(line string) error { return c.said(protocol.MessageSay, line) }

// Console has the server's console run a line, as far as guests may. Its answer comes as lines, LineAnswer each.
func (c *Client) Console(line string) error { return c.said(protocol.MessageConsole, line) }

func (c *Client) said(tag byte, line string) error {
	if c.state != Joined {
		return ErrNotJoined
	}
	if len(line) == 0 || len(line) > protocol.MaxLine || !utf8.ValidString(line) {
		return ErrLine
	}
	var event [packet.MaxMessageSize]byte
	part, rest, more := protocol.AppendLine(event[:0], tag, []byte(line))
	if more && c.peer.ReliablePending() == packet.MaxReliable-1 { // or half of the line would be said
		return packet.ErrReliableFull
	}
	err := c.peer.QueueReliable(part)
	if err == nil && more {
		part, _, _ = protocol.AppendLine(event[:0], tag, rest)
		err = c.peer.QueueReliable(part)
	}
	return err
}

// social takes an event that has a line or names. ok is false if it is none of those.
func (c *Client) social(event []byte) (ok bool, err error) {
	switch event[0] {
	case protocol.MessageRoster:
		err = c.roster(event[1:])
	case protocol.MessageChat:
		err = c.chat(event)
	case protocol.MessageChatContinued:
		err = c.chatRest(event[1:])
	default:
		return false, nil
	}
	c.reads = true
	return true, err
}

// roster takes an event's rows: those before a bad one stay.
func (c *Client) roster(rows []byte) error {
	if len(rows) == 0 {
		return packet.DropMessage
	}
	if c.cfg.Thin {
		return nil
	}
	for len(rows) > 0 {
		row, rest, err := protocol.ParseRosterRow(rows)
		if err != nil {
			return err
		}
		slot := netid.ID(row.NetID).Index()
		if slot >= int(c.welcome.MaxPlayers) {
			return packet.DropMessage
		}
		c.talk.enter(slot, row)
		rows = rest
	}
	return nil
}

// enter takes a row, and says what it means.
func (t *talk) enter(slot int, row protocol.RosterRow) {
	id, known := netid.ID(row.NetID), Player{}
	if slot < len(t.players) {
		known = t.players[slot]
	}
	switch {
	case row.Name == "" && known.ID != id: // gone before we knew of it
		return
	case known.ID != 0 && (known.ID != id || row.Name == ""):
		t.add(Line{Kind: LineLeft, From: known.ID, FromName: known.Name})
	case known.ID == id && known.Name != row.Name:
		t.add(Line{Kind: LineRenamed, From: id, FromName: known.Name, ToName: row.Name})
	}
	if row.Name == "" {
		t.players[slot] = Player{}
		return
	}
	if row.New && known.ID != id {
		t.add(Line{Kind: LineJoined, From: id, FromName: row.Name})
	}
	for slot >= len(t.players) {
		t.players = append(t.players, Player{})
	}
	t.players[slot] = Player{id, row.Team, row.Name}
}

// happened puts a kill between the lines.
func (c *Client) happened(e sim.Event) {
	if t := &c.talk; e.Kind == sim.EventKill && !c.cfg.Thin {
		c.reads = true
		t.add(Line{Kind: LineKilled, From: e.Actor, To: e.Victim, FromName: t.named(e.Actor), ToName: t.named(e.Victim)})
	}
}

// named is what the player with an id is called.
func (t *talk) named(id netid.ID) string {
	if slot := id.Index(); id != 0 && slot < len(t.players) && t.players[slot].ID == id {
		return t.players[slot].Name
	}
	return ""
}

func (c *Client) chat(event []byte) error {
	t := &c.talk
	said, more, err := protocol.ParseChat(event)
	if err != nil || t.open {
		return packet.DropMessage
	}
	l := Line{Kind: LineKind(said.Kind), Seconds: said.Seconds, From: netid.ID(said.From), To: netid.ID(said.To), Text: string(said.Text)}
	l.FromName, l.ToName = t.named(l.From), t.named(l.To)
	if more {
		t.half, t.open = l, true
		return nil
	}
	return t.whole(l)
}

func (c *Client) chatRest(rest []byte) error {
	t := &c.talk
	if !t.open {
		return packet.DropMessage
	}
	t.open = false
	t.half.Text += string(rest)
	return t.whole(t.half)
}

// whole takes a line of which all has come.
func (t *talk) whole(l Line) error {
	if len(l.Text) > protocol.MaxLine || !protocol.ValidText([]byte(l.Text), protocol.MaxLine) {
		return packet.DropMessage
	}
	t.add(l)
	return nil
}

func (t *talk) add(l Line) {
	if t.in-t.out == lineRing {
		t.out++
		t.overrun++
	}
	if t.ring == nil {
		t.ring = make([]Line, lineRing)
	}
	t.ring[t.in%lineRing] = l
	t.in++
}
