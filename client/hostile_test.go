package client

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tickrate/tickrate/netio/wire"
)

// FuzzReceive gives a joined client anything at all: as it is, and behind the header of a good package, so that it gets
// past the door. Nothing may panic, everything is counted once, and the client plays on.
func FuzzReceive(f *testing.F) {
	tp := record(f, 16, false, 3*time.Second, link{delay: 10 * time.Millisecond})
	for _, fr := range tp.play[len(tp.play)-20:] {
		for _, data := range fr.heard {
			f.Add(data, false, uint8(0), uint16(0))
			f.Add(data[wire.HeaderSize:], true, uint8(7), uint16(40))
		}
	}
	f.Add([]byte{byte(wire.SectionSnapshot), 255, 255, 255, 255, 1, 0}, true, uint8(0), uint16(0))
	f.Fuzz(func(t *testing.T, data []byte, inside bool, flip uint8, at uint16) {
		p := tp.player(t)
		p.skip(len(tp.play))
		p.attack(t, data, inside, flip, at)
	})
}

// attack hands the client data, one byte of it changed, and goes on for a second.
func (p *player) attack(t *testing.T, data []byte, inside bool, flip uint8, at uint16) {
	c := p.seat.client
	now := p.tape.play[len(p.tape.play)-1].now
	if inside {
		h := wire.Header{Token: ^c.accept.Token, Sequence: 2000, SentAt: 1}
		data = append(h.Append(nil), data...)
	}
	if len(data) > 0 {
		data[int(at)%len(data)] ^= flip
	}
	before := c.Stats().Datagrams
	err := c.Receive(now, data)
	after := c.Stats().Datagrams
	if !after.Balanced() || after.Received != before.Received+1 || (err == nil) != (after.Accepted == before.Accepted+1) {
		t.Fatalf("%v: %+v, then %+v", err, before, after)
	}
	for range 60 {
		now += 16 * time.Millisecond
		for range c.Advance(now) {
			c.Command(Intent{MoveMag: 255})
		}
		p.out, _ = c.Append(now, p.out[:0])
		if len(p.out) > wire.MaxDatagram {
			t.Fatalf("%d bytes to send", len(p.out))
		}
		for slot := range 20 {
			c.Pose(slot)
		}
	}
	for _, ok := c.NextEvent(); ok; _, ok = c.NextEvent() {
	}
}

// TestHostileBytes is the fuzzer's shorter sister: good packages with random damage behind the header.
func TestHostileBytes(t *testing.T) {
	tp := record(t, 16, false, 2*time.Second, link{delay: 10 * time.Millisecond})
	rng := rand.New(rand.NewPCG(9, 9))
	p := tp.player(t)
	p.skip(len(tp.play))
	c := p.seat.client
	now := tp.play[len(tp.play)-1].now
	seq := uint16(1000)
	var bodies [][]byte
	for _, fr := range tp.play[len(tp.play)-40:] {
		for _, data := range fr.heard {
			bodies = append(bodies, data[wire.HeaderSize:])
		}
	}
	for n := range 20000 {
		seq++
		body := append([]byte(nil), bodies[rng.IntN(len(bodies))]...)
		for range 1 + rng.IntN(3) {
			switch rng.IntN(4) {
			case 0:
				body[rng.IntN(len(body))] = byte(rng.Uint32())
			case 1:
				body = body[:1+rng.IntN(len(body))]
			case 2:
				body = append(body, byte(rng.Uint32()))
			case 3:
				if len(body) > 5 { // the tick
					binary.LittleEndian.PutUint32(body[1:], uint32(c.selfTick)+uint32tick(rng))
				}
			}
		}
		h := wire.Header{Token: ^c.accept.Token, Sequence: seq, SentAt: uint16(n)}
		c.Receive(now, append(h.Append(nil), body...))
		if n%16 == 0 {
			now += 16 * time.Millisecond
			for range c.Advance(now) {
				c.Command(Intent{MoveMag: 255})
			}
			p.out, _ = c.Append(now, p.out[:0])
			c.Pose(rng.IntN(20))
		}
	}
	st := c.Stats()
	if !st.Datagrams.Balanced() || st.Datagrams.Drops[wire.DropSnapshot] < 1000 || st.Datagrams.Received < 20000 {
		t.Errorf("%+v", st)
	}
	if state, _ := c.State(); state != Joined {
		t.Errorf("%v: %v", state, c.Err())
	}
}

// uint32tick is a small step or a wild one.
func uint32tick(rng *rand.Rand) uint32 {
	if rng.IntN(4) == 0 {
		return rng.Uint32()
	}
	return uint32(rng.IntN(8))
}
