package server

import (
	"time"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/ratelimit"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/chat"
	"github.com/tickrate/tickrate/server/metrics"
)

// Lines to everybody: a burst, and then publicPerSecond, from all players together. A line costs
// more in a larger lobby, and a larger lobby has more players that say any.
const (
	publicBurst     = 32
	publicPerSecond = 16
)

// chatLines takes lines of chat from connections, and queues them with the connections that they
// are for.
type chatLines struct {
	*core
	roster  *roster
	room    *chat.Room
	teamsAt tick.Tick        // tick in which all teams were last taken from the match
	public  ratelimit.Bucket // of lines to everybody
	partial []line           // by slot
	to      []int32          // scratch: the slots that a line is for
	message [packet.MaxMessageSize]byte
	rest    [packet.MaxMessageSize]byte
}

// line is the part of a line that a connection has sent so far.
type line struct {
	tag  byte // 0: none
	text []byte
}

func newChat(c *core, r *roster) chatLines {
	n := c.cfg.Players
	return chatLines{
		core: c, roster: r, room: chat.NewRoom(n, chat.Limits{}),
		partial: make([]line, n), to: make([]int32, 0, n),
		public: ratelimit.NewBurst(publicPerSecond, publicBurst),
	}
}

// disconnect forgets what the connection of a slot has begun to say.
func (s *chatLines) disconnect(slot int) { s.partial[slot] = line{text: s.partial[slot].text[:0]} }

// assemble takes a message with a line or a part of one, and returns the line once it is whole. A
// line is at most one byte longer than protocol.MaxLine allows, which shows that it is too long.
func (s *chatLines) assemble(slot int, message []byte) (text []byte, whole bool) {
	tag, part, partial := message[0], message[1:], &s.partial[slot]
	text = part
	if more := len(part) == protocol.MaxLinePart; more || partial.tag == tag {
		if partial.tag != tag { // what another tag has begun is dropped
			partial.text = partial.text[:0]
		}
		room := protocol.MaxLine + 1 - len(partial.text)
		partial.text = append(partial.text, part[:min(len(part), room)]...)
		if partial.tag = tag; more {
			return nil, false
		}
		text = partial.text
	}
	partial.tag, partial.text = 0, partial.text[:0]
	return text, true
}

// tooManySpeak is the answer to a line to everybody that finds the bucket of all players empty.
const tooManySpeak = "too many speak at once: say it again in a moment"

// say queues a connection's line with those it is for.
func (s *chatLines) say(now time.Duration, c *conn, text []byte) {
	if t := s.match.Tick(); s.teamsAt != t {
		s.teamsAt = t
		for _, slot := range s.live {
			if s.roster.viewers[slot].ready {
				s.roster.updateTeam(int(slot))
			}
		}
	}
	s.Stats.Count[metrics.ChatLines].Inc()
	before := s.room.Refused()
	m, to := s.room.Post(now, s.roster.players, c.id.Index(), text, s.to[:0])
	s.to = to[:0]
	for i, n := range s.room.Refused() {
		s.Stats.ChatRefused[i].Add(n - before[i])
	}
	if m.Kind == chat.All && len(to) > 0 && !s.public.Allow(now, 1) {
		s.Stats.Count[metrics.ChatRateLimited].Inc()
		m = chat.Message{Kind: chat.Notice, Seconds: m.Seconds, To: m.From, Text: []byte(tooManySpeak)}
		to = append(to[:0], int32(c.id.Index()))
	}
	s.deliver(now, chatMessage(&m), to)
}

// announce queues a line of the server with every connection that is ready.
func (s *chatLines) announce(now time.Duration, text string) {
	m, to := s.room.Announce(now, s.roster.players, text, s.to[:0])
	s.to = to[:0]
	s.deliver(now, chatMessage(&m), to)
}

// tell queues a line of the server with one connection.
func (s *chatLines) tell(now time.Duration, c *conn, m protocol.Chat) {
	m.To = uint32(c.id)
	s.to = append(s.to[:0], int32(c.id.Index()))
	s.deliver(now, m, s.to)
}

// chatMessage is a line as it travels. Names do not: the roster has them.
func chatMessage(m *chat.Message) protocol.Chat {
	kind := protocol.ChatKind(m.Kind)
	return protocol.Chat{Kind: kind, Seconds: m.Seconds, From: m.From, To: m.To, Text: m.Text}
}

// maxLinkAhead is for how long lines may fill a limited link ahead.
const maxLinkAhead = 4 * time.Second

// deliver queues a line with the connections of some slots. A connection that takes its messages so
// slowly that its queue is half full misses the line.
func (s *chatLines) deliver(now time.Duration, m protocol.Chat, to []int32) {
	message, rest, more := m.Append(s.message[:0])
	for _, slot := range to {
		c, viewer := &s.conns[slot], &s.roster.viewers[slot]
		if c.session.peer.ReliablePending() >= chatQueue || viewer.clear-now > maxLinkAhead {
			s.Stats.Count[metrics.ChatUndelivered].Inc()
			continue
		}
		s.roster.sendName(now, c, netid.ID(m.From))
		s.roster.sendName(now, c, netid.ID(m.To))
		err := c.session.peer.QueueReliable(message)
		if err == nil && more {
			continued := append(append(s.rest[:0], protocol.MessageChatContinued), rest...)
			err = c.session.peer.QueueReliable(continued)
		}
		if err != nil {
			panic("server: no room for a line in a queue that had some")
		}
		viewer.charge(now, c, len(message)+len(rest))
		s.Stats.Count[metrics.ChatDelivered].Inc()
	}
}
