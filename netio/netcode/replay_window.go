package netcode

import "github.com/tickrate/tickrate/internal/planted"

const (
	windowSize = 1024 // 8 s at 128 datagrams a second
	windowMask = windowSize/64 - 1
)

// ReplayWindow remembers which of the newest 1024 sequences were received. The zero value has received none.
//
// A sequence is first checked, then its datagram opened, and only then recorded: a forgery must not move the window.
type ReplayWindow struct {
	newest uint64
	bits   [windowSize / 64]uint64 // of sequence s, bit s mod 1024; those of sequences older than the window are clear
}

// Check says whether a sequence may be received: DropNone, DropTooOld or DropReplay. Ages 0 to 1023 have an entry.
func (w *ReplayWindow) Check(sequence uint64) Drop {
	if sequence < w.newest && w.newest-sequence >= windowSize { // a sum would overflow near 2^64
		return DropTooOld
	}
	if sequence <= w.newest && w.bits[sequence>>6&windowMask]>>(sequence&63)&1 != 0 && !planted.On(planted.ReplayTaken) {
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

// advance makes room: the entries of the sequences in between belonged to older ones.
func (w *ReplayWindow) advance(sequence uint64) {
	if sequence-w.newest >= windowSize {
		w.bits = [windowSize / 64]uint64{}
	} else {
		for s := w.newest; s != sequence; { // one step, but for loss; no <=, as sequence may be the last number there is
			s++
			w.bits[s>>6&windowMask] &^= 1 << (s & 63)
		}
	}
	w.newest = sequence
}

// Newest is the highest sequence recorded; 0 if none was.
func (w *ReplayWindow) Newest() uint64 { return w.newest }
