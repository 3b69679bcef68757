package packet

// Part is what bytes of a package are for, but for commands and snapshots, which their owners know.
type Part uint8

// The parts, in the order in which they stand.
const (
	PartSequence       Part = iota // header: which package it is
	PartAcks                       // header: which packages have come
	PartClock                      // header: when it was sent, and the echo
	PartReliableHead               // events: section, count, ids and sizes
	PartReliable                   // events: what they say
	PartUnreliableHead             // notes: section, count and sizes
	PartUnreliable                 // notes: what they say
	PartFragmentHead               // fragment: section, which blob, which part, size
	PartFragment                   // fragment: bytes of a blob
	PartClose                      // close: section and reason
	NumParts                       // how many parts there are
)

var parts = [NumParts]struct{ component, field string }{
	PartSequence: {"packet", "sequence"}, PartAcks: {"packet", "acks"}, PartClock: {"packet", "clock"},
	PartReliableHead: {"reliable", "head"}, PartReliable: {"reliable", "body"},
	PartUnreliableHead: {"unreliable", "head"}, PartUnreliable: {"unreliable", "body"},
	PartFragmentHead: {"transfer", "head"}, PartFragment: {"transfer", "body"},
	PartClose: {"close", ""},
}

// Name is how accounts call the part: what it belongs to and what of that it is.
func (p Part) Name() (component, field string) {
	if p >= NumParts {
		return "invalid", ""
	}
	return parts[p].component, parts[p].field
}

// Meter counts bytes of packages by part.
type Meter [NumParts]uint64

// Total is the sum of all parts, in bytes.
func (m *Meter) Total() (sum uint64) {
	for _, n := range m {
		sum += n
	}
	return sum
}

// Packet adds a package's header and its events, notes, fragment and close, and returns what follows these: nothing, or
// Commands or Snapshot with the section byte. It takes what Peer takes, and more, as it remembers nothing. The error is a
// Drop; then nothing was added.
func (m *Meter) Packet(pack []byte) (rest []byte, err error) {
	_, rest, err = ParseHeader(pack)
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

// items reads a section of events or notes, whose heads have so many bytes of id and one of size-1. The part behind head is
// that of their bodies.
//
//	1  section
//	1  count
//	   then for each:
//	n  id, of events
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

// fragment reads a part of a blob.
//
//	1  section
//	2  blob
//	1  index  of the fragment
//	4  size   of the blob
//	n  bytes  1024, or what remains of the blob
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

// Reason puts the parts of a package in three words: what is in its messages, their heads, and the header.
func (p Part) Reason() string {
	switch p {
	case PartReliable, PartUnreliable, PartFragment:
		return "message"
	case PartReliableHead, PartUnreliableHead, PartFragmentHead, PartClose:
		return "head"
	}
	return "header"
}
