package packet

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// A packet's meter and the peer that reads it agree where its sections end, and every byte before
// that is in one part.
func TestMeterReadsWhatPeersRead(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	var sum Meter
	packs, refused := 0, 0
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
			pack, _ := server.Append(0, nil)
			pack = server.AppendReliable(pack, rng.IntN(400))
			pack = server.AppendUnreliable(pack, rng.IntN(300))
			pack = server.AppendFragment(pack, rng.IntN(FragmentSectionSize+100))
			if rng.IntN(9) == 0 {
				pack = server.AppendClose(pack, ReasonKicked)
			}
			if rng.IntN(2) == 0 {
				pack = append(pack, byte(SectionSnapshot), 1, 2, 3)
			}
			if len(pack) > MaxPacketSize {
				continue
			}
			if rng.IntN(4) == 0 {
				at := HeaderSize + rng.IntN(len(pack)-HeaderSize+1)
				if pack = pack[:at]; at > HeaderSize && rng.IntN(2) == 0 {
					pack[at-1] ^= 1 << rng.IntN(8)
				}
			}
			before := sum.Total()
			rest, said := sum.Packet(pack)
			sections, err := client.Receive(0, pack)
			if err != nil {
				continue // closed
			}
			want, err := client.Sections(sections)
			switch {
			case err == nil && (said != nil || !bytes.Equal(rest, want)):
				t.Fatalf("%x: the meter leaves %x, %v; the peer leaves %x", pack, rest, said, want)
			case said != nil && sum.Total() != before:
				t.Fatalf("%x: %v, but something was added", pack, said)
			case said == nil && sum.Total()-before != uint64(len(pack)-len(rest)):
				t.Fatalf("%x: %d bytes added, %d left", pack, sum.Total()-before, len(rest))
			case said != nil:
				refused++
			}
			packs++
			drain(client, func([]byte) {})
		}
	}
	for p, n := range sum {
		if n == 0 {
			t.Errorf("part %d was not met", p)
		}
	}
	if packs < 4000 || refused < 100 {
		t.Errorf("%d packets, %d refused", packs, refused)
	}
}
