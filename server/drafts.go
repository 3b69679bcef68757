package server

import (
	"net/netip"

	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/server/metrics"
)

// packetBatch are packages that wait to be sealed, of one connection after another.
type packetBatch struct {
	batch netio.Batch // only its memory: the addresses in it mean nothing
	to    [netio.BatchSize]int32
	ends  [netio.BatchSize]metrics.SectionEnds // of the sections of each package
}

func (d *packetBatch) len() int   { return d.batch.Len() }
func (d *packetBatch) full() bool { return d.batch.Full() }
func (d *packetBatch) reset()     { d.batch.Reset() }

// next is the memory for one more package, to append to.
func (d *packetBatch) next() []byte { return d.batch.Next()[:0:packet.MaxPacketSize] }

// commit makes the first n bytes of that memory a package for the connection in a slot.
func (d *packetBatch) commit(n, slot int, ends metrics.SectionEnds) {
	d.to[d.batch.Len()], d.ends[d.batch.Len()] = int32(slot), ends
	d.batch.Commit(n, netip.AddrPort{})
}

// at returns package i and the slot of its connection.
func (d *packetBatch) at(i int) (slot int32, pack []byte) { return d.to[i], d.batch.At(i).Data }

// maxPadding is the most padding that a package gets for the sake of one length.
const maxPadding = 64

// padForGSO pads the packages from index from on, all of one connection, to the length of the longest, but for the last, which
// may be shorter: sealed, the kernel then sends them as one train.
func (d *packetBatch) padForGSO(from int) {
	longest := 0
	for i := from; i < d.len(); i++ {
		longest = max(longest, len(d.batch.At(i).Data))
	}
	for i := from; i < d.len()-1; i++ {
		if short := longest - len(d.batch.At(i).Data); short > 0 && short <= maxPadding {
			pad := d.batch.Extend(i, short)
			for k := range pad {
				pad[k] = snapshot.Padding
			}
		}
	}
}
