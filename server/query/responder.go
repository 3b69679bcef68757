package query

import (
	"net/netip"
	"time"

	"github.com/tickrate/tickrate/internal/ratelimit"
)

// Drop is the reason why a datagram was not answered.
type Drop uint8

// The reasons.
const (
	DropNone    Drop = iota // it was answered
	DropSize                // neither the size of a challenge nor of a query
	DropType                // unknown type
	DropToken               // the token is of another address, or expired
	DropChunks              // asks for no known chunk
	DropNetwork             // rate limit of its network
	DropBudget              // rate limit of all networks together
	NumDrops                // how many there are
)

var dropNames = [NumDrops]string{"none", "query_size", "query_type", "query_token", "query_chunks",
	"query_network", "query_budget"}

// String is the reason's name in reports.
func (d Drop) String() string { return dropNames[d] }

// Limits bound what is answered. Zero fields mean the defaults named.
type Limits struct {
	Challenges int // a second to one network (/24, IPv6 /48), and at once; default 64
	// Responses per second to all sources; default 1024, about 12 Mbit/s at full size.
	Packets        int
	NetworkPackets int // likewise to one network; default 128
}

// Counters are what has become of datagrams. Received is Challenges plus Answers plus the sum of
// Drops, always.
type Counters struct {
	Received, BytesIn uint64
	Challenges        uint64 // handed out
	Answers           uint64 // queries answered
	Packets, BytesOut uint64 // datagrams out, challenges among them
	Drops             [NumDrops]uint64
}

// Responder answers requests in constant memory. One goroutine at a time may use it.
type Responder struct {
	minter     minter
	network    [2]uint64 // key
	challenges budget
	answers    budget
	all        ratelimit.Bucket
	counters   Counters
	packet     [MaxPacket]byte
}

// NewResponder returns a responder. Tokens can be forged with the key: draw it at random for each
// process.
func NewResponder(key [4]uint64, limits Limits) *Responder {
	limits.Challenges = or(limits.Challenges, 64)
	limits.Packets = or(limits.Packets, 1024)
	limits.NetworkPackets = or(limits.NetworkPackets, 128)
	r := &Responder{minter: minter{[2]uint64(key[:2])}, network: [2]uint64(key[2:])}
	r.fill(limits)
	return r
}

// fill fills all buckets. A burst has room for the longest response, so that a large lobby can
// answer at all.
func (r *Responder) fill(l Limits) {
	r.challenges.fill(ratelimit.NewBurst(l.Challenges, l.Challenges))
	r.answers.fill(ratelimit.NewBurst(l.NetworkPackets, max(l.NetworkPackets, MaxPackets)))
	r.all = ratelimit.NewBurst(l.Packets, max(l.Packets, MaxPackets))
}

func or(n, otherwise int) int {
	if n <= 0 {
		return otherwise
	}
	return n
}

// Counters returns what became of datagrams so far.
func (r *Responder) Counters() Counters { return r.counters }

// Answer takes a datagram from an address, at a time since any fixed start, and calls send with
// each datagram of the answer, in memory of the responder. Without a valid token, send gets at most
// as many bytes as came.
func (r *Responder) Answer(now time.Duration, from netip.AddrPort, datagram []byte, encoded *EncodedReport,
	send func(datagram []byte)) Drop {
	r.counters.Received++
	r.counters.BytesIn += uint64(len(datagram))
	var why Drop
	switch {
	case len(datagram) != ChallengeSize && len(datagram) != RequestSize:
		why = DropSize
	case len(datagram) == ChallengeSize && datagram[0] == typeChallenge:
		why = r.challenge(now, from, send)
	case len(datagram) == RequestSize && datagram[0] == typeQuery:
		why = r.query(now, from, datagram, encoded, send)
	default:
		why = DropType
	}
	if why != DropNone {
		r.counters.Drops[why]++
	}
	return why
}

func (r *Responder) challenge(now time.Duration, from netip.AddrPort, send func([]byte)) Drop {
	if !r.challenges.of(r.network, from).Allow(now, 1) {
		return DropNetwork
	}
	r.counters.Challenges++
	r.send(appendChallenge(r.packet[:0], r.minter.mint(now, from)), send)
	return DropNone
}

func (r *Responder) query(now time.Duration, from netip.AddrPort, datagram []byte, encoded *EncodedReport,
	send func([]byte)) Drop {
	var q request
	if err := q.parse(datagram); err != nil {
		return DropType
	}
	if !r.minter.good(now, from, q.token) {
		return DropToken
	}
	n := encoded.packets(q.chunks)
	if n == 0 {
		return DropChunks
	}
	if !r.answers.of(r.network, from).Allow(now, n) {
		return DropNetwork
	}
	if !r.all.Allow(now, n) {
		return DropBudget
	}
	r.counters.Answers++
	for i := range n {
		h := head{q.token, uint8(i), uint8(n - 1)}
		length := min(payloadSize, encoded.size(q.chunks)-i*payloadSize)
		r.send(encoded.payload(h.append(r.packet[:0], length), q.chunks, i), send)
	}
	return DropNone
}

func (r *Responder) send(datagram []byte, send func([]byte)) {
	r.counters.Packets++
	r.counters.BytesOut += uint64(len(datagram))
	send(datagram)
}
