package netcode

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"
)

// A script is bytes: the first says how the server is set up, then every three are a step: what
// is done, by which actor, and how. The model knows the sealer of each datagram, the sessions,
// and what each address has sent; after every step the server is compared with it. Whatever the
// bytes are, a script runs to its end or finds a fault.
const (
	actors     = 5
	historyMax = 64
	flyingMax  = 128
)

type actor struct {
	c        *Client
	at       netip.AddrPort
	tag      TokenTag
	entered  bool // its token has had its session
	heard    time.Duration
	newest   uint64 // sequence that the server took from it
	sent     uint32
	owed     map[uint32]bool // payloads it has sealed and the server has not delivered
	promised map[uint32]bool // payloads sealed for it
}

// inFlight is a datagram on its way.
type inFlight struct {
	from, to netip.AddrPort
	by       *actor // whose keys sealed it; of a request, whose token it carries
	data     []byte
}

type script struct {
	s       *Server
	cfg     ServerConfig
	starts  byte
	now     time.Duration
	wall    int64 // off the right time, in seconds
	mints   *rand.ChaCha8
	actors  [actors]*actor
	all     []*actor         // also those whose place another has taken
	slots   map[int]*actor   // connected clients
	air     []inFlight       // in both directions
	history []inFlight       // what was sent to the server
	nonces  map[sealing]bool // what was sealed
	bytes   map[netip.AddrPort][2]int
	counts  scriptCounts
}

// sealing is what must be unique: key, direction and sequence.
type sealing struct {
	tag      TokenTag
	down     bool
	sequence uint64
}

// scriptCounts show that scripts reach interesting states.
type scriptCounts struct {
	connected, takeovers, delivered, received, moved, ended, tampered, restarts int
	drops                                                                       [NumDrops]uint64
}

// runScript plays a script and returns the first fault.
func runScript(b []byte) (counts scriptCounts, err error) {
	w := &script{slots: map[int]*actor{}, nonces: map[sealing]bool{}, bytes: map[netip.AddrPort][2]int{},
		mints: rand.NewChaCha8([32]byte{4})}
	var setup byte
	if len(b) > 0 {
		setup, b = b[0], b[1:]
	}
	w.cfg = ServerConfig{PrivateKey: testKey, ProtocolID: testProtocol,
		Addresses: []netip.AddrPort{testServer}, Clients: 1 + int(setup&3),
		MaxHandshakes: 2 + int(setup>>2&1), MaxTokens: 4 + 12*int(setup>>3&1), StartUnix: testUnix,
		AllowTokenReuse: true}
	if setup>>4&1 != 0 {
		w.cfg.PacketsPerSecond = 5
	}
	w.cfg.Journal = make([]byte, w.cfg.MaxTokens*JournalRecord)
	if err := w.start(); err != nil {
		return w.counts, err
	}
	for i := range w.actors {
		if err := w.mint(i, byte(i)); err != nil {
			return w.counts, err
		}
	}
	for n := 0; len(b) >= 3 && n < 400; n++ {
		if err := w.step(b[0], int(b[1])%actors, b[2]); err != nil {
			return w.counts, fmt.Errorf("step %d, % x: %w", n, b[:3], err)
		}
		if err := w.check(); err != nil {
			return w.counts, fmt.Errorf("after step %d, % x: %w", n, b[:3], err)
		}
		b = b[3:]
	}
	w.counts.drops = w.s.counters.Drops
	return w.counts, nil
}

func (w *script) unix() int64 { return testUnix + int64(w.now/time.Second) + w.wall }

// start kills the server, if there is one, and starts it again with the journal.
func (w *script) start() (err error) {
	w.starts++
	w.cfg.Entropy, w.cfg.StartUnix = [32]byte{w.starts, 5}, w.unix()
	clear(w.slots)
	clear(w.bytes)
	w.s, err = NewServer(w.cfg)
	return err
}

// mint replaces an actor by a new one with a fresh token.
func (w *script) mint(i int, how byte) error {
	m := Mint{ProtocolID: testProtocol, ClientID: uint64(how & 3), Create: uint64(testUnix),
		Expire:         uint64(w.unix()) + 1 + uint64(how)/8,
		TimeoutSeconds: 1 + int32(how>>2&3), Servers: []netip.AddrPort{testServer}}
	m.Expire = max(m.Expire, m.Create)
	token, err := m.Append(nil, &testKey, w.mints)
	if err != nil {
		return err
	}
	a := &actor{c: NewClient(token, ClientConfig{Roam: how>>4&1 != 0}), at: host(i),
		owed: map[uint32]bool{}, promised: map[uint32]bool{}}
	a.tag = TokenTag(a.c.token.Private[sealedPrivateSize-tagSize:])
	w.actors[i] = a
	w.all = append(w.all, a)
	return nil
}

// step plays one step.
func (w *script) step(op byte, who int, how byte) error {
	a := w.actors[who]
	var out Outbox
	switch op % 24 {
	case 0: // a new token in the place of an old one
		return w.mint(who, how)
	case 1, 2:
		a.c.Update(w.now, &out)
		return w.up(a, &out)
	case 3, 4, 5: // in order
		return w.arrive(0, true)
	case 6: // out of order
		return w.arrive(int(how), true)
	case 7: // twice
		return w.arrive(int(how), false)
	case 8: // lost
		if len(w.air) > 0 {
			w.air = slices.Delete(w.air, 0, 1)
		}
	case 9, 10:
		a.sent++
		if a.c.Send(w.now, scriptPayload(a, a.sent, how), &out) == nil {
			a.owed[a.sent] = true
		}
		return w.up(a, &out)
	case 11: // the server to the client in a slot
		i := int(how) % w.cfg.Clients
		b := w.slots[i]
		if b == nil {
			if err := w.s.Send(w.now, i, []byte("x"), &out); err != ErrNoSession {
				return fmt.Errorf("send to the empty slot %d: %v", i, err)
			}
			return nil
		}
		b.sent++
		b.promised[b.sent] = true
		if err := w.s.Send(w.now, i, scriptPayload(b, b.sent, how), &out); err != nil {
			return err
		}
		return w.down(&out)
	case 12, 13:
		return w.update()
	case 14: // a moment, or long enough for something to end
		w.now += time.Duration(how) * time.Millisecond
	case 15:
		w.now += time.Duration(how) * 20 * time.Millisecond
		return w.update()
	case 16: // the address changes, perhaps to one that another has
		a.at = host(int(how) % 8)
	case 17:
		return w.tamper(int(how), func(b []byte) []byte { b[int(op)*31%len(b)] ^= 1 << (how & 7); return b })
	case 18:
		return w.tamper(int(how), func(b []byte) []byte {
			if how&1 == 0 {
				return append(b, how)
			}
			return b[:int(op)*17%len(b)]
		})
	case 19: // recorded datagrams again, from where they came or from elsewhere
		if len(w.history) > 0 {
			f := w.history[int(how)%len(w.history)]
			if who == 0 {
				f.from = host(int(how) % 8)
			}
			return w.server(f)
		}
	case 20: // what a client with a real key may seal
		if a.c.State() == Connected {
			body := make([]byte, how)
			kind := Kind(1 + who)
			b := w.s.sealer.seal(a.c.seal, nil, kind, a.c.sequence, body)
			if kind == KindPath {
				b = w.s.sealer.sealPath(a.c.seal, nil, a.c.sequence, a.c.roaming.id,
					append([]byte{how % 6}, body...))
			}
			a.c.sequence++
			if bodyFits(kind, len(body)) && kind == KindPayload {
				return nil // that would be a payload that says nothing; its sequence is lost
			}
			return w.send(inFlight{a.at, testServer, a, b})
		}
	case 21: // a client leaves
		if how&1 == 0 {
			a.c.Disconnect(w.now, &out)
			return w.up(a, &out)
		}
		for i, b := range w.slots {
			if b == a {
				if err := w.s.Disconnect(w.now, i, &out); err != nil {
					return err
				}
				w.end(i)
				return w.down(&out)
			}
		}
	case 22: // rare things
		switch how & 15 {
		case 0:
			w.counts.restarts++
			return w.start()
		case 1:
			w.wall = int64(how>>4) * 5
		case 2:
			w.wall = -int64(how>>4) * 5
		case 3:
			w.s.StopAccepting()
		}
	case 23: // as it should be: both ends work, nothing is lost
		return w.smooth(a)
	}
	return nil
}

// smooth exchanges datagrams of a client and the server until none is left. For the client of a
// silent session it is a takeover.
func (w *script) smooth(a *actor) error {
	for range 3 {
		var out Outbox
		a.c.Update(w.now, &out)
		if err := errors.Join(w.up(a, &out), w.update()); err != nil {
			return err
		}
		for range 2 * flyingMax {
			if len(w.air) == 0 {
				break
			}
			if err := w.arrive(0, true); err != nil {
				return err
			}
		}
		w.now += 20 * time.Millisecond
	}
	return nil
}

// shrink removes the steps that a failing script does not need.
func shrink(b []byte) []byte {
	for size := (len(b) - 1) / 3 / 2; size >= 1; size /= 2 {
		for at := 1; at+3*size <= len(b); {
			shorter := append(bytes.Clone(b[:at]), b[at+3*size:]...)
			if _, err := runScript(shorter); err != nil {
				b = shorter
			} else {
				at += 3 * size
			}
		}
	}
	return b
}

// scriptSeeds: a session with replays and forgeries, a takeover, one that sends too much, a move,
// a restart.
var scriptSeeds = [][]byte{
	{0x0b, 23, 0, 0, 9, 0, 5, 3, 0, 0, 11, 0, 0, 3, 0, 0, 19, 1, 1, 17, 1, 2, 21, 0, 0, 3, 0, 0, 19, 1, 0},
	{0x0b, 0, 0, 0xfc, 23, 0, 0, 15, 0, 70, 0, 1, 0xfc, 23, 1, 0, 9, 1, 1, 3, 0, 0},
	{0x1b, 23, 0, 0, 9, 0, 1, 9, 0, 1, 9, 0, 1, 3, 0, 0, 3, 0, 0, 3, 0, 0},
	{0x0b, 0, 0, 63, 23, 0, 0, 23, 0, 0, 16, 0, 6, 14, 0, 250, 14, 0, 100, 23, 0, 0, 9, 0, 1, 3, 0, 0},
	{0x0b, 23, 0, 0, 22, 0, 0, 19, 1, 0, 19, 1, 1, 19, 1, 2, 23, 0, 0, 23, 1, 0},
}

func FuzzSessionScript(f *testing.F) {
	for _, b := range scriptSeeds {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := runScript(b); err != nil {
			t.Fatal(err)
		}
	})
}

// scriptSteps is how often each step is thrown, of 64: all of them, but sessions should live long
// enough to have a story.
var scriptSteps = func() (list []byte) {
	for op, weight := range [24]int{0: 2, 1: 4, 3: 4, 6: 2, 7: 2, 8: 1, 9: 8, 11: 6, 12: 2, 14: 5, 15: 1,
		16: 2, 17: 2, 18: 2, 19: 4, 20: 2, 21: 1, 22: 1, 23: 13} {
		list = append(list, bytes.Repeat([]byte{byte(op)}, weight)...)
	}
	return list
}()

// Thousands of random scripts. A failing one is reduced to a seed for FuzzSessionScript.
func TestSessionScripts(t *testing.T) {
	n := 3000
	if testing.Short() {
		n = 300
	}
	for i, b := range scriptSeeds {
		c, err := runScript(b)
		if reached := []int{c.tampered, c.takeovers, c.delivered, c.moved, c.restarts}[i]; err != nil ||
			reached == 0 {
			t.Errorf("seed %d: %v, %+v", i, err, c)
		}
	}
	rng := rand.New(rand.NewPCG(7, 8))
	var sum scriptCounts
	for i := range n {
		b := make([]byte, 1+3*rng.IntN(200))
		for j := range b {
			if b[j] = byte(rng.Uint32()); j%3 == 1 && i%4 > 0 {
				b[j] = scriptSteps[rng.IntN(len(scriptSteps))]
			}
		}
		counts, err := runScript(b)
		if err != nil {
			b = shrink(b)
			_, err = runScript(b)
			t.Fatalf("script %d: %v: %#v", i, err, b)
		}
		sum.connected += counts.connected
		sum.takeovers += counts.takeovers
		sum.delivered += counts.delivered
		sum.received += counts.received
		sum.moved += counts.moved
		sum.ended += counts.ended
		sum.tampered += counts.tampered
		sum.restarts += counts.restarts
		for i, d := range counts.drops {
			sum.drops[i] += d
		}
	}
	t.Logf("%d scripts: %+v", n, sum)
	if sum.connected < n || sum.takeovers < n/50 || sum.delivered < n || sum.received < n ||
		sum.moved < n/200 || sum.ended < n/2 ||
		sum.tampered < n || sum.restarts < n/10 {
		t.Errorf("%d scripts that do too little: %+v", n, sum)
	}
}
