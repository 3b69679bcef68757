package netio

import (
	"bytes"
	"errors"
	"net/netip"
	"syscall"
	"testing"
	"time"
)

// Several Conns share an address: each source comes out of one of them, and each answers.
func TestListenShared(t *testing.T) {
	eachBackEnd(t, func(t *testing.T, listen func(string, Config) (Conn, error)) {
		const clients = 64
		conns, err := ListenShared(3, listen, "127.0.0.1:0", Config{RingDatagrams: 256})
		if err != nil {
			t.Skipf("not here: %v", err)
		}
		defer closeAll(t, conns)
		for _, c := range conns {
			if c.LocalAddr() != conns[0].LocalAddr() {
				t.Fatalf("%v beside %v", c.LocalAddr(), conns[0].LocalAddr())
			}
		}
		pool := mustPool(t, conns[0].LocalAddr(), clients)
		for range 3 {
			for i := range clients {
				if err := pool.Send(i, []byte{byte(i)}); err != nil {
					t.Fatal(err)
				}
			}
		}
		owner, total := map[netip.AddrPort]int{}, 0
		var in, out Batch
		for end := time.Now().Add(5 * time.Second); total < 3*clients && time.Now().Before(end); {
			for k, c := range conns {
				n, err := c.Receive(&in)
				if err != nil {
					t.Fatal(err)
				}
				total += n
				out.Reset()
				for i := range n {
					d := in.At(i)
					if was, known := owner[d.Addr]; known && was != k {
						t.Fatalf("%v comes out of %d and %d", d.Addr, was, k)
					}
					owner[d.Addr] = k
					out.Add(d.Data, d.Addr)
				}
				if err := c.Send(&out); err != nil {
					t.Fatal(err)
				}
			}
		}
		used := map[int]bool{}
		for _, k := range owner {
			used[k] = true
		}
		if total != 3*clients || len(used) != 3 {
			t.Errorf("%d datagrams, out of %d Conns", total, len(used))
		}
		poll(t, pool, 3*clients, func(i int, data []byte) {
			if !bytes.Equal(data, []byte{byte(i)}) {
				t.Errorf("client %d got %x", i, data)
			}
		})
	})
}

// A port in use is an error, also one that other Conns share; a Conn that shares nothing keeps others
// away.
func TestListenSharedNeedsAFreePort(t *testing.T) {
	eachBackEnd(t, func(t *testing.T, listen func(string, Config) (Conn, error)) {
		conns, err := ListenShared(2, listen, "127.0.0.1:0", Config{RingDatagrams: 64})
		if err != nil {
			t.Skipf("not here: %v", err)
		}
		at := conns[0].LocalAddr().String()
		if more, err := ListenShared(2, listen, at, Config{}); !errors.Is(err, syscall.EADDRINUSE) {
			closeAll(t, more)
			t.Errorf("a second server: %v", err)
		}
		if c, err := listen(at, Config{}); !errors.Is(err, syscall.EADDRINUSE) {
			closeAll(t, []Conn{c})
			t.Errorf("a Conn that does not share: %v", err)
		}
		closeAll(t, conns)
		c, err := listen(at, Config{})
		if err != nil {
			t.Fatalf("after the end of the others: %v", err)
		}
		defer closeAll(t, []Conn{c})
		if more, err := ListenShared(2, listen, at, Config{}); !errors.Is(err, syscall.EADDRINUSE) {
			closeAll(t, more)
			t.Errorf("beside a Conn that does not share: %v", err)
		}
	})
}

// Endpoints in memory share an address by the port of the source.
func TestMemoryShares(t *testing.T) {
	m := NewMemory()
	at := netip.MustParseAddrPort("10.0.0.1:7")
	var conns []Conn
	for range 2 {
		c, err := m.Listen(at, Config{ReusePort: true})
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
	}
	if _, err := m.Listen(at, Config{}); !errors.Is(err, ErrAddrInUse) {
		t.Errorf("%v", err)
	}
	var b Batch
	for port := range uint16(8) {
		c, err := m.Listen(netip.AddrPortFrom(netip.MustParseAddr("10.0.0.2"), 100+port), Config{})
		if err != nil {
			t.Fatal(err)
		}
		b.Reset()
		b.Add([]byte{byte(port)}, at)
		if err := c.Send(&b); err != nil {
			t.Fatal(err)
		}
	}
	for i, c := range conns {
		if n, err := c.Receive(&b); err != nil || n != 4 || int(b.At(0).Data[0]) != i {
			t.Errorf("endpoint %d: %d datagrams, %v", i, n, err)
		}
	}
	closeAll(t, conns[:1])
	if _, err := m.Listen(at, Config{}); !errors.Is(err, ErrAddrInUse) {
		t.Errorf("while one of them is open: %v", err)
	}
	closeAll(t, conns[1:])
	if _, err := m.Listen(at, Config{}); err != nil {
		t.Error(err)
	}
}

func closeAll(t *testing.T, conns []Conn) {
	for _, c := range conns {
		if c != nil {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
