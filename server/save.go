package server

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/sim"
)

// Errors of ReadState and Resume.
var (
	ErrLobbyState = errors.New("server: not a saved lobby")
	ErrOther      = errors.New("server: saved lobby of another configuration")
	ErrPlayed     = errors.New("server: a lobby that has played cannot load another one")
)

// lobbyStateVersion is the first byte of a saved lobby.
const lobbyStateVersion = 2

// Save appends what another process needs to play the lobby on: the match with the commands that
// wait in it, who plays in which slot, names, and what is agreed with each client. Sessions, and
// what clients have acknowledged, are not in it: a client begins a session with the new host. It
// fails with sim.ErrPending while a player comes or goes: play a tick, and try again. Call it
// between ticks.
//
//	1  version
//	   configuration  see appendFacts
//	2  length of the variables
//	   variables of the console that are saved, a line each
//	2  next map of the rotation
//	2  seats
//	   seats, see appendSeat
//	   match, see sim.Match.Save
func (l *Lobby) Save(dst []byte) ([]byte, error) {
	dst = l.appendFacts(append(dst, lobbyStateVersion))
	values := l.console.values()
	dst = append(le.AppendUint16(dst, uint16(len(values))), values...)
	dst = le.AppendUint16(dst, uint16(l.maps.rotation))
	seats := l.Seats()
	dst = le.AppendUint16(dst, uint16(len(seats)))
	for _, s := range seats {
		dst = l.appendSeat(dst, s.Slot)
	}
	return l.match.Save(dst)
}

var le = binary.LittleEndian

// Seat is a player or spectator of a lobby.
type Seat struct {
	Slot      int
	ID        netid.ID // in the match
	User      uint64   // client id of the connect token
	Spectator bool
	Connected bool   // it has a session; otherwise it may reconnect
	Name      string // empty before its first Ready
}

// Seats returns the players and spectators of a lobby: those with a session by slot, then those
// that may reconnect. Call it between ticks.
func (l *Lobby) Seats() (seats []Seat) {
	for i, slots := range [2][]int32{l.live, l.reconnectable} {
		for _, slot := range slots {
			c := &l.conns[slot]
			seats = append(seats, Seat{Slot: int(slot), ID: c.id, User: c.roster.user,
				Spectator: c.roster.role == roleSpectator, Connected: i == 0, Name: l.rosterName(int(slot))})
		}
	}
	return seats
}

// rosterName is the name of the player in a slot; empty if it has none yet.
func (l *Lobby) rosterName(slot int) string {
	if row := &l.roster.rows[slot]; row.NetID == uint32(l.conns[slot].id) {
		return row.Name
	}
	return ""
}

// appendFacts writes what must be equal in the lobby that loads the state.
//
//	1   ticks a second
//	1   ticks from snapshot to snapshot
//	2   slots
//	2   of them, for spectators
//	8   models
//	8   seed of the match
//	32  hash of the arena
//	32  hash of the content
//	1+n name of the mode
func (l *Lobby) appendFacts(dst []byte) []byte {
	c, game := &l.cfg, l.cfg.Rules.Game
	dst = append(dst, byte(c.Rules.Rate), byte(c.SendInterval))
	dst = le.AppendUint16(le.AppendUint16(dst, uint16(c.Players)), uint16(c.Spectators))
	dst = le.AppendUint64(le.AppendUint64(dst, c.Models.Hash()), c.Rules.Seed)
	hash := c.Arena.Hash()
	dst = append(append(dst, hash[:]...), game.Pack[:]...)
	return append(append(dst, byte(len(game.Mode.Name))), game.Mode.Name...)
}

// Flags of a seat.
const (
	seatSpectator = 1 << iota
	seatMuted
)

// appendSeat writes a player or spectator.
//
//	2    slot
//	4    net id
//	8    client id of the token
//	1    flags  1 spectator, 2 muted
//	1+n  name; empty before the first Ready
//	     track of announced view delays
func (l *Lobby) appendSeat(dst []byte, slot int) []byte {
	c, flags := &l.conns[slot], byte(0)
	if c.roster.role == roleSpectator {
		flags |= seatSpectator
	}
	if l.roster.players[slot].Muted {
		flags |= seatMuted
	}
	name := l.rosterName(slot)
	dst = le.AppendUint32(le.AppendUint16(dst, uint16(slot)), uint32(c.id))
	dst = append(le.AppendUint64(dst, c.roster.user), flags, byte(len(name)))
	dst = append(dst, name...)
	return c.rewind.announced.Append(dst)
}

// LobbyState is a saved lobby that was read and checked, for one call of Resume.
type LobbyState struct {
	values   string // of the console's variables, see lobbyConsole.values
	rotation int
	seats    []savedSeat
	state    *mapState
}

// Tick is the last tick that the saved match has played.
func (s *LobbyState) Tick() tick.Tick { return s.state.match.Tick() }

// savedSeat is a parsed seat.
type savedSeat struct {
	slot      int
	id        netid.ID
	user      uint64
	flags     byte
	name      string
	announced lagcomp.ViewDelayTrack
}

// ReadState reads what Save wrote, for this lobby, which has not played: slots, rates, seed,
// models, arena and content must be those of the saved one. Any goroutine may call it. Whatever src
// holds, it allocates no more than a few times len(src) besides the match. Errors wrap
// ErrLobbyState or ErrOther, and name what differs.
func (l *Lobby) ReadState(src []byte) (*LobbyState, error) {
	s, err := l.parseState(src)
	if err != nil {
		return nil, err
	}
	return &s, nil
}

func (l *Lobby) parseState(src []byte) (s LobbyState, err error) {
	if len(src) < 1 || src[0] != lobbyStateVersion {
		return s, fmt.Errorf("%w: expected version %d", ErrLobbyState, lobbyStateVersion)
	}
	if src, err = l.checkFacts(src[1:]); err != nil {
		return s, err
	}
	if len(src) < 2 || len(src) < 2+int(le.Uint16(src))+4 {
		return s, fmt.Errorf("%w: cut short", ErrLobbyState)
	}
	length := int(le.Uint16(src))
	s.values, src = string(src[2:2+length]), src[2+length:]
	s.rotation = int(le.Uint16(src))
	n := int(le.Uint16(src[2:]))
	if src = src[4:]; n > l.cfg.Players {
		return s, fmt.Errorf("%w: %d seats", ErrLobbyState, n)
	}
	s.seats = make([]savedSeat, n)
	for i := range s.seats {
		if src, err = s.seats[i].parse(src); err != nil {
			return s, fmt.Errorf("%w: seat %d of %d", err, i, n)
		}
	}
	rules := l.cfg.Rules
	match, err := sim.Load(l.cfg.Players, rules, l.cfg.Arena, src)
	if err != nil {
		return s, fmt.Errorf("%w: %w", ErrLobbyState, err)
	}
	if err = l.checkSeats(s.seats, match); err == nil {
		s.state = newMapStateOf(l.cfg, match)
	}
	return s, err
}

// checkFacts compares the configuration in a saved lobby with this one's, and returns what follows.
func (l *Lobby) checkFacts(src []byte) (rest []byte, err error) {
	ours := l.appendFacts(nil)
	fields := []struct {
		name string
		size int
	}{{"tick rate", 1}, {"send interval", 1}, {"slots", 2}, {"spectators", 2}, {"models", 8}, {"seed", 8},
		{"arena", 32}, {"content", 32}, {"mode", len(ours) - 86}}
	for _, f := range fields {
		if len(src) < f.size {
			return nil, fmt.Errorf("%w: cut short at its %s", ErrLobbyState, f.name)
		}
		if string(src[:f.size]) != string(ours[:f.size]) {
			return nil, fmt.Errorf("%w: %s %x, expected %x", ErrOther, f.name, src[:f.size], ours[:f.size])
		}
		src, ours = src[f.size:], ours[f.size:]
	}
	return src, nil
}

func (s *savedSeat) parse(src []byte) (rest []byte, err error) {
	if len(src) < 16 || len(src) < 16+int(src[15]) || src[14] > seatSpectator|seatMuted {
		return nil, ErrLobbyState
	}
	s.slot, s.id = int(le.Uint16(src)), netid.ID(le.Uint32(src[2:]))
	s.user, s.flags = le.Uint64(src[6:]), src[14]
	n := int(src[15])
	s.name = string(src[16 : 16+n])
	if s.announced, rest, err = lagcomp.ParseViewDelayTrack(src[16+n:]); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLobbyState, err)
	}
	return rest, nil
}

// checkSeats compares the seats with the players of the match.
func (l *Lobby) checkSeats(seats []savedSeat, match *sim.Match) error {
	taken := map[int]bool{}
	for i := range seats {
		seat := &seats[i]
		switch {
		case seat.slot >= l.cfg.Players || taken[seat.slot] || match.World.At(seat.slot) != seat.id ||
			match.CommandBuffer(seat.id) == nil:
			return fmt.Errorf("%w: no player %d in slot %d", ErrLobbyState, seat.id, seat.slot)
		case seat.flags&seatSpectator != 0 != match.Spectates(seat.id):
			return fmt.Errorf("%w: role of slot %d", ErrLobbyState, seat.slot)
		case seat.name != "" && !protocol.ValidText([]byte(seat.name), protocol.MaxName):
			return fmt.Errorf("%w: name %.80q", ErrLobbyState, seat.name)
		}
		taken[seat.slot] = true
	}
	return nil
}

// Resume makes a new lobby go on with a saved one. A client that the lobby has awaited plays on.
// Any other player is as one that has lost its session: a client with a fresh token of its client
// id takes it over, with the commands that wait for it, within ReconnectGrace. The error is
// ErrPlayed. Call it between ticks.
func (l *Lobby) Resume(now time.Duration, s *LobbyState) error {
	if l.match.Tick() != 0 || l.match.World.Len() != 0 {
		return ErrPlayed
	}
	l.install(s.state)
	l.maps.rotation = s.rotation
	l.console.setValues(s.values)
	l.rewind.loaded = l.match.Tick()
	l.join.resume(now, s.seats)
	if l.cfg.Record != nil {
		l.recording.start()
	}
	l.Publish()
	return nil
}

// restore makes a saved player one that may reconnect.
func (j *join) restore(now time.Duration, s *savedSeat) {
	c, r := &j.conns[s.slot], rolePlayer
	if s.flags&seatSpectator != 0 {
		r = roleSpectator
	}
	c.assign(s.id, s.user, r)
	c.session.lostAt, c.roster.restored = now, true
	c.rewind.announced = s.announced
	j.reconnectable = append(j.reconnectable, int32(s.slot))
	j.port.keep(s.user, true)
	if s.name != "" {
		j.l.roster.restore(c, s.name)
	}
	j.l.roster.players[s.slot].Muted = s.flags&seatMuted != 0
}

// restore gives a player that may reconnect the name that it had.
func (r *roster) restore(c *conn, name string) {
	slot := c.id.Index()
	unique, key := r.unique(int32(slot), name)
	r.rows[slot] = protocol.RosterRow{NetID: uint32(c.id), Name: unique, Team: r.teamOf(c, 0)}
	r.slots[key] = int32(slot)
}

// TellMove queues the connect token with which a client goes on at another host, once that one has
// the lobby. It reports false for a client whose queue has no room. Call it between ticks.
func (l *Lobby) TellMove(slot int, token []byte) (ok bool) {
	c := &l.conns[slot]
	parts := protocol.MoveParts(token)
	if !c.session.ready || c.session.peer.ReliablePending()+len(parts) > moveQueue {
		return false
	}
	for _, part := range parts {
		if c.session.peer.QueueReliable(part) != nil {
			return false
		}
	}
	return true
}

// moveQueue is the most messages that wait in a client's queue with those of a move.
const moveQueue = 48
