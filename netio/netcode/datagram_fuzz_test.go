package netcode

import (
	"bytes"
	"encoding/binary"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"
)

const (
	fuzzRound   = 1000 // datagrams in a millisecond
	fuzzVictims = 6    // clients whose datagrams are forged
	fuzzControl = 4    // clients that must not be affected
)

// datagramFuzzer sends damaged, recorded, misplaced and falsely sealed datagrams to a server, among
// the datagrams of control clients. A round is a millisecond and allocates nothing.
type datagramFuzzer struct {
	t        testing.TB
	s        *Server
	now      time.Duration
	rng      uint64
	victims  []*pair
	control  []*pair
	unsent   [][]byte // real datagrams that the server has not got, of victim i%fuzzVictims
	recorded [][]byte // and those that it has got
	asked    []byte   // a request that is repeated
	work     []byte
	payload  []byte
	out      Outbox
	up       Outbox

	sent, refused, taken, payloads uint64
}

func newDatagramFuzzer(t testing.TB) *datagramFuzzer {
	b := &datagramFuzzer{t: t, rng: 0x9e3779b97f4a7c15, work: make([]byte, 0, 4096),
		payload: make([]byte, 1300)}
	b.s = newServer(t, func(c *ServerConfig) {
		c.Clients = 16
		c.HandshakesPerSecond, c.HandshakesPerNetwork = 1<<24, 1<<24
	})
	forever := func(n int) *pair {
		p := &pair{t: t, s: b.s, at: host(n), c: NewClient(mint(t, uint64(n), func(m *Mint) {
			m.Expire, m.TimeoutSeconds = 1<<64-1, 3
			if n < fuzzVictims {
				m.TimeoutSeconds = -1 // they send nothing, and never time out
			}
		}), ClientConfig{})}
		if p.step(time.Millisecond); p.c.State() != Connected {
			t.Fatal(p.c.State())
		}
		return p
	}
	for n := range fuzzVictims {
		b.victims = append(b.victims, forever(n))
	}
	for n := range fuzzControl {
		b.control = append(b.control, forever(100+n))
	}
	token := mint(t, 77, func(m *Mint) { m.Expire = 1<<64 - 1 })
	b.asked = request(token)
	b.receive(50, b.asked)
	pattern(b.payload, 7, 3)
	for i := range 20 * fuzzVictims {
		p := b.victims[i%fuzzVictims]
		body := b.payload[:1+i*3%200]
		b.recorded = append(b.recorded, p.seal(KindPayload, body))
		b.receive(i%fuzzVictims, b.recorded[i])
		// Far on, so that no later datagram leaves it behind the window for good.
		switch i / fuzzVictims {
		default:
			b.unsent = append(b.unsent, b.s.sealer.seal(p.c.seal, nil, KindPayload, 1<<50+uint64(i), body))
		case 17:
			b.unsent = append(b.unsent, b.s.sealer.seal(p.c.seal, nil, KindKeepAlive, 1<<51, zeros[:8]))
		case 18:
			b.unsent = append(b.unsent, b.s.sealer.seal(p.c.seal, nil, KindDisconnect, 1<<52, nil))
		case 19:
			b.unsent = append(b.unsent, b.s.sealer.sealPath(p.c.seal, nil, 1<<53, 0, []byte{pathHello}))
		}
	}
	b.out.Reset()
	return b
}

// roll returns a number from 0 to n-1 of an xorshift generator, which must cost less than the
// server.
func (b *datagramFuzzer) roll(n int) int {
	b.rng ^= b.rng << 13
	b.rng ^= b.rng >> 7
	b.rng ^= b.rng << 17
	return int(b.rng >> 33 % uint64(n))
}

// receive gives the server a copy of a datagram, which opening destroys.
func (b *datagramFuzzer) receive(from int, datagram []byte) (Event, error) {
	b.work = append(b.work[:0], datagram...)
	return b.s.Receive(b.now, testUnix, host(from), b.work, &b.out)
}

// fuzzKinds are the ways to make a bad datagram; each returns its apparent source. All
// but the last are refused in silence, or, of a request that is repeated, answered with another
// challenge.
var fuzzKinds = [...]struct {
	name  string
	times int // of 100
	make  func(b *datagramFuzzer, i int) (from int)
}{
	{"bit flipped", 22, func(b *datagramFuzzer, i int) int {
		b.load(b.unsent[i])
		b.work[b.roll(len(b.work))] ^= 1 << b.roll(8)
		return i % fuzzVictims
	}},
	{"two bits flipped", 6, func(b *datagramFuzzer, i int) int {
		b.load(b.unsent[i])
		at := b.roll(8 * len(b.work))
		other := (at + 1 + b.roll(8*len(b.work)-1)) % (8 * len(b.work))
		b.work[at/8] ^= 1 << (at % 8)
		b.work[other/8] ^= 1 << (other % 8)
		return i % fuzzVictims
	}},
	{"cut", 12, func(b *datagramFuzzer, i int) int {
		b.load(b.unsent[i])
		b.work = b.work[:b.roll(len(b.work))]
		return i % fuzzVictims
	}},
	{"random tail", 10, func(b *datagramFuzzer, i int) int {
		b.load(b.unsent[i])
		for range 1 + b.roll(8) {
			b.work = append(b.work, byte(b.roll(256)))
		}
		return i % fuzzVictims
	}},
	{"replayed", 10, func(b *datagramFuzzer, i int) int { b.load(b.recorded[i]); return i % fuzzVictims }},
	{"from an unknown address", 8, func(b *datagramFuzzer,
		i int) int {
		b.load(b.unsent[i])
		return 1000 + b.roll(1<<20)
	}},
	{"from another player", 8, func(b *datagramFuzzer, i int) int {
		b.load(b.unsent[i])
		if n := i + 1 + b.roll(fuzzVictims+fuzzControl-1); n%(fuzzVictims+fuzzControl) < fuzzVictims {
			return (i + 1 + n%(fuzzVictims-1)) % fuzzVictims
		}
		return 100 + b.roll(fuzzControl)
	}},
	{"of another kind", 8, func(b *datagramFuzzer, i int) int {
		b.load(b.unsent[i])
		b.work[0] ^= byte(1 + b.roll(15))
		return i % fuzzVictims
	}},
	{"random bytes", 7, func(b *datagramFuzzer, i int) int {
		b.work = b.work[:b.roll(160)]
		for at := range b.work {
			b.work[at] = byte(b.roll(256))
		}
		return []int{i % fuzzVictims, 2000 + i}[b.roll(2)]
	}},
	{"a request, damaged", 1, func(b *datagramFuzzer, i int) int {
		b.load(b.asked)
		b.work[b.roll(len(b.work))] ^= 1 << b.roll(8)
		return 50
	}},
	{"a path from elsewhere", 2, func(b *datagramFuzzer, i int) int {
		b.load(b.unsent[len(b.unsent)-1-b.roll(fuzzVictims)])
		return 3000 + b.roll(100)
	}},
	{"sealed with a real key", 6, nil},
}

func (b *datagramFuzzer) load(d []byte) { b.work = append(b.work[:0], d...) }

// sealed seals a body of random kind and length with a victim's key. It returns the length of the
// payload that must result; 0 for none.
func (b *datagramFuzzer) sealed(i int) (from, payload int) {
	p := b.victims[i%fuzzVictims]
	kind := Kind(b.roll(16))
	n := b.roll(64)
	if b.roll(50) == 0 {
		n = b.roll(1270)
	}
	if kind == KindDisconnect && n == 0 {
		n = 1 // else it would be a real one
	}
	b.work = b.s.sealer.seal(p.c.seal, b.work[:0], kind, p.c.sequence, b.payload[:n])
	p.c.sequence++
	if kind == KindPayload && bodyFits(kind, n) {
		payload = n
	}
	return i % fuzzVictims, payload
}

// sendForged sends one datagram of a kind and checks the result.
func (b *datagramFuzzer) sendForged(kind int) {
	i, want, from := b.roll(len(b.unsent)), 0, 0
	if fuzzKinds[kind].make != nil {
		from = fuzzKinds[kind].make(b, i)
	} else {
		from, want = b.sealed(i)
	}
	legal := want > 0 || fuzzKinds[kind].make == nil && KindOf(b.work) == KindKeepAlive
	e, err := b.s.Receive(b.now, testUnix, host(from), b.work, &b.out)
	b.sent++
	switch {
	case err != nil && !legal && e.Kind == EventNone:
		b.refused++
	case err == nil && want > 0 && e.Kind == EventPayload && e.Client == from &&
		bytes.Equal(e.Payload, b.payload[:want]):
		b.taken++
	case legal && want == 0 && e.Kind == EventNone: // a keep-alive, perhaps of a length that it cannot have
		if err == nil {
			b.taken++
		} else {
			b.refused++
		}
	default:
		b.t.Fatalf("%s, from %d: %v, event %v, %d bytes", fuzzKinds[kind].name, from, err, e.Kind,
			len(e.Payload))
	}
	if b.out.Len() != 0 {
		_, d := b.out.At(0)
		b.t.Fatalf("%s: answered with a %v", fuzzKinds[kind].name, KindOf(d))
	}
}

// round plays a millisecond.
func (b *datagramFuzzer) round() {
	before, refused := b.s.counters.Dropped(), b.refused
	for n := range fuzzRound {
		at, kind := n*37%100, 0
		for ; at >= fuzzKinds[kind].times; kind++ {
			at -= fuzzKinds[kind].times
		}
		b.sendForged(kind)
	}
	if dropped := b.s.counters.Dropped() - before; dropped != b.refused-refused {
		b.t.Fatalf("%d datagrams refused, %d counted", b.refused-refused, dropped)
	}
	b.now += time.Millisecond
	for i, p := range b.control {
		if (int(b.now/time.Millisecond)+i)%16 == 0 {
			b.sendPayload(p)
		}
	}
	if b.now/time.Millisecond%16 == 0 {
		b.update()
	}
}

// sendPayload sends a control client's payload, which must arrive.
func (b *datagramFuzzer) sendPayload(p *pair) {
	b.payloads++
	binary.LittleEndian.PutUint64(b.payload[1280:], b.payloads)
	b.work = p.c.sealNext(b.now, KindPayload, b.payload[1280:1288], b.work[:0])
	e, err := b.s.Receive(b.now, testUnix, p.at, b.work, &b.out)
	if err != nil || e.Kind != EventPayload || e.Client != int(p.c.Index()) ||
		binary.LittleEndian.Uint64(e.Payload) != b.payloads {
		b.t.Fatalf("a control client's payload: %v, event %v", err, e.Kind)
	}
}

// update updates the server and the control clients, and delivers their datagrams.
func (b *datagramFuzzer) update() {
	if events := b.s.Update(b.now, testUnix, &b.out); len(events) != 0 {
		b.t.Fatalf("event %v of %d", events[0].Kind, events[0].Client)
	}
	for i := range b.out.Len() {
		to, d := b.out.At(i)
		for _, p := range b.control {
			if p.at != to {
				continue
			}
			if _, err := p.c.Receive(b.now, testServer, d, &b.up); err != nil {
				b.t.Fatalf("a control client refuses a %v: %v", KindOf(d), err)
			}
		}
	}
	b.out.Reset()
	for _, p := range b.control {
		b.up.Reset()
		if p.c.Update(b.now, &b.up); p.c.State() != Connected {
			b.t.Fatal(p.c.State())
		}
		for i := range b.up.Len() {
			_, d := b.up.At(i)
			if _, err := b.s.Receive(b.now, testUnix, p.at, d, &b.out); err != nil {
				b.t.Fatal(err)
			}
		}
	}
}

// TestBlast sends TICKRATE_BLAST datagrams, 200,000 by default, without the engine of the fuzzer.
// None is delivered damaged, each is counted once, no control client loses a datagram, and nothing
// allocates.
func TestBlast(t *testing.T) {
	total := 200_000
	if text := os.Getenv("TICKRATE_BLAST"); text != "" {
		var err error
		if total, err = strconv.Atoi(text); err != nil {
			t.Fatalf("TICKRATE_BLAST: %v", err)
		}
	}
	b := newDatagramFuzzer(t)
	for range 20 { // buffers grow to their size
		b.round()
	}
	rest := b.s.counters.Received - b.sent
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	for b.sent < uint64(total) {
		b.round()
	}
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	if n := after.Mallocs - before.Mallocs; n > 500 { // the runtime's own
		t.Errorf("%d allocations", n)
	}
	if b.s.counters.Received < b.sent+rest || !b.s.counters.Balanced() || b.refused+b.taken != b.sent {
		t.Errorf("%d sent, %d refused, %d taken: %+v", b.sent, b.refused, b.taken, b.s.counters)
	}
	if b.s.Connected() != fuzzVictims+fuzzControl || b.s.PendingHandshakes() > 1 {
		t.Errorf("%d sessions", b.s.Connected())
	}
	for _, want := range []Drop{DropSize, DropType, DropSequence, DropReqSize, DropReqToken, DropUnknown,
		DropTooOld, DropAuth, DropBody} {
		if b.s.counters.Drops[want] == 0 {
			t.Errorf("no datagram was dropped for %v", want)
		}
	}
	t.Logf("%d datagrams, %d refused, %d taken, %d payloads of control clients; %.2f M/s; %v", b.sent,
		b.refused, b.taken, b.payloads,
		float64(b.sent)/took.Seconds()/1e6, b.s.counters.Drops)
}
