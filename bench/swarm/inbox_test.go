package swarm

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/tickrate/tickrate/internal/alloctest"
)

// Each player hears its own datagrams once, in their order, with their instants and sources, while
// others' come and go in the same memory. No more wait for one than may.
func TestInbox(t *testing.T) {
	const players = 5
	b, d := newInbox(players), rng(1)
	var want, got [players][]string
	source := func(i int) netip.AddrPort { return netip.AddrPortFrom(netip.IPv4Unspecified(), uint16(i)) }
	text := func(at time.Duration, from netip.AddrPort, data []byte) string {
		return fmt.Sprintf("%v %v %s", at, from, data)
	}
	waiting, refused := [players]int{}, 0
	for n := range 20000 {
		i := int(d.next() % players)
		if d.chance(0.01 + 0.1*float32(i)) { // seldom enough for the first that its inbox fills
			b.take(i, func(at time.Duration, from netip.AddrPort, data []byte) {
				got[i] = append(got[i], text(at, from, data))
			})
			waiting[i] = 0
			continue
		}
		at, data := time.Duration(n), []byte(fmt.Sprint("datagram ", n))
		ok := b.put(i, at, source(i), data)
		if ok != (waiting[i] < maxArrivals) {
			t.Fatalf("datagram %d of player %d with %d waiting: taken %v", n, i, waiting[i], ok)
		}
		if !ok {
			refused++
			continue
		}
		waiting[i]++
		want[i] = append(want[i], text(at, source(i), data))
		clear(data) // the inbox has a copy
	}
	for i := range players {
		b.take(i, func(at time.Duration, from netip.AddrPort, data []byte) {
			got[i] = append(got[i], text(at, from, data))
		})
		if len(got[i]) != len(want[i]) {
			t.Fatalf("player %d heard %d of %d", i, len(got[i]), len(want[i]))
		}
		for k := range want[i] {
			if got[i][k] != want[i][k] {
				t.Fatalf("player %d heard %q, want %q", i, got[i][k], want[i][k])
			}
		}
	}
	if refused == 0 {
		t.Error("no inbox was ever full")
	}
	if n := alloctest.In(100, func() {
		b.put(0, 0, source(0), nil)
		b.take(0, func(time.Duration, netip.AddrPort, []byte) {})
	}); n != 0 {
		t.Errorf("%v allocations a datagram", n)
	}
}
