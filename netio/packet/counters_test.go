package packet

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"
)

// ingress is the part of an owner that reads the packets of one session: each is counted once.
type ingress struct {
	peer     *Peer
	counters Counters
}

func (s *ingress) handle(now time.Duration, pkt []byte) {
	s.counters.Arrived()
	rest, err := s.peer.Receive(now, pkt)
	if err == nil {
		rest, err = s.peer.Sections(rest)
	}
	if err == nil && len(rest) > 0 {
		err = DropSection
	}
	drain(s.peer, func([]byte) {})
	s.counters.Count(err)
}

// Every packet that a client seals, honest, old, malformed or random, moves one counter. It affects
// no other session: a client next to it loses nothing.
func TestEveryPacketIsCountedOnce(t *testing.T) {
	rng := newLink(99).rng
	theirs, ours := &ingress{}, &ingress{}
	var attacker, player *Peer
	theirs.peer, attacker = pair()
	ours.peer, player = pair()
	theirs.peer.Reset(0, Config{MaxTransfer: 2000})
	now, events, played := time.Minute, uint32(0), uint64(0)
	recorded := [][]byte{attacker.AppendClose(nil, ReasonLeft)}
	for n := range 200_000 {
		now += 100 * time.Microsecond
		if n%100 == 0 { // its own garbage ruins the attacker's session
			theirs.peer.Reset(now, Config{MaxTransfer: 2000})
			attacker.Reset(now, Config{})
		}
		var d []byte
		switch k := rng.IntN(9); k {
		case 0:
			d = make([]byte, rng.IntN(1400))
			for i := range d {
				d[i] = byte(rng.Uint32())
			}
		case 1:
			d = bytes.Clone(recorded[rng.IntN(len(recorded))])
		default:
			_, _ = attacker.QueueReliable([]byte("noise")), attacker.QueueUnreliable([]byte("noise"))
			if attacker.Transfers().Pending == 0 {
				_ = attacker.SendTransfer(make([]byte, rng.IntN(2000)))
			}
			d, _ = attacker.Append(now, nil)
			if k > 2 {
				d = attacker.AppendReliable(d, 300)
			}
			if k > 4 {
				d = attacker.AppendUnreliable(d, 300)
			}
			if k > 6 {
				d = attacker.AppendFragment(d, MaxPacketSize-len(d))
			}
			if rng.IntN(500) == 0 {
				d = attacker.AppendClose(d, Reason(rng.IntN(14)))
			}
		}
		if len(recorded) < 500 {
			recorded = append(recorded, bytes.Clone(d))
		}
		for n := rng.IntN(3); n > 0 && len(d) > 0; n-- {
			switch rng.IntN(3) {
			case 0:
				d[rng.IntN(len(d))] ^= 1 << rng.IntN(8)
			case 1:
				d = d[:rng.IntN(len(d)+1)]
			case 2:
				d = append(d, byte(rng.Uint32()))
			}
		}
		before := theirs.counters
		theirs.handle(now, d)
		moved := theirs.counters.Accepted - before.Accepted
		for i := range before.Drops {
			moved += theirs.counters.Drops[i] - before.Drops[i]
		}
		if moved != 1 || !theirs.counters.Balanced() {
			t.Fatalf("%x moved %d counters", d, moved)
		}
		if rng.IntN(100) == 0 {
			if player.QueueReliable(binary.LittleEndian.AppendUint32(nil, events)) == nil {
				events++
			}
			d, _ := player.Append(now, nil)
			ours.handle(now, player.AppendReliable(d, 900))
			if played++; ours.counters.Accepted != played {
				t.Fatalf("the control client's packet %d was refused", played)
			}
			answer, _ := ours.peer.Append(now, nil)
			if _, err := player.Receive(now, answer); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Logf("%d received, %d accepted, %d of the control client", theirs.counters.Received,
		theirs.counters.Accepted, played)
	for d := Drop(1); d < NumDrops; d++ {
		t.Logf("%9d %s", theirs.counters.Drops[d], d.String())
		switch d {
		case DropState, DropVersion, DropCommands, DropSnapshot: // the owner's to say
		default:
			if theirs.counters.Drops[d] == 0 {
				t.Errorf("nothing was dropped for %v: the test does not reach it", d)
			}
		}
	}
}

func TestCountersRefuseForeignErrors(t *testing.T) {
	for _, err := range []error{ErrReliableFull, DropNone, NumDrops} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%v was counted", err)
				}
			}()
			(&Counters{}).Count(err)
		}()
	}
}
