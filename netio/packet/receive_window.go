package packet

// maxAhead is how far a sequence may jump over lost ones: a quarter of the 16-bit range, as in
// FPSSample.
const maxAhead = 16383

// receiveWindow remembers which of the peer's sequences arrived. Sequences have 64 bits inside
// and 16 on the wire.
type receiveWindow struct {
	newest uint64 // highest sequence received; 0 none
	bits   uint64 // bit n: newest-1-n received
}

// expand widens a 16-bit sequence and checks whether it may be accepted. It changes nothing.
func (w *receiveWindow) expand(seq uint16) (uint64, error) {
	d := int(int16(seq - uint16(w.newest)))
	switch {
	case d > maxAhead:
		return 0, DropFuture
	case d > 0:
		return w.newest + uint64(d), nil
	case d < -64 || uint64(-d) >= w.newest: // behind the window or before the first sequence
		return 0, DropStale
	case d == 0 || w.bits>>(-d-1)&1 != 0:
		return 0, DropDuplicate
	}
	return w.newest - uint64(-d), nil
}

// mark records the arrival of a sequence that expand returned.
func (w *receiveWindow) mark(s uint64) {
	if s < w.newest {
		w.bits |= 1 << (w.newest - s - 1)
		return
	}
	d := s - w.newest // a shift by 64 or more gives 0, which is what a longer gap means
	w.bits <<= d
	if w.newest != 0 {
		w.bits |= 1 << (d - 1)
	}
	w.newest = s
}

// AckState is the set of the other end's packets that had arrived at some moment. Newest is the
// highest sequence, 0 for none. Bit n of Bits is set if Newest-1-n had arrived.
type AckState struct{ Newest, Bits uint64 }

// AckState returns the packets that have arrived so far. A packet sent now acknowledges just
// these.
func (p *Peer) AckState() AckState { return AckState{p.in.newest, p.in.bits} }

// Has reports whether a packet had arrived. It returns true for packets more than 64 behind,
// which can no longer be accepted.
func (a AckState) Has(seq uint64) bool {
	switch {
	case seq > a.Newest:
		return false
	case seq == a.Newest || a.Newest-seq > 64:
		return true
	}
	return a.Bits>>(a.Newest-seq-1)&1 != 0
}
