package dst

import (
	"encoding/binary"
	"net/netip"
	"time"

	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/wire"
	"github.com/tickrate/tickrate/server"
)

// post is what went over the wire: whom the server has heard and answered, and under which numbers.
type post struct {
	proven  map[netip.AddrPort]bool    // addresses that had a session
	traffic map[netip.AddrPort]*[2]int // bytes in and out of the others
	tags    map[netip.AddrPort]netcode.Tag
	windows map[netcode.Tag]*netcode.Window // of what the server sealed for a session
	global  map[uint64]bool                 // sequences of handshakes, of all starts
	lair    map[netip.AddrPort]*crook
	seats   []seat             // of the sessions that there are, by slot
	roads   [64]netip.AddrPort // some that are proven, by port: where nearly all comes from
	heard   uint64             // datagrams, of this start
	said    uint64
	last    [metrics.NumCounts]uint64
	buckets map[netip.AddrPort]*bucket
	scratch [256]byte
}

// seat is what is known of a session, so that it need not be looked up for each datagram.
type seat struct {
	at     netip.AddrPort
	token  netcode.Tag
	window *netcode.Window
	bucket *bucket
}

// bucket is how many bytes more than its rate a client was sent.
type bucket struct {
	bytes float64
	at    time.Duration
}

func (p *post) init() {
	p.proven, p.traffic, p.tags = map[netip.AddrPort]bool{}, map[netip.AddrPort]*[2]int{}, map[netip.AddrPort]netcode.Tag{}
	p.windows, p.global, p.lair = map[netcode.Tag]*netcode.Window{}, map[uint64]bool{}, map[netip.AddrPort]*crook{}
	p.buckets = map[netip.AddrPort]*bucket{}
}

// begin forgets what a server that was killed knew. Nobody is proven any more to the next.
func (p *post) begin() {
	p.heard, p.said, p.last = 0, 0, [metrics.NumCounts]uint64{}
	clear(p.proven)
	clear(p.traffic)
	clear(p.seats)
	p.roads = [64]netip.AddrPort{}
}

// amplification is what netcode allows.
const amplification = 0.31

// heard takes a datagram that reaches the server.
func (w *world) heard(from netip.AddrPort, data []byte) {
	p := &w.post
	p.heard++
	w.captured.in(w, from, data)
	road := &p.roads[from.Port()%64]
	if *road == from || w.how.bare {
		return
	}
	if p.proven[from] {
		*road = from
		return
	}
	p.pair(from)[0] += len(data)
}

func (p *post) pair(at netip.AddrPort) *[2]int {
	t := p.traffic[at]
	if t == nil {
		t = new([2]int)
		p.traffic[at] = t
	}
	return t
}

// seat is that of the session in a slot, which is at an address now.
func (p *post) seat(slot int, at netip.AddrPort, token netcode.Tag) *seat {
	for len(p.seats) <= slot {
		p.seats = append(p.seats, seat{})
	}
	s := &p.seats[slot]
	if s.at == at && s.token == token {
		return s
	}
	p.proven[at], p.tags[at] = true, token
	*s = seat{at: at, token: token, window: p.window(token), bucket: p.buckets[at]}
	if s.bucket == nil {
		s.bucket = new(bucket)
		p.buckets[at] = s.bucket
	}
	return s
}

// window is what was sealed for a token.
func (p *post) window(t netcode.Tag) *netcode.Window {
	win := p.windows[t]
	if win == nil {
		win = new(netcode.Window)
		p.windows[t] = win
	}
	return win
}

// said takes a datagram that the server sends.
func (w *world) said(to netip.AddrPort, data []byte) {
	p := &w.post
	p.said++
	host := to.Addr().As4()[0]
	var s *seat // nil: there is no session
	if slot, connected := w.Lobby.Gate().At(to); connected {
		session, _ := w.Lobby.Gate().Session(slot)
		s = p.seat(slot, to, session.Token)
	} else if !p.proven[to] && !w.how.bare {
		t := p.pair(to)
		if t[1] += len(data); float64(t[1]) > amplification*float64(t[0]) {
			w.fail(Amplification, "%v sent %d bytes and has proved nothing, but was sent %d", to, t[0], t[1])
		}
		if host == 203 {
			w.fail(Amplification, "a stranger at %v, who never had a token of its own, was sent %d bytes", to, len(data))
		}
	}
	w.captured.out(w, to, data)
	if !w.how.bare {
		w.sealed(to, s, data)
		if w.plan.Kbps > 0 && s != nil && host == 10 && netcode.KindOf(data) != netcode.KindChallenge {
			w.rated(to, s.bucket, len(data))
		}
	}
	if host != 172 {
		return
	}
	if k := p.lair[to]; k != nil {
		k.get(data)
	}
}

// sealed looks at the sequence of a datagram: no other has it under the same key. s is the session's that it is of, nil if there is none.
func (w *world) sealed(to netip.AddrPort, s *seat, data []byte) {
	p := &w.post
	kind, n := netcode.Kind(data[0]&15), int(data[0]>>4)
	if n < 1 || n > 8 || len(data) < 9 {
		w.fail(Nonces, "a datagram with a sequence of %d bytes", n)
		return
	}
	seq := binary.LittleEndian.Uint64(data[1:]) & (^uint64(0) >> (64 - 8*n))
	switch kind {
	case netcode.KindChallenge, netcode.KindDenied:
		if seq < 1<<63 || p.global[seq] {
			w.fail(Nonces, "a %v with sequence %d, which belongs to a session, or was there before", kind, seq)
		}
		p.global[seq] = true
		return
	}
	var win *netcode.Window
	if s != nil {
		win = s.window
	} else if tag, ok := p.tags[to]; ok {
		win = p.window(tag)
	} else {
		return // a challenge to a path that is not proven yet
	}
	if why := win.Check(seq); why != netcode.DropNone {
		w.fail(Nonces, "sequence %d was sealed twice under the keys of one token, now in a %v to %v", seq, kind, to)
	}
	win.Record(seq)
}

// rated counts the bytes that a client's line must carry. The longest that is sent at once may go
// beyond, and what a session begins and ends with.
func (w *world) rated(to netip.AddrPort, b *bucket, n int) {
	rate, now := float64(w.plan.Kbps)*125, w.Now()
	b.bytes = max(0, b.bytes-rate*(now-b.at).Seconds()) + float64(n)
	b.at = now
	if most := rate/10 + 3000; b.bytes > most {
		w.fail(Bounds, "%v was sent %.0f bytes more than a line of %d kbit/s carries: expected at most %.0f", to, b.bytes, w.plan.Kbps, most)
	}
}

// check compares the accounts after a tick.
func (p *post) check(w *world) {
	s, gate := &w.Lobby.Stats, w.Lobby.Gate()
	count := func(c metrics.Count) uint64 { return s.Count[c].Load() }
	sum := count(metrics.Accepted)
	for i := range s.AuthDrops {
		sum += s.AuthDrops[i].Load()
	}
	for i := range s.PacketDrops {
		sum += s.PacketDrops[i].Load()
	}
	if rx := count(metrics.Received); rx != sum || rx != p.heard {
		w.fail(Accounts, "%d datagrams reached the server, which counted %d and accounts for %d", p.heard, rx, sum)
	}
	if n := gate.Counters().Received; n != p.heard {
		w.fail(Accounts, "%d datagrams reached the server, and its gate counted %d", p.heard, n)
	}
	tx := uint64(0)
	for _, n := range gate.Counters().Sent {
		tx += n
	}
	if out := count(metrics.Sent); out != p.said || out != tx {
		w.fail(Accounts, "%d datagrams left the server, which counted %d, and the gate %d", p.said, out, tx)
	}
	for i := range p.last {
		n := s.Count[i].Load()
		if n < p.last[i] {
			w.fail(Accounts, "%v went from %d to %d", metrics.Count(i), p.last[i], n)
		}
		p.last[i] = n
	}
	for _, never := range []metrics.Count{metrics.UnbalancedTicks, metrics.AmplificationBlocked, metrics.SealFailed} {
		if n := count(never); n != 0 {
			w.fail(Accounts, "%v is %d", never, n)
		}
	}
	if n := s.PacketDrops[wire.DropDuplicate].Load(); n != 0 {
		w.fail(Sessions, "%d packages were opened twice", n)
	}
	for _, k := range w.crooks {
		if k.start == w.starts && k.forged > 64 && s.PacketDrops[wire.DropAck].Load() < uint64(k.forged/4) {
			w.fail(Accounts, "of %d packages with acks of what was never sent %d were refused", k.forged, s.PacketDrops[wire.DropAck].Load())
		}
	}
	if gate.Waiting() > 4*w.cfg.Players {
		w.fail(Bounds, "%d handshakes wait", gate.Waiting())
	}
}
