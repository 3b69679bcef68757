package client

import (
	"unsafe"

	"github.com/tickrate/tickrate/internal/prefetch"
)

// Bytes of the parts that every turn and every datagram read.
const (
	hotConn    = unsafe.Offsetof(Client{}.draft)
	hotUplink  = unsafe.Offsetof(Client{}.uplink.receipts)
	hotClock   = unsafe.Offsetof(Client{}.clock.Predicted) + 192
	hotReplica = unsafe.Offsetof(Client{}.predict) + 256 - unsafe.Offsetof(Client{}.replica)
)

// PrefetchConn asks for the memory of the session, which Prefetch reads. A driver of thousands of
// clients calls both a few microseconds ahead of a turn or a datagram, this one first.
func (c *Client) PrefetchConn() { prefetch.Bytes(unsafe.Pointer(c), hotConn) }

// Prefetch asks for the memory that the next turn or datagram reads.
func (c *Client) Prefetch() {
	c.dial.Prefetch()
	if c.peer != nil {
		c.peer.Prefetch()
	}
	p := unsafe.Pointer(c)
	prefetch.Field(p, unsafe.Offsetof(c.cfg)+unsafe.Offsetof(c.cfg.Decode), 1)
	prefetch.Field(p, unsafe.Offsetof(c.uplink), hotUplink)
	prefetch.Field(p, unsafe.Offsetof(c.clock), hotClock)
	prefetch.Field(p, unsafe.Offsetof(c.replica), hotReplica)
}
