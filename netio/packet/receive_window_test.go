package packet

import "testing"

// TestAckStateAtItsEdge: of the packet that is 64 behind there is a bit, of those before there is
// none.
func TestAckStateAtItsEdge(t *testing.T) {
	for _, bits := range []uint64{0, 1 << 63, 1, ^uint64(0)} {
		a := AckState{Newest: 100, Bits: bits}
		for seq := range uint64(110) {
			want := seq <= 100 && (seq == 100 || seq < 36 || bits>>(99-seq)&1 != 0)
			if a.Has(seq) != want {
				t.Errorf("bits %#x: packet %d: %v, want %v", bits, seq, !want, want)
			}
		}
	}
}

// TestJitterIsTheNearestRank: of few packets, too.
func TestJitterIsTheNearestRank(t *testing.T) {
	for n, want := range map[uint16]Jitter{1: {}, 3: {1, 2, 2}, 10: {4, 9, 9}, 99: {49, 94, 98}, 100: {49, 94, 98}, 256: {127, 243, 253}} {
		p := NewPeer(0, Config{})
		for i := range n {
			p.addDelay(oneWay, 60000+i*7%n) // 7 divides none: each delay once
		}
		want.P50, want.P95, want.P99 = want.P50*Stamp, want.P95*Stamp, want.P99*Stamp
		if got := p.Jitter(); got != want {
			t.Errorf("%d packets: %+v, want %+v", n, got, want)
		}
	}
}
