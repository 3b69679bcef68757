package impair

import (
	"net/netip"
	"time"

	"github.com/tickrate/tickrate/netio"
)

// Conn is a netio.Conn whose outgoing datagrams pass through a bad link first. What it receives it receives as it
// comes: give both ends such a Conn for a link that is bad both ways.
type Conn struct {
	netio.Conn
	link  *Link
	now   time.Duration
	peers []netip.AddrPort // a tag is an index into it
	tags  map[netip.AddrPort]uint64
	due   netio.Batch
}

// Wrap puts a link of profile p and the given seed in front of inner, which from then on belongs to the result.
func Wrap(inner netio.Conn, p Profile, seed uint64) *Conn {
	return &Conn{Conn: inner, link: New(p, seed), tags: make(map[netip.AddrPort]uint64)}
}

// Send sends at the instant of the last Advance. Nothing leaves before the next one.
func (c *Conn) Send(b *netio.Batch) error {
	for i := range b.Len() {
		d := b.At(i)
		c.link.Push(c.now, d.Data, c.tag(d.Addr))
	}
	return nil
}

func (c *Conn) tag(peer netip.AddrPort) uint64 {
	tag, ok := c.tags[peer]
	if !ok {
		tag = uint64(len(c.peers))
		c.peers = append(c.peers, peer)
		c.tags[peer] = tag
	}
	return tag
}

// Advance moves the clock to now, which never goes back, and lets out what has come through the link by then.
func (c *Conn) Advance(now time.Duration) error {
	c.now = max(c.now, now)
	c.due.Reset()
	for {
		data, tag, ok := c.link.Pop(c.now)
		if ok {
			c.due.Add(data, c.peers[tag])
		}
		if c.due.Full() || !ok && c.due.Len() > 0 {
			if err := c.Conn.Send(&c.due); err != nil {
				return err
			}
			c.due.Reset()
		}
		if !ok {
			return nil
		}
	}
}

// Link is the link in between, for its counts and its next arrival.
func (c *Conn) Link() *Link { return c.link }
