package server

import (
	"time"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/chat"
	"github.com/tickrate/tickrate/server/metrics"
)

// Lines to everybody: so many at once, and then so many a second, from all players together. What one line costs grows with the lobby,
// and so does the number of those who say any.
const (
	publicBurst = 32
	publicEvery = time.Second / 16
)

// talk takes an event with a line, or a part of one, for the chat or the console. False if the event is none, or its sender is not
// ready.
func (l *Lobby) talk(now time.Duration, c *conn, event []byte) bool {
	tag := event[0]
	seat := &l.social.seats[c.id.Index()]
	if tag != protocol.MessageSay && tag != protocol.MessageConsole || !seat.on {
		return false
	}
	line := event[1:]
	if more := len(line) == protocol.MaxLinePart; more || seat.of == tag {
		if seat.of != tag { // what the other tag had begun is left
			seat.line = seat.line[:0]
		}
		room := protocol.MaxLine + 1 - len(seat.line) // one more than a line has shows that it is too long
		seat.line = append(seat.line, line[:min(len(line), room)]...)
		if seat.of = tag; more {
			return true
		}
		line = seat.line
	}
	seat.of, seat.line = 0, seat.line[:0]
	if tag == protocol.MessageSay {
		l.say(now, c, line)
	} else {
		l.ask(now, c, line)
	}
	return true
}

// say carries what a connection says to those it is for.
func (l *Lobby) say(now time.Duration, c *conn, line []byte) {
	s := &l.social
	if t := l.match.Tick(); s.teams != t {
		s.teams = t
		for _, slot := range l.live {
			if s.seats[slot].on {
				l.sides(int(slot))
			}
		}
	}
	l.Stats.Count[metrics.ChatLines].Inc()
	before := s.room.Refused()
	m, to := s.room.Post(now, s.table, c.id.Index(), line, s.to[:0])
	s.to = to[:0]
	for i, n := range s.room.Refused() {
		l.Stats.ChatRefused[i].Add(n - before[i])
	}
	if m.Kind == chat.All && len(to) > 0 && !s.public.admit(now, publicBurst, publicEvery) {
		l.Stats.Count[metrics.ChatRateLimited].Inc()
		m = chat.Message{Kind: chat.Notice, Seconds: m.Seconds, To: m.From, Text: []byte("too many speak at once: say it again in a moment")}
		to = append(to[:0], int32(c.id.Index()))
	}
	l.convey(now, chatOf(&m), to)
}

// Announce is what the server has to say to all who are ready. Call it between ticks.
func (l *Lobby) Announce(now time.Duration, text string) {
	m, to := l.social.room.Announce(now, l.social.table, text, l.social.to[:0])
	l.social.to = to[:0]
	l.convey(now, chatOf(&m), to)
}

// chatOf is a message as it travels. Names do not: the roster has them.
func chatOf(m *chat.Message) protocol.Chat {
	return protocol.Chat{Kind: protocol.ChatKind(m.Kind), Seconds: m.Seconds, From: m.From, To: m.To, Text: m.Text}
}

// longestWait is for how long lines may fill a thin line in advance.
const longestWait = 4 * time.Second

// convey queues a line for the connections in some slots. Who hears so little that its queue is half full does not hear it.
func (l *Lobby) convey(now time.Duration, line protocol.Chat, to []int32) {
	event, rest, more := line.Append(l.social.event[:0])
	for _, slot := range to {
		c, seat := &l.conns[slot], &l.social.seats[slot]
		if c.session.peer.ReliablePending() >= chatQueue || seat.clear-now > longestWait {
			l.Stats.Count[metrics.ChatUndelivered].Inc()
			continue
		}
		l.name(now, c, netid.ID(line.From))
		l.name(now, c, netid.ID(line.To))
		if c.session.peer.QueueReliable(event) != nil || more && c.session.peer.QueueReliable(append(append(l.social.row[:0], protocol.MessageChatContinued), rest...)) != nil {
			panic("server: no room for a line in a queue that had some")
		}
		seat.pay(now, c, len(event)+len(rest))
		l.Stats.Count[metrics.ChatDelivered].Inc()
	}
}
