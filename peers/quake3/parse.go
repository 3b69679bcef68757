package quake3

import (
	"errors"
	"math/bits"
	"strconv"
	"strings"
)

// Operations of a server's message.
const (
	opNop = iota + 1
	opGameState
	opConfigString
	opBaseline
	opCommand
	opDownload
	opSnapshot
	opEnd
)

// maxPlayers is the most players of a server; their entities have the first numbers.
const maxPlayers = 64

// snapshot is what is kept of one: whose entities it has.
type snapshot struct {
	message uint32
	players uint64 // bit n: the entity of player n
}

// State is what a client knows of the match.
type State struct {
	ServerID    int32
	Feed        int32 // checksum feed of the map
	Time        int32 // of the newest snapshot, milliseconds
	Snapshot    uint32
	CommandSeq  int32 // newest command of the server
	ReliableAck int32 // newest own command that the server has
	Playing     bool  // a game state has come
	ring        [32]snapshot
}

// Seen is what a snapshot held.
type Seen struct {
	Players    int // other players
	PlayerBits int // of their changes
	Delta      bool
}

var (
	errOp       = errors.New("quake3: unknown operation")
	errShort    = errors.New("quake3: message ends early")
	errEntity   = errors.New("quake3: entity with more fields than there are")
	errBaseline = errors.New("quake3: delta against a snapshot that is not here")
)

// Parse reads a message and gives each new command of the server to command. It returns what the
// message's snapshot held; nil: there was none.
func (s *State) Parse(sequence uint32, message []byte, command func(int32, string)) (seen *Seen, err error) {
	r := NewReader(message)
	s.ReliableAck = r.Long()
	for {
		if r.Over() {
			return seen, errShort
		}
		switch r.Byte() {
		case opNop:
		case opEnd:
			return seen, nil
		case opCommand:
			n, text := r.Long(), r.Text(1024)
			if n > s.CommandSeq && !r.Over() {
				s.CommandSeq = n
				command(n, text)
			}
		case opGameState:
			err = s.gameState(r)
		case opSnapshot:
			seen, err = s.snapshot(sequence, r)
		default:
			if r.Over() {
				return seen, errShort
			}
			return seen, errOp
		}
		if err != nil {
			return nil, err
		}
	}
}

func (s *State) gameState(r *Reader) error {
	s.CommandSeq = r.Long()
	for {
		if r.Over() {
			return errShort
		}
		switch r.Byte() {
		case opEnd:
			r.Long() // own number
			s.Feed, s.Playing = r.Long(), true
			s.ring = [32]snapshot{}
			s.Snapshot = 0
			return nil
		case opConfigString:
			i, text := r.Short(), r.Text(8192)
			if i == 1 { // system info
				id, _ := strconv.Atoi(info(text, "sv_serverid"))
				s.ServerID = int32(id)
			}
		case opBaseline:
			r.Bits(entityBits)
			if _, ok := r.entity(); !ok {
				return errEntity
			}
		default:
			return errOp
		}
	}
}

func (s *State) snapshot(sequence uint32, r *Reader) (*Seen, error) {
	next := snapshot{message: sequence}
	time, back := r.Long(), r.Byte()
	r.Byte() // flags
	seen := &Seen{Delta: back > 0}
	if back > 0 {
		old := s.ring[(sequence-uint32(back))%uint32(len(s.ring))]
		if old.message != sequence-uint32(back) {
			return nil, errBaseline
		}
		next.players = old.players
	}
	area := r.Byte()
	if area > maxAreaMask {
		return nil, errEntity
	}
	for range area {
		r.Byte()
	}
	if !r.player() {
		return nil, errEntity
	}
	for {
		start := r.Offset()
		n := r.Bits(entityBits)
		if n == noEntity {
			break
		}
		removed, ok := r.entity()
		if !ok || r.Over() {
			return nil, errEntity
		}
		if n < maxPlayers {
			seen.PlayerBits += r.Offset() - start
			if removed {
				next.players &^= 1 << n
			} else {
				next.players |= 1 << n
			}
		}
	}
	if r.Over() {
		return nil, errShort
	}
	seen.Players = bits.OnesCount64(next.players)
	s.ring[sequence%uint32(len(s.ring))] = next
	s.Time, s.Snapshot = time, sequence
	return seen, nil
}

// info is the value of a key in text like \key\value\key\value.
func info(text, key string) string {
	parts := strings.Split(strings.TrimPrefix(text, `\`), `\`)
	for i := 0; i+1 < len(parts); i += 2 {
		if parts[i] == key {
			return parts[i+1]
		}
	}
	return ""
}
