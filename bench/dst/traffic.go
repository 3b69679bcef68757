package dst

import (
	"net/netip"
	"time"

	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/server/metrics"
)

// traffic keeps what passed between the server and each address, and under which sequences.
type traffic struct {
	validated map[netip.AddrPort]bool                    // addresses that have had a session
	traffic   map[netip.AddrPort]*[2]int                 // bytes from and to the others
	responded map[netip.AddrPort]bool                    // addresses that have answered a challenge
	tags      map[sender]netcode.TokenTag                // token of the last session at an address
	keys      keyring                                    // of all tokens, of all starts
	windows   map[netcode.TokenTag]*netcode.ReplayWindow // sequences sealed for a token
	global    map[uint64]bool                            // sequences of handshakes, of all starts
	attackers map[netip.AddrPort]*attacker
	sessions  []sessionOf        // by slot
	recent    [64]netip.AddrPort // validated addresses by port: a cache
	received  uint64             // datagrams of this start
	sent      uint64
	last      [metrics.NumCounts]uint64      // the server's counters after the last tick
	buckets   map[netip.AddrPort]*rateExcess // of clients
	scratch   [256]byte                      // memory of run.traceHash
}

// sender is a worker that sends to an address. A client that comes back from the same address may have
// a session with another worker while the one before lasts.
type sender struct {
	worker int
	to     netip.AddrPort
}

// sender returns the worker that sends now, to an address.
func (r *run) sender(to netip.AddrPort) sender {
	if r.host == nil {
		return sender{0, to}
	}
	return sender{r.host.serving, to}
}

// sessionOf caches what the checks need of a session for each datagram.
type sessionOf struct {
	at     netip.AddrPort
	token  netcode.TokenTag
	window *netcode.ReplayWindow
	bucket *rateExcess
}

// rateExcess is the number of bytes sent to a client above its rate.
type rateExcess struct {
	bytes float64
	at    time.Duration
}

func (p *traffic) init() {
	p.validated, p.traffic = map[netip.AddrPort]bool{}, map[netip.AddrPort]*[2]int{}
	p.tags, p.windows = map[sender]netcode.TokenTag{}, map[netcode.TokenTag]*netcode.ReplayWindow{}
	p.global, p.attackers = map[uint64]bool{}, map[netip.AddrPort]*attacker{}
	p.buckets, p.responded = map[netip.AddrPort]*rateExcess{}, map[netip.AddrPort]bool{}
}

// reset forgets the sessions of a killed server. Addresses must be validated anew by the next.
func (p *traffic) reset() {
	p.received, p.sent, p.last = 0, 0, [metrics.NumCounts]uint64{}
	clear(p.validated)
	clear(p.responded)
	clear(p.traffic)
	clear(p.sessions)
	p.recent = [64]netip.AddrPort{}
}

// amplification is the largest ratio of bytes sent to bytes received for an unvalidated address,
// as netcode allows.
const amplification = 0.31

// onReceive counts each datagram that reaches the server, before the server opens it.
func (r *run) onReceive(from netip.AddrPort, data []byte) {
	p := &r.wire
	p.received++
	r.captured.in(r, from, data)
	if r.skip.checks {
		return
	}
	switch netcode.KindOf(data) {
	case netcode.KindRequest:
		backend := r.Sim.Netcode().PrivateKey
		p.keys.add(&backend, data)
	case netcode.KindResponse:
		p.responded[from] = true
	}
	cached := &p.recent[from.Port()%64]
	if *cached == from {
		return
	}
	if p.validated[from] {
		*cached = from
		return
	}
	p.unvalidatedBytes(from)[0] += len(data)
}

// netcode returns the netcode server whose datagrams pass.
func (r *run) netcode() *netcode.Server {
	if r.host != nil {
		return r.host.ports[r.host.serving].Netcode()
	}
	return r.Lobby.Netcode()
}

// connected reports whether an address has a session.
func (r *run) connected(at netip.AddrPort) bool {
	if r.host == nil {
		_, ok := r.Lobby.Netcode().At(at)
		return ok
	}
	for _, p := range r.host.ports {
		if _, ok := p.Netcode().At(at); ok {
			return true
		}
	}
	return false
}

// unvalidatedBytes returns the bytes received from and sent to an address that never had a session.
func (p *traffic) unvalidatedBytes(at netip.AddrPort) *[2]int {
	t := p.traffic[at]
	if t == nil {
		t = new([2]int)
		p.traffic[at] = t
	}
	return t
}

// session returns the cached session of a slot, updated for its current address.
func (p *traffic) session(slot int, by sender, token netcode.TokenTag) *sessionOf {
	at := by.to
	for len(p.sessions) <= slot {
		p.sessions = append(p.sessions, sessionOf{})
	}
	s := &p.sessions[slot]
	if s.at == at && s.token == token {
		return s
	}
	p.validated[at], p.tags[by] = true, token
	*s = sessionOf{at: at, token: token, window: p.window(token), bucket: p.buckets[at]}
	if s.bucket == nil {
		s.bucket = new(rateExcess)
		p.buckets[at] = s.bucket
	}
	return s
}

// window returns the sequences sealed for a token.
func (p *traffic) window(t netcode.TokenTag) *netcode.ReplayWindow {
	win := p.windows[t]
	if win == nil {
		win = new(netcode.ReplayWindow)
		p.windows[t] = win
	}
	return win
}

// onSend checks each datagram that the server sends. Hosts 10.x are clients, 172.16.x attackers
// with a session, 203.x attackers without one.
func (r *run) onSend(to netip.AddrPort, data []byte) {
	p := &r.wire
	p.sent++
	host, kind := to.Addr().As4()[0], netcode.KindOf(data)
	if kind == netcode.KindPong {
		if !r.skip.checks && !p.validated[to] {
			r.checkAmplification(to, kind, len(data))
		}
		return
	}
	if !r.skip.checks {
		var s *sessionOf // nil without a session that lasts
		var token netcode.TokenTag
		if kind != netcode.KindChallenge && kind != netcode.KindDenied {
			token, s = r.sealedFor(to, data)
		}
		if !p.validated[to] {
			r.checkAmplification(to, kind, len(data))
		}
		r.checkSequence(to, token, s, data)
		if r.budgeted(to) && s != nil && host == 10 {
			r.checkRate(to, s.bucket, len(data))
		}
	}
	r.captured.out(r, to, data)
	if k := p.attackers[to]; host == 172 && k != nil {
		k.deliver(data)
	}
}

// sealedFor returns the token under whose keys the server sealed a datagram, and the token's session
// at the address; nil if that has ended in this step, or if there is none yet. Most datagrams are of
// the session of the one before; the others are opened.
func (r *run) sealedFor(to netip.AddrPort, data []byte) (token netcode.TokenTag, s *sessionOf) {
	p, nc, by := &r.wire, r.netcode(), r.sender(to)
	slot, connected := nc.At(to)
	session, _ := nc.Session(slot)
	newest, had := p.tags[by]
	if !connected || !had || newest != session.Token {
		var ok bool
		if token, ok = p.keys.tokenOf(data, newest); !ok {
			r.fail(Nonces, "a %v to %v was sealed under no token's keys", netcode.KindOf(data), to)
			return token, nil
		}
	} else {
		token = newest
	}
	switch {
	case connected && session.Token == token:
		if r.host != nil {
			slot += r.host.serving * nc.Clients()
		}
		return token, p.session(slot, by, token)
	case beginsSession(data) && p.responded[to]: // it began and ended in one step
		p.validated[to] = true
	}
	return token, nil
}

// beginsSession reports whether a datagram is the first of a session: a keep-alive with the
// sequence 0.
func beginsSession(data []byte) bool {
	sequence, _, ok := sequenceOf(data)
	return ok && sequence == 0 && netcode.KindOf(data) == netcode.KindKeepAlive
}

// checkAmplification counts n bytes to an address that never had a session. Only a ping needs no
// token.
func (r *run) checkAmplification(to netip.AddrPort, kind netcode.Kind, n int) {
	t := r.wire.unvalidatedBytes(to)
	if t[1] += n; float64(t[1]) > amplification*float64(t[0]) {
		r.fail(Amplification, "unvalidated address %v sent %d bytes and was sent %d, the last a %v",
			to, t[0], t[1], kind)
	}
	if to.Addr().As4()[0] == 203 && kind != netcode.KindPong {
		r.fail(Amplification, "an attacker at %v without a token was sent %d bytes", to, n)
	}
}

// checkSequence checks that no other datagram has this one's sequence under the same key. s is nil
// for a datagram without a session that lasts.
func (r *run) checkSequence(to netip.AddrPort, token netcode.TokenTag, s *sessionOf, data []byte) {
	p, kind := &r.wire, netcode.KindOf(data)
	seq, _, ok := sequenceOf(data)
	if !ok {
		r.fail(Nonces, "a datagram with a sequence of %d bytes", data[0]>>4)
		return
	}
	switch kind {
	case netcode.KindChallenge, netcode.KindDenied:
		if seq < 1<<63 || p.global[seq] {
			r.fail(Nonces, "a %v with sequence %d, which belongs to a session or was used before", kind, seq)
		}
		p.global[seq] = true
		return
	}
	var win *netcode.ReplayWindow
	if s != nil {
		win = s.window
	} else {
		win = p.window(token)
	}
	if why := win.Check(seq); why != netcode.DropNone {
		r.fail(Nonces, "sequence %d was sealed twice under the keys of one token, now in a %v to %v",
			seq, kind, to)
	}
	win.Record(seq)
}

// budgeted reports whether what a client is sent has a byte budget: that of its lobby.
func (r *run) budgeted(to netip.AddrPort) bool {
	if r.host == nil || r.drawn.Kbps == 0 {
		return r.drawn.Kbps > 0
	}
	port := r.host.ports[r.host.serving]
	client, ok := port.Netcode().At(to)
	if !ok {
		return false
	}
	l := r.host.find(port.LobbyOf(client))
	return l != nil && l.drawn.Kbps > 0
}

// joinBurst is what a new session of a host may be sent above its rate.
const joinBurst = 6000

// checkRate counts the bytes sent to a client under a byte budget. One datagram of the largest
// size, and the start and end of a session, may exceed it.
func (r *run) checkRate(to netip.AddrPort, b *rateExcess, n int) {
	rate, now := float64(r.drawn.Kbps)*125, r.Now()
	b.bytes = max(0, b.bytes-rate*(now-b.at).Seconds()) + float64(n)
	b.at = now
	most := rate/10 + 3000
	if r.host != nil { // sessions follow each other fast
		most += joinBurst
	}
	if b.bytes > most {
		r.fail(Bounds, "%v was sent %.0f bytes more than a link of %d kbit/s carries: expected at most %.0f",
			to, b.bytes, r.drawn.Kbps, most)
	}
}

// check compares the server's counters after a tick with what passed here. Each datagram counts
// once, counters never go back, and some must stay zero.
func (p *traffic) check(r *run) {
	s, nc := &r.Lobby.Stats, r.Lobby.Netcode()
	count := func(c metrics.Count) uint64 { return s.Count[c].Load() }
	sum := count(metrics.Accepted)
	for i := range s.AuthDrops {
		sum += s.AuthDrops[i].Load()
	}
	for i := range s.PacketDrops {
		sum += s.PacketDrops[i].Load()
	}
	if rx := count(metrics.Received); rx != sum || rx != p.received {
		r.fail(Accounts, "%d datagrams reached the server, which counted %d and accounts for %d",
			p.received, rx, sum)
	}
	if n := nc.Counters().Received; n != p.received {
		r.fail(Accounts, "%d datagrams reached the server, and netcode counted %d", p.received, n)
	}
	tx := uint64(0)
	for _, n := range nc.Counters().Sent {
		tx += n
	}
	if out := count(metrics.Sent); out != p.sent || out != tx {
		r.fail(Accounts, "%d datagrams left the server, which counted %d, and netcode %d", p.sent, out, tx)
	}
	for i := range p.last {
		n := s.Count[i].Load()
		if n < p.last[i] {
			r.fail(Accounts, "%v went from %d to %d", metrics.Count(i), p.last[i], n)
		}
		p.last[i] = n
	}
	zero := [...]metrics.Count{metrics.UnbalancedTicks, metrics.AmplificationBlocked, metrics.SealFailed}
	for _, never := range zero {
		if n := count(never); n != 0 {
			r.fail(Accounts, "%v is %d", never, n)
		}
	}
	if n := s.PacketDrops[packet.DropDuplicate].Load(); n != 0 {
		r.fail(Sessions, "%d packets were opened twice", n)
	}
	refused := s.PacketDrops[packet.DropAck].Load()
	for _, k := range r.attackers {
		if k.serverStart == r.starts && k.forged > 64 && refused < uint64(k.forged/4) {
			r.fail(Accounts, "of %d packets with acks of sequences never sent, %d were refused",
				k.forged, refused)
		}
	}
	if nc.PendingHandshakes() > 4*r.cfg.Players {
		r.fail(Bounds, "%d handshakes wait", nc.PendingHandshakes())
	}
}
