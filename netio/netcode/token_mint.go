package netcode

import (
	"fmt"
	"io"
	"math"
	"net/netip"
)

// Mint is the content of a token that a backend issues. Its zero values are no defaults: ClientID
// 0 is client 0.
type Mint struct {
	ProtocolID     uint64
	ClientID       uint64
	Create, Expire uint64           // Unix seconds; Expire 2^64-1: never
	TimeoutSeconds int32            // of silence, both ways; negative: never; 0 is an error
	Servers        []netip.AddrPort // to dial; one is best, as all share keys
	Internal       []netip.AddrPort // as the servers know themselves; nil: the same as Servers
	UserData       [UserDataSize]byte
}

// Append draws two packet keys and a nonce from random, which is crypto/rand.Reader outside
// tests, and appends the TokenSize bytes of a public token to dst. Every session needs its own
// token.
func (m *Mint) Append(dst []byte, key *Key, random io.Reader) ([]byte, error) {
	internal := m.Internal
	if internal == nil {
		internal = m.Servers
	}
	for _, servers := range [][]netip.AddrPort{m.Servers, internal} {
		if err := checkServers(servers); err != nil {
			return dst, fmt.Errorf("netcode: mint token: %w", err)
		}
	}
	switch {
	case m.Create > m.Expire:
		return dst, fmt.Errorf("netcode: mint token: expires at %d, before its creation at %d", m.Expire,
			m.Create)
	case m.TimeoutSeconds == 0:
		return dst, fmt.Errorf("netcode: mint token: timeout of 0 s")
	case m.Expire > math.MaxInt64 && m.Expire != math.MaxUint64:
		return dst, fmt.Errorf("netcode: mint token: expires at %d, which no clock can say", m.Expire)
	}
	var fresh [2*KeySize + nonceSize]byte
	if _, err := io.ReadFull(random, fresh[:]); err != nil {
		return dst, fmt.Errorf("netcode: mint token: %w", err)
	}
	private := PrivateToken{ClientID: m.ClientID, TimeoutSeconds: m.TimeoutSeconds,
		NumServers: len(internal), UserData: m.UserData}
	copy(private.Servers[:], internal)
	public := PublicToken{ProtocolID: m.ProtocolID, Create: m.Create, Expire: m.Expire,
		TimeoutSeconds: m.TimeoutSeconds, NumServers: len(m.Servers)}
	copy(public.Servers[:], m.Servers)
	rest := fresh[copy(public.ClientToServer[:], fresh[:]):]
	rest = rest[copy(public.ServerToClient[:], rest):]
	copy(public.Nonce[:], rest)
	private.ClientToServer, private.ServerToClient = public.ClientToServer, public.ServerToClient
	sealPrivate(&public, &private, key)
	return public.Append(dst), nil
}

// sealPrivate seals the private token into the public one, whose nonce, protocol id and expire
// time are set.
func sealPrivate(public *PublicToken, private *PrivateToken, key *Key) {
	plaintext := private.Append(make([]byte, 0, privateSize))
	data := privateData(nil, public.ProtocolID, public.Expire)
	privateAEAD(key).Seal(public.Private[:0], public.Nonce[:], plaintext, data)
}
