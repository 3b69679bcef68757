package query

import (
	"encoding/binary"
	"net/netip"
	"time"
)

// TokenLife is the shortest validity of a token; the longest is twice that.
const TokenLife = 10 * time.Second

// minter makes and verifies tokens without storing them.
type minter struct{ key [2]uint64 }

// token returns the token of an address in a period of TokenLife. It is half of a hash, as the
// protocol has 32 bits: a spoofed address is guessed once in 2^31, for one response to it.
func (m *minter) token(at netip.AddrPort, period int64) uint32 {
	var b [26]byte
	ip := at.Addr().As16() // IPv4 in IPv6 is the same, and zones are not in it
	copy(b[:], ip[:])
	binary.BigEndian.PutUint16(b[16:], at.Port())
	binary.BigEndian.PutUint64(b[18:], uint64(period))
	return uint32(siphash(m.key, b[:]))
}

func (m *minter) mint(now time.Duration, at netip.AddrPort) uint32 {
	return m.token(at, int64(now/TokenLife))
}

func (m *minter) good(now time.Duration, at netip.AddrPort, token uint32) bool {
	period := int64(now / TokenLife)
	return token == m.token(at, period) || token == m.token(at, period-1)
}
