//go:build linux && !portable

package netio

import (
	"net"
	"net/netip"
	"os"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/panjf2000/gnet/v2"
	"golang.org/x/sys/unix"
)

// BenchmarkEcho measures a server that returns 400-byte datagrams to their senders. It reports the
// processor time of all threads but the generator's, which has a core of its own: sleeps, timers
// of the runtime and garbage collection included. The 256 clients take turns, so no two
// neighbouring datagrams go to one peer and there is no GSO batch. On loopback the sender's system
// call includes the delivery, about two fifths of the whole; see BenchmarkTunnel.
func BenchmarkEcho(b *testing.B) {
	for _, s := range []struct {
		name  string
		start func(b *testing.B) (at netip.AddrPort, stop func())
	}{
		{"gnet-drain-sendmmsg", func(b *testing.B) (netip.AddrPort,
			func()) {
			return ownEcho(b, ListenGnet)
		}},
		{"mmsg", func(b *testing.B) (netip.AddrPort, func()) { return ownEcho(b, ListenMmsg) }},
		{"gnet-plain-Write", plainEcho},
		{"net", netEcho},
	} {
		b.Run(s.name, func(b *testing.B) {
			// one is the generator's, which never lets go of it
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
			restore := onto(b, 0)
			defer restore()
			at, stop := s.start(b)
			defer stop()
			generate(b, at)
		})
	}
}

// BenchmarkTunnel is the sending half of BenchmarkEcho without the delivery: sendmmsg to 256 peers
// behind a tunnel device with a full queue, where a datagram ends as on a network card. It needs
// the right to make such a device.
func BenchmarkTunnel(b *testing.B) {
	tunnel, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		b.Skip("no tunnel device: ", err)
	}
	defer unix.Close(tunnel)
	ask, _ := unix.NewIfreq("netiobench0")
	ask.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
	if err := unix.IoctlIfreq(tunnel, unix.TUNSETIFF, ask); err != nil {
		b.Skip("no tunnel device: ", err)
	}
	c := mustListen(b, ListenMmsg, "0.0.0.0:0", Config{}).(*mmsgConn)
	up, _ := unix.NewIfreq("netiobench0")
	_ = up.SetInet4Addr([]byte{198, 18, 0, 1}) // a network set aside for benchmarks
	if err := unix.IoctlIfreq(c.fd, unix.SIOCSIFADDR, up); err != nil {
		b.Skip("no address for the tunnel: ", err)
	}
	up.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(c.fd, unix.SIOCSIFFLAGS, up); err != nil {
		b.Skip("the tunnel stays down: ", err)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var batches [echoClients / BatchSize]Batch
	for i := range echoClients {
		peer := netip.AddrPortFrom(netip.AddrFrom4([4]byte{198, 18, 0, byte(2 + i%200)}), uint16(10_000+i))
		batches[i/BatchSize].Add(make([]byte, echoBytes), peer)
	}
	var t tally
	before, start := mallocs(), cpuNow()
	for t.datagrams < int64(b.N) {
		for i := range batches {
			_ = c.Send(&batches[i])
		}
		t.datagrams += echoClients
	}
	t.ns, t.mallocs = cpuNow()-start, int64(mallocs()-before)
	if s := c.Stats(); s.SendFailed > 0 {
		b.Fatalf("counted %+v", s)
	}
	t.report(b)
}

// onto puts every thread of the process on one core, and the caller's thread on another if there
// is one. Threads that the runtime starts later inherit either.
func onto(b *testing.B, core int) (restore func()) {
	runtime.LockOSThread()
	var all, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		b.Fatal(err)
	}
	if all.Count() < 2 {
		return runtime.UnlockOSThread
	}
	one.Set(core)
	threads(&one)
	rest := all
	rest.Clear(core)
	_ = unix.SchedSetaffinity(0, &rest)
	return func() {
		threads(&all)
		runtime.UnlockOSThread()
	}
}

func threads(set *unix.CPUSet) {
	names, _ := os.ReadDir("/proc/self/task")
	for _, n := range names {
		if tid, err := strconv.Atoi(n.Name()); err == nil {
			_ = unix.SchedSetaffinity(tid, set)
		}
	}
}

const (
	echoClients = 256
	echoDepth   = 4 // datagrams of each under way: enough that no server has to sleep much
	echoBytes   = 400
)

// generate sends rounds of echoDepth datagrams a client and awaits them, until b.N have returned.
func generate(b *testing.B, at netip.AddrPort) {
	var clients [echoClients]int
	for i := range clients {
		fd, family, err := openUDP(at.Addr())
		if err != nil {
			b.Fatal(err)
		}
		defer unix.Close(fd)
		if errno := bindOrConnect(unix.SYS_CONNECT, fd, at, family); errno != 0 {
			b.Fatal(errno)
		}
		clients[i] = fd
	}
	data := make([]byte, echoBytes)
	round := func() {
		for i := range echoDepth * echoClients {
			fd := clients[i%echoClients]
			if _, _, errno := unix.RawSyscall(unix.SYS_WRITE, uintptr(fd),
				uintptr(unsafe.Pointer(&data[0])), echoBytes); errno != 0 {
				b.Fatal(errno)
			}
		}
		patient := time.Now().Add(receiveTimeout)
		for i := range echoDepth * echoClients {
			fd := clients[i%echoClients]
			for {
				// Spinning: a sleep would set the runtime's scheduler to work, on the server's
				// account.
				n, _, errno := unix.RawSyscall(unix.SYS_READ, uintptr(fd),
					uintptr(unsafe.Pointer(&data[0])), echoBytes)
				if errno == 0 && n == echoBytes {
					break
				}
				if time.Now().After(patient) {
					b.Fatal("an echo is missing")
				}
			}
		}
	}
	round()
	start, own, before, n := processCPU(), cpuNow(), mallocs(), 0
	begin := time.Now()
	for n < b.N {
		round()
		n += echoDepth * echoClients
	}
	wall := time.Since(begin)
	t := tally{int64(n), processCPU() - start - (cpuNow() - own), int64(mallocs() - before)}
	t.report(b)
	b.ReportMetric(float64(n)/wall.Seconds(), "datagrams/s")
	b.ReportMetric(float64(t.ns)/float64(wall), "cores")
}

// ownEcho is an echo on a Conn whose owner polls every millisecond.
func ownEcho(b *testing.B, listen func(string, Config) (Conn, error)) (netip.AddrPort, func()) {
	c := mustListen(b, listen, "127.0.0.1:0", Config{})
	var stop atomic.Bool
	done := make(chan bool)
	go func() {
		defer close(done)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		var batch Batch
		for !stop.Load() {
			for n, _ := c.Receive(&batch); n > 0; n, _ = c.Receive(&batch) {
				_ = c.Send(&batch)
			}
			nap(time.Millisecond)
		}
	}()
	return c.LocalAddr(), func() { stop.Store(true); <-done }
}

// nap sleeps in the kernel, as a thread that paces ticks does, and not on timers of the runtime.
func nap(d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	_ = unix.ClockNanosleep(unix.CLOCK_MONOTONIC, 0, &ts, nil)
}

// writeBack is the plainest echo on gnet.
type writeBack struct{ gnet.BuiltinEventEngine }

func (*writeBack) OnTraffic(c gnet.Conn) gnet.Action {
	data, _ := c.Next(-1)
	_, _ = c.Write(data)
	return gnet.None
}

// bootTo passes the start to the drainer, which ListenGnet waits for, and the traffic to another
// handler.
type bootTo struct {
	gnet.EventHandler
	boot *drainer
}

func (h bootTo) OnBoot(e gnet.Engine) gnet.Action { return h.boot.OnBoot(e) }

func plainEcho(b *testing.B) (netip.AddrPort, func()) {
	c, err := listenGnet("127.0.0.1:0", Config{}, func(h gnet.EventHandler) gnet.EventHandler {
		return bootTo{&writeBack{}, h.(*drainer)}
	})
	if err != nil {
		b.Fatal(err)
	}
	return c.LocalAddr(), func() { c.Close() }
}

func netEcho(b *testing.B) (netip.AddrPort, func()) {
	c, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:0")))
	if err != nil {
		b.Fatal(err)
	}
	_ = c.SetReadBuffer(DefaultSocketBuffer)
	done := make(chan bool)
	go func() {
		defer close(done)
		buf := make([]byte, 2048)
		for {
			n, from, err := c.ReadFromUDPAddrPort(buf)
			if err != nil {
				return
			}
			_, _ = c.WriteToUDPAddrPort(buf[:n], from)
		}
	}()
	return c.LocalAddr().(*net.UDPAddr).AddrPort(), func() { c.Close(); <-done }
}
