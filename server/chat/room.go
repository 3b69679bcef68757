package chat

import (
	"fmt"
	"time"

	"github.com/tickrate/tickrate/internal/ratelimit"
)

// Player is one row of the table of players. Its index is the player's slot.
type Player struct {
	ID    uint32 // never used again for another player; 0: the slot is empty
	Name  string // as CleanName returns it
	Team  int8   // negative for spectators, which are a team of their own
	Muted bool   // may not say anything
}

// Limits bound the lines of one player. Zero fields mean the defaults that are named.
type Limits struct {
	Burst int           // lines at once; default 5
	Every time.Duration // time per line after those, whole milliseconds; default DefaultEvery
}

// DefaultEvery is the default of Limits.Every.
const DefaultEvery = 1500 * time.Millisecond

// Room is the chat of a lobby. It forgets a player when another has the slot.
type Room struct {
	limits   Limits
	began    time.Duration // start of the round
	speakers []speaker     // by slot
	refused  [NumRefusals]uint64
	text     []byte // of the last message
}

// speaker is the state of one player in a room.
type speaker struct {
	id        uint32
	bucket    ratelimit.Bucket // of milliseconds: a line takes Limits.Every
	warned    bool             // told that it says too much
	whisperer uint32           // id of the player whose whisper came last
}

// NewRoom returns a room with a number of slots.
func NewRoom(slots int, limits Limits) *Room {
	if limits.Burst <= 0 {
		limits.Burst = 5
	}
	if limits.Every <= 0 {
		limits.Every = DefaultEvery
	}
	return &Room{limits: limits, speakers: make([]speaker, slots), text: make([]byte, 0, 2*MaxText)}
}

// SetEvery changes Limits.Every. A player that has said as much as it may waits by the new time.
func (r *Room) SetEvery(every time.Duration) {
	if every == r.limits.Every {
		return
	}
	r.limits.Every = every
	for i := range r.speakers {
		if s := &r.speakers[i]; s.id != 0 {
			s.bucket = ratelimit.NewBurst(1000, r.limits.Burst*r.millis())
		}
	}
}

// Round starts a round: Seconds of messages count from now.
func (r *Room) Round(now time.Duration) { r.began = now }

// Refused returns the number of refused lines, by reason.
func (r *Room) Refused() [NumRefusals]uint64 { return r.refused }

// Announce returns a message of the server to every player, and appends their slots. The text is
// cleaned, and cut to MaxText bytes.
func (r *Room) Announce(now time.Duration, players []Player, text string, to []int32) (Message, []int32) {
	m := r.server(now, text)
	return m, everybody(players, to)
}

func (r *Room) server(now time.Duration, text string) Message {
	r.text, _ = Clean(r.text[:0], []byte(cut(text)))
	return Message{Kind: Announcement, Seconds: r.seconds(now), Text: r.text}
}

// Post takes the line of the player in slot from. It returns the message and appends the slots
// that get it: none if the slot is empty, or if the player is over its limit and was told so
// before.
func (r *Room) Post(now time.Duration, players []Player, from int, line []byte,
	to []int32) (Message, []int32) {
	if from < 0 || from >= len(players) || from >= len(r.speakers) || players[from].ID == 0 {
		return Message{}, to
	}
	p, s := &players[from], &r.speakers[from]
	if s.id != p.ID {
		*s = r.newSpeaker(p.ID)
	}
	m := Message{Seconds: r.seconds(now), From: p.ID, FromName: p.Name, FromTeam: p.Team}
	if !r.admit(s, now) {
		r.refused[RefusedRate]++
		if s.warned {
			return Message{}, to
		}
		s.warned = true
		seconds := (s.bucket.Wait(now, r.millis()) + time.Second - 1) / time.Second
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
		to = teamOf(players, p.Team, to)
	case Whisper:
		t := &r.speakers[target]
		if t.id != m.To {
			*t = r.newSpeaker(m.To)
		}
		t.whisperer = p.ID
		to = append(to, int32(target), int32(from))
	default:
		to = everybody(players, to)
	}
	return m, to
}

// route completes a message and returns the slot of a whisper's target. If the line is refused, the
// room's text is what the sender is told.
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
		return tell(why, `name a player: expected /whisper NAME TEXT or /whisper "NAME WITH SPACES" TEXT`)
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

// target returns the slot of the player that a whisper is for. If the line is refused, the room's
// text is what the sender is told.
func (r *Room) target(players []Player, from int, s parsed) (slot int, why Refusal) {
	if s.reply {
		if id := r.speakers[from].whisperer; id != 0 {
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
	slot, how, why := find(players[:min(len(players), len(r.speakers))], s.name)
	switch {
	case why == RefusedUnknown:
		r.text = fmt.Appendf(r.text[:0], `nobody is called "%s"`, s.name)
	case why == RefusedAmbiguous:
		r.text = fmt.Appendf(r.text[:0], `"%s" may be`, s.name)
		r.text = appendNames(r.text, players, s.name, how)
		r.text = append(r.text, ": write more of the name"...)
	case slot == from:
		r.text = append(r.text[:0], "you are whispering to yourself"...)
		return -1, RefusedSelf
	}
	return slot, why
}

// maxNames bounds the names in a notice.
const maxNames = 4

// appendNames appends the names of the players that match a written name as well as how.
func appendNames(dst []byte, players []Player, written string, how int) []byte {
	n := 0
	for i := range players {
		if players[i].ID == 0 || match(players[i].Name, written) != how {
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

// notice returns what the sender of a refused line is told.
func (r *Room) notice(m Message, why Refusal) Message {
	r.text = append(r.text[:0], cut(string(r.text))...)
	return Message{Kind: Notice, Refusal: why, Seconds: m.Seconds, To: m.From, Text: r.text}
}

// newSpeaker returns what a room knows of a player that has said nothing.
func (r *Room) newSpeaker(id uint32) speaker {
	return speaker{id: id, bucket: ratelimit.NewBurst(1000, r.limits.Burst*r.millis())}
}

// millis is what a line takes of a speaker's bucket.
func (r *Room) millis() int { return int(r.limits.Every / time.Millisecond) }

// admit takes one line from a player's bucket, if it has one.
func (r *Room) admit(s *speaker, now time.Duration) bool {
	if s.bucket.Spent(now) <= 0 {
		s.warned = false
	}
	return s.bucket.Allow(now, r.millis())
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
