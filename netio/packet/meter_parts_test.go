package packet

import (
	"bytes"
	"testing"
)

// Every byte of a packet is in the part that the documentation gives it.
func TestMeterByHand(t *testing.T) {
	h := (&Header{Sequence: 1}).Append(nil)
	pkt := func(sections ...byte) []byte { return append(bytes.Clone(h), sections...) }
	head := Meter{PartSequence: 2, PartAcks: 10, PartClock: 4}
	with := func(change func(m *Meter)) Meter { m := head; change(&m); return m }
	last := append([]byte{5, 9, 0, 1, 2, 4, 0, 0}, 7, 7) // fragment 1 of 1026 bytes
	for i, c := range []struct {
		pkt  []byte
		want Meter
		rest int
		err  error
	}{
		0: {h[:15], Meter{}, 0, DropSize},
		1: {pkt(), head, 0, nil},
		2: {pkt(3, 1, 2), head, 3, nil},
		3: {pkt(1, 2, 0, 0, 0, 9, 1, 0, 2, 8, 8, 8),
			with(func(m *Meter) { m[PartReliableHead], m[PartReliable] = 8, 4 }), 0, nil},
		4: {pkt(4, 1, 1, 9, 9, 2), with(func(m *Meter) {
			m[PartUnreliableHead], m[PartUnreliable] = 3,
				2
		}), 1, nil},
		5: {pkt(last...), with(func(m *Meter) { m[PartFragmentHead], m[PartFragment] = 8, 2 }), 0, nil},
		6: {pkt(append(last, 6, 3, 3)...), with(func(m *Meter) {
			m[PartFragmentHead], m[PartFragment],
				m[PartClose] = 8, 2, 2
		}), 1, nil},
		7:  {pkt(1), Meter{}, 0, DropMessage},
		8:  {pkt(1, 0), Meter{}, 0, DropMessage},
		9:  {pkt(1, 1, 0, 0), Meter{}, 0, DropMessage},
		10: {pkt(1, 1, 0, 0, 1, 9), Meter{}, 0, DropMessage},
		11: {pkt(4, 1), Meter{}, 0, DropUnreliable},
		12: {pkt(5, 0, 0, 0, 0, 0, 0), Meter{}, 0, DropFragment},
		13: {pkt(5, 0, 0, 1, 0, 4, 0, 0, 7), Meter{}, 0, DropFragment},
		14: {pkt(last[:9]...), Meter{}, 0, DropFragment},
		15: {pkt(6), Meter{}, 0, DropReason},
	} {
		var m Meter
		rest, err := m.Packet(c.pkt)
		if err != c.err || m != c.want || len(rest) != c.rest || err == nil &&
			m.Total() != uint64(len(c.pkt)-c.rest) {
			t.Errorf("%d: %v, %v, %d bytes left; want %v, %v, %d", i, m, err, len(rest), c.want, c.err,
				c.rest)
		}
	}
	for p := range NumParts {
		if component, _ := p.Name(); component == "" || component == "invalid" {
			t.Errorf("part %d belongs to %q", p, component)
		}
	}
	if component, _ := NumParts.Name(); component != "invalid" {
		t.Error("a part too many has a name")
	}
}
