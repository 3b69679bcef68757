package query

import (
	"net/netip"
	"testing"
	"time"
)

// BenchmarkAnswer measures the cost of a datagram: refused, a challenge, and a query of a lobby of
// 64, whose answer has pages/op datagrams.
func BenchmarkAnswer(b *testing.B) {
	s := encodedOf(lobby(64))
	send := func([]byte) {}
	run := func(name string, want Drop, datagram func(r *Responder) []byte) {
		b.Run(name, func(b *testing.B) {
			limits := Limits{Challenges: 1 << 19, Packets: 1 << 19, NetworkPackets: 1 << 19}
			r := NewResponder([4]uint64{1, 2, 3, 4}, limits)
			d, now := datagram(r), time.Duration(0)
			b.ReportAllocs()
			for b.Loop() {
				if now += 10 * time.Microsecond; now >= TokenLife {
					now = 0
					r.fill(limits)
				}
				if why := r.Answer(now, here, d, s, send); why != want {
					b.Fatal(why)
				}
			}
			c := r.Counters()
			b.ReportMetric(float64(c.Packets)/float64(c.Received), "packets/op")
		})
	}
	run("refused", DropToken, func(r *Responder) []byte {
		return request{r.minter.mint(0, netip.AddrPort{}), AllChunks}.append(nil)
	})
	run("challenge", DropNone, func(*Responder) []byte { return appendChallenge(nil, 0) })
	run("query", DropNone, func(r *Responder) []byte {
		return request{r.minter.mint(0, here), AllChunks}.append(nil)
	})
}
