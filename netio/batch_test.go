package netio

import (
	"bytes"
	"net/netip"
	"testing"

	"pgregory.net/rapid"
)

var somewhere = netip.MustParseAddrPort("192.0.2.1:7")

func TestBatchHoldsWhatWasCommitted(t *testing.T) {
	var b Batch
	for i := range BatchSize {
		copy(b.Next()[:8], "given up") // not committed: the same memory comes again
		p := append(b.Next(), make([]byte, i)...)
		if cap(p) != MaxDatagram {
			t.Fatalf("room for %d bytes", cap(p))
		}
		b.Commit(len(p), somewhere)
	}
	if !b.Full() || b.Next() != nil || b.Add(nil, somewhere) {
		t.Fatal("a full batch takes more")
	}
	for i := range b.Len() {
		if data := b.Data(i); len(data) != i || cap(data) != i || i > 0 && &data[0] != &b.At(i).Data[0] ||
			b.From(i) != somewhere {
			t.Fatalf("datagram %d in parts: %d bytes from %v", i, len(data), b.From(i))
		}
		if d := b.At(i); len(d.Data) != i || cap(d.Data) != i || d.Addr != somewhere {
			t.Fatalf("datagram %d: %d bytes for %v", i, len(d.Data), d.Addr)
		}
	}
	b.Reset()
	if b.Len() != 0 || b.Full() {
		t.Fatal("a reset batch holds something")
	}
}

func TestBadUseOfABatchPanics(t *testing.T) {
	full := new(Batch)
	for full.Add(nil, somewhere) {
	}
	for name, f := range map[string]func(){
		"at":    func() { new(Batch).At(0) },
		"data":  func() { new(Batch).Data(0) },
		"from":  func() { full.From(BatchSize) },
		"below": func() { full.At(-1) },
		"long":  func() { new(Batch).Commit(MaxDatagram+1, somewhere) },
		"less":  func() { new(Batch).Commit(-1, somewhere) },
		"full":  func() { full.Commit(0, somewhere) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Fatal("no panic")
				}
			}()
			f()
		})
	}
}

// A ring equals a list for any order of pushes and pops.
func TestRingAgreesWithAList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newRing(rapid.IntRange(1, 3*BatchSize).Draw(t, "size"))
		var list []string
		var b Batch
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "take") {
				n := r.take(&b)
				if n != b.Len() || n != min(BatchSize, len(list)) {
					t.Fatalf("took %d of %d", n, len(list))
				}
				for i := range n {
					if d := b.At(i); string(d.Data) != list[i] || d.Addr.Port() != uint16(len(list[i])) {
						t.Fatalf("took %q from %v, want %q", d.Data, d.Addr, list[i])
					}
				}
				list = list[n:]
				continue
			}
			run := r.run()
			if len(run) == 0 {
				if len(list) < len(r.slots) {
					t.Fatalf("full at %d of %d", len(list), len(r.slots))
				}
				continue
			}
			n := rapid.IntRange(0, len(run)).Draw(t, "fill")
			for i := range run[:n] {
				s := rapid.StringN(0, 30, 60).Draw(t, "data")
				run[i].n = int32(copy(run[i].buf[:], s))
				run[i].addr = netip.AddrPortFrom(somewhere.Addr(), uint16(len(s)))
				list = append(list, s)
			}
			r.publish(n)
		}
	})
}

// No buffer is ever in two places, however often ring and batches exchange them.
func TestExchangedBuffersStayDistinct(t *testing.T) {
	r := newRing(BatchSize)
	batches := make([]Batch, 3)
	for k := range 50 {
		run := r.run()
		for i := range run {
			run[i].n = int32(1 + (k+i)%2*MaxDatagram)
		}
		r.publish(new(counters).received(run, nil)) // every other one is too long
		for i := range batches {
			r.take(&batches[i])
		}
	}
	seen := map[*slotBuffer]bool{}
	for _, slots := range [][]slot{r.slots, batches[0].slots[:], batches[1].slots[:], batches[2].slots[:]} {
		for _, s := range slots {
			if s.buf == nil || seen[s.buf] {
				t.Fatal("a buffer is missing or in two places")
			}
			seen[s.buf] = true
		}
	}
}

// One goroutine fills the ring and another empties it; run it with -race.
func TestRingBetweenTwoGoroutines(t *testing.T) {
	const total = 50_000
	r := newRing(256)
	go func() {
		for k := 0; k < total; {
			run := r.run()
			for i := range run {
				run[i].n = int32(len(append(run[i].buf[:0], byte(k), byte(k>>8), byte(k>>16))))
				if k++; k == total {
					run = run[:i+1]
					break
				}
			}
			r.publish(len(run))
		}
	}()
	var b Batch
	for k := 0; k < total; {
		for i := range r.take(&b) {
			if want := []byte{byte(k), byte(k >> 8), byte(k >> 16)}; !bytes.Equal(b.At(i).Data, want) {
				t.Fatalf("datagram %d holds %v", k, b.At(i).Data)
			}
			k++
		}
	}
}
