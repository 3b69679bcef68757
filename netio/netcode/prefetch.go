package netcode

import (
	"net/netip"
	"unsafe"

	"github.com/tickrate/tickrate/internal/prefetch"
)

var _ [0]byte = [unsafe.Sizeof(slot{}) % prefetch.Line]byte{} // see slot

// PrefetchAddress loads the entry that At reads for an address into the cache. The three Prefetch
// calls for a datagram go before its Receive, each some datagrams after the one before: a call
// reads what the one before it has loaded. They change nothing.
func (s *Server) PrefetchAddress(a netip.AddrPort) {
	t := &s.slotAt
	i := t.home(addressKey(a)) & (len(t.entries) - 1)
	prefetch.Bytes(unsafe.Pointer(&t.entries[i]), unsafe.Sizeof(entry{}))
}

// PrefetchSession loads what Receive reads of a session into the cache.
func (s *Server) PrefetchSession(client int) {
	prefetch.Bytes(unsafe.Pointer(&s.slots[client]), unsafe.Offsetof(slot{}.seal))
}

// PrefetchOpenKey loads the key of a session's datagrams into the cache.
func (s *Server) PrefetchOpenKey(client int) {
	data := (*[2]unsafe.Pointer)(unsafe.Pointer(&s.slots[client].open))[1] // of the interface
	prefetch.Bytes(data, keyBytes)
}

// PrefetchSealSession loads what Seal reads of a session into the cache.
func (s *Server) PrefetchSealSession(client int) {
	const from = unsafe.Offsetof(slot{}.seal)
	prefetch.Field(unsafe.Pointer(&s.slots[client]), from, unsafe.Offsetof(slot{}.authFailures)-from)
}

// PrefetchSealKey loads the key of the datagrams to a session into the cache. It reads what
// PrefetchSealSession has loaded.
func (s *Server) PrefetchSealKey(client int) {
	data := (*[2]unsafe.Pointer)(unsafe.Pointer(&s.slots[client].seal))[1] // of the interface
	prefetch.Bytes(data, keyBytes)
}

// keyBytes is the size of a key.
const keyBytes = unsafe.Sizeof(Key{})
