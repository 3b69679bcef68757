package protocol

import (
	"time"

	"github.com/tickrate/tickrate/netio/packet"
)

// MessageScores is the tag of the reliable message with rows of the score board, server to client.
const MessageScores byte = 0xc3

// ScoreSize is the bytes of a row.
const ScoreSize = 10

// Score is what the board has of one player besides its name and team, which the roster has. A
// message is MessageScores and one or more rows, without a count. Each row is complete, so that the
// last one is right.
//
//	4  net id  not 0
//	2  kills
//	2  deaths
//	1  ping    in 2 ms; 254: 508 ms or more; 255: the player has no connection
//	1  loss    percent of packets lost, of the worse direction; 0 to 100
type Score struct {
	NetID         uint32
	Kills, Deaths uint16
	Ping          Ping
	Loss          uint8
}

// Ping is a round trip as the board has it.
type Ping uint8

// PingAway is the Ping of a player without a connection.
const PingAway Ping = 255

const (
	pingUnit = 2 * time.Millisecond
	pingMost = 254
)

// PingOf rounds a round trip to a Ping.
func PingOf(rtt time.Duration) Ping {
	return Ping(min(max(0, (rtt+pingUnit/2)/pingUnit), pingMost))
}

// RTT is the round trip of a Ping, 0 for PingAway.
func (p Ping) RTT() time.Duration {
	if p == PingAway {
		return 0
	}
	return time.Duration(p) * pingUnit
}

// Append writes s at the end of dst, after the tag or another row.
func (s *Score) Append(dst []byte) []byte {
	dst = le.AppendUint32(dst, s.NetID)
	dst = le.AppendUint16(dst, s.Kills)
	dst = le.AppendUint16(dst, s.Deaths)
	return append(dst, byte(s.Ping), s.Loss)
}

// ParseScore reads a row after the tag or another row, and returns what follows it. The error is a
// packet.Drop.
func ParseScore(src []byte) (s Score, rest []byte, err error) {
	if len(src) < ScoreSize {
		return s, nil, packet.DropMessage
	}
	s = Score{
		NetID: le.Uint32(src), Kills: le.Uint16(src[4:]), Deaths: le.Uint16(src[6:]),
		Ping: Ping(src[8]), Loss: src[9],
	}
	if s.NetID == 0 || s.Loss > 100 {
		return s, nil, packet.DropMessage
	}
	return s, src[ScoreSize:], nil
}
