package server

import (
	"math/bits"
	"strconv"
	"strings"
	"time"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/chat"
	"github.com/tickrate/tickrate/server/idle"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
)

// social is what the players of a lobby are to each other beside the match: what they are called, what they say, and who of them does
// not play. A tick in which nothing of that happens costs a look at a sixtieth of the seats.
//
// Names travel as the state that they are: of each connection it is known whose rows it has not been told, and an event takes as many of
// them as it has room for. So a row that changes twice may be told once, and nothing is lost where a queue is full.
type social struct {
	rows  []protocol.RosterRow // by slot: who is called what; also of those who are away. NetID 0: nobody so far; without a name: it left
	born  []uint64             // by slot: the count of comings at which the row's player came
	comes uint64               // comings and readies so far
	names map[string]int32     // folded: slot
	seats []seat               // by slot
	owed  []uint64             // by slot, words each: the rows that a connection has not been told
	words int

	room   *chat.Room
	table  []chat.Player // by slot, as room wants it: those who have a session and are ready
	teams  tick.Tick     // when all their teams were looked up
	public limiter       // of lines to everybody
	to     []int32
	event  [packet.MaxMessageSize]byte
	row    [packet.MaxMessageSize]byte

	limits idle.Limits
	desk   desk
}

// seat is what is known of a connection that is ready.
type seat struct {
	on    bool
	came  uint64        // the count of comings when it got ready
	owes  int           // rows that it has not been told
	clear time.Duration // when a thin line has carried what it was told so far

	line      []byte  // a line of which more is to come
	of        byte    // its tag; 0: there is none
	questions limiter // to the console
	told      bool    // that these are too many

	wish  sim.Command // the newest, without its stamps
	watch idle.Watch[sim.Command]
}

func newSocial(c *Config) social {
	n := c.Players
	words := (n + 63) / 64
	return social{
		rows: make([]protocol.RosterRow, n), born: make([]uint64, n), names: make(map[string]int32), seats: make([]seat, n),
		owed: make([]uint64, n*words), words: words, room: chat.NewRoom(n, chat.Limits{}), table: make([]chat.Player, n), to: make([]int32, 0, n),
		limits: idleLimits(c.IdleWarn, c.IdleKick, c.Rules.Rate),
	}
}

// limiter lets so many things pass at once, and then one each time.
type limiter struct{ debt, at time.Duration }

func (l *limiter) admit(now time.Duration, burst int, every time.Duration) bool {
	l.debt, l.at = max(0, l.debt-max(0, now-l.at)), max(now, l.at)
	if l.debt > time.Duration(burst-1)*every {
		return false
	}
	l.debt += every
	return true
}

// rise frees the seat of a connection whose session ends or begins. Its player keeps its name.
func (s *social) rise(slot int) {
	line := s.seats[slot].line
	s.seats[slot] = seat{line: line[:0]}
	s.table[slot] = chat.Player{}
	clear(s.owes(slot))
}

func (s *social) owes(slot int) []uint64 { return s.owed[slot*s.words : (slot+1)*s.words] }

// enrol gives a connection that gets ready its name, and tells everybody; it is told of everybody.
func (l *Lobby) enrol(c *conn, name string) {
	s, slot := &l.social, c.id.Index()
	name = s.unique(int32(slot), name)
	row := protocol.RosterRow{NetID: uint32(c.id), Name: name, Team: l.teamOf(c, s.rows[slot].Team)}
	s.comes++
	if row != s.rows[slot] {
		if row.NetID != s.rows[slot].NetID {
			s.born[slot] = s.comes
		}
		s.strike(slot)
		s.rows[slot], s.names[fold(name)] = row, int32(slot)
		l.owe(slot)
	}
	seat := &s.seats[slot]
	seat.on, seat.came = true, s.comes
	s.table[slot] = chat.Player{ID: row.NetID, Name: name, Team: row.Team}
	mine := s.owes(slot)
	for i := range s.rows {
		if s.rows[i].Name != "" {
			mine[i>>6] |= 1 << (i & 63)
			seat.owes++
		}
	}
}

// unenrol takes the name of a player that leaves the match.
func (l *Lobby) unenrol(c *conn) {
	s, slot := &l.social, c.id.Index()
	if row := &s.rows[slot]; row.NetID == uint32(c.id) && row.Name != "" {
		s.strike(slot)
		row.Name = ""
		l.owe(slot)
	}
}

// strike frees the name in a row.
func (s *social) strike(slot int) {
	if was := s.rows[slot].Name; was != "" {
		delete(s.names, fold(was))
	}
}

// owe notes that a row is news for all who are ready.
func (l *Lobby) owe(slot int) {
	for _, other := range l.live {
		seat, mine := &l.social.seats[other], l.social.owes(int(other))
		if bit := uint64(1) << (slot & 63); seat.on && mine[slot>>6]&bit == 0 {
			mine[slot>>6] |= bit
			seat.owes++
		}
	}
}

// teamOf is a connection's team in the match; otherwise, if it has none yet.
func (l *Lobby) teamOf(c *conn, otherwise int8) int8 {
	if v := l.match.Vital(c.id); v != nil {
		return int8(v.Team)
	}
	return otherwise
}

// sides looks up the team of the player in a slot.
func (l *Lobby) sides(slot int) {
	s := &l.social
	if team := l.teamOf(&l.conns[slot], s.rows[slot].Team); s.rows[slot].Team != team {
		s.rows[slot].Team, s.table[slot].Team = team, team
		l.owe(slot)
	}
}

// attend does between two ticks what is not urgent: lines for the console; and of a part of the seats, so that each is looked at once
// a second, whether its player has changed sides, and whether it plays.
func (l *Lobby) attend(now time.Duration) {
	l.answer(now)
	rate := int(l.cfg.Rules.Rate)
	for slot := int(l.match.Tick()) % rate; slot < len(l.social.seats); slot += rate {
		if l.social.seats[slot].on {
			l.sides(slot)
			l.idles(now, slot)
		}
	}
}

// Roster events leave most of a connection's queue to what happens in the match, and a quarter of a thin line to all else.
const (
	rosterQueue = 16 // events of a queue at which names wait
	chatQueue   = 40 // at which lines are lost
	lineShare   = 4  // names and lines have one part in so many of a limited rate
)

// introduce queues an event of names that a connection has not been told, if there are any and its line has room. It is for who is about
// to get a snapshot: the event travels with it, and is paid for.
func (l *Lobby) introduce(now time.Duration, c *conn) {
	s, slot := &l.social, c.id.Index()
	seat := &s.seats[slot]
	if seat.owes == 0 || c.session.peer.ReliablePending() >= rosterQueue || now < seat.clear {
		return
	}
	most := packet.MaxMessageSize
	if rate := c.repl.pacing.bucket.Rate(); rate != 0 {
		share := int(int64(rate) * int64(c.share(l)) / int64(time.Second) / lineShare)
		most = max(1+protocol.MaxRosterRow, min(share, most))
	}
	event := append(s.row[:0], protocol.MessageRoster)
	mine := s.owes(slot)
	for i, w := range mine {
		for ; w != 0; w &= w - 1 {
			at := i<<6 | bits.TrailingZeros64(w)
			if len(event)+s.rows[at].Size() > most {
				l.introduced(now, c, event)
				return
			}
			event = s.appendRow(event, at, seat)
			mine[i] &^= w & -w
		}
	}
	l.introduced(now, c, event)
}

// appendRow writes a row as a connection is told it, who owes it no more.
func (s *social) appendRow(event []byte, slot int, to *seat) []byte {
	row := s.rows[slot]
	row.New = row.Name != "" && s.born[slot] > to.came
	to.owes--
	return row.Append(event)
}

func (l *Lobby) introduced(now time.Duration, c *conn, event []byte) {
	if c.session.peer.QueueReliable(event) != nil {
		panic("server: no room for names that were taken")
	}
	l.Stats.Count[metrics.RosterMessages].Inc()
	l.social.seats[c.id.Index()].pay(now, c, len(event))
}

// pay notes what a line has to carry.
func (s *seat) pay(now time.Duration, c *conn, bytes int) {
	if rate := c.repl.pacing.bucket.Rate(); rate != 0 {
		s.clear = max(now, s.clear) + time.Duration(bytes*lineShare)*time.Second/time.Duration(rate)
	}
}

// name tells a connection who is in a slot, if it does not know yet: before what that player says.
func (l *Lobby) name(now time.Duration, c *conn, id netid.ID) {
	s, slot := &l.social, id.Index()
	seat, mine := &s.seats[c.id.Index()], s.owes(c.id.Index())
	if id == 0 || mine[slot>>6]>>(slot&63)&1 == 0 {
		return
	}
	mine[slot>>6] &^= 1 << (slot & 63)
	l.introduced(now, c, s.appendRow(append(s.row[:0], protocol.MessageRoster), slot, seat))
}

// present tells a connection who two players are before it hears what happened to them, unless its queue is full of other things.
func (l *Lobby) present(now time.Duration, c *conn, a, b netid.ID) {
	if l.social.seats[c.id.Index()].owes > 0 && c.session.peer.ReliablePending() < chatQueue {
		l.name(now, c, a)
		l.name(now, c, b)
	}
}

// unique is a name as others may see it that nobody else has, whatever the case of its letters: with a number behind it, if need be.
// Who does not want any is called by its slot.
func (s *social) unique(slot int32, wish string) string {
	name := chat.CleanName(wish)
	if name == "" {
		name = "player " + strconv.Itoa(int(slot))
	}
	for try, wish := 1, name; ; try++ {
		if at, taken := s.names[fold(name)]; !taken || at == slot {
			return name
		}
		// Numbers that no other slot tries come after a few that are short: who is in the way then has chosen to be.
		n := try + 1
		if try > fewTries {
			n = int(slot) + (try-fewTries)*len(s.seats)
		}
		name = numbered(wish, n)
	}
}

const fewTries = 3

// numbered is a name with a number behind it.
func numbered(name string, n int) string {
	number := " " + strconv.Itoa(n)
	if runes := []rune(name); len(runes)+len(number) > chat.MaxName {
		name = strings.TrimRight(string(runes[:chat.MaxName-len(number)]), " ")
	}
	return name + number
}

// fold is a name without its upper case, as chat compares them.
func fold(name string) string { return strings.ToLower(name) }

// called is what the player in a slot is called; one who is not ready has no name yet.
func (l *Lobby) called(slot int32) string {
	if row := &l.social.rows[slot]; row.NetID == uint32(l.conns[slot].id) && row.Name != "" {
		return row.Name
	}
	return "player " + strconv.Itoa(int(slot))
}
