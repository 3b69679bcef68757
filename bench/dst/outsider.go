package dst

import (
	"net/netip"

	"github.com/tickrate/tickrate/netio/netcode"
)

// captures is what somebody on the way has heard: the last datagrams to the server and from it.
type captures struct {
	up, down [64]capture
	nUp, nDn int
	requests [8]capture // that were answered
	asked    capture
	nReq     int
	raced    int // of nReq
	forged   [1078]byte
}

type capture struct {
	at   netip.AddrPort // the client's
	data []byte
}

func (c *capture) set(at netip.AddrPort, data []byte) {
	if c.data == nil {
		c.data = make([]byte, 0, 1300) // so that it never grows: see quiet
	}
	c.at, c.data = at, append(c.data[:0], data...)
}

// in keeps one in seven of what reaches the server in a session, and the newest request. What strangers send is not of interest. What the
// server did not take the first time would be no replay: to bring that to where it is taken is what networks do, too.
func (c *captures) in(w *world, from netip.AddrPort, data []byte) {
	if len(data) == 0 || from.Addr().As4()[0] != 10 {
		return
	}
	if netcode.KindOf(data) == netcode.KindRequest && len(data) == 1078 {
		c.asked.set(from, data)
		return
	}
	if w.wire.received%7 != 0 {
		return
	}
	if _, connected := w.Lobby.Gate().At(from); connected {
		c.up[c.nUp%len(c.up)].set(from, data)
		c.nUp++
	}
}

func (c *captures) out(w *world, to netip.AddrPort, data []byte) {
	if netcode.KindOf(data) == netcode.KindChallenge && to == c.asked.at {
		c.requests[c.nReq%len(c.requests)].set(to, c.asked.data)
		c.nReq++
	}
	if w.wire.sent%7 == 0 {
		c.down[c.nDn%len(c.down)].set(to, data)
		c.nDn++
	}
}

// serverKilled forgets the requests whose tokens had no session when the server was killed: nobody has used those, and who is the first to do so
// at the next server may be anybody.
func (c *captures) serverKilled(had func(netcode.Tag) bool) {
	kept := 0
	for i := range min(c.nReq, len(c.requests)) {
		r := &c.requests[i]
		if had(netcode.Tag(r.data[len(r.data)-len(netcode.Tag{}):])) {
			c.requests[kept], c.requests[i] = c.requests[i], c.requests[kept]
			kept++
		}
	}
	c.nReq, c.raced = kept, kept
}

// runOutsider plays a tick of an attacker without a session. It has addresses of its own, and it forges those of others.
func (w *world) runOutsider(f *fault) {
	d := f.rng
	own := netip.AddrPortFrom(netip.AddrFrom4([4]byte{203, 0, byte(d.Uint32()), byte(d.Uint32())}), uint16(1+d.IntN(65535)))
	switch f.Kind {
	case Spoof:
		w.spoof(f, own)
	case Replay:
		w.replay(f, own)
	case RequestFlood:
		if w.noTick {
			return // what comes while the server stands still does not fit into its socket's queue
		}
		for range 40 {
			from := netip.AddrPortFrom(netip.AddrFrom4([4]byte{203, byte(d.Uint32()), byte(d.Uint32()), byte(d.Uint32())}), uint16(1+d.IntN(65535)))
			w.Inject(from, w.forge(f))
		}
	}
}

// forge makes a request whose token nobody has sealed, but for which all else is right. It is valid until the next.
func (w *world) forge(f *fault) []byte {
	c := &w.captured
	req := c.forged[:]
	if clear(req); c.nReq > 0 {
		copy(req, c.requests[f.rng.IntN(min(c.nReq, len(c.requests)))].data)
		req[54+f.rng.IntN(1024)] ^= 1 << f.rng.IntN(8)
	}
	return req
}

func (w *world) spoof(f *fault, own netip.AddrPort) {
	d := f.rng
	switch d.IntN(4) {
	case 0: // garbage of any size
		b := make([]byte, d.IntN(1301))
		for i := range b {
			b[i] = byte(d.Uint32())
		}
		w.Inject(own, b)
	case 1:
		w.Inject(own, w.forge(f))
	default: // what seems to be of a client's session, far ahead
		from := w.Address(d.IntN(len(w.Clients)))
		b := make([]byte, 30+d.IntN(200))
		for i := range b {
			b[i] = byte(d.Uint32())
		}
		kinds := [...]netcode.Kind{netcode.KindKeepAlive, netcode.KindPayload, netcode.KindDisconnect, netcode.KindPath, netcode.KindResponse}
		n := 1 + d.IntN(8)
		b[0] = byte(n)<<4 | byte(kinds[d.IntN(len(kinds))])
		w.Inject(from, b)
	}
}

func (w *world) replay(f *fault, own netip.AddrPort) {
	c, d := &w.captured, f.rng
	if c.nUp == 0 || c.nDn == 0 || c.nReq == 0 {
		return
	}
	up, down := &c.up[d.IntN(min(c.nUp, len(c.up)))], &c.down[d.IntN(min(c.nDn, len(c.down)))]
	req := &c.requests[d.IntN(min(c.nReq, len(c.requests)))]
	if c.raced != c.nReq { // a client is at the door: perhaps it opens to who says the same
		c.raced = c.nReq
		w.Inject(own, c.requests[(c.nReq-1)%len(c.requests)].data)
	}
	switch d.IntN(6) {
	case 0, 1:
		w.Inject(up.at, up.data)
	case 2:
		w.Inject(own, up.data)
	case 3: // the server's own, back to it
		w.Inject(down.at, down.data)
	case 4:
		w.Inject(own, req.data)
	case 5: // one client's from another's address
		w.Inject(w.Address(d.IntN(len(w.Clients))), up.data)
	}
}
