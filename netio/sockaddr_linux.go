//go:build !portable

package netio

import (
	"net/netip"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// sockaddr is a socket address as the kernel writes it. An IPv4 address lies in the first bytes
// of the larger form:
//
//	family  2  host order            family  2
//	port    2  network order         port    2
//	addr    4  IPv4                  flow    4
//	                                 addr   16  IPv6
//	                                 scope   4  host order, of link-local addresses
type sockaddr = unix.RawSockaddrInet6

// networkPort converts a port between host and network order; it is its own inverse.
func networkPort(p uint16) uint16 {
	b := [2]byte{byte(p >> 8), byte(p)}
	return *(*uint16)(unsafe.Pointer(&b))
}

// putSockaddr writes a for a socket of the given family and returns its length, or 0 if such a
// socket cannot reach a.
func putSockaddr(sa *sockaddr, a netip.AddrPort, family uint16) uint32 {
	ip := a.Addr()
	if family == unix.AF_INET {
		if !ip.Is4() && !ip.Is4In6() {
			return 0
		}
		sa4 := (*unix.RawSockaddrInet4)(unsafe.Pointer(sa))
		sa4.Family, sa4.Port, sa4.Addr = unix.AF_INET, networkPort(a.Port()), ip.As4()
		return unix.SizeofSockaddrInet4
	}
	if !ip.IsValid() {
		return 0
	}
	*sa = sockaddr{Family: unix.AF_INET6, Port: networkPort(a.Port()), Addr: ip.As16()}
	if zone := ip.Zone(); zone != "" {
		id, err := strconv.Atoi(zone) // getSockaddr writes zones as numbers
		if err != nil {
			return 0
		}
		sa.Scope_id = uint32(id)
	}
	return unix.SizeofSockaddrInet6
}

// getSockaddr reads an address in canonical form; the zero AddrPort if the family is neither IPv4
// nor IPv6.
func getSockaddr(sa *sockaddr) netip.AddrPort {
	switch sa.Family {
	case unix.AF_INET:
		sa4 := (*unix.RawSockaddrInet4)(unsafe.Pointer(sa))
		return netip.AddrPortFrom(netip.AddrFrom4(sa4.Addr), networkPort(sa4.Port))
	case unix.AF_INET6:
		ip := netip.AddrFrom16(sa.Addr).Unmap()
		if sa.Scope_id != 0 && ip.IsLinkLocalUnicast() {
			ip = ip.WithZone(strconv.Itoa(int(sa.Scope_id)))
		}
		return netip.AddrPortFrom(ip, networkPort(sa.Port))
	}
	return netip.AddrPort{}
}
