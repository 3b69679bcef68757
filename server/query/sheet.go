package query

import (
	"encoding/binary"
	"math/bits"
)

// Sheet is an encoded report: each chunk is encoded once for all requests. The zero value is empty.
// One goroutine at a time may use it.
type Sheet struct {
	chunk [numChunks][]byte // each with its length before it
}

// smallChunk is the most bytes of rules, and of teams: players get the rest.
const smallChunk = 16 << 10

// Fill encodes a report; missing chunks are empty. The sheet keeps its memory and no reference to
// the report. Rules, teams and players that do not fit into MaxPackets datagrams are left out, the
// last of them.
func (s *Sheet) Fill(r *Report) {
	for i := range s.chunk {
		s.chunk[i] = append(s.chunk[i][:0], 0, 0, 0, 0)
	}
	s.chunk[0] = r.Info.append(s.chunk[0])
	s.chunk[1] = appendRules(s.chunk[1], r.Rules, smallChunk)
	s.chunk[3] = r.Teams.append(s.chunk[3], smallChunk)
	s.chunk[2] = r.Players.append(s.chunk[2], maxStream-len(s.chunk[0])-len(s.chunk[1])-len(s.chunk[3])-4)
	for _, c := range s.chunk {
		binary.BigEndian.PutUint32(c, uint32(len(c)-4))
	}
}

// size returns the bytes of the given chunks.
func (s *Sheet) size(chunks Chunks) (n int) {
	for i, c := range s.chunk {
		n += len(c) * int(chunks>>i&1)
	}
	return n
}

// packets returns the number of datagrams of the given chunks; 0 if they are empty.
func (s *Sheet) packets(chunks Chunks) int {
	return (s.size(chunks) + payloadSize - 1) / payloadSize
}

// page appends payload number i of a response with some chunks.
func (s *Sheet) page(dst []byte, chunks Chunks, i int) []byte {
	skip, room := i*payloadSize, payloadSize
	for rest := chunks & AllChunks; rest != 0 && room > 0; rest &= rest - 1 {
		c := s.chunk[bits.TrailingZeros8(uint8(rest))]
		n := min(skip, len(c))
		c, skip = c[n:], skip-n
		c = c[:min(room, len(c))]
		dst, room = append(dst, c...), room-len(c)
	}
	return dst
}
