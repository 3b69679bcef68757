package packet

import (
	"time"
)

// Choke: when so many packages, or packages of so long, are beyond the peer's newest ack, only probes are sent.
const (
	stallPackets = 128
	stallTime    = 2 * time.Second
	probeEvery   = 300 * time.Millisecond
)

// Config of a Peer.
type Config struct {
	MaxTransfer int // largest blob taken from the other end, in bytes up to MaxTransferSize; 0: none is
}

// Peer is one end of a session: it numbers packages, learns which arrived, measures the path and carries events, reliable
// and not, and now and then a blob. It is about 52 KB, all inside, and allocates nothing after NewPeer but for blobs:
// 2 KB with the first one sent, and as much as Config.MaxTransfer while one is received.
//
// What each package needs lies together and at the front, as that of the parts of a peer does: of thousands that are looked at in turn, each
// line of memory is far away, and each page.
type Peer struct {
	in       receiveWindow
	received time.Duration // when the last package was accepted
	lastSent time.Duration // when the last package was written
	echoAt   time.Duration // when the newest sequence came
	echo     uint16        // and its SentAt
	closed   Reason        // why the session is over; 0: it is not

	rtt        rttEstimator
	transferIn transferReceiver
	rttSpread  delayHistory // of round trips
	oneWay     delayHistory // of the way here: differences of two clocks, so only their spread means anything
	out        sendWindow
	reliableIn reliableReceiver
	unreliable unreliableQueues
}

// NewPeer returns a peer whose session begins now.
func NewPeer(now time.Duration, c Config) *Peer {
	p := new(Peer)
	p.Reset(now, c)
	return p
}

// Reset begins another session in the same memory. What earlier calls returned is no longer valid.
func (p *Peer) Reset(now time.Duration, c Config) {
	*p = Peer{} // apart from the fields below, or it would be built on the stack and copied
	p.received, p.lastSent = now, now
	p.out.oldest = 1
	p.transferIn.limit = min(c.MaxTransfer, MaxTransferSize)
}

// Append begins a package: it writes its header at the end of dst and returns the package's sequence. The caller adds
// sections, up to MaxSectionBytes bytes of them, and sends it, sealed; if it cannot, the package is lost like any other.
func (p *Peer) Append(now time.Duration, dst []byte) (pack []byte, seq uint16) {
	p.lastSent = now
	h := Header{
		Sequence: uint16(p.out.next(now)),
		Ack:      uint16(p.in.newest),
		AckBits:  p.in.bits,
		SentAt:   stamp(now),
	}
	if p.in.newest != 0 {
		h.Echo = p.echo + stamp(now) - stamp(p.echoAt)
	}
	return h.Append(dst), h.Sequence
}

// SetAckTag remembers a cookie for the package seq, which Append has just given. It comes back once, from Delivered or from
// Lost, while the peer is heard at all. False when the cookie was not taken: the caller ignored Ready for hundreds
// of packages, and should count this one as lost.
func (p *Peer) SetAckTag(seq uint16, cookie uint64) bool { return p.out.setAckTag(seq, cookie) }

// Receive takes a package of this session and returns its sections, which lie in it. An error is a Drop and means
// that nothing changed.
//
// Packages may come out of order and with gaps, but none comes twice.
func (p *Peer) Receive(now time.Duration, pack []byte) (sections []byte, err error) {
	p.out.clearResults()
	h, sections, err := ParseHeader(pack)
	if err != nil {
		return nil, err
	}
	if p.closed != 0 {
		return nil, DropClosed
	}
	seq, err := p.in.expand(h.Sequence)
	if err != nil {
		return nil, err
	}
	ack, ok := p.out.expand(h.Ack, h.AckBits)
	if !ok {
		return nil, DropAck
	}
	if seq > p.in.newest {
		p.echo, p.echoAt = h.SentAt, now
	}
	p.in.mark(seq)
	p.received = now
	p.oneWay.add(stamp(now) - h.SentAt)
	p.transferIn.expire(now)
	p.measure(now, ack, h.Echo)
	p.out.applyAck(ack, h.AckBits)
	return sections, nil
}

// measure takes an RTT sample from an echo. The peer may lie about how long it held it, but not by more than the time since
// we sent the package that it echoes.
func (p *Peer) measure(now time.Duration, ack uint64, echo uint16) {
	if ack == 0 || p.out.newest-ack >= sendWindowSize {
		return
	}
	d := stamp(now) - echo
	if d > 0xFF00 { // up to 32 ms below zero: rounding, and clocks that differ in speed
		d = 0
	}
	sample := time.Duration(d) * Stamp
	sample = min(sample, now-p.out.packets[ack%sendWindowSize].at)
	p.rtt.add(now, sample)
	p.rttSpread.add(stamp(sample))
}

// Delivered returns the cookies of packages that the last Receive proved to have arrived. It is the peer's memory, valid
// until the next Receive.
func (p *Peer) Delivered() []uint64 { return p.out.delivered[:p.out.nDelivered] }

// Lost returns the cookies of packages that are taken as lost since the last Receive: one that was merely late may be
// among them, but then it is never Delivered. It is the peer's memory, valid until the next Receive.
func (p *Peer) Lost() []uint64 { return p.out.lost[:p.out.nLostShown] }

// RTT returns the state of the path.
func (p *Peer) RTT() RTT { return p.rtt.rtt }

// Jitter returns by how much the newest 256 packages received were slower than the fastest of them: one way, to here,
// by the times at which the other end says it sent them. It sorts, so it is for reports, not for every package.
func (p *Peer) Jitter() Jitter { return p.oneWay.jitter() }

// RTTJitter is Jitter of the newest 256 round trips, from the echoes of our own send times.
func (p *Peer) RTTJitter() Jitter { return p.rttSpread.jitter() }

// InFlight returns how many packages are beyond the peer's newest ack.
func (p *Peer) InFlight() int { return int(p.out.newest - p.out.acked) }

// Newest is the highest sequence received, 0 before the first: so many packages the other end has sent, at least.
func (p *Peer) Newest() uint64 { return p.in.newest }

// AckStalled reports whether the peer has stopped to ack: 128 packages, or packages of 2 s, are unanswered.
func (p *Peer) AckStalled(now time.Duration) bool {
	n := p.out.newest - p.out.acked
	return n >= stallPackets || n > 0 && now-p.out.packets[(p.out.acked+1)%sendWindowSize].at > stallTime
}

// CanSend reports whether a package should be sent now: always, unless choked; then one each 0.3 s as a probe, whose
// sections are as good as any other's but had better be few. The first package heard ends the choke.
func (p *Peer) CanSend(now time.Duration) bool {
	return !p.AckStalled(now) || now-p.lastSent >= probeEvery
}

// SinceReceive returns for how long nothing was heard.
func (p *Peer) SinceReceive(now time.Duration) time.Duration { return now - p.received }

// stamp is an instant in 1/8 ms, modulo 8.192 s.
func stamp(now time.Duration) uint16 { return uint16(now / Stamp) }
