package sim

import (
	"encoding/binary"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim/mode"
)

// The first bytes of the reliable messages about the round.
const (
	TagRoundEvent  byte = 0x90
	TagRoundStatus byte = 0x91
)

// RoundEvent is an announcement to all players, as package mode makes it. Kills are sent as events
// instead.
type RoundEvent struct {
	What  mode.AnnouncementKind // no kill
	Team  uint8
	Point uint8
	Tick  tick.Tick
	Value int32
}

// IsRoundEvent reports whether an announcement is sent as a RoundEvent; kills are sent as
// EventKill.
func IsRoundEvent(w mode.AnnouncementKind) bool {
	return w > 0 && w < mode.AnnouncementKinds && w != mode.PlayerKilled && w != mode.PlayerSuicide &&
		w != mode.PlayerDied
}

// RoundEventOf is an announcement of tick t.
func RoundEventOf(t tick.Tick, a *mode.Announcement) RoundEvent {
	return RoundEvent{a.Kind, a.Team, a.Point, t, a.Value}
}

// roundEventBytes is the size of RoundEvent on the wire:
//
//	1 0x90   1 what   1 team   1 point   4 tick   4 n
const roundEventBytes = 12

// Append appends the 12 bytes of n.
func (n *RoundEvent) Append(dst []byte) []byte {
	dst = append(dst, TagRoundEvent, byte(n.What), n.Team, n.Point)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(n.Tick))
	return binary.LittleEndian.AppendUint32(dst, uint32(n.Value))
}

// ParseRoundEvent reads what Append wrote. It reports false for any other message.
func ParseRoundEvent(src []byte) (n RoundEvent, ok bool) {
	if len(src) != roundEventBytes || src[0] != TagRoundEvent ||
		!IsRoundEvent(mode.AnnouncementKind(src[1])) || src[2] >= mode.Teams || src[3] >= mode.MaxPoints {
		return n, false
	}
	return RoundEvent{mode.AnnouncementKind(src[1]), src[2], src[3],
		tick.Tick(binary.LittleEndian.Uint32(src[4:])), int32(binary.LittleEndian.Uint32(src[8:]))}, true
}

// RoundStatus is the public part of mode.State at the end of a tick.
type RoundStatus struct {
	Phase    mode.Phase
	Winner   uint8 // a team, mode.Tie or mode.NoWinner
	Point    uint8 // the attacked point; Points: all are captured
	Points   uint8 // how many there are; 0: the mode has none
	Status   mode.Status
	Waiting  bool      // for more players, before a round
	Round    uint16    // counts rounds, modulo 65536
	Progress uint16    // of the attacked point, in 65535ths
	Left     uint32    // ticks until the phase is over
	Tick     tick.Tick // of the status
	Score    [2]int32  // of the teams
	Players  [2]uint16 // team sizes
}

// RoundStatus returns the status of the round after the last tick.
func (m *Match) RoundStatus() RoundStatus {
	s, k := m.Mode(), m.Game().Mode
	at := RoundStatus{
		Phase: s.Phase, Winner: s.Winner, Point: s.Point, Points: k.Points, Status: s.Status,
		Waiting: s.Waiting, Round: s.Round,
		Left: s.Left, Tick: m.Tick(), Score: s.Score, Players: m.Score().Members,
	}
	if full := k.CaptureTotal(); full > 0 {
		at.Progress = uint16(uint64(s.Progress) * 65535 / uint64(full))
	}
	return at
}

// Seconds is the time that the phase has left at tick now, rounded up, as far as is known; the
// clock stands while the match waits for players.
func (s *RoundStatus) Seconds(now tick.Tick, rate tick.Rate) uint32 {
	left := s.Left
	if now > s.Tick && !s.Waiting {
		left -= min(left, uint32(now-s.Tick))
	}
	return (left + uint32(rate) - 1) / uint32(rate)
}

// roundStatusBytes is the size of a RoundStatus on the wire:
//
//	1 0x91   1 phase, status << 4, waiting << 7   1 winner  1 point  1 points  2 round  2 progress
//	4 left   4 tick   4, 4 score   2, 2 players
const roundStatusBytes = 29

// Append appends the 29 bytes of s.
func (s *RoundStatus) Append(dst []byte) []byte {
	what := byte(s.Phase) | byte(s.Status)<<4
	if s.Waiting {
		what |= 0x80
	}
	dst = append(dst, TagRoundStatus, what, s.Winner, s.Point, s.Points)
	dst = binary.LittleEndian.AppendUint16(dst, s.Round)
	dst = binary.LittleEndian.AppendUint16(dst, s.Progress)
	dst = binary.LittleEndian.AppendUint32(dst, s.Left)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(s.Tick))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(s.Score[0]))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(s.Score[1]))
	dst = binary.LittleEndian.AppendUint16(dst, s.Players[0])
	return binary.LittleEndian.AppendUint16(dst, s.Players[1])
}

// ParseRoundStatus reads what Append wrote. It reports false for any other message, and for an
// impossible state.
func ParseRoundStatus(src []byte) (s RoundStatus, ok bool) {
	if len(src) != roundStatusBytes || src[0] != TagRoundStatus {
		return s, false
	}
	s = RoundStatus{
		Phase: mode.Phase(src[1] & 15), Status: mode.Status(src[1] >> 4 & 7), Waiting: src[1]&0x80 != 0,
		Winner: src[2], Point: src[3], Points: src[4],
		Round: binary.LittleEndian.Uint16(src[5:]), Progress: binary.LittleEndian.Uint16(src[7:]),
		Left: binary.LittleEndian.Uint32(src[9:]), Tick: tick.Tick(binary.LittleEndian.Uint32(src[13:])),
		Score: [2]int32{int32(binary.LittleEndian.Uint32(src[17:])),
			int32(binary.LittleEndian.Uint32(src[21:]))},
		Players: [2]uint16{binary.LittleEndian.Uint16(src[25:]), binary.LittleEndian.Uint16(src[27:])},
	}
	won := s.Winner < mode.Teams || s.Winner == mode.Tie || s.Winner == mode.NoWinner
	if s.Phase >= mode.Phases || s.Status >= mode.Statuses || !won || s.Points > mode.MaxPoints ||
		s.Point > s.Points || s.Left > maxLeft {
		return RoundStatus{}, false
	}
	return s, true
}

// maxLeft bounds Left: arithmetic beyond it might wrap. Phases have at most 921,600 ticks.
const maxLeft = 1 << 20
