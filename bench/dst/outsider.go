package dst

import (
	"encoding/binary"
	"net/netip"

	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/protocol"
)

// captures holds the last datagrams seen on the way to and from the server, for attackers that
// replay them.
type captures struct {
	up, down [64]capture       // rings of datagrams to and from the server
	nUp, nDn int               // datagrams captured into each
	requests [8]capture        // ring of connection requests that the server answered with a challenge
	newest   capture           // newest connection request, answered or not
	nReq     int               // requests captured into the ring
	raced    int               // number of requests already raced against their client
	forged   [requestSize]byte // memory of forge
}

// capture is one datagram and the address of the client that sent or received it.
type capture struct {
	at   netip.AddrPort
	data []byte
}

// set copies a datagram into memory that never grows, so that allocCheck sees no allocation.
func (c *capture) set(at netip.AddrPort, data []byte) {
	if c.data == nil {
		c.data = make([]byte, 0, 1300)
	}
	c.at, c.data = at, append(c.data[:0], data...)
}

// in captures one in seven of the datagrams that reach the server in a session, and the newest
// connection request. It captures after the link: a datagram that the link lost would be no
// replay.
func (c *captures) in(r *run, from netip.AddrPort, data []byte) {
	if len(data) == 0 || from.Addr().As4()[0] != 10 {
		return
	}
	if netcode.KindOf(data) == netcode.KindRequest && len(data) == requestSize {
		c.newest.set(from, data)
		return
	}
	if r.wire.received%7 != 0 {
		return
	}
	if r.connected(from) {
		c.up[c.nUp%len(c.up)].set(from, data)
		c.nUp++
	}
}

// out captures one in seven of the server's datagrams, and the request that a challenge answers.
func (c *captures) out(r *run, to netip.AddrPort, data []byte) {
	if netcode.KindOf(data) == netcode.KindChallenge && to == c.newest.at {
		c.requests[c.nReq%len(c.requests)].set(to, c.newest.data)
		c.nReq++
	}
	if r.wire.sent%7 == 0 {
		c.down[c.nDn%len(c.down)].set(to, data)
		c.nDn++
	}
}

// serverKilled drops requests whose token was never used: at the next server the attacker could be
// the first to use it.
func (c *captures) serverKilled(had func(netcode.TokenTag) bool) {
	kept := 0
	for i := range min(c.nReq, len(c.requests)) {
		r := &c.requests[i]
		if had(netcode.TokenTag(r.data[len(r.data)-len(netcode.TokenTag{}):])) {
			c.requests[kept], c.requests[i] = c.requests[i], c.requests[kept]
			kept++
		}
	}
	c.nReq, c.raced = kept, kept
}

// runOutsider plays one tick of an attacker without a session. It sends from its own addresses and
// from forged ones.
func (r *run) runOutsider(f *fault) {
	d := f.rng
	host := netip.AddrFrom4([4]byte{203, 0, byte(d.Uint32()), byte(d.Uint32())})
	own := netip.AddrPortFrom(host, uint16(1+d.IntN(65535)))
	switch f.Kind {
	case Spoof:
		r.spoof(f, own)
	case Replay:
		r.replay(f, own)
	case RequestFlood:
		if r.noTick {
			return // a stalled server's socket queue is full
		}
		r.Inject(own, pingOf(own))
		for range 40 {
			host := netip.AddrFrom4([4]byte{203, byte(d.Uint32()), byte(d.Uint32()), byte(d.Uint32())})
			from := netip.AddrPortFrom(host, uint16(1+d.IntN(65535)))
			r.Inject(from, r.forge(f))
		}
	}
}

// pingOf returns a ping as PROTOCOL.md draws it, with an address as its tag.
func pingOf(from netip.AddrPort) []byte {
	ping := binary.LittleEndian.AppendUint64([]byte{byte(netcode.KindPing)}, protocol.ProtocolID)
	host := from.Addr().As4()
	return append(append(append(ping, host[:]...), 0, 0, byte(from.Port()), byte(from.Port()>>8)), make([]byte, 15)...)
}

// forge returns a connection request that is right but for its token. It is valid until the next
// call.
func (r *run) forge(f *fault) []byte {
	c := &r.captured
	req := c.forged[:]
	if clear(req); c.nReq > 0 {
		copy(req, c.requests[f.rng.IntN(min(c.nReq, len(c.requests)))].data)
		req[54+f.rng.IntN(1024)] ^= 1 << f.rng.IntN(8)
	}
	return req
}

// spoof sends garbage, a forged request, or random bytes in the frame of a client's session.
func (r *run) spoof(f *fault, own netip.AddrPort) {
	d := f.rng
	switch d.IntN(4) {
	case 0:
		b := make([]byte, d.IntN(1301))
		for i := range b {
			b[i] = byte(d.Uint32())
		}
		r.Inject(own, b)
	case 1:
		r.Inject(own, r.forge(f))
	default:
		from := r.ClientAddr(d.IntN(len(r.Clients)))
		b := make([]byte, 30+d.IntN(200))
		for i := range b {
			b[i] = byte(d.Uint32())
		}
		kinds := [...]netcode.Kind{netcode.KindKeepAlive, netcode.KindPayload, netcode.KindDisconnect,
			netcode.KindPath, netcode.KindResponse}
		n := 1 + d.IntN(8)
		b[0] = byte(n)<<4 | byte(kinds[d.IntN(len(kinds))])
		r.Inject(from, b)
	}
}

// replay repeats a captured datagram: from its own address, from the attacker's, or from another
// client's.
func (r *run) replay(f *fault, own netip.AddrPort) {
	c, d := &r.captured, f.rng
	if c.nUp == 0 || c.nDn == 0 || c.nReq == 0 {
		return
	}
	up, down := &c.up[d.IntN(min(c.nUp, len(c.up)))], &c.down[d.IntN(min(c.nDn, len(c.down)))]
	req := &c.requests[d.IntN(min(c.nReq, len(c.requests)))]
	if c.raced != c.nReq { // races the request of a client that is just connecting
		c.raced = c.nReq
		r.Inject(own, c.requests[(c.nReq-1)%len(c.requests)].data)
	}
	switch d.IntN(6) {
	case 0, 1:
		r.Inject(up.at, up.data)
	case 2:
		r.Inject(own, up.data)
	case 3: // the server's own datagram, sent back to it
		r.Inject(down.at, down.data)
	case 4:
		r.Inject(own, req.data)
	case 5:
		r.Inject(r.ClientAddr(d.IntN(len(r.Clients))), up.data)
	}
}
