package netio

import (
	"bytes"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/tickrate/tickrate/internal/alloctest"
)

// Datagrams that a server sends as a GSO batch arrive as the same datagrams: their bounds, their
// order and their clients.
func TestPoolSplitsGSOBatches(t *testing.T) {
	t.Run("shared sockets", func(t *testing.T) { splitsGSOBatches(t, "127.0.0.1:0") })
	t.Run("a socket each", func(t *testing.T) {
		ipv6Loopback(t)
		splitsGSOBatches(t, "[::1]:0")
	})
}

func splitsGSOBatches(t *testing.T, server string) {
	c := mustListen(t, ListenMmsg, server, Config{})
	f := mustPool(t, c.LocalAddr(), 3)
	var want [3][][]byte
	var b Batch
	for i, sizes := range [][]int{{500, 500, 500, 13}, {MaxDatagram, MaxDatagram, 1}, {7, 0, 9, 9, 9, 2}} {
		for k, n := range sizes {
			data := bytes.Repeat([]byte{byte(10*i + k + 1)}, n)
			want[i] = append(want[i], data)
			b.Add(data, f.LocalAddr(i))
		}
	}
	if err := c.Send(&b); err != nil {
		t.Fatal(err)
	}
	var got [3][][]byte
	poll(t, f, b.Len(), func(i int, data []byte) { got[i] = append(got[i], bytes.Clone(data)) })
	var bytesIn uint64
	for i := range want {
		if len(got[i]) != len(want[i]) {
			t.Fatalf("client %d got %d datagrams, want %d", i, len(got[i]), len(want[i]))
		}
		for k := range want[i] {
			if !bytes.Equal(got[i][k], want[i][k]) {
				t.Errorf("client %d, datagram %d: %d bytes, want %d", i, k, len(got[i][k]), len(want[i][k]))
			}
			bytesIn += uint64(len(want[i][k]))
		}
	}
	if s := f.Stats(); s.DatagramsIn != uint64(b.Len()) || s.BytesIn != bytesIn || s.Oversize != 0 {
		t.Errorf("counted %+v, want %d datagrams of %d bytes", s, b.Len(), bytesIn)
	}
}

// Datagrams of some clients now and of the others later are all of them, once each.
func TestPoolPollsSomeAndLaterTheRest(t *testing.T) {
	const clients = 40
	c := mustListen(t, ListenMmsg, "127.0.0.1:0", Config{})
	f := mustPool(t, c.LocalAddr(), clients)
	var b Batch
	for i := range clients {
		b.Add([]byte{byte(i)}, f.LocalAddr(i))
	}
	if err := c.Send(&b); err != nil {
		t.Fatal(err)
	}
	seen := map[int]int{}
	most, polls := 0, 0
	for end := time.Now().Add(receiveTimeout); len(seen) < clients && time.Now().Before(end); {
		n, more := f.Poll(7, func(i int, data []byte) {
			seen[i]++
			if int(data[0]) != i {
				t.Fatalf("client %d got datagram %d", i, data[0])
			}
			if i == 0 {
				_ = f.Remove(39) // whose datagram may be among those that wait
			}
		})
		most, polls = max(most, n), polls+1
		if !more && len(seen) >= clients-1 {
			break
		}
	}
	for i := range clients - 1 {
		if seen[i] != 1 {
			t.Errorf("client %d got %d datagrams", i, seen[i])
		}
	}
	if most == 0 || seen[39] > 1 {
		t.Errorf("at most %d at a time in %d polls; the one who left got %d", most, polls, seen[39])
	}
}

func TestPoolPollDoesNotAllocate(t *testing.T) {
	c := mustListen(t, ListenMmsg, "127.0.0.1:0", Config{})
	f := mustPool(t, c.LocalAddr(), 8)
	var b Batch
	for i := range 32 {
		b.Add(make([]byte, 900), f.LocalAddr(i/4))
	}
	got := 0
	fn := func(int, []byte) { got++ }
	if n := alloctest.In(50, func() {
		_ = c.Send(&b)
		for end := got + 32; got < end && pollAll(f, fn) > 0; {
		}
	}); n != 0 || got == 0 {
		t.Errorf("%v allocations a poll, %d datagrams", n, got)
	}
}

// A batch is the same datagrams as so many sends: each comes from its client's address, in order.
func TestPoolSendsBatches(t *testing.T) {
	for _, server := range []string{"127.0.0.1:0", "[::1]:0"} {
		if server[0] == '[' {
			ipv6Loopback(t)
		}
		const clients = BatchSize / 2
		c := mustListen(t, ListenMmsg, server, Config{})
		f := mustPool(t, c.LocalAddr(), clients)
		if err := f.Remove(3); err != nil {
			t.Fatal(err)
		}
		var b ClientBatch
		for k := range BatchSize {
			b.Add(k%clients, []byte{byte(k % clients), byte(k / clients)})
		}
		if i, err := f.SendBatch(&b); i != 3 || !errors.Is(err, ErrNoClient) || b.Full() {
			t.Errorf("client %d failed: %v", i, err)
		}
		var heard [clients]byte
		var in Batch
		receive(t, c, &in, BatchSize-2, func(d Datagram) {
			if i := d.Data[0]; d.Addr != f.LocalAddr(int(i)) || d.Data[1] != heard[i] {
				t.Errorf("%v sent %v after %d of it", d.Addr, d.Data, heard[i])
			}
			heard[d.Data[0]]++
		})
		for i, n := range heard {
			if n != 2 && i != 3 || i == 3 && n != 0 {
				t.Errorf("client %d: %d arrived", i, n)
			}
		}
		if s := f.Stats(); s.DatagramsOut != BatchSize-2 || s.BytesOut != 2*(BatchSize-2) {
			t.Errorf("counted %+v", s)
		}
		if n := alloctest.In(20, func() {
			b.Add(0, []byte("x"))
			b.Add(1, []byte("y"))
			_, _ = f.SendBatch(&b)
		}); n != 0 {
			t.Errorf("%v allocations a batch", n)
		}
	}
}

// A datagram from another address than the server's is no client's.
func TestPoolIgnoresOthers(t *testing.T) {
	c := mustListen(t, ListenMmsg, "127.0.0.1:0", Config{})
	f := mustPool(t, c.LocalAddr(), 2)
	other, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := other.WriteToUDPAddrPort([]byte("forged"), f.LocalAddr(1)); err != nil {
		t.Fatal(err)
	}
	var b Batch
	b.Add([]byte("true"), f.LocalAddr(1))
	if err := c.Send(&b); err != nil {
		t.Fatal(err)
	}
	if got := poll(t, f, 1, func(i int, data []byte) {
		if i != 1 || string(data) != "true" {
			t.Errorf("client %d got %q", i, data)
		}
	}); got != 1 {
		t.Errorf("%d datagrams", got)
	}
}
