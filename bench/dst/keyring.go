package dst

import (
	"crypto/cipher"
	"encoding/binary"

	"golang.org/x/crypto/chacha20poly1305"

	"github.com/tickrate/tickrate/netio/netcode"
)

// requestSize is the length of a connection request, which begins with 54 bytes before the sealed
// part of its token: prefix, version, protocol id, expire time and nonce.
const requestSize, requestHead = 1078, 54

// keyring has the keys of all tokens that reached the server. It tells under which token a datagram
// of the server was sealed, whatever has become of the session.
type keyring struct {
	number     map[netcode.TokenTag]int // index into keys
	keys       []sealKey
	private    netcode.PrivateToken
	associated [13 + 8 + 1 + 8]byte // version, protocol id, prefix, id of a path
	nonce      [chacha20poly1305.NonceSize]byte
	opened     [2048]byte // wiped memory of what was opened
}

// sealKey is the key from server to client of a token.
type sealKey struct {
	token netcode.TokenTag
	aead  cipher.AEAD
}

// tokenOfRequest returns the token of a connection request.
func tokenOfRequest(data []byte) (t netcode.TokenTag, ok bool) {
	if netcode.KindOf(data) != netcode.KindRequest || len(data) != requestSize {
		return t, false
	}
	return netcode.TokenTag(data[requestSize-len(t):]), true
}

// add takes the token of a datagram that reaches the server, if it is a request with a token that
// the key of the backend opens.
func (k *keyring) add(backend *netcode.Key, data []byte) {
	token, ok := tokenOfRequest(data)
	if _, had := k.number[token]; !ok || had {
		return
	}
	private, err := chacha20poly1305.NewX(backend[:])
	if err != nil {
		return
	}
	const associated = requestHead - chacha20poly1305.NonceSizeX // bytes before the nonce
	plain, err := private.Open(k.opened[:0], data[associated:requestHead], data[requestHead:],
		data[1:associated])
	if err != nil || k.private.Parse(plain) != nil { // damaged or forged
		return
	}
	aead, err := chacha20poly1305.New(k.private.ServerToClient[:])
	if err != nil {
		return
	}
	if k.number == nil {
		k.number = map[netcode.TokenTag]int{}
	}
	copy(k.associated[:], data[1:1+13+8])
	k.number[token] = len(k.keys)
	k.keys = append(k.keys, sealKey{token, aead})
}

// tokenOf returns the token under whose keys the server sealed a datagram. It tries likely first, and
// then the newest.
func (k *keyring) tokenOf(data []byte, likely netcode.TokenTag) (t netcode.TokenTag, ok bool) {
	if i, ok := k.number[likely]; ok && k.opens(&k.keys[i], data) {
		return likely, true
	}
	for i := len(k.keys) - 1; i >= 0; i-- {
		if k.opens(&k.keys[i], data) {
			return k.keys[i].token, true
		}
	}
	return t, false
}

// opens reports whether a datagram was sealed with a key. See netcode's sealer.
func (k *keyring) opens(key *sealKey, data []byte) bool {
	sequence, size, ok := sequenceOf(data)
	if !ok {
		return false
	}
	k.associated[13+8] = data[0]
	associated := k.associated[:13+8+1]
	if netcode.KindOf(data) == netcode.KindPath && len(data) >= size+8 {
		copy(k.associated[13+8+1:], data[size:size+8])
		associated, size = k.associated[:], size+8
	}
	binary.LittleEndian.PutUint64(k.nonce[len(k.nonce)-8:], sequence)
	_, err := key.aead.Open(k.opened[:0], k.nonce[:], data[size:], associated)
	return err == nil
}

// sequenceOf reads the sequence of a sealed datagram. size is the length of the header.
func sequenceOf(data []byte) (sequence uint64, size int, ok bool) {
	if len(data) < 9 {
		return 0, 0, false
	}
	n := int(data[0] >> 4)
	if n < 1 || n > 8 {
		return 0, 0, false
	}
	return binary.LittleEndian.Uint64(data[1:]) & (^uint64(0) >> (64 - 8*n)), 1 + n, true
}
