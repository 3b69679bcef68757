package snapshot

import (
	"unsafe"

	"github.com/tickrate/tickrate/internal/prefetch"
)

// Prefetch loads the fields that the next ack and the next snapshot read into the cache.
func (k *Tracker) Prefetch() {
	prefetch.Bytes(unsafe.Pointer(k), unsafe.Offsetof(k.sent))
}

// Prefetch loads the fields that the next ack and the next snapshot read into the cache.
func (h *AckHistory) Prefetch() {
	prefetch.Bytes(unsafe.Pointer(h), unsafe.Offsetof(h.want))
}

// Prefetch loads the fields that the next ack and the next owner row read into the cache.
func (o *OwnerWriter) Prefetch() {
	prefetch.Bytes(unsafe.Pointer(o), unsafe.Offsetof(o.sent)+unsafe.Offsetof(o.sent.ticks))
}
