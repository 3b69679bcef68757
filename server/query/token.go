package query

import (
	"encoding/binary"
	"net/netip"
	"time"
)

// TokenLife is how long a token is good at least; it is at most twice as long.
const TokenLife = 10 * time.Second

// minter makes tokens and knows its own again. It remembers none.
type minter struct{ key [2]uint64 }

// token is that of an address in a period of TokenLife. It is half of a hash, as the protocol has
// room for 32 bits: who guesses at an address that is not its own is right once in 2^31, and has
// then sent that address one response.
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
