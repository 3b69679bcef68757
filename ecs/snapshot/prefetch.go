package snapshot

import (
	"unsafe"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/prefetch"
)

// Prefetch loads the fields that the next ack and the next snapshot read into the cache.
func (k *Tracker) Prefetch() {
	prefetch.Bytes(unsafe.Pointer(k), unsafe.Offsetof(k.sent))
}

// PrefetchAck loads the fields that the next ack reads into the cache.
func (k *Tracker) PrefetchAck() {
	prefetch.Bytes(unsafe.Pointer(k), unsafe.Offsetof(k.rows)+unsafe.Offsetof(k.rows.hasVisible))
}

// PrefetchRecent loads what the next ack reads of the newest snapshots into the cache. It reads
// fields that PrefetchAck loads.
func (k *Tracker) PrefetchRecent() {
	at := (k.at - 1) & (Window - 1) // the snapshot before the newest: a usual ack is of one of both
	prefetch.Bytes(unsafe.Pointer(&k.sent[at]), 2*unsafe.Sizeof(k.sent[0]))
	prefetch.Bytes(unsafe.Pointer(&k.acked[at*k.words]), 2*uintptr(k.words)*8)
}

// PrefetchSnapshot loads what a snapshot of rows at tick t reads and writes into the cache. It reads
// fields that Prefetch loads.
func (k *Tracker) PrefetchSnapshot(t tick.Tick) {
	at, l := k.row(t), &k.rows
	prefetch.Bytes(unsafe.Pointer(&k.acked[at*k.words]), uintptr(k.words)*8)
	oldest := max(0, at-usualAges)
	prefetch.Bytes(unsafe.Pointer(&k.acked[oldest*k.words]), uintptr((at-oldest)*k.words)*8)
	prefetch.Bytes(unsafe.Pointer(&k.sent[oldest]), uintptr(at-oldest+1)*8)
	if l.words == 0 {
		return
	}
	bytes := uintptr(l.words) * 8
	prefetch.Bytes(unsafe.Pointer(&l.maybeVisible[0]), bytes)
	prefetch.Bytes(unsafe.Pointer(&l.visible(at)[0]), bytes)
	if newest := (at - 1) & (Window - 1); k.bits(newest)[0] == 0 { // see resolveTogether
		prefetch.Bytes(unsafe.Pointer(&l.acked(oldest)[0]), uintptr(at-oldest)*bytes)
	}
	prefetch.Bytes(unsafe.Pointer(&l.full(at)[0]), uintptr(l.group)*8)
}

// usualAges is the age in intervals, of most baselines of a client without loss, at most.
const usualAges = 5

// Prefetch loads the fields that the next ack and the next snapshot read into the cache.
func (h *AckHistory) Prefetch() {
	prefetch.Bytes(unsafe.Pointer(h), unsafe.Offsetof(h.want))
}

// PrefetchRecent loads what the next ack reads of the newest snapshots into the cache. It reads
// fields that Prefetch loads.
func (h *AckHistory) PrefetchRecent() {
	at := (h.at - 1) % historySnapshots
	prefetch.Bytes(unsafe.Pointer(&h.snapshots[at]), 2*unsafe.Sizeof(sentSnapshot{}))
	packets := min(h.next, 2*packetsEach)
	first := (h.next - packets) % historyPackets
	prefetch.Bytes(unsafe.Pointer(&h.packets[first]), uintptr(packets)*unsafe.Sizeof(sentPacket{}))
}

// PrefetchBegin loads what Begin reads and writes into the cache. It reads fields that Prefetch
// loads.
func (h *AckHistory) PrefetchBegin() {
	next := (int(h.at) + 1) % historySnapshots
	prefetch.Bytes(unsafe.Pointer(&h.snapshots[next]), unsafe.Sizeof(sentSnapshot{}))
	sets := 2 * 8 * uintptr(h.words)
	prefetch.Bytes(unsafe.Pointer(&h.visible(next)[0]), sets)
	prefetch.Bytes(unsafe.Pointer(&h.visible(historySnapshots)[0]), sets)
	prefetch.Bytes(unsafe.Pointer(&h.covered[0]), sets/2)
	prefetch.Bytes(unsafe.Pointer(&h.packets[h.next%historyPackets]), unsafe.Sizeof(sentPacket{}))
}

// PrefetchPackets loads the packets of the snapshot that the next one replaces into the cache. It
// reads what PrefetchBegin loads.
func (h *AckHistory) PrefetchPackets() {
	m := &h.snapshots[(int(h.at)+1)%historySnapshots]
	prefetch.Bytes(unsafe.Pointer(&h.packets[m.first%historyPackets]), unsafe.Sizeof(sentPacket{}))
}

// packetsEach is how many packets most snapshots have at most.
const packetsEach = 3

// Prefetch loads the fields that the next ack and the next owner row read into the cache.
func (o *OwnerWriter) Prefetch() {
	prefetch.Bytes(unsafe.Pointer(o), unsafe.Offsetof(o.sent)+unsafe.Offsetof(o.sent.ticks))
}

// PrefetchAck loads the fields that the next ack reads into the cache.
func (o *OwnerWriter) PrefetchAck() { prefetch.Bytes(unsafe.Pointer(o), 1) }

// PrefetchRecent loads what the next ack reads of the newest rows into the cache. It reads fields
// that PrefetchAck loads.
func (o *OwnerWriter) PrefetchRecent() {
	at := int(o.newest/o.sent.interval-1) & (Window - 1)
	prefetch.Bytes(unsafe.Pointer(&o.sent.ticks[at]), 2*unsafe.Sizeof(o.newest))
}

// PrefetchAppend loads what Append of tick t reads and writes into the cache. It reads fields that
// Prefetch loads.
func (o *OwnerWriter) PrefetchAppend(t tick.Tick) {
	at, n := int(t/o.sent.interval)&(Window-1), len(o.sent.model.Coders())
	prefetch.Bytes(unsafe.Pointer(&o.sent.values[at*n]), uintptr(n)*4)
	newest := max(0, at-usualOwnerAge)
	prefetch.Bytes(unsafe.Pointer(&o.sent.values[newest*n]), uintptr((at-newest)*n)*4)
}

// usualOwnerAge is the age in intervals of the baselines of most owner rows, at most.
const usualOwnerAge = 2

// Prefetch loads the fields that Parse reads first into the cache.
func (o *OwnerReader) Prefetch() {
	prefetch.Bytes(unsafe.Pointer(o), unsafe.Offsetof(o.got)+unsafe.Offsetof(o.got.ticks))
}

// PrefetchParse loads what Parse reads and writes for the row of the interval after tick t into the
// cache, if that is the newest. It reads fields that Prefetch loads.
func (o *OwnerReader) PrefetchParse(t tick.Tick) {
	at, n := int(t/o.got.interval+1)&(Window-1), len(o.next)
	prefetch.Bytes(unsafe.Pointer(&o.got.ticks[at]), 1)
	newest := max(0, at-usualOwnerAge)
	prefetch.Bytes(unsafe.Pointer(&o.got.values[newest*n]), uintptr((at-newest+1)*n)*4)
	prefetch.Bytes(unsafe.Pointer(&o.next[0]), uintptr(n)*4)
}
