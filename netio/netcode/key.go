package netcode

import (
	"encoding/hex"
	"errors"
)

// KeySize is the length of all keys in bytes.
const KeySize = 32

// Key is a secret. It prints as a placeholder, so that no log shows it.
type Key [KeySize]byte

// ErrKey: the text is not 64 hexadecimal digits.
var ErrKey = errors.New("netcode: a key is 64 hexadecimal digits")

// ParseKey reads 64 hexadecimal digits. The error never quotes them.
func ParseKey(text string) (k Key, err error) {
	if n, err := hex.Decode(k[:], []byte(text[:min(len(text), 2*KeySize)])); err != nil || n != KeySize ||
		len(text) != 2*KeySize {
		return Key{}, ErrKey
	}
	return k, nil
}

// sampleKey is the published private key of the reference implementation's example programs.
var sampleKey = Key{
	0x60, 0x6a, 0xbe, 0x6e, 0xc9, 0x19, 0x10, 0xea, 0x9a, 0x65, 0x62, 0xf6, 0x6f, 0x2b, 0x30, 0xe4,
	0x43, 0x71, 0xd6, 0x2c, 0xd1, 0x99, 0x27, 0x26, 0x6b, 0x3c, 0x60, 0xf4, 0xb7, 0x15, 0xab, 0xa1,
}

// IsTestKey reports whether the key protects nothing: it is zero or the published sample key.
func (k *Key) IsTestKey() bool { return *k == Key{} || *k == sampleKey }

// String hides the key.
func (k Key) String() string { return "key" }

// GoString hides the key.
func (k Key) GoString() string { return "netcode.Key{}" }
