package packet

// CloseRepeats is how many packets a sender closes a session with, because nothing acknowledges a
// close.
const CloseRepeats = 10

// AppendClose adds a close to the packet that Append began last, after messages and a fragment.
// Send CloseRepeats such packets, then drop the peer.
//
//	1  section 6
//	1  reason
func (p *Peer) AppendClose(dst []byte, why Reason) []byte {
	return append(dst, byte(SectionClose), byte(why))
}

// Closed returns why the other end closed the session. From then on Receive refuses packets.
func (p *Peer) Closed() (Reason, bool) { return p.closed, p.closed != 0 }

// parseClose reads the section at the front of src.
func (p *Peer) parseClose(src []byte) (rest []byte, err error) {
	if len(src) < 2 || !Reason(src[1]).Valid() {
		return nil, DropReason
	}
	p.closed = Reason(src[1])
	return src[2:], nil
}
