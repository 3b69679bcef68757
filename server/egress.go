package server

import (
	"net/netip"
	"time"

	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/server/metrics"
)

// egress is what waits to be sent: packets to be sealed, what netcode has sealed itself, and
// datagrams.
type egress struct {
	packets packetBatch
	outbox  netcode.Outbox
	out     netio.Batch
}

// packetBatch are packets that wait to be sealed, of one connection after another.
type packetBatch struct {
	batch netio.Batch // only its memory: its addresses mean nothing
	to    [netio.BatchSize]int32
	ends  [netio.BatchSize]metrics.SectionEnds
}

func (b *packetBatch) len() int   { return b.batch.Len() }
func (b *packetBatch) full() bool { return b.batch.Full() }
func (b *packetBatch) reset()     { b.batch.Reset() }

// next is the memory for one more packet, to append to.
func (b *packetBatch) next() []byte { return b.batch.Next()[:0:packet.MaxPacketSize] }

// commit makes the first n bytes of next's memory a packet to the connection in a slot.
func (b *packetBatch) commit(n, slot int, ends metrics.SectionEnds) {
	b.to[b.batch.Len()], b.ends[b.batch.Len()] = int32(slot), ends
	b.batch.Commit(n, netip.AddrPort{})
}

// at returns packet i and the slot of its connection.
func (b *packetBatch) at(i int) (slot int32, pkt []byte) { return b.to[i], b.batch.At(i).Data }

// maxPadding is the most bytes that padForGSO adds to a packet.
const maxPadding = 64

// padForGSO pads the packets from index from on, all of one connection, to one length, but for the
// last, which may be shorter. The kernel then sends their datagrams in one GSO send.
func (b *packetBatch) padForGSO(from int) {
	longest := 0
	for i := from; i < b.len(); i++ {
		longest = max(longest, len(b.batch.At(i).Data))
	}
	for i := from; i < b.len()-1; i++ {
		if short := longest - len(b.batch.At(i).Data); short > 0 && short <= maxPadding {
			pad := b.batch.Extend(i, short)
			for k := range pad {
				pad[k] = snapshot.Padding
			}
		}
	}
}

// sendPackets seals the waiting packets and sends them.
func (o *outbound) sendPackets(now time.Duration, sock netio.Conn) error {
	e := &o.port.egress
	o.timer.Enter(metrics.StageSeal)
	for i := -2 * sealAhead; i < 0; i++ {
		o.prefetchSeal(i)
	}
	for i := range e.packets.len() {
		slot, pkt := e.packets.at(i)
		c := &o.conns[slot]
		if e.out.Full() {
			if err := o.flush(sock); err != nil {
				return err
			}
		}
		sealed, err := o.port.netcode.Seal(now, int(c.session.client), pkt, e.out.Next())
		if err != nil { // its sequences are used up: netcode is about to end the session
			o.Stats.Count[metrics.SealFailed].Inc()
			continue
		}
		c.repl.pacing.bucket.Take(now, len(sealed))
		c.session.stats.down += uint64(len(sealed))
		if !o.timer.Off {
			ends := &e.packets.ends[i]
			o.account.bandwidth.AddSnapshot(pkt, sealed, ends, o.replication.encodersOf(&c.repl))
			o.addSnapshotSize(slot, len(sealed), ends)
		}
		o.traffic.send(len(sealed))
		e.out.Commit(len(sealed), c.session.addr)
		o.prefetchSeal(i)
	}
	e.packets.reset()
	if o.port.alone == nil {
		o.timer.Enter(metrics.StageSnapshot)
		return nil
	}
	err := o.flush(sock)
	o.timer.Enter(metrics.StageSnapshot)
	return err
}

// flush sends the batch of datagrams and accounts the time to StageSend.
func (o *outbound) flush(sock netio.Conn) error {
	o.timer.Enter(metrics.StageSend)
	err := o.port.flush(sock)
	o.timer.Enter(metrics.StageSeal)
	return err
}

// snapshotSize adds up the bytes of one snapshot.
type snapshotSize struct {
	slot  int32
	bytes int
}

// addSnapshotSize adds a datagram to its snapshot. The first datagram of a snapshot records the one
// before.
func (o *outbound) addSnapshotSize(slot int32, bytes int, ends *metrics.SectionEnds) {
	s := &o.snapshot
	if ends.First || slot != s.slot {
		o.recordSnapshotSize()
		s.slot = slot
	}
	s.bytes += bytes
}

// recordSnapshotSize records the size of the snapshot that was sent last.
func (o *outbound) recordSnapshotSize() {
	if o.snapshot.bytes > 0 {
		o.Stats.SnapshotBytes.Record(int64(o.snapshot.bytes))
	}
	o.snapshot = snapshotSize{slot: -1}
}
