package client

import (
	"time"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
)

// Board is the score board: what the server says of every player, wherever it is and however late
// the client has joined. The scores of the teams are in Round.Status.
type Board struct {
	chat *Chat // has names and teams
	rows []protocol.Score
}

// Score is a line of the board.
type Score struct {
	Player
	Kills, Deaths uint16
	Ping          time.Duration // round trip, in steps of 2 ms
	Loss          float32       // share of packets lost, of the worse direction, 0 to 1
	Away          bool          // the player has no connection: it may come back
	Known         bool          // the server has told of more than the name
}

// Score is the line of a slot. Only a client with DecodeFull knows any.
func (b *Board) Score(slot int) (s Score, ok bool) {
	if s.Player, ok = b.chat.Player(slot); !ok || slot >= len(b.rows) {
		return s, ok
	}
	if row := &b.rows[slot]; netid.ID(row.NetID) == s.ID {
		s.Kills, s.Deaths, s.Known = row.Kills, row.Deaths, true
		s.Ping, s.Loss, s.Away = row.Ping.RTT(), float32(row.Loss)/100, row.Ping == protocol.PingAway
	}
	return s, true
}

// Append appends the line of every player and spectator, in the order of slots.
func (b *Board) Append(dst []Score) []Score {
	for slot := range b.chat.players {
		if s, ok := b.Score(slot); ok {
			dst = append(dst, s)
		}
	}
	return dst
}

// message takes a message with rows of the board: those before an invalid one stay. known is false
// for any other message.
func (b *Board) message(raw []byte, slots int) (known bool, err error) {
	if raw[0] != protocol.MessageScores {
		return false, nil
	}
	rows := raw[1:]
	if len(rows) == 0 {
		return true, packet.DropMessage
	}
	for len(rows) > 0 && !b.chat.linesOnly {
		row, rest, err := protocol.ParseScore(rows)
		if err != nil {
			return true, err
		}
		slot := netid.ID(row.NetID).Index()
		if slot >= slots {
			return true, packet.DropMessage
		}
		for slot >= len(b.rows) {
			b.rows = append(b.rows, protocol.Score{})
		}
		b.rows[slot], rows = row, rest
	}
	return true, nil
}

// reset forgets the board for a change of the map.
func (b *Board) reset() { b.rows = b.rows[:0] }
