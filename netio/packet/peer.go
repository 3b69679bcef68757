package packet

import (
	"time"
	"unsafe"

	"github.com/tickrate/tickrate/internal/prefetch"
)

// AckStalled: when stallPackets packets, or packets sent over stallTime, are beyond the peer's
// newest ack, only probes are sent.
const (
	stallPackets = 128
	stallTime    = 2 * time.Second
	probeEvery   = 300 * time.Millisecond
)

// Config configures a Peer.
type Config struct {
	MaxTransfer int // bytes of the longest transfer accepted, up to MaxTransferSize; 0: none
}

// Peer is one end of a session: it numbers packets, learns which ones arrived, measures the path
// and carries messages and transfers. It is 11 KB in one piece. After NewPeer it allocates with
// what it holds at a time, and keeps that: up to 32 KB for reliable messages each way, 4 KB for
// lost packets, 2 KB with the first transfer sent, and up to Config.MaxTransfer while one is
// received.
//
// The fields that every packet needs come first, here and in the parts of a peer, so that a
// server that visits thousands of peers touches few cache lines of each.
type Peer struct {
	in       receiveWindow
	received time.Duration // when the last packet was accepted
	lastSent time.Duration // when the last packet was written
	echoAt   time.Duration // when the newest sequence arrived
	echo     uint16        // Header.SentAt of that packet
	closed   Reason        // reason of the other end's close; 0: open

	unreliable unreliableQueues
	reliableIn reliableReceiver
	transferIn transferReceiver

	_           [48]byte
	rtt         rttEstimator
	delayCounts delayCounts
	out         sendWindow
	delays      delayRing
}

// Alignments of what a packet touches one of: a bucket of round trips, a sent packet.
var (
	_ [0]byte = [unsafe.Offsetof(Peer{}.rtt) % 64]byte{}
	_ [0]byte = [(unsafe.Offsetof(Peer{}.out) + unsafe.Offsetof(sendWindow{}.packets)) % 32]byte{}
)

// NewPeer returns a peer whose session begins now.
func NewPeer(now time.Duration, c Config) *Peer {
	p := new(Peer)
	p.Reset(now, c)
	return p
}

// Reserve makes the memory of the first reliable messages each way.
func (p *Peer) Reserve() {
	p.out.reliable.reserve()
	p.reliableIn.waiting.reserve()
}

// Reset begins another session in the same memory and invalidates what earlier calls returned.
func (p *Peer) Reset(now time.Duration, c Config) {
	lost, sent, received := p.out.lost[:0], p.out.reliable.empty(), p.reliableIn.waiting.empty()
	unreliable := unreliableQueues{in: p.unreliable.in, out: p.unreliable.out}
	*p = Peer{} // one literal with the fields below would be built on the stack and copied
	p.out.lost, p.out.reliable, p.reliableIn.waiting, p.unreliable = lost, sent, received, unreliable
	p.received, p.lastSent = now, now
	p.out.oldest = 1
	p.transferIn.limit = min(c.MaxTransfer, MaxTransferSize)
}

// Append begins a packet: it writes its header at the end of dst and returns the packet's
// sequence. The caller adds up to MaxSectionBytes of sections, seals the packet and sends it. A
// packet that is not sent counts as lost.
func (p *Peer) Append(now time.Duration, dst []byte) (packet []byte, seq uint16) {
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

// Prefetch loads the fields that every packet reads into the cache.
func (p *Peer) Prefetch() {
	prefetch.Bytes(unsafe.Pointer(p), unsafe.Offsetof(p.transferIn)+8)
	hot := unsafe.Offsetof(p.rtt) + unsafe.Offsetof(p.rtt.rtt)
	prefetch.Field(unsafe.Pointer(p), hot, unsafe.Offsetof(p.out)+unsafe.Offsetof(p.out.delivered)+8-hot)
}

// PrefetchRTT loads what RTT and SinceReceive read into the cache.
func (p *Peer) PrefetchRTT() {
	prefetch.Field(unsafe.Pointer(p), unsafe.Offsetof(p.received), 1)
	prefetch.Field(unsafe.Pointer(p), unsafe.Offsetof(p.rtt)+unsafe.Offsetof(p.rtt.rtt),
		unsafe.Sizeof(p.rtt.rtt))
}

// PrefetchRecent loads what the next packet received reads of the newest packets into the cache.
// It reads fields that Prefetch loads.
func (p *Peer) PrefetchRecent() {
	prefetch.Bytes(unsafe.Pointer(&p.rtt.buckets[uint64(p.rtt.epoch)%rttBuckets]),
		unsafe.Sizeof(rttBucket{}))
	prefetch.Bytes(unsafe.Pointer(&p.delays[p.delayCounts[oneWay]%delayHistorySize]), 4)
	prefetch.Bytes(unsafe.Pointer(&p.out.packets[p.out.acked%sendWindowSize]), unsafe.Sizeof(sentPacket{}))
}

// PrefetchNext loads the place of the next packet sent into the cache, and of the oldest ones that
// wait for an ack.
func (p *Peer) PrefetchNext() {
	at := func(seq uint64) unsafe.Pointer { return unsafe.Pointer(&p.out.packets[seq%sendWindowSize]) }
	prefetch.Bytes(at(p.out.newest+1), 1)
	prefetch.Bytes(at(p.out.acked+1), ackedPackets*unsafe.Sizeof(sentPacket{}))
}

// PrefetchAcked loads what the next packet received reads besides, if IsAckNew.
func (p *Peer) PrefetchAcked() {
	next := &p.out.packets[(p.out.acked+1)%sendWindowSize]
	prefetch.Bytes(unsafe.Pointer(next), ackedPackets*unsafe.Sizeof(sentPacket{}))
}

// IsAckNew reports whether a packet, as Receive takes it, acknowledges another newest packet than
// the one before it. It checks nothing.
func (p *Peer) IsAckNew(packet []byte) bool {
	return len(packet) >= HeaderSize && le.Uint16(packet[2:]) != uint16(p.out.acked)
}

// ackedPackets is how many packets a snapshot has at most, as a rule.
const ackedPackets = 3

// SetAckTag gives the packet seq, which Append has just begun, a tag. The tag comes back once,
// from Delivered or from Lost, as long as packets arrive. SetAckTag reports false when there is
// no room, because the caller ignored CanSend for hundreds of packets; the caller then treats the
// packet as lost.
func (p *Peer) SetAckTag(seq uint16, ackTag uint64) bool { return p.out.setAckTag(seq, ackTag) }

// Receive takes a packet of this session and returns its sections, which lie in it. Packets may
// come late and with gaps, but none is taken twice. The error is a Drop and means that nothing
// changed.
func (p *Peer) Receive(now time.Duration, packet []byte) (sections []byte, err error) {
	p.out.clearResults()
	h, sections, err := ParseHeader(packet)
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
	p.addDelay(oneWay, stamp(now)-h.SentAt)
	p.transferIn.expire(now)
	p.measure(now, ack, h.Echo)
	p.out.applyAck(ack, h.AckBits)
	return sections, nil
}

// measure takes an RTT sample from an echo. A peer may lie about how long it held the echo, but
// not by more than the time since the echoed packet was sent.
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
	p.addDelay(roundTrip, stamp(sample))
}

// Delivered returns the ack tags of the packets that the last Receive proved to have arrived. The
// slice is valid until the next Receive.
func (p *Peer) Delivered() []uint64 { return p.out.delivered[:p.out.nDelivered] }

// Lost returns the ack tags of the packets that count as lost since the last Receive. A packet
// that was only late may be among them; it is never Delivered afterwards. The slice is valid
// until the next Receive.
func (p *Peer) Lost() []uint64 { return p.out.lost[:p.out.nLostShown] }

// RTT returns the round-trip time of the path.
func (p *Peer) RTT() RTT { return p.rtt.rtt }

// Jitter returns the one-way delay variation of the newest 256 packets received, by the times at
// which the other end sent them. It sorts, so it is for reports, not for every packet.
func (p *Peer) Jitter() Jitter { return p.jitter(oneWay) }

// RTTJitter returns the delay variation of the newest 256 round trips, by the echoes of our own
// send times.
func (p *Peer) RTTJitter() Jitter { return p.jitter(roundTrip) }

// InFlight returns the number of packets beyond the peer's newest ack.
func (p *Peer) InFlight() int { return int(p.out.newest - p.out.acked) }

// Newest returns the highest sequence received, 0 before the first: the least number of packets
// that the other end sent.
func (p *Peer) Newest() uint64 { return p.in.newest }

// AckStalled reports whether the peer has stopped acking: 128 packets, or packets sent over 2 s,
// are unanswered.
func (p *Peer) AckStalled(now time.Duration) bool {
	n := p.out.newest - p.out.acked
	return n >= stallPackets || n > 0 && now-p.out.packets[(p.out.acked+1)%sendWindowSize].at > stallTime
}

// CanSend reports whether a packet should be sent now: always, unless acks have stalled; then one
// probe every 0.3 s, which should have few sections. The first packet received ends the stall.
func (p *Peer) CanSend(now time.Duration) bool {
	return !p.AckStalled(now) || now-p.lastSent >= probeEvery
}

// SinceReceive returns how long no packet was accepted.
func (p *Peer) SinceReceive(now time.Duration) time.Duration { return now - p.received }

// stamp returns an instant in 1/8 ms, modulo 8.192 s.
func stamp(now time.Duration) uint16 { return uint16(now / Stamp) }
