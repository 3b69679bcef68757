package packet

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// The meter of a packet and the peer agree where its sections end, and every byte before that is
// in one part.
func TestMeterReadsWhatPeersRead(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	var sum Meter
	packets, refused := 0, 0
	for range 3000 {
		server, client := transferPair(5000)
		for range rng.IntN(5) {
			_ = server.QueueReliable(make([]byte, 1+rng.IntN(60)))
		}
		for range rng.IntN(5) {
			_ = server.QueueUnreliable(make([]byte, 1+rng.IntN(60)))
		}
		if rng.IntN(3) == 0 {
			_ = server.SendTransfer(make([]byte, 1+rng.IntN(4000)))
		}
		for range 2 {
			pkt, _ := server.Append(0, nil)
			pkt = server.AppendReliable(pkt, rng.IntN(400))
			pkt = server.AppendUnreliable(pkt, rng.IntN(300))
			pkt = server.AppendFragment(pkt, rng.IntN(FragmentSectionSize+100))
			if rng.IntN(9) == 0 {
				pkt = server.AppendClose(pkt, ReasonKicked)
			}
			if rng.IntN(2) == 0 {
				pkt = append(pkt, byte(SectionSnapshot), 1, 2, 3)
			}
			if len(pkt) > MaxPacketSize {
				continue
			}
			if rng.IntN(4) == 0 {
				at := HeaderSize + rng.IntN(len(pkt)-HeaderSize+1)
				if pkt = pkt[:at]; at > HeaderSize && rng.IntN(2) == 0 {
					pkt[at-1] ^= 1 << rng.IntN(8)
				}
			}
			before := sum.Total()
			rest, metered := sum.Packet(pkt)
			sections, err := client.Receive(0, pkt)
			if err != nil {
				continue // closed
			}
			want, err := client.Sections(sections)
			switch {
			case err == nil && (metered != nil || !bytes.Equal(rest, want)):
				t.Fatalf("%x: the meter leaves %x, %v; the peer leaves %x", pkt, rest, metered, want)
			case metered != nil && sum.Total() != before:
				t.Fatalf("%x: %v, but something was added", pkt, metered)
			case metered == nil && sum.Total()-before != uint64(len(pkt)-len(rest)):
				t.Fatalf("%x: %d bytes added, %d left", pkt, sum.Total()-before, len(rest))
			case metered != nil:
				refused++
			}
			packets++
			drain(client, func([]byte) {})
		}
	}
	for p, n := range sum {
		if n == 0 {
			t.Errorf("part %d was not met", p)
		}
	}
	if packets < 4000 || refused < 100 {
		t.Errorf("%d packets, %d refused", packets, refused)
	}
}
