package query

import (
	"encoding/binary"
	"errors"
)

// Sizes of datagrams, in bytes.
const (
	MaxPacket     = 1472 // the payload of an Ethernet frame
	ChallengeSize = 5    // of a challenge, either way
	RequestSize   = 8    // of a query
	headSize      = 11   // of a response, before its payload
	payloadSize   = MaxPacket - headSize
)

// MaxPackets is the most datagrams of one response. The protocol could have 256; a whole lobby of
// 4096 needs about 60.
const MaxPackets = 128

// maxStream is the most bytes of a response, without the heads of its datagrams.
const maxStream = MaxPackets * payloadSize

// version is the version of responses. Requests of any version are answered: Unity's client sends
// 0, other clients 1.
const version = 1

// Types of a datagram, the same in both directions.
const (
	typeChallenge = 0
	typeQuery     = 1
)

// Chunks is a set of the parts that a response may have, in the order of their bits.
type Chunks uint8

// The chunks.
const (
	ChunkInfo    Chunks = 1 << iota // what a server browser shows in a line
	ChunkRules                      // settings, by name
	ChunkPlayers                    // a table
	ChunkTeams                      // a table
	AllChunks    = ChunkInfo | ChunkRules | ChunkPlayers | ChunkTeams
	numChunks    = 4
)

// ErrMalformed means that bytes do not follow the protocol.
var ErrMalformed = errors.New("query: malformed datagram")

// appendChallenge writes a challenge; a request's token is 0.
//
//	1  type   0
//	4  token  big-endian, as everything
func appendChallenge(dst []byte, token uint32) []byte {
	return binary.BigEndian.AppendUint32(append(dst, typeChallenge), token)
}

func parseChallenge(src []byte) (token uint32, err error) {
	if len(src) != ChallengeSize || src[0] != typeChallenge {
		return 0, ErrMalformed
	}
	return binary.BigEndian.Uint32(src[1:]), nil
}

// request is a query.
//
//	1  type     1
//	4  token
//	2  version
//	1  chunks
type request struct {
	token  uint32
	chunks Chunks
}

func (r request) append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint32(append(dst, typeQuery), r.token)
	dst = binary.BigEndian.AppendUint16(dst, version)
	return append(dst, byte(r.chunks))
}

func (r *request) parse(src []byte) error {
	if len(src) != RequestSize || src[0] != typeQuery {
		return ErrMalformed
	}
	r.token = binary.BigEndian.Uint32(src[1:])
	r.chunks = Chunks(src[7])
	return nil
}

// head is the beginning of each datagram of a response. The payloads, one after the other, are the
// chunks asked for.
//
//	1  type     1
//	4  token
//	2  version
//	1  current  0 to last
//	1  last
//	2  length   of the payload
type head struct {
	token         uint32
	current, last uint8
}

func (h head) append(dst []byte, length int) []byte {
	dst = binary.BigEndian.AppendUint32(append(dst, typeQuery), h.token)
	dst = binary.BigEndian.AppendUint16(dst, version)
	dst = append(dst, h.current, h.last)
	return binary.BigEndian.AppendUint16(dst, uint16(length))
}

func (h *head) parse(src []byte) (payload []byte, err error) {
	if len(src) < headSize || src[0] != typeQuery {
		return nil, ErrMalformed
	}
	h.token = binary.BigEndian.Uint32(src[1:])
	h.current, h.last = src[7], src[8]
	payload = src[headSize:]
	if h.current > h.last || h.last >= MaxPackets ||
		int(binary.BigEndian.Uint16(src[9:])) != len(payload) || len(payload) > payloadSize {
		return nil, ErrMalformed
	}
	return payload, nil
}
