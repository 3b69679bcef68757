//go:build !portable

package netio

import (
	"net/netip"
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// openUDP opens a non-blocking UDP socket for addr's family and returns it with that family. The
// unspecified IPv6 address also takes IPv4, or only IPv4 on a machine without IPv6.
func openUDP(addr netip.Addr) (fd int, family uint16, err error) {
	family = unix.AF_INET
	if addr.Is6() {
		family = unix.AF_INET6
	}
	const kind = unix.SOCK_DGRAM | unix.SOCK_NONBLOCK | unix.SOCK_CLOEXEC
	fd, err = unix.Socket(int(family), kind, 0)
	if err == unix.EAFNOSUPPORT && addr == netip.IPv6Unspecified() {
		family = unix.AF_INET
		fd, err = unix.Socket(int(family), kind, 0)
	}
	if err != nil {
		return -1, 0, os.NewSyscallError("socket", err)
	}
	if family == unix.AF_INET6 {
		only := 1
		if addr.IsUnspecified() {
			only = 0
		}
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, only) // bind reports it
	}
	return fd, family, nil
}

// bindUDP opens a socket and binds it. Only with reuse it shares the port.
func bindUDP(addr netip.AddrPort, reuse bool) (fd int, family uint16, err error) {
	fd, family, err = openUDP(addr.Addr())
	if err != nil {
		return -1, 0, err
	}
	if reuse {
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
			unix.Close(fd)
			return -1, 0, os.NewSyscallError("setsockopt SO_REUSEPORT", err)
		}
	}
	if err := bindOrConnect(unix.SYS_BIND, fd, addr, family); err != 0 {
		unix.Close(fd)
		return -1, 0, os.NewSyscallError("bind", err)
	}
	return fd, family, nil
}

// bindOrConnect is the system call trap, bind or connect.
func bindOrConnect(trap uintptr, fd int, addr netip.AddrPort, family uint16) unix.Errno {
	var sa sockaddr
	if family == unix.AF_INET && addr.Addr() == netip.IPv6Unspecified() {
		addr = netip.AddrPortFrom(netip.IPv4Unspecified(), addr.Port())
	}
	size := putSockaddr(&sa, addr, family)
	if size == 0 {
		return unix.EAFNOSUPPORT
	}
	_, _, errno := unix.RawSyscall(trap, uintptr(fd), uintptr(unsafe.Pointer(&sa)), uintptr(size))
	return errno
}

// localAddr asks the kernel for the bound address of fd.
func localAddr(fd int) (netip.AddrPort, uint16, error) {
	var sa sockaddr
	size := uint32(unix.SizeofSockaddrInet6)
	_, _, errno := unix.RawSyscall(unix.SYS_GETSOCKNAME, uintptr(fd), uintptr(unsafe.Pointer(&sa)),
		uintptr(unsafe.Pointer(&size)))
	if errno != 0 {
		return netip.AddrPort{}, 0, os.NewSyscallError("getsockname", errno)
	}
	return getSockaddr(&sa), sa.Family, nil
}

// setBufferSizes requests socket buffers of the given size: beyond the system's limit where the
// process may, else up to it.
func setBufferSizes(fd, bytes int) {
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, bytes) != nil {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, bytes)
	}
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUFFORCE, bytes) != nil {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, bytes)
	}
}

// setDontFragment sets the don't-fragment bit on everything sent and makes the kernel keep no
// path MTU: MaxDatagram fits every path, and a forged report of a smaller MTU must change
// nothing. It also spares the kernel a fragment identification per IPv4 datagram.
func setDontFragment(fd int) {
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_PROBE)
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_MTU_DISCOVER, unix.IPV6_PMTUDISC_PROBE)
}

// socketStats reads what only the kernel knows about a socket, and keeps the last values after
// the socket is closed. Its lock keeps a reader from asking about a descriptor that was reused.
type socketStats struct {
	mu   sync.Mutex
	fd   int
	last Stats // only the fields that fill copies
	shut bool
}

func (g *socketStats) open(fd, bufferAsked int) { g.fd, g.last.BufferRequested = fd, bufferAsked }

func (g *socketStats) fill(s *Stats) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.shut {
		g.read()
	}
	s.KernelDrops, s.BufferRequested = g.last.KernelDrops, g.last.BufferRequested
	s.ReceiveBuffer, s.SendBuffer = g.last.ReceiveBuffer, g.last.SendBuffer
}

// shutdown reads for the last time; the descriptor may be closed afterwards.
func (g *socketStats) shutdown() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.read()
	g.shut = true
}

func (g *socketStats) read() {
	received, _ := unix.GetsockoptInt(g.fd, unix.SOL_SOCKET, unix.SO_RCVBUF)
	sent, _ := unix.GetsockoptInt(g.fd, unix.SOL_SOCKET, unix.SO_SNDBUF)
	g.last.ReceiveBuffer, g.last.SendBuffer = received/2, sent/2 // the kernel doubles sizes
	if n, ok := kernelDrops(g.fd); ok {
		g.last.KernelDrops = n
	}
}

// kernelDrops is how many datagrams the kernel dropped because a socket's buffer was full. ok is
// false where it does not say.
func kernelDrops(fd int) (n uint64, ok bool) {
	var info [16]uint32 // SO_MEMINFO; drops are its ninth word since Linux 4.12
	size := uint32(unsafe.Sizeof(info))
	_, _, errno := unix.RawSyscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_MEMINFO,
		uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0)
	return uint64(info[8]), errno == 0 && size >= 4*9
}
