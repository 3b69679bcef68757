package announce

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Key is the secret that the processes of a fleet share.
type Key [32]byte

// ReadKey reads a key file: 64 hexadecimal digits.
func ReadKey(path string) (key Key, err error) {
	f, err := os.Open(path)
	if err != nil {
		return key, fmt.Errorf("fleet key: %w", err)
	}
	defer f.Close() // read only
	text, err := io.ReadAll(io.LimitReader(f, 256))
	if err != nil {
		return key, fmt.Errorf("fleet key: %w", err)
	}
	raw, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(raw) != len(key) || Key(raw) == (Key{}) {
		return key, fmt.Errorf("fleet key %s: expected 64 hexadecimal digits, not all 0, as "+
			"openssl rand -hex 32 prints them", path)
	}
	return Key(raw), nil
}

// BusToken returns the token of the fleet's NATS server. Who knows it does not know the key.
func (k *Key) BusToken() string {
	mac := hmac.New(sha256.New, k[:])
	mac.Write([]byte("tickrate bus\x00"))
	return hex.EncodeToString(mac.Sum(nil))
}

// kind keeps a message of one sort from being taken for one of another.
type kind byte

const (
	kindHost kind = 'H'
	kindMake kind = 'M'
	kindMade kind = 'R'
	kindMove kind = 'V'
	kindKept kind = 'K'
)

// kept is a stored value with its name, so that a value of one name is no good under another.
type kept struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"`
}

// SealKept returns the bytes to store a value under a name, BUCKET/KEY.
func (k *Key) SealKept(name string, value any) ([]byte, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return k.seal(kindKept, kept{name, raw})
}

// OpenKept reads what SealKept wrote under the name.
func (k *Key) OpenKept(name string, raw []byte, value any) error {
	var of kept
	if err := k.open(kindKept, raw, &of); err != nil {
		return err
	}
	if of.Name != name {
		return ErrSubject
	}
	if err := json.Unmarshal(of.Value, value); err != nil {
		return errors.Join(ErrForeign, err)
	}
	return nil
}

// SealMove returns the bytes of a message about a lobby that moves, see package handoff.
func (k *Key) SealMove(body any) ([]byte, error) { return k.seal(kindMove, body) }

// OpenMove reads what SealMove wrote. It does not check what the message says.
func (k *Key) OpenMove(raw []byte, body any) error { return k.open(kindMove, raw, body) }

// Seal appends a message:
//
//	2   "tF"
//	1   kind
//	1   version
//	32  HMAC-SHA-256 by the fleet's key, of the four bytes above and the body
//	n   body  JSON
const (
	magic      = "tF"
	version    = 1
	headerSize = 4
	sealSize   = headerSize + sha256.Size
)

func (k *Key) seal(of kind, body any) ([]byte, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	raw := make([]byte, sealSize, sealSize+len(text))
	copy(raw, magic)
	raw[2], raw[3] = byte(of), version
	raw = append(raw, text...)
	if len(raw) > MaxSize {
		return nil, ErrSize
	}
	copy(raw[headerSize:], k.sum(raw))
	return raw, nil
}

// sum is the seal of a message.
func (k *Key) sum(raw []byte) []byte {
	mac := hmac.New(sha256.New, k[:])
	mac.Write(raw[:headerSize])
	mac.Write(raw[sealSize:])
	return mac.Sum(nil)
}

// open checks the seal of a message before it reads a byte of the body.
func (k *Key) open(of kind, raw []byte, body any) error {
	switch {
	case len(raw) > MaxSize:
		return ErrSize
	case len(raw) < sealSize || string(raw[:2]) != magic || raw[2] != byte(of) || raw[3] != version:
		return ErrForeign
	case !hmac.Equal(k.sum(raw), raw[headerSize:sealSize]):
		return ErrKey
	}
	if err := json.Unmarshal(raw[sealSize:], body); err != nil {
		return errors.Join(ErrForeign, err)
	}
	return nil
}

// Seal returns the bytes of an announcement.
func (k *Key) Seal(h *Host) ([]byte, error) { return k.seal(kindHost, h) }

// Open reads an announcement that came under a subject. It does not check its figures.
func (k *Key) Open(subject string, raw []byte) (h *Host, err error) {
	h = new(Host)
	if err = k.open(kindHost, raw, h); err != nil {
		return nil, err
	}
	if subject != subjectHosts+h.Name {
		return nil, ErrSubject
	}
	return h, nil
}
