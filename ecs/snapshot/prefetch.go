package snapshot

import (
	"unsafe"

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
