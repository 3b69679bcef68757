//go:build linux && !portable

package netio

import (
	"net/netip"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/tickrate/tickrate/internal/alloctest"
)

func TestSockaddrKeepsTheAddress(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		port := rapid.Uint16().Draw(t, "port")
		ip4 := netip.AddrFrom4([4]byte(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "ip4")))
		ip6 := netip.AddrFrom16([16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "ip6")))
		for _, ip := range []netip.Addr{ip4, ip6, netip.AddrFrom16(ip4.As16()),
			netip.MustParseAddr("fe80::1%3")} {
			for _, family := range []uint16{unix.AF_INET, unix.AF_INET6} {
				var sa sockaddr
				want := netip.AddrPortFrom(ip.Unmap(), port)
				size := putSockaddr(&sa, netip.AddrPortFrom(ip, port), family)
				if family == unix.AF_INET && !ip.Unmap().Is4() {
					if size != 0 {
						t.Fatalf("%v in an IPv4 socket", ip)
					}
					continue
				}
				if got := getSockaddr(&sa); got != want || size == 0 || sa.Family != family {
					t.Fatalf("%v came back as %v, %d bytes", want, got, size)
				}
			}
		}
	})
}

// senders is a socket with a batch full of datagrams for it, which a plain socket sends.
type senders struct {
	from Conn
	b    Batch
}

func newSenders(t testing.TB, to netip.AddrPort, bytes int) *senders {
	c := &senders{from: mustListen(t, ListenMmsg, "127.0.0.1:0", Config{})}
	for c.b.Add(make([]byte, bytes), to) {
	}
	return c
}

// send sends n datagrams, a multiple of BatchSize.
func (c *senders) send(t testing.TB, n int) {
	for range n / BatchSize {
		if err := c.from.Send(&c.b); err != nil {
			t.Fatal(err)
		}
	}
}

func TestMmsgAllocatesNothing(t *testing.T) {
	c := mustListen(t, ListenMmsg, "127.0.0.1:0", Config{})
	from := newSenders(t, c.LocalAddr(), 64)
	var b Batch
	if n := alloctest.In(200, func() {
		from.send(t, BatchSize)
		for got := 0; got < BatchSize; {
			n, _ := c.Receive(&b)
			got += n
		}
	}); n != 0 {
		t.Fatalf("%g allocations to send and receive %d datagrams", n, BatchSize)
	}
}

// The drain that OnTraffic runs, and the ring behind it, without the event loop around.
func TestDrainAllocatesNothing(t *testing.T) {
	fd, _, err := bindUDP(netip.MustParseAddrPort("127.0.0.1:0"), false)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	at, _, _ := localAddr(fd)
	var count counters
	d := newDrainer(Config{RingDatagrams: 256}, &count)
	from := newSenders(t, at, 64)
	var b Batch
	if n := alloctest.In(200, func() {
		from.send(t, 2*BatchSize)
		if n, _ := d.drain(fd); n != 2*BatchSize || d.ring.take(&b) != BatchSize ||
			d.ring.take(&b) != BatchSize {
			t.Fatal("not all arrived")
		}
	}); n != 0 {
		t.Fatalf("%g allocations for %d datagrams", n, 2*BatchSize)
	}
}

// The whole way through a running gnet loop: what gnet allocates at a wake-up is all that is
// allocated, and under traffic there is next to no wake-up.
func TestTrafficThroughGnetAllocatesNothing(t *testing.T) {
	c := mustListen(t, ListenGnet, "127.0.0.1:0", Config{})
	from := newSenders(t, c.LocalAddr(), 64)
	var b Batch
	round := func(n int) {
		from.send(t, n)
		for got := 0; got < n; {
			k, _ := c.Receive(&b)
			if got += k; k == 0 {
				time.Sleep(50 * time.Microsecond)
			}
		}
	}
	round(512)
	before, stats, began := mallocs(), c.Stats(), time.Now()
	const total = 20_480
	for range total / 512 {
		round(512)
	}
	after, now := mallocs(), c.Stats()
	wakes := now.Wakeups - stats.Wakeups
	if in := now.DatagramsIn - stats.DatagramsIn; in != total || now.Lost() != 0 {
		t.Fatalf("%d datagrams taken, counted %+v", in, now)
	}
	// A pause of idleTime, because the machine stalls, wakes the loop again.
	if wakes > total/1000+uint64(time.Since(began)/idleTime) {
		t.Fatalf("%d wake-ups for %d datagrams", wakes, total)
	}
	if n := after - before; n > 8*wakes+total/500 {
		t.Fatalf("%d allocations for %d datagrams and %d wake-ups", n, total, wakes)
	}
}

func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

func TestPoolAllocatesNothing(t *testing.T) {
	const n = 64
	c := mustListen(t, ListenMmsg, "127.0.0.1:0", Config{})
	f := mustPool(t, c.LocalAddr(), n)
	var in, out Batch
	data := make([]byte, 100)
	got := 0
	count := func(int, []byte) { got++ }
	if a := alloctest.In(50, func() {
		for i := range n {
			if f.Send(i, data) != nil {
				t.Fatal("send")
			}
		}
		for back := 0; back < n; {
			k, _ := c.Receive(&in)
			out.Reset()
			for i := range k {
				out.Add(in.At(i).Data, in.At(i).Addr)
			}
			_ = c.Send(&out)
			back += k
		}
		for got = 0; got < n; {
			pollAll(f, count)
		}
	}); a != 0 {
		t.Fatalf("%g allocations for %d round trips", a, n)
	}
}

// Datagrams that the kernel drops because its buffer is full are counted.
func TestKernelDropsAreCounted(t *testing.T) {
	c := mustListen(t, ListenMmsg, "127.0.0.1:0", Config{SocketBuffer: 1})
	from := newSenders(t, c.LocalAddr(), MaxDatagram)
	const sent = 4 * BatchSize
	from.send(t, sent)
	var b Batch
	got := receive(t, c, &b, 0, func(Datagram) {})
	if s := c.Stats(); s.KernelDrops == 0 || s.KernelDrops+uint64(got) != sent {
		t.Fatalf("%d of %d arrived, counted %+v", got, sent, s)
	}
}

// So are those that clients of a pool lose.
func TestPoolCountsKernelDrops(t *testing.T) {
	for _, at := range []string{"127.0.0.1:0", "[::1]:0"} { // shared sockets, and one for each client
		c, err := ListenMmsg(at, Config{})
		if err != nil {
			t.Skip(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		f := mustPool(t, c.LocalAddr(), 1)
		fd := f.clients[0].fd
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 1); err != nil {
			t.Fatal(err)
		}
		const sent = 2 * BatchSize
		var out Batch
		for range sent / BatchSize {
			for !out.Full() {
				out.Add(make([]byte, MaxDatagram-BatchSize+out.Len()), f.LocalAddr(0)) // ascending: no GSO
			}
			if err := c.Send(&out); err != nil {
				t.Fatal(err)
			}
			out.Reset()
		}
		got := 0
		for end := time.Now().Add(receiveTimeout); time.Now().Before(end) &&
			f.Stats().DatagramsIn+f.Stats().KernelDrops < sent; {
			n, _ := f.Poll(8, func(int, []byte) {})
			got += n
		}
		if s := f.Stats(); s.KernelDrops == 0 || s.KernelDrops+uint64(got) != sent {
			t.Errorf("%v: %d of %d arrived, counted %+v", at, got, sent, s)
		}
	}
}

// A busy loop whose socket is closed ends.
func TestCloseUnderTraffic(t *testing.T) {
	for range 5 {
		c := mustListen(t, ListenGnet, "127.0.0.1:0", Config{RingDatagrams: 64})
		from := newSenders(t, c.LocalAddr(), 64)
		from.send(t, 1024)
		start := time.Now()
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took > receiveTimeout/2 {
			t.Fatalf("closing took %v", took)
		}
	}
}

// A server with CAP_NET_ADMIN gets the buffers that it asks for. Without it the server gets the
// system's limit, and Stats tells how much. The test gives the right up for its duration.
func TestSocketBuffersAsLargeAsMayBe(t *testing.T) {
	const asked = 1 << 28 // beyond any limit that is set
	for _, b := range backEnds[:3] {
		t.Run(b.name, func(t *testing.T) {
			check := func(limited bool) {
				c := mustListen(t, b.listen, "127.0.0.1:0", Config{SocketBuffer: asked})
				defer c.Close()
				receive, send := asked, asked
				if limited {
					receive, send = limit(t, "rmem_max"), limit(t, "wmem_max")
				}
				s := c.Stats()
				if s.BufferRequested != asked || s.ReceiveBuffer != receive || s.SendBuffer != send ||
					s.SmallBuffers() != limited {
					t.Fatalf("limited %v: asked for %d, got %d and %d of %d and %d", limited,
						s.BufferRequested, s.ReceiveBuffer, s.SendBuffer, receive, send)
				}
			}
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			who := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
			var had [2]unix.CapUserData
			if err := unix.Capget(&who, &had[0]); err != nil {
				t.Skip(err)
			}
			without := had
			without[0].Effective &^= 1 << unix.CAP_NET_ADMIN
			if err := unix.Capset(&who, &without[0]); err != nil {
				t.Skip(err)
			}
			defer func() {
				if err := unix.Capset(&who, &had[0]); err != nil {
					t.Error(err)
				}
			}()
			check(true)
			if had != without {
				if err := unix.Capset(&who, &had[0]); err != nil {
					t.Fatal(err)
				}
				check(false)
			}
		})
	}
}

func limit(t *testing.T, name string) (bytes int) {
	t.Helper()
	text, err := os.ReadFile("/proc/sys/net/core/" + name)
	if err != nil {
		t.Skip(err)
	}
	bytes, err = strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

func TestSmallBuffers(t *testing.T) {
	for i, c := range []struct {
		asked, receive, send int
		small                bool
	}{
		0: {8, 8, 8, false},
		1: {8, 7, 8, true},
		2: {8, 8, 7, true},
		3: {8, 9, 9, false},
		4: {8, 0, 0, false}, // unknown
	} {
		if got := (Stats{Buffers: Buffers{c.asked, c.receive, c.send}}).SmallBuffers(); got != c.small {
			t.Errorf("%d: small: %v", i, got)
		}
	}
}

// sendmmsg on a socket with a full buffer, and on one with a closed peer: each datagram is counted
// once, none is tried again, and the number of calls is bounded. A pair of local sockets stands
// for a full network.
func TestSendErrorsAreCountedAndNotRetried(t *testing.T) {
	// blocking: send must not rely on it
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pair[0])
	// as small as can be
	if err := unix.SetsockoptInt(pair[0], unix.SOL_SOCKET, unix.SO_SNDBUF, 1); err != nil {
		t.Fatal(err)
	}
	m := newMmsg(unix.AF_INET)
	for i := range m.hdrs {
		m.hdrs[i].hdr.Name = nil
	}
	var b Batch
	for b.Add([]byte("x"), somewhere) {
	}
	var full counters
	m.send(pair[0], b.slots[:], &full)
	m.send(pair[0], b.slots[:], &full)
	s := full.stats()
	if s.DatagramsOut == 0 || s.SendAgain == 0 || s.DatagramsOut+s.SendAgain != 2*BatchSize ||
		s.SendFailed != 0 || s.Sends > 5 {
		t.Fatalf("full: counted %+v", s)
	}
	unix.Close(pair[1])
	var gone counters
	m.send(pair[0], b.slots[:], &gone)
	s = gone.stats()
	if s.SendFailed != BatchSize || s.DatagramsOut+s.SendAgain != 0 || s.Sends != BatchSize {
		t.Fatalf("gone: counted %+v", s)
	}
}

// While the loop sleeps, the owner reads the socket itself: a datagram does not wait for the loop.
func TestOwnerReadsPastARestingLoop(t *testing.T) {
	for try := 0; ; try++ {
		s, read := ownerReads(t)
		if read && s.Delivered == 2 && s.DatagramsIn == 2 && s.Wakeups == 1 {
			return
		}
		if try == 4 { // a machine that stalls for as long as the loop sleeps spoils a try
			t.Fatalf("read by the owner: %v, counted %+v", read, s)
		}
	}
}

// ownerReads sends two datagrams, the second while the loop sleeps, and reports whether the owner
// has read one from the socket.
func ownerReads(t *testing.T) (s Stats, read bool) {
	c := mustListen(t, ListenGnet, "127.0.0.1:0", Config{Moderation: 300 * time.Millisecond}).(*gnetConn)
	f := mustPool(t, c.LocalAddr(), 1)
	var b Batch
	for k := range 2 { // the first one wakes the loop, which then rests
		if err := f.Send(0, []byte{byte(k)}); err != nil {
			t.Fatal(err)
		}
		if got := receive(t, c, &b, 1, func(d Datagram) {
			if d.Data[0] != byte(k) {
				t.Fatalf("datagram %d, want %d", d.Data[0], k)
			}
		}); got != 1 {
			t.Fatalf("%d datagrams", got)
		}
		for end := time.Now().Add(receiveTimeout); c.drain.holder.Load() != heldByNobody &&
			time.Now().Before(end); {
			time.Sleep(100 * time.Microsecond)
		}
	}
	return c.Stats(), c.drain.ownerRead.Load()
}
