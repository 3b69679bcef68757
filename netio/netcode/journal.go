package netcode

import (
	"encoding/binary"
	"fmt"
)

// JournalRecord is the size of a record of a journal, in bytes.
//
// A journal is memory that outlives the process, such as a mapped file. It lists the tokens that
// had their session, so that a restarted server refuses them. It begins as zeros and is a row of
// records:
//
//	16  tag       of a token
//	8   expire    of that token, Unix seconds, little-endian
//	8   checksum  of the 24 bytes before it
//
// A record with a wrong checksum is empty: zeros, or a record that was being written when the
// power failed. The server writes the record before it tells the client of its session, so the
// token of a torn record had none. A record is reused only after its token has expired.
const JournalRecord = 32

// journal is the memory of a journal; nil for none. Record i belongs to entry i of UsedTokens.
type journal []byte

// checkJournal returns an error if the memory does not fit a journal for that many tokens.
func checkJournal(memory []byte, tokens int) error {
	if len(memory)%JournalRecord != 0 {
		return fmt.Errorf("netcode: journal of %d bytes: not a multiple of %d", len(memory), JournalRecord)
	}
	if n := len(memory) / JournalRecord; n < tokens {
		return fmt.Errorf("netcode: journal of %d records for %d tokens", n, tokens)
	}
	return nil
}

func (j journal) len() int { return len(j) / JournalRecord }

// write puts a token into record i.
func (j journal) write(i int, tag TokenTag, expire uint64) {
	if j == nil {
		return
	}
	r := j[i*JournalRecord:][:JournalRecord]
	copy(r, tag[:])
	binary.LittleEndian.PutUint64(r[16:], expire)
	binary.LittleEndian.PutUint64(r[24:], checksum(tag, expire))
}

// read returns the token of record i; not ok if the record is empty.
func (j journal) read(i int) (tag TokenTag, expire uint64, ok bool) {
	r := j[i*JournalRecord:][:JournalRecord]
	tag, expire = TokenTag(r), binary.LittleEndian.Uint64(r[16:])
	return tag, expire, binary.LittleEndian.Uint64(r[24:]) == checksum(tag, expire)
}

// checksum maps each of the three numbers by a permutation while the others stay the same. Damage
// within eight bytes is always detected, other damage misses detection once in 2^64. It is not
// secret, because a writer of the journal needs no forgery. Zeros do not pass.
func checksum(tag TokenTag, expire uint64) uint64 {
	h := mix(0x9e3779b97f4a7c15 ^ binary.LittleEndian.Uint64(tag[:8]))
	h = mix(h ^ binary.LittleEndian.Uint64(tag[8:]))
	return mix(h ^ expire)
}

// mix is the finalizer of SplitMix64.
func mix(h uint64) uint64 {
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}
