package netcode

import (
	"crypto/cipher"
	"encoding/binary"
	"math/bits"

	"golang.org/x/crypto/chacha20poly1305"
)

// minSealed is the size of an empty body after the shortest header.
const minSealed = 2 + tagSize

// header is the part of a sealed datagram that is not encrypted.
type header struct {
	prefix   byte
	kind     Kind
	sequence uint64
	size     int // of prefix and sequence
}

// parseHeader reads the header of a sealed datagram and checks that a tag fits after it. It
// accepts sequences that are written longer than needed.
func parseHeader(datagram []byte) (h header, why Drop) {
	if len(datagram) < minSealed || len(datagram) > maxReceived {
		return h, DropSize
	}
	h.prefix = datagram[0]
	h.kind = Kind(h.prefix & 15)
	n := int(h.prefix >> 4)
	if h.kind == KindRequest || h.kind > KindPath {
		return h, DropType
	}
	if n < 1 || n > 8 {
		return h, DropSequence
	}
	h.size = 1 + n
	if len(datagram) < h.size+tagSize {
		return h, DropSize
	}
	// minSealed covers eight bytes
	h.sequence = binary.LittleEndian.Uint64(datagram[1:]) & (^uint64(0) >> (64 - 8*n))
	return h, DropNone
}

// appendHeader writes prefix and sequence.
func appendHeader(dst []byte, kind Kind, sequence uint64) []byte {
	n := max(1, (bits.Len64(sequence)+7)/8)
	var b [9]byte
	b[0] = byte(n)<<4 | byte(kind)
	binary.LittleEndian.PutUint64(b[1:], sequence)
	return append(dst, b[:1+n]...)
}

// sealer holds nonce and associated data for a cipher. It is reused memory: arguments of a
// cipher.AEAD escape to the heap, and a sealer is there already.
type sealer struct {
	nonce      [chacha20poly1305.NonceSize]byte
	associated [13 + 8 + 1 + 8]byte // version, protocol id, prefix; path: session id
	body       [bodySize]byte       // room for a small body
}

const dataSize = 13 + 8 + 1 // without session id

func newSealer(protocolID uint64) (s sealer) {
	copy(s.associated[:], version)
	binary.LittleEndian.PutUint64(s.associated[13:], protocolID)
	return s
}

// nonceOf returns the nonce of a sequence: four zero bytes, then the sequence.
func (s *sealer) nonceOf(sequence uint64) []byte {
	binary.LittleEndian.PutUint64(s.nonce[4:], sequence)
	return s.nonce[:]
}

// seal appends a datagram to dst. The body must not overlap it.
func (s *sealer) seal(aead cipher.AEAD, dst []byte, kind Kind, sequence uint64, body []byte) []byte {
	start := len(dst)
	dst = appendHeader(dst, kind, sequence)
	s.associated[dataSize-1] = dst[start]
	return aead.Seal(dst, s.nonceOf(sequence), body, s.associated[:dataSize])
}

// open decrypts a datagram in place. It wipes the body of a datagram that fails authentication.
func (s *sealer) open(aead cipher.AEAD, h header, datagram []byte) (body []byte, ok bool) {
	s.associated[dataSize-1] = h.prefix
	sealed := datagram[h.size:]
	body, err := aead.Open(sealed[:0], s.nonceOf(h.sequence), sealed, s.associated[:dataSize])
	return body, err == nil
}

// sealPath appends a path datagram, which has a session id before its body.
func (s *sealer) sealPath(aead cipher.AEAD, dst []byte, sequence, id uint64, body []byte) []byte {
	start := len(dst)
	dst = appendHeader(dst, KindPath, sequence)
	s.associated[dataSize-1] = dst[start]
	dst = binary.LittleEndian.AppendUint64(dst, id)
	binary.LittleEndian.PutUint64(s.associated[dataSize:], id)
	return aead.Seal(dst, s.nonceOf(sequence), body, s.associated[:])
}

// openPath decrypts a path datagram in place, of a length that pathID has checked.
func (s *sealer) openPath(aead cipher.AEAD, h header, id uint64, datagram []byte) (body []byte, ok bool) {
	s.associated[dataSize-1] = h.prefix
	binary.LittleEndian.PutUint64(s.associated[dataSize:], id)
	sealed := datagram[h.size+8:]
	body, err := aead.Open(sealed[:0], s.nonceOf(h.sequence), sealed, s.associated[:])
	return body, err == nil
}

// pathID reads the session id after the header of a path datagram.
func pathID(h header, datagram []byte) (id uint64, ok bool) {
	if len(datagram) < h.size+8+1+tagSize {
		return 0, false
	}
	return binary.LittleEndian.Uint64(datagram[h.size:]), true
}

// bodyFits reports whether n bytes are a body of a kind.
func bodyFits(kind Kind, n int) bool {
	switch kind {
	case KindDenied, KindDisconnect:
		return n == 0
	case KindChallenge, KindResponse:
		return n == bodySize
	case KindKeepAlive:
		return n == 8
	case KindPayload:
		return n >= 1 && n <= MaxPayload
	}
	return false
}
