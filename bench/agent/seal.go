package agent

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
)

// Key is the secret that coordinator and agents share. Jobs hold the private keys of the servers
// under test, so messages are encrypted.
type Key [32]byte

// Sealer seals and opens messages:
//
//	12  nonce  random
//	n   body   JSON, AES-256-GCM; the subject is authenticated with it
type Sealer struct{ aead cipher.AEAD }

// NewSealer returns the sealer of a key. The key is hashed first, so that another protocol may have
// the same.
func NewSealer(key Key) *Sealer {
	own := sha256.Sum256(append([]byte("tickrate load 1 "), key[:]...))
	block, err := aes.NewCipher(own[:])
	if err != nil {
		panic("agent: " + err.Error()) // 32 bytes are a key
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic("agent: " + err.Error())
	}
	return &Sealer{aead}
}

// Seal returns the bytes of a message for a subject, ErrSize if they are too many.
func (s *Sealer) Seal(subject string, m *Message) ([]byte, error) {
	text, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, s.aead.NonceSize(), s.aead.NonceSize()+len(text)+s.aead.Overhead())
	_, _ = rand.Read(nonce) // does not fail: it stops the program
	raw := s.aead.Seal(nonce, nonce, text, []byte(subject))
	if len(raw) > MaxSize {
		return nil, ErrSize
	}
	return raw, nil
}

// Open reads a message that came under a subject. Its errors are those of Refusals.
func (s *Sealer) Open(subject string, raw []byte) (m Message, err error) {
	n := s.aead.NonceSize()
	switch {
	case len(raw) > MaxSize:
		return m, ErrSize
	case len(raw) < n:
		return m, ErrForm
	}
	text, err := s.aead.Open(nil, raw[:n], raw[n:], []byte(subject))
	if err != nil {
		return m, ErrSeal
	}
	if json.Unmarshal(text, &m) != nil {
		return Message{}, ErrForm
	}
	return m, m.check()
}
