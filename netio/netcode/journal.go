package netcode

import (
	"encoding/binary"
	"fmt"
)

// JournalRecord is the size of a record of a journal, in bytes.
//
// A journal is memory that outlives the process, such as a mapped file: it says which tokens had their session, so that they
// get no second one from a server that was killed and started again. It begins as zeros and is a row of records:
//
//	16  tag     of a token
//	8   expire  of that token, Unix seconds, little-endian
//	8   check   of the 24 bytes before it
//
// A record whose check is wrong says nothing: zeros, or a record that was being written when the machine lost its power.
// Such a token had not had its session, because the client is told of it only after its record was written. A record is
// written again only after its token has expired.
const JournalRecord = 32

// journal is the memory; nil for none. Record i belongs to entry i of the used tokens.
type journal []byte

// checkJournal says what is wrong with the memory of a journal for so many tokens.
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

// read returns what record i says; not ok if that is nothing.
func (j journal) read(i int) (tag TokenTag, expire uint64, ok bool) {
	r := j[i*JournalRecord:][:JournalRecord]
	tag, expire = TokenTag(r), binary.LittleEndian.Uint64(r[16:])
	return tag, expire, binary.LittleEndian.Uint64(r[24:]) == checksum(tag, expire)
}

// checksum depends on each of the three numbers, the others given, by a permutation: damage within eight bytes never goes
// unseen, and other damage once in 2^64. It is no secret: who can write the journal needs no forgery. Zeros are wrong.
func checksum(tag TokenTag, expire uint64) uint64 {
	h := mix(0x9e3779b97f4a7c15 ^ binary.LittleEndian.Uint64(tag[:8]))
	h = mix(h ^ binary.LittleEndian.Uint64(tag[8:]))
	return mix(h ^ expire)
}

// mix is the last part of SplitMix64.
func mix(h uint64) uint64 {
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}
