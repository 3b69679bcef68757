package netio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Every datagram arrives once, whole and in its sender's order, and an answer returns.
func TestDatagramsGoRound(t *testing.T) {
	eachBackEnd(t, func(t *testing.T, listen func(string, Config) (Conn, error)) {
		const clients, each = 5, 100
		c := mustListen(t, listen, "127.0.0.1:0", Config{})
		f := mustPool(t, c.LocalAddr(), clients)
		for k := range each {
			for i := range clients {
				msg := binary.LittleEndian.AppendUint32(nil, uint32(k))
				if err := f.Send(i, append(msg, make([]byte, k*7)...)); err != nil {
					t.Fatal(err)
				}
			}
		}
		next := map[netip.AddrPort]uint32{}
		var in, out Batch
		got := receive(t, c, &in, clients*each, func(d Datagram) {
			k := binary.LittleEndian.Uint32(d.Data)
			if k != next[d.Addr] || len(d.Data) != 4+int(k)*7 {
				t.Fatalf("%v: datagram %d of %d bytes after %d others", d.Addr, k, len(d.Data), next[d.Addr])
			}
			next[d.Addr]++
			out.Commit(len(binary.LittleEndian.AppendUint32(out.Next(), k)), d.Addr)
			if out.Full() {
				if err := c.Send(&out); err != nil {
					t.Fatal(err)
				}
				out.Reset()
			}
		})
		if err := c.Send(&out); err != nil {
			t.Fatal(err)
		}
		if got != clients*each {
			t.Fatalf("%d datagrams arrived, want %d", got, clients*each)
		}
		for i := range clients {
			if next[f.LocalAddr(i)] != each {
				t.Fatalf("client %d at %v: %d arrived", i, f.LocalAddr(i), next[f.LocalAddr(i)])
			}
		}
		echoes := make([]uint32, clients)
		poll(t, f, clients*each, func(i int, data []byte) {
			if k := binary.LittleEndian.Uint32(data); k != echoes[i] {
				t.Fatalf("client %d: answer %d after %d others", i, k, echoes[i])
			}
			echoes[i]++
		})
		s := c.Stats()
		if s.DatagramsIn != got64(got) || s.Delivered != got64(got) || s.DatagramsOut != got64(got) ||
			s.Lost() != 0 {
			t.Fatalf("counted %+v", s)
		}
		if fs := f.Stats(); fs.DatagramsIn != got64(got) || fs.DatagramsOut != got64(got) ||
			fs.BytesOut != s.BytesIn {
			t.Fatalf("pool counted %+v", fs)
		}
	})
}

func got64(n int) uint64 { return uint64(n) }

func TestIPv6(t *testing.T) {
	ipv6Loopback(t)
	eachBackEnd(t, func(t *testing.T, listen func(string, Config) (Conn, error)) {
		c := mustListen(t, listen, "[::1]:0", Config{})
		echoOnce(t, c, c.LocalAddr())
	})
}

// A socket for all addresses shows IPv4 peers as IPv4, and can answer them.
func TestEveryAddressMeetsIPv4(t *testing.T) {
	eachBackEnd(t, func(t *testing.T, listen func(string, Config) (Conn, error)) {
		c := mustListen(t, listen, ":0", Config{})
		echoOnce(t, c, netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), c.LocalAddr().Port()))
	})
}

func TestEveryAddressMeetsIPv6(t *testing.T) {
	ipv6Loopback(t)
	eachBackEnd(t, func(t *testing.T, listen func(string, Config) (Conn, error)) {
		c := mustListen(t, listen, "[::]:0", Config{})
		echoOnce(t, c, netip.AddrPortFrom(netip.IPv6Loopback(), c.LocalAddr().Port()))
	})
}

func echoOnce(t *testing.T, c Conn, remote netip.AddrPort) {
	t.Helper()
	f := mustPool(t, remote, 1)
	if err := f.Send(0, []byte("ping")); err != nil {
		t.Fatal(err)
	}
	var in, out Batch
	if receive(t, c, &in, 1, func(d Datagram) {
		if d.Addr != f.LocalAddr(0) || string(d.Data) != "ping" {
			t.Fatalf("%q from %v, want it from %v", d.Data, d.Addr, f.LocalAddr(0))
		}
		out.Add([]byte("pong"), d.Addr)
	}) != 1 {
		t.Fatal("nothing arrived")
	}
	if err := c.Send(&out); err != nil {
		t.Fatal(err)
	}
	poll(t, f, 1, func(_ int, data []byte) {
		if string(data) != "pong" {
			t.Fatalf("answer %q", data)
		}
	})
}

// The port is free when Close has returned, and no duplicate of the old socket takes datagrams of
// the next server.
func TestRestartOnTheSamePort(t *testing.T) {
	eachBackEnd(t, func(t *testing.T, listen func(string, Config) (Conn, error)) {
		// many source ports: SO_REUSEPORT would spread them over all sockets of the port
		const clients, each = 40, 5
		at := mustListen(t, listen, "127.0.0.1:0", Config{})
		addr := at.LocalAddr()
		at.Close()
		for round := range 4 {
			c := mustListen(t, listen, addr.String(), Config{RingDatagrams: 512})
			f := mustPool(t, addr, clients)
			for range each {
				for i := range clients {
					if err := f.Send(i, []byte{byte(round)}); err != nil {
						t.Fatal(err)
					}
				}
			}
			var b Batch
			if got := receive(t, c, &b, clients*each, func(d Datagram) {}); got != clients*each {
				t.Fatalf("round %d: %d of %d datagrams arrived", round, got, clients*each)
			}
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			f.Close()
		}
	})
}

func TestPortInUseIsAnErrorThatNamesIt(t *testing.T) {
	for _, first := range backEnds {
		eachBackEnd(t, func(t *testing.T, listen func(string, Config) (Conn, error)) {
			c := mustListen(t, first.listen, "127.0.0.1:0", Config{})
			addr := c.LocalAddr().String()
			second, err := listen(addr, Config{})
			if err == nil {
				second.Close()
				t.Fatalf("two servers on %s, the first by %s", addr, first.name)
			}
			if !errors.Is(err, syscall.EADDRINUSE) || !strings.Contains(err.Error(), addr) {
				t.Fatalf("error %q, want one that names %s and the cause", err, addr)
			}
		})
	}
}

func TestBadAddressIsAnError(t *testing.T) {
	eachBackEnd(t, func(t *testing.T, listen func(string, Config) (Conn, error)) {
		for _, addr := range []string{"", "nonsense", "127.0.0.1:99999", "127.0.0.1:-1", "203.0.113.7:9999"} {
			c, err := listen(addr, Config{})
			if err == nil {
				c.Close()
				t.Fatalf("listening on %q", addr)
			}
			if !strings.Contains(err.Error(), addr) {
				t.Fatalf("error %q does not name %q", err, addr)
			}
		}
	})
}

// Datagrams longer than a slot or than the protocol allows are dropped and counted. Others are not
// affected.
func TestOversizeIsDroppedAndCounted(t *testing.T) {
	eachBackEnd(t, func(t *testing.T, listen func(string, Config) (Conn, error)) {
		c := mustListen(t, listen, "127.0.0.1:0", Config{})
		client, err := net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(c.LocalAddr()))
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		sizes := []int{MaxDatagram + 1, 10, slotBytes, MaxDatagram, 9000, 0, slotBytes + 1, 1300, 11, 65507}
		for range 30 { // 300: more than a batch, more than the gap between two wake-ups
			for _, n := range sizes {
				if _, err := client.Write(make([]byte, n)); err != nil {
					t.Fatal(err)
				}
			}
		}
		seen := map[int]int{}
		var b Batch
		receive(t, c, &b, 4*30, func(d Datagram) { seen[len(d.Data)]++ })
		want := map[int]int{10: 30, MaxDatagram: 30, 0: 30, 11: 30}
		if fmt.Sprint(seen) != fmt.Sprint(want) {
			t.Fatalf("sizes seen %v, want %v", seen, want)
		}
		s := c.Stats()
		if s.Oversize != 6*30 || s.DatagramsIn != 300 || s.Delivered != 120 || s.Lost() != s.Oversize {
			t.Fatalf("counted %+v", s)
		}
	})
}

// When the owner sleeps the ring fills up: the gnet loop then leaves datagrams in the kernel and
// loses none. ListenNet drops and counts them.
func TestFullRing(t *testing.T) {
	const ring, sent = 128, 500
	for _, b := range backEnds {
		if b.name == "mmsg" {
			continue // it has no ring
		}
		t.Run(b.name, func(t *testing.T) {
			want := uint64(sent)
			c := mustListen(t, b.listen, "127.0.0.1:0", Config{RingDatagrams: ring})
			f := mustPool(t, c.LocalAddr(), 1)
			for k := range sent {
				n := 8
				if k%100 == 99 {
					n = MaxDatagram
				}
				if err := f.Send(0, binary.LittleEndian.AppendUint64(make([]byte, 0, n),
					uint64(k))[:n]); err != nil {
					t.Fatal(err)
				}
			}
			if _, drops := c.(*netConn); drops { // as all are where Linux's calls are missing
				want = ring
				if s := settle(t, c, sent); s.DatagramsIn != sent || s.RingFull != sent-ring ||
					s.Delivered != 0 {
					t.Fatalf("counted %+v", s)
				}
			} else if s := settle(t, c, ring); s.DatagramsIn != ring || s.RingFull != 0 || s.Delivered != 0 {
				t.Fatalf("counted %+v", s)
			}
			var b Batch
			next := uint64(0)
			receive(t, c, &b, int(want), func(d Datagram) {
				if k := binary.LittleEndian.Uint64(d.Data); k != next {
					t.Fatalf("datagram %d, want %d: the oldest stay", k, next)
				}
				next++
			})
			if s := c.Stats(); next != want || s.Delivered != want ||
				s.DatagramsIn != s.Delivered+s.RingFull {
				t.Fatalf("%d of %d came, counted %+v", next, want, s)
			}
		})
	}
}

// Row 1 of docs/threats.md for sockets: every datagram of any length, filtered or not, in a burst
// larger than ring and socket, is counted once. received == delivered + dropped, and sent ==
// received + drops of the kernel.
func TestThreat01EveryDatagramIsCountedOnce(t *testing.T) {
	eachBackEnd(t, func(t *testing.T, listen func(string, Config) (Conn, error)) {
		const sent = 3000
		c := mustListen(t, listen, "127.0.0.1:0", Config{RingDatagrams: 256, SocketBuffer: 1 << 17,
			Filter: func(d []byte) bool {
				return len(d) > 0 && d[0] != 'j'
			}})
		client, err := net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(c.LocalAddr()))
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		sizes := []int{64, 0, 1, MaxDatagram, 64, MaxDatagram + 1, 9000, 64, 65507}
		buf, r := make([]byte, 65507), rand.New(rand.NewPCG(1, 2))
		for k := range sent {
			buf[0] = "jg"[k%2]
			if _, err := client.Write(buf[:sizes[r.IntN(len(sizes))]]); err != nil {
				t.Fatal(err)
			}
		}
		_, blind := c.(*netConn) // package net does not tell what the kernel dropped
		var in Batch
		var s Stats
		delivered, before, quiet := 0, uint64(1), 0
		for end := time.Now().Add(receiveTimeout); time.Now().Before(end) && (blind && quiet < 50 ||
			!blind && s.DatagramsIn+s.KernelDrops < sent); {
			before = s.DatagramsIn
			delivered += receive(t, c, &in, 0, func(d Datagram) {
				if len(d.Data) == 0 || len(d.Data) > MaxDatagram || d.Data[0] != 'g' {
					t.Fatalf("delivered %d bytes", len(d.Data))
				}
			})
			if s = c.Stats(); s.DatagramsIn != before {
				quiet = 0
			}
			quiet++
		}
		delivered += receive(t, c, &in, 0, func(Datagram) {}) // what was in the ring
		s = c.Stats()
		if s.Delivered != uint64(delivered) || s.DatagramsIn != s.Delivered+s.Oversize+s.Filtered+s.RingFull {
			t.Fatalf("%d delivered, counted %+v", delivered, s)
		}
		if s.Delivered == 0 || s.Oversize == 0 || s.Filtered == 0 {
			t.Fatalf("one of the ways was not taken: %+v", s)
		}
		if blind {
			return
		}
		if s.RingFull != 0 || s.KernelDrops == 0 || s.DatagramsIn+s.KernelDrops != sent {
			t.Fatalf("%d sent, counted %+v", sent, s)
		}
	})
}

// A closed peer answers with an ICMP error, which a server ignores: later sends and receives work,
// and no call fails or blocks.
func TestGonePeerHurtsNobody(t *testing.T) {
	eachBackEnd(t, func(t *testing.T, listen func(string, Config) (Conn, error)) {
		const rounds = 50
		c := mustListen(t, listen, "127.0.0.1:0", Config{})
		f := mustPool(t, c.LocalAddr(), 2)
		gone, here := f.LocalAddr(0), f.LocalAddr(1)
		if err := f.Remove(0); err != nil {
			t.Fatal(err)
		}
		var in, out Batch
		for range rounds {
			out.Reset()
			for range 4 {
				out.Add([]byte("to nobody"), gone)
			}
			out.Add([]byte("hello"), here)
			if err := c.Send(&out); err != nil {
				t.Fatal(err)
			}
			if err := f.Send(1, []byte("hello")); err != nil {
				t.Fatal(err)
			}
		}
		if got := receive(t, c, &in, rounds, func(Datagram) {}); got != rounds {
			t.Fatalf("%d of %d received", got, rounds)
		}
		if got := poll(t, f, rounds, func(int, []byte) {}); got != rounds {
			t.Fatalf("%d of %d reached the peer that is there", got, rounds)
		}
		s := c.Stats()
		if s.DatagramsOut+s.SendFailed+s.SendAgain != 5*rounds || s.DatagramsOut < rounds ||
			s.DatagramsIn != rounds {
			t.Fatalf("counted %+v", s)
		}
	})
}

// A datagram that the kernel refuses is counted, and the others of the batch are sent.
func TestUnsendableIsCountedAlone(t *testing.T) {
	for _, b := range backEnds {
		t.Run(b.name, func(t *testing.T) {
			c := mustListen(t, b.listen, "127.0.0.1:0", Config{})
			f := mustPool(t, c.LocalAddr(), 1)
			good := f.LocalAddr(0)
			var out Batch
			for _, to := range []netip.AddrPort{
				good, {}, netip.MustParseAddrPort("[::1]:9"), good, netip.AddrPortFrom(good.Addr(), 0),
				netip.MustParseAddrPort("[fe80::1%nowhere]:9"), good, netip.MustParseAddrPort("127.0.0.1:0"),
			} {
				out.Add([]byte("x"), to)
			}
			if err := c.Send(&out); err != nil {
				t.Fatal(err)
			}
			if got := poll(t, f, 3, func(int, []byte) {}); got != 3 {
				t.Fatalf("%d of 3 arrived", got)
			}
			if s := c.Stats(); s.DatagramsOut != 3 || s.SendFailed != 5 || s.SendAgain != 0 ||
				s.BytesOut != 3 {
				t.Fatalf("counted %+v", s)
			}
		})
	}
}

func TestClosedConnSaysSo(t *testing.T) {
	eachBackEnd(t, func(t *testing.T, listen func(string, Config) (Conn, error)) {
		c := mustListen(t, listen, "127.0.0.1:0", Config{})
		f := mustPool(t, c.LocalAddr(), 1)
		_ = f.Send(0, []byte("x"))
		var b Batch
		receive(t, c, &b, 1, func(Datagram) {})
		before := c.Stats()
		for range 2 {
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
		}
		b.Reset()
		b.Add(nil, f.LocalAddr(0))
		if err := c.Send(&b); !errors.Is(err, net.ErrClosed) {
			t.Fatalf("send: %v", err)
		}
		if n, err := c.Receive(&b); n != 0 || b.Len() != 0 || !errors.Is(err, net.ErrClosed) {
			t.Fatalf("receive: %d, %v", n, err)
		}
		if after := c.Stats(); after.DatagramsOut != before.DatagramsOut ||
			after.ReceiveBuffer != before.ReceiveBuffer {
			t.Fatalf("counted %+v, then %+v", before, after)
		}
	})
}
