package netcode

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
)

// Types of an address entry.
const (
	addressIPv4 = 1
	addressIPv6 = 2
)

// ErrToken: the bytes are not a token.
var ErrToken = errors.New("netcode: malformed token")

// appendServers writes a count and the addresses:
//
//	1   type     1 IPv4, 2 IPv6
//	4   IPv4     as written, a.b.c.d
//	16  or IPv6  eight groups, each little-endian: the opposite of the network's order
//	2   port
func appendServers(dst []byte, servers []netip.AddrPort) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(servers)))
	for _, a := range servers {
		if ip := a.Addr(); ip.Is4() {
			b := ip.As4()
			dst = append(append(dst, addressIPv4), b[:]...)
		} else {
			b := swapped(ip.As16())
			dst = append(append(dst, addressIPv6), b[:]...)
		}
		dst = binary.LittleEndian.AppendUint16(dst, a.Port())
	}
	return dst
}

// parseServers reads what appendServers wrote into list and returns its length and what follows.
// An IPv4 address in IPv6 keeps its form.
func parseServers(src []byte, list *[MaxServers]netip.AddrPort) (n int, rest []byte, err error) {
	if len(src) < 4 {
		return 0, nil, ErrToken
	}
	count := binary.LittleEndian.Uint32(src)
	if count < 1 || count > MaxServers {
		return 0, nil, ErrToken
	}
	src = src[4:]
	for i := range list[:count] {
		switch {
		case len(src) >= 7 && src[0] == addressIPv4:
			list[i] = netip.AddrPortFrom(netip.AddrFrom4([4]byte(src[1:5])),
				binary.LittleEndian.Uint16(src[5:]))
			src = src[7:]
		case len(src) >= 19 && src[0] == addressIPv6:
			list[i] = netip.AddrPortFrom(netip.AddrFrom16(swapped([16]byte(src[1:17]))),
				binary.LittleEndian.Uint16(src[17:]))
			src = src[19:]
		default:
			return 0, nil, ErrToken
		}
	}
	return int(count), src, nil
}

// swapped exchanges the two bytes of each group.
func swapped(b [16]byte) [16]byte {
	for i := 0; i < len(b); i += 2 {
		b[i], b[i+1] = b[i+1], b[i]
	}
	return b
}

// canonical is the form in which addresses are compared: IPv4 in IPv6 is IPv4, and zones do not
// count.
func canonical(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap().WithZone(""), a.Port())
}

// checkServers returns what keeps a token from naming these addresses: each must be one that a client
// can send to.
func checkServers(servers []netip.AddrPort) error {
	if n := len(servers); n < 1 || n > MaxServers {
		return fmt.Errorf("%d addresses, expected 1 to %d", n, MaxServers)
	}
	for _, a := range servers {
		switch ip := a.Addr().Unmap(); {
		case !ip.IsValid():
			return errors.New("an address that is not set, expected host and port as clients dial them")
		case ip.IsUnspecified():
			return fmt.Errorf("address %v: clients cannot dial %v, expected the address that they dial", a, ip)
		case a.Port() == 0:
			return fmt.Errorf("address %v: port 0, expected the port that clients dial", a)
		}
	}
	return nil
}
