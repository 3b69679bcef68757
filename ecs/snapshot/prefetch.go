package snapshot

import (
	"unsafe"

	"github.com/tickrate/tickrate/internal/prefetch"
)

// Prefetch asks for the memory that acks and the next snapshot read.
func (k *Tracker) Prefetch() {
	prefetch.Bytes(unsafe.Pointer(k), unsafe.Offsetof(k.sent))
}

// Prefetch asks for the memory that acks and the next snapshot read.
func (h *AckHistory) Prefetch() {
	prefetch.Bytes(unsafe.Pointer(h), unsafe.Offsetof(h.want))
}

// Prefetch asks for the memory that acks and the next row read.
func (o *OwnerWriter) Prefetch() {
	prefetch.Bytes(unsafe.Pointer(o), unsafe.Offsetof(o.sent)+unsafe.Offsetof(o.sent.ticks))
}
