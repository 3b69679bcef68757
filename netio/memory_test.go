package netio

import (
	"errors"
	"net"
	"net/netip"
	"testing"

	"github.com/tickrate/tickrate/internal/alloctest"
)

func TestMemoryCarriesInOrder(t *testing.T) {
	m := NewMemory()
	open := func(addr string, cfg Config) Conn {
		c, err := m.Listen(netip.MustParseAddrPort(addr), cfg)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	a, b := open("10.0.0.1:1", Config{RingDatagrams: 1000}), open("10.0.0.1:0", Config{})
	if b.LocalAddr().Port() != 49152 || open("10.0.0.1:0", Config{}).LocalAddr().Port() != 49153 {
		t.Fatalf("automatic port %d", b.LocalAddr().Port())
	}
	if _, err := m.Listen(a.LocalAddr(), Config{}); !errors.Is(err, ErrAddrInUse) {
		t.Fatalf("a second endpoint at %v: %v", a.LocalAddr(), err)
	}
	var out, in Batch
	for k := range 2000 {
		if out.Add([]byte{byte(k), byte(k >> 8)}, a.LocalAddr()); out.Full() || k == 1999 {
			if err := b.Send(&out); err != nil {
				t.Fatal(err)
			}
			out.Reset()
		}
	}
	k := 0
	for n, _ := a.Receive(&in); n > 0; n, _ = a.Receive(&in) {
		for i := range n {
			if d := in.At(i); d.Addr != b.LocalAddr() || int(d.Data[0])+int(d.Data[1])<<8 != k {
				t.Fatalf("datagram %d: %v from %v", k, d.Data, d.Addr)
			}
			k++
		}
	}
	if s := a.Stats(); k != 1024 || s.DatagramsIn != 2000 || s.RingFull != 2000-1024 || s.Delivered != 1024 {
		t.Fatalf("%d arrived, counted %+v", k, s)
	}
	for range 2 {
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
	}
	out.Add(nil, a.LocalAddr())
	if err := b.Send(&out); err != nil {
		t.Fatal(err)
	}
	if s := b.Stats(); s.SendFailed != 1 || s.DatagramsOut != 2000 {
		t.Fatalf("counted %+v", s)
	}
	if _, err := a.Receive(&in); !errors.Is(err, net.ErrClosed) || !errors.Is(a.Send(&out), net.ErrClosed) {
		t.Fatal("a closed endpoint works")
	}
	open("10.0.0.1:1", Config{})
}

func TestMemoryAllocatesNothing(t *testing.T) {
	m := NewMemory()
	a, _ := m.Listen(netip.MustParseAddrPort("10.0.0.1:1"), Config{})
	b, _ := m.Listen(netip.MustParseAddrPort("10.0.0.2:1"), Config{})
	var out, in Batch
	step := func() {
		for out.Reset(); out.Add([]byte("hello"), b.LocalAddr()); {
		}
		if a.Send(&out) != nil {
			t.Fatal("send")
		}
		if n, _ := b.Receive(&in); n != BatchSize {
			t.Fatalf("received %d", n)
		}
	}
	if n := alloctest.In(100, step); n != 0 {
		t.Fatalf("%g allocations for %d datagrams", n, BatchSize)
	}
}
