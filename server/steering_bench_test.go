package server

import (
	"testing"
	"time"

	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/netcode"
)

// BenchmarkHandOver is the time of a datagram from Port.openDatagram until its lobby has taken it: at
// the worker of its session, and by way of another one; of an address that no worker knows, until it
// is refused. Both workers run on one thread; between two the lines
// of the ring travel besides.
//
//	go test ./server -run '^$' -bench HandOver
func BenchmarkHandOver(b *testing.B) {
	for _, way := range []string{"direct", "handed", "unknown"} {
		b.Run(way, func(b *testing.B) {
			w := newTestWorkers(b, 2, 2, 4)
			c := w.join(1, 1)
			p, at := w.ports[1], w.ports[1]
			if way != "direct" {
				at = w.ports[0]
			}
			from := c.addr()
			if way == "unknown" {
				from = w.client(w.hosts[0], 0).addr()
			}
			var batch [netio.BatchSize][]byte
			var took time.Duration
			for n := 0; n < b.N; n += len(batch) {
				c.receive()
				for i := range batch {
					if way == "unknown" && n > 0 {
						break
					}
					batch[i] = c.seal(c.packet(c.early()...))
				}
				began := time.Now()
				for i := range batch {
					at.openDatagram(w.now, testUnix, from, batch[i])
				}
				if way == "handed" {
					if err := p.receiveHanded(w.now, testUnix, w.conns[1]); err != nil {
						b.Fatal(err)
					}
				}
				p.takeEvents(w.now)
				took += time.Since(began)
				if n%(16*len(batch)) == 0 { // acks, and new ticks to play
					w.now += time.Second / 64
					for i := range w.ports {
						w.tickOf(i)
					}
				}
			}
			if n := w.stats[0].AuthDrops[netcode.DropHandOver].Load(); n != 0 {
				b.Fatalf("%d were lost", n)
			}
			datagrams := (b.N + len(batch) - 1) / len(batch) * len(batch)
			b.ReportMetric(float64(took.Nanoseconds())/float64(datagrams), "ns/datagram")
			b.ReportMetric(0, "ns/op")
		})
	}
}
