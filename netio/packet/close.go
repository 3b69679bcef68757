package packet

// CloseRepeats is how often a package that closes a session is sent, each a package of its own, as nothing acknowledges it.
const CloseRepeats = 10

// AppendClose adds the section that ends the session to a package of which nothing but events, notes and a fragment has
// been written. Send CloseRepeats such packages, then let go of the peer.
//
//	1  section 6
//	1  reason
func (p *Peer) AppendClose(dst []byte, why Reason) []byte {
	return append(dst, byte(SectionClose), byte(why))
}

// Closed returns why the other end closed the session, if it did. From then on packages are refused.
func (p *Peer) Closed() (Reason, bool) { return p.closed, p.closed != 0 }

// parseClose reads the section at the front of src.
func (p *Peer) parseClose(src []byte) (rest []byte, err error) {
	if len(src) < 2 || !Reason(src[1]).Valid() {
		return nil, DropReason
	}
	p.closed = Reason(src[1])
	return src[2:], nil
}
