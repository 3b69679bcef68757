package netcode

const (
	windowSize = 1024 // 8 s at 128 datagrams a second
	windowMask = windowSize/64 - 1
)

// ReplayWindow remembers which of the newest 1024 sequences were received. The zero value has
// received none.
//
// Check a sequence first, then open its datagram, and Record only then: a forgery must not move
// the window.
type ReplayWindow struct {
	newest uint64
	bits   [windowSize / 64]uint64 // bit s mod 1024 of sequence s; clear for sequences not received
}

// Check reports whether a sequence may be received: DropNone, DropTooOld or DropReplay. Ages 0 to
// 1023 are inside the window.
func (w *ReplayWindow) Check(sequence uint64) Drop {
	if sequence < w.newest && w.newest-sequence >= windowSize { // a sum overflows near 2^64
		return DropTooOld
	}
	if sequence <= w.newest && w.bits[sequence>>6&windowMask]>>(sequence&63)&1 != 0 {
		return DropReplay
	}
	return DropNone
}

// Record marks a sequence that passed Check as received.
func (w *ReplayWindow) Record(sequence uint64) {
	if sequence > w.newest {
		w.advance(sequence)
	}
	w.bits[sequence>>6&windowMask] |= 1 << (sequence & 63)
}

// advance clears the bits of the sequences in between, which belonged to older ones.
func (w *ReplayWindow) advance(sequence uint64) {
	if sequence-w.newest >= windowSize {
		w.bits = [windowSize / 64]uint64{}
	} else {
		for s := w.newest; s != sequence; { // no <=, because sequence may be 2^64-1
			s++
			w.bits[s>>6&windowMask] &^= 1 << (s & 63)
		}
	}
	w.newest = sequence
}

// Newest returns the highest sequence recorded; 0 if none was.
func (w *ReplayWindow) Newest() uint64 { return w.newest }
