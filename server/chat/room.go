package chat

import (
	"fmt"
	"time"

	"github.com/tickrate/tickrate/internal/planted"
)

// Player is a row of the table of those who are there. Its index is the seat.
type Player struct {
	ID    uint32 // of the player, no other's before or after; 0: the seat is empty
	Name  string // as CleanName makes it
	Team  int8   // negative for those who only look on: they are a team of their own
	Muted bool   // may not speak
}

// Limits bound how much one player may say. Zero fields mean the defaults named.
type Limits struct {
	Burst int           // lines at once; default 5
	Every time.Duration // in which one more may be said; default 1.5 s
}

// Room is a lobby's chat. What it remembers of a player goes when another has the seat.
type Room struct {
	limits   Limits
	began    time.Duration // the round
	speakers []speaker
	refused  [NumRefusals]uint64
	text     []byte // of the last message
}

// speaker is what is remembered of a player.
type speaker struct {
	id       uint32
	debt     time.Duration // until all that was said is forgotten
	at       time.Duration // of the debt
	warned   bool          // that it says too much
	whispers uint32        // id of who whispered last
}

// NewRoom makes a chat for so many seats.
func NewRoom(seats int, limits Limits) *Room {
	if limits.Burst <= 0 {
		limits.Burst = 5
	}
	if limits.Every <= 0 {
		limits.Every = 1500 * time.Millisecond
	}
	return &Room{limits: limits, speakers: make([]speaker, seats), text: make([]byte, 0, 2*MaxText)}
}

// Round says that a round begins: times are counted from here.
func (r *Room) Round(now time.Duration) { r.began = now }

// Refused counts lines that were not carried out, by reason.
func (r *Room) Refused() [NumRefusals]uint64 { return r.refused }

// Announce is what the server has to say to everybody. The text is cleaned as any other's, and cut at MaxText bytes.
func (r *Room) Announce(now time.Duration, players []Player, text string, to []int32) (Message, []int32) {
	m := r.server(now, text)
	return m, everybody(players, to)
}

func (r *Room) server(now time.Duration, text string) Message {
	r.text, _ = Clean(r.text[:0], []byte(cut(text)))
	return Message{Kind: Announcement, Seconds: r.seconds(now), Text: r.text}
}

// Post takes a line that a player said, and appends the seats that the message goes to: nobody, if the seat is empty, or if the player
// says too much and was told so.
func (r *Room) Post(now time.Duration, players []Player, from int, line []byte, to []int32) (Message, []int32) {
	if from < 0 || from >= len(players) || from >= len(r.speakers) || players[from].ID == 0 {
		return Message{}, to
	}
	p, s := &players[from], &r.speakers[from]
	if s.id != p.ID {
		*s = speaker{id: p.ID, at: now}
	}
	m := Message{Seconds: r.seconds(now), From: p.ID, FromName: p.Name, FromTeam: p.Team}
	if !r.admit(s, now) {
		r.refused[RefusedRate]++
		if s.warned {
			return Message{}, to
		}
		s.warned = true
		seconds := (s.debt - time.Duration(r.limits.Burst-1)*r.limits.Every + time.Second - 1) / time.Second
		r.text = fmt.Appendf(r.text[:0], "you say too much: wait %d s", seconds)
		return r.notice(m, RefusedRate), append(to, int32(from))
	}
	target, why := r.route(&m, players, from, line)
	if why != RefusedNone {
		r.refused[why]++
		return r.notice(m, why), append(to, int32(from))
	}
	switch m.Kind {
	case Team:
		if to = teamOf(players, p.Team, to); planted.On(planted.TeamHeardByAll) {
			to = everybody(players, to[:0])
		}
	case Whisper:
		t := &r.speakers[target]
		if t.id != m.To {
			*t = speaker{id: m.To, at: now}
		}
		t.whispers = p.ID
		to = append(to, int32(target), int32(from))
	default:
		to = everybody(players, to)
	}
	return m, to
}

// route completes a message, and returns the seat of a whisper's target. If it cannot, the room's text is what the sender is told.
func (r *Room) route(m *Message, players []Player, from int, line []byte) (target int, why Refusal) {
	tell := func(why Refusal, format string, args ...any) (int, Refusal) {
		r.text = fmt.Appendf(r.text[:0], format, args...)
		return -1, why
	}
	if players[from].Muted {
		return tell(RefusedMuted, "you are muted")
	}
	if len(line) > MaxText {
		return tell(RefusedLong, "your line has %d bytes: expected at most %d", len(line), MaxText)
	}
	clean, ok := Clean(r.text[:0], line)
	if !ok {
		return tell(RefusedText, "your line is not UTF-8")
	}
	s, why := parse(string(clean))
	switch why {
	case RefusedEmpty:
		return tell(why, "there is nothing to see in your line")
	case RefusedCommand:
		return tell(why, "no such command: expected /all, /team, /whisper or /reply")
	case RefusedName:
		return tell(why, `whom do you mean? expected /whisper NAME TEXT or /whisper "NAME WITH SPACES" TEXT`)
	}
	m.Kind = s.kind
	if s.kind == Whisper {
		if target, why = r.target(players, from, s); why != RefusedNone {
			return -1, why
		}
		m.To, m.ToName = players[target].ID, players[target].Name
	}
	r.text = append(r.text[:0], s.text...)
	m.Text = r.text
	return target, RefusedNone
}

// target finds who a whisper is for. If it cannot, the room's text is what the sender is told.
func (r *Room) target(players []Player, from int, s spoken) (seat int, why Refusal) {
	if s.reply {
		if id := r.speakers[from].whispers; id != 0 {
			for i := range min(len(players), len(r.speakers)) {
				if players[i].ID == id {
					return i, RefusedNone
				}
			}
			r.text = append(r.text[:0], "who whispered to you has left"...)
			return -1, RefusedReply
		}
		r.text = append(r.text[:0], "nobody has whispered to you"...)
		return -1, RefusedReply
	}
	seat, how, why := find(players[:min(len(players), len(r.speakers))], s.name)
	switch {
	case why == RefusedUnknown:
		r.text = fmt.Appendf(r.text[:0], `nobody is called "%s"`, s.name)
	case why == RefusedAmbiguous:
		r.text = fmt.Appendf(r.text[:0], `"%s" may be`, s.name)
		r.text = appendNames(r.text, players, s.name, how)
		r.text = append(r.text, ": write more of the name"...)
	case seat == from:
		r.text = append(r.text[:0], "you are whispering to yourself"...)
		return -1, RefusedSelf
	}
	return seat, why
}

// maxNames is how many names a notice lists.
const maxNames = 4

// appendNames lists the players whose names fit one as well as the best do.
func appendNames(dst []byte, players []Player, written string, how int) []byte {
	n := 0
	for i := range players {
		if players[i].ID == 0 || fit(players[i].Name, written) != how {
			continue
		}
		if n++; n > maxNames {
			return append(dst, ", ..."...)
		}
		if n > 1 {
			dst = append(dst, ',')
		}
		dst = append(append(dst, ' '), players[i].Name...)
	}
	return dst
}

// notice turns a message into what its sender is told.
func (r *Room) notice(m Message, why Refusal) Message {
	r.text = append(r.text[:0], cut(string(r.text))...)
	return Message{Kind: Notice, Refusal: why, Seconds: m.Seconds, To: m.From, Text: r.text}
}

// admit spends one line of a player's limit, if there is room.
func (r *Room) admit(s *speaker, now time.Duration) bool {
	s.debt, s.at = max(0, s.debt-max(0, now-s.at)), max(now, s.at)
	if s.debt == 0 {
		s.warned = false
	}
	if s.debt > time.Duration(r.limits.Burst-1)*r.limits.Every {
		return false
	}
	s.debt += r.limits.Every
	return true
}

func (r *Room) seconds(now time.Duration) uint32 { return uint32(max(0, now-r.began) / time.Second) }

func everybody(players []Player, to []int32) []int32 {
	for i := range players {
		if players[i].ID != 0 {
			to = append(to, int32(i))
		}
	}
	return to
}

func teamOf(players []Player, team int8, to []int32) []int32 {
	for i := range players {
		if players[i].ID != 0 && players[i].Team == team {
			to = append(to, int32(i))
		}
	}
	return to
}

// cut shortens a text to MaxText bytes, not within a rune.
func cut(s string) string {
	for n := min(len(s), MaxText); ; n-- {
		if n == 0 || n == len(s) || s[n]&0xc0 != 0x80 {
			return s[:n]
		}
	}
}
