//go:build !portable

package netio

import (
	"bytes"
	"net/netip"
	"testing"

	"pgregory.net/rapid"
)

// For any lengths and peers of a batch, each peer gets its datagrams whole and in order, with GSO
// or without.
func TestGSOBatchesDeliverTheSame(t *testing.T) {
	const peers = 3
	c := mustListen(t, ListenMmsg, "127.0.0.1:0", Config{})
	f := mustPool(t, c.LocalAddr(), peers)
	if !c.(*mmsgConn).out.gso.supported {
		t.Skip("this kernel has no UDP_SEGMENT")
	}
	var b Batch
	batched := 0
	rapid.Check(t, func(t *rapid.T) {
		b.Reset()
		want := [peers][][]byte{}
		length := 100
		for n := range rapid.IntRange(1, BatchSize).Draw(t, "datagrams") {
			peer := rapid.SampledFrom([]int{0, 0, 0, 0, 1, 2}).Draw(t, "peer")
			switch rapid.IntRange(0, 5).Draw(t, "length") {
			case 0:
				length = rapid.IntRange(1, MaxDatagram).Draw(t, "bytes")
			case 1:
				length = max(1, length/2)
			}
			data := bytes.Repeat([]byte{byte(n)}, length)
			b.Add(data, f.LocalAddr(peer))
			want[peer] = append(want[peer], data)
		}
		before := c.Stats()
		if err := c.Send(&b); err != nil {
			t.Fatal(err)
		}
		if sent := c.Stats().DatagramsOut - before.DatagramsOut; sent != uint64(b.Len()) {
			t.Fatalf("%d of %d datagrams went out", sent, b.Len())
		}
		for i := range b.Len() {
			if c.(*mmsgConn).out.gso.batches[i].datagrams > 1 {
				batched++
			}
		}
		got, arrived := [peers][][]byte{}, 0
		for tries := 0; arrived < b.Len() && tries < 100; tries++ {
			pollAll(f, func(i int, data []byte) {
				got[i] = append(got[i], bytes.Clone(data))
				arrived++
			})
		}
		for i := range peers {
			if len(got[i]) != len(want[i]) {
				t.Fatalf("peer %d got %d of %d datagrams", i, len(got[i]), len(want[i]))
			}
			for k := range got[i] {
				if !bytes.Equal(got[i][k], want[i][k]) {
					t.Fatalf("peer %d: datagram %d has %d bytes of %d, want %d of %d", i, k, len(got[i][k]),
						got[i][k][0], len(want[i][k]), want[i][k][0])
				}
			}
		}
	})
	if batched < 50 {
		t.Errorf("only %d GSO batches of two and more were sent", batched)
	}
}

// A refused GSO batch turns batches off, and all its datagrams count as failed. Later datagrams go
// alone.
func TestGSOBatchesGiveUpOnRefusal(t *testing.T) {
	m := newMmsg(2)
	m.gso.supported = true
	slots := make([]slot, 4)
	allocBuffers(slots)
	for i := range slots {
		slots[i].addr, slots[i].n = netip.MustParseAddrPort("127.0.0.1:9"), 50
	}
	var count counters
	if n := m.address(slots, &count); n != 1 || m.gso.datagrams(0, 1) != 4 {
		t.Fatalf("four equal datagrams to one peer took %d headers", n)
	}
	m.gso.refused(0)
	if n := m.address(slots, &count); n != 4 || m.gso.datagrams(0, 4) != 4 {
		t.Fatalf("after a refusal four datagrams took %d headers", n)
	}
}
