package floor

import (
	"crypto/cipher"
	"encoding/binary"

	"golang.org/x/crypto/chacha20poly1305"
)

// prefix is the first byte of a datagram: netcode's payload with a sequence of three bytes.
const prefix = 3<<4 | 5

// client is what the server keeps of an address.
type client struct {
	receive, send cipher.AEAD
	sequence      uint32 // of the next datagram to the client
}

// newClient makes the ciphers of client i. Keys need not be secret here.
func newClient(i int) (c client) {
	var key [chacha20poly1305.KeySize]byte
	binary.LittleEndian.PutUint32(key[:], uint32(i))
	c.receive, _ = chacha20poly1305.New(key[:]) // fails for another length only
	key[31] = 1
	c.send, _ = chacha20poly1305.New(key[:])
	return c
}

// sealer is the reused memory of nonce and associated data: arguments of a cipher.AEAD escape.
type sealer struct {
	nonce      [chacha20poly1305.NonceSize]byte
	associated [22]byte // netcode's version, protocol and prefix
}

// seal writes a datagram with a body into dst, which has room for it.
func (s *sealer) seal(aead cipher.AEAD, dst []byte, sequence uint32, body []byte) []byte {
	dst = append(dst, prefix, byte(sequence), byte(sequence>>8), byte(sequence>>16))
	s.set(dst)
	return aead.Seal(dst, s.nonce[:], body, s.associated[:])
}

// open decrypts a datagram in place and reports whether it is authentic.
func (s *sealer) open(aead cipher.AEAD, datagram []byte) bool {
	if len(datagram) < headerBytes+tagBytes {
		return false
	}
	s.set(datagram)
	sealed := datagram[headerBytes:]
	_, err := aead.Open(sealed[:0], s.nonce[:], sealed, s.associated[:])
	return err == nil
}

// set takes nonce and associated data from a datagram's header.
func (s *sealer) set(header []byte) {
	copy(s.nonce[4:7], header[1:headerBytes])
	s.associated[21] = header[0]
}
