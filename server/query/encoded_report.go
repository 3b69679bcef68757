package query

import (
	"encoding/binary"
	"math/bits"
)

// EncodedReport is a report in bytes: each chunk is encoded once for all requests. The zero value
// is empty. One goroutine at a time may use it.
type EncodedReport struct {
	chunk [numChunks][]byte // each with its length before it
}

// smallChunk is the most bytes of rules, and of teams: players get the rest.
const smallChunk = 48 << 10

// Fill encodes a report; missing chunks are empty. It keeps its memory and no reference to
// the report. Rules, teams and players that do not fit into MaxPackets datagrams are left out, the
// last of them.
func (e *EncodedReport) Fill(r *Report) {
	for i := range e.chunk {
		e.chunk[i] = append(e.chunk[i][:0], 0, 0, 0, 0)
	}
	e.chunk[0] = r.Info.append(e.chunk[0])
	e.chunk[1] = appendRules(e.chunk[1], r.Rules, smallChunk)
	e.chunk[3] = r.Teams.append(e.chunk[3], smallChunk)
	e.chunk[2] = r.Players.append(e.chunk[2], maxStream-len(e.chunk[0])-len(e.chunk[1])-len(e.chunk[3])-4)
	for _, c := range e.chunk {
		binary.BigEndian.PutUint32(c, uint32(len(c)-4))
	}
}

// size returns the bytes of the given chunks.
func (e *EncodedReport) size(chunks Chunks) (n int) {
	for i, c := range e.chunk {
		n += len(c) * int(chunks>>i&1)
	}
	return n
}

// packets returns the number of datagrams of the given chunks; 0 if they are empty.
func (e *EncodedReport) packets(chunks Chunks) int {
	return (e.size(chunks) + payloadSize - 1) / payloadSize
}

// payload appends payload number i of a response with some chunks.
func (e *EncodedReport) payload(dst []byte, chunks Chunks, i int) []byte {
	skip, room := i*payloadSize, payloadSize
	for rest := chunks & AllChunks; rest != 0 && room > 0; rest &= rest - 1 {
		c := e.chunk[bits.TrailingZeros8(uint8(rest))]
		n := min(skip, len(c))
		c, skip = c[n:], skip-n
		c = c[:min(room, len(c))]
		dst, room = append(dst, c...), room-len(c)
	}
	return dst
}
