package client

import (
	"unsafe"

	"github.com/tickrate/tickrate/client/clock"
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
// clients calls it, Prefetch and PrefetchRings in this order, each a few microseconds after the one
// before and before the client's turn.
func (c *Client) PrefetchConn() {
	p := unsafe.Pointer(c)
	prefetch.Bytes(p, hotConn)
	prefetch.Field(p, unsafe.Offsetof(c.replica), 1)
}

// Prefetch asks for the memory that the next turn reads.
func (c *Client) Prefetch() {
	c.dial.Prefetch()
	if c.peer != nil {
		c.peer.Prefetch()
	}
	if c.replica.decoder != nil {
		c.replica.decoder.Prefetch()
	}
	p := unsafe.Pointer(c)
	prefetch.Field(p, unsafe.Offsetof(c.cfg)+unsafe.Offsetof(c.cfg.Decode), 1)
	prefetch.Field(p, unsafe.Offsetof(c.uplink), hotUplink)
	prefetch.Field(p, unsafe.Offsetof(c.clock), hotClock)
	prefetch.Field(p, unsafe.Offsetof(c.replica), hotReplica)
}

// PrefetchRings asks for the places in rings that the next command and the next snapshot take.
func (c *Client) PrefetchRings() {
	next := c.predict.Newest + 1
	c.predict.Prefetch(next)
	c.clock.Predicted.Prefetch(next)
	prefetch.Bytes(unsafe.Pointer(&c.uplink.receipts.ring[next%clock.History]), 1)
	if c.replica.decoder != nil {
		c.replica.decoder.PrefetchParse(c.replica.tick)
	}
	if c.peer != nil {
		c.peer.PrefetchNext()
	}
}
