package packet

// Part is what bytes of a packet are for. The owners of commands and snapshots divide those
// themselves.
type Part uint8

// The parts, in the order in which they stand in a packet.
const (
	PartSequence       Part = iota // header: number of the packet
	PartAcks                       // header: packets received
	PartClock                      // header: when it was sent, and the echo
	PartReliableHead               // reliable messages: section, count, ids and sizes
	PartReliable                   // reliable messages: their bytes
	PartUnreliableHead             // unreliable messages: section, count and sizes
	PartUnreliable                 // unreliable messages: their bytes
	PartFragmentHead               // fragment: section, transfer, index, size
	PartFragment                   // fragment: bytes of a transfer
	PartClose                      // close: section and reason
	NumParts                       // number of parts
)

var parts = [NumParts]struct{ component, field string }{
	PartSequence: {"packet", "sequence"}, PartAcks: {"packet", "acks"}, PartClock: {"packet", "clock"},
	PartReliableHead: {"reliable", "head"}, PartReliable: {"reliable", "body"},
	PartUnreliableHead: {"unreliable", "head"}, PartUnreliable: {"unreliable", "body"},
	PartFragmentHead: {"transfer", "head"}, PartFragment: {"transfer", "body"},
	PartClose: {"close", ""},
}

// Name returns the names of the part in a bandwidth account.
func (p Part) Name() (component, field string) {
	if p >= NumParts {
		return "invalid", ""
	}
	return parts[p].component, parts[p].field
}

// Meter counts the bytes of packets by part.
type Meter [NumParts]uint64

// Total returns the sum of all parts.
func (m *Meter) Total() (sum uint64) {
	for _, n := range m {
		sum += n
	}
	return sum
}

// Packet adds a packet's header, messages, fragment and close, and returns what follows them:
// nothing, or a Commands or Snapshot section. It accepts all that Peer accepts, and more, because
// it keeps no state. The error is a Drop; then nothing was added.
func (m *Meter) Packet(packet []byte) (rest []byte, err error) {
	_, rest, err = ParseHeader(packet)
	if err != nil {
		return nil, err
	}
	n := Meter{PartSequence: 2, PartAcks: 2 + 8, PartClock: 2 + 2}
	if SectionOf(rest) == SectionReliable {
		if rest, err = n.items(rest, 2, PartReliableHead, DropMessage); err != nil {
			return nil, err
		}
	}
	if SectionOf(rest) == SectionUnreliable {
		if rest, err = n.items(rest, 0, PartUnreliableHead, DropUnreliable); err != nil {
			return nil, err
		}
	}
	if SectionOf(rest) == SectionFragment {
		if rest, err = n.fragment(rest); err != nil {
			return nil, err
		}
	}
	if SectionOf(rest) == SectionClose {
		if len(rest) < 2 {
			return nil, DropReason
		}
		n[PartClose] += 2
		rest = rest[2:]
	}
	for p := range n {
		m[p] += n[p]
	}
	return rest, nil
}

// items reads a section of messages. The head of each message has id bytes of id and one of
// size-1. The part after head counts the messages' bodies.
//
//	1  section
//	1  count
//	   then for each:
//	n  id, of reliable messages
//	1  size-1
//	n  bytes
func (m *Meter) items(src []byte, id int, head Part, bad error) (rest []byte, err error) {
	if len(src) < 2 || src[1] == 0 {
		return nil, bad
	}
	m[head] += 2
	rest = src[2:]
	for range src[1] {
		if len(rest) <= id || len(rest) < id+2+int(rest[id]) {
			return nil, bad
		}
		size := int(rest[id]) + 1
		m[head] += uint64(id) + 1
		m[head+1] += uint64(size)
		rest = rest[id+1+size:]
	}
	return rest, nil
}

// fragment reads a fragment section.
//
//	1  section
//	2  transfer
//	1  index  of the fragment
//	4  size   of the transfer
//	n  bytes  1024, or what remains of the transfer
func (m *Meter) fragment(src []byte) (rest []byte, err error) {
	if len(src) < fragmentHead {
		return nil, DropFragment
	}
	size := min(int64(le.Uint32(src[4:]))-fragmentSize*int64(src[3]), fragmentSize)
	if size <= 0 || int64(len(src)) < fragmentHead+size {
		return nil, DropFragment
	}
	m[PartFragmentHead] += fragmentHead
	m[PartFragment] += uint64(size)
	return src[fragmentHead+size:], nil
}

// Reason returns one of three words for a part: message, head or header.
func (p Part) Reason() string {
	switch p {
	case PartReliable, PartUnreliable, PartFragment:
		return "message"
	case PartReliableHead, PartUnreliableHead, PartFragmentHead, PartClose:
		return "head"
	}
	return "header"
}
