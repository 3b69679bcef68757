package netio

import (
	"errors"
	"fmt"
)

// ErrNoClient: a pool has no client with that number.
var ErrNoClient = errors.New("netio: no such client")

// ClientPoolStats counts the datagrams of a ClientPool since it was opened, over all clients.
type ClientPoolStats struct {
	DatagramsIn  uint64 // delivered to Poll's function
	BytesIn      uint64
	Oversize     uint64 // dropped: longer than MaxDatagram
	DatagramsOut uint64 // taken by the kernel
	BytesOut     uint64
	SendAgain    uint64 // lost: the kernel had no room at that moment
	SendFailed   uint64 // lost: the kernel refused, usually because the remote port is closed
	// Dropped by the kernel, as the buffer of an open socket was full; 0 if unknown. Datagrams that a
	// server of this machine sent as one GSO buffer count once.
	KernelDrops uint64
	Clients     int // open now
}

// ClientBatch is up to BatchSize datagrams of clients of one pool, which leave in few system calls.
// The zero value is ready. One goroutine owns it. It must not be copied: its headers lead into its
// own memory, and a copy would share the datagrams.
type ClientBatch struct {
	_       noCopy
	bytes   []byte // of all datagrams, one after another
	list    []clientDatagram
	headers clientHeaders
}

// noCopy is a field of types that must not be copied: vet takes it for a lock.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// clientDatagram is a datagram of a batch.
type clientDatagram struct{ client, end int }

// Add copies data, at most MaxDatagram bytes, as a datagram of client i.
func (b *ClientBatch) Add(i int, data []byte) {
	if len(data) > MaxDatagram || b.Full() {
		panic(fmt.Sprintf("netio: client %d sends %d bytes as datagram %d, want at most %d bytes and a batch that is not Full", i, len(data), len(b.list), MaxDatagram))
	}
	b.bytes = append(b.bytes, data...)
	b.list = append(b.list, clientDatagram{i, len(b.bytes)})
}

// Full reports whether there is no room for another datagram.
func (b *ClientBatch) Full() bool { return len(b.list) == BatchSize }

// at returns datagram k and its client.
func (b *ClientBatch) at(k int) (client int, data []byte) {
	start := 0
	if k > 0 {
		start = b.list[k-1].end
	}
	return b.list[k].client, b.bytes[start:b.list[k].end]
}

func (b *ClientBatch) reset() { b.bytes, b.list = b.bytes[:0], b.list[:0] }

// sendEach sends each datagram of a batch by Send and returns the first error with its client.
func (f *ClientPool) sendEach(b *ClientBatch) (client int, err error) {
	for k := range b.list {
		i, data := b.at(k)
		if bad := f.Send(i, data); bad != nil && err == nil {
			client, err = i, bad
		}
	}
	return client, err
}
