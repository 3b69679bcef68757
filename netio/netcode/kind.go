package netcode

// Kind is the low half of a datagram's first byte.
type Kind uint8

// The kinds of the standard, and one of ours, which others ignore.
const (
	KindRequest    Kind = iota // client: the sealed token; the only datagram that is not sealed itself
	KindDenied                 // server: no place
	KindChallenge              // server: prove that you hear me
	KindResponse               // client: the challenge again
	KindKeepAlive              // both
	KindPayload                // both: 1 to MaxPayload bytes of the application
	KindDisconnect             // both
	KindPath                   // both: a client has moved to another address, see Path
	numKinds
)

// String names the kind.
func (k Kind) String() string {
	if k >= numKinds {
		return "invalid"
	}
	return [numKinds]string{"request", "denied", "challenge", "response", "keep-alive", "payload", "disconnect", "path"}[k]
}

// KindOf returns what a datagram claims to be; an empty one claims an invalid kind.
func KindOf(datagram []byte) Kind {
	if len(datagram) == 0 {
		return 0xff
	}
	return Kind(datagram[0] & 15)
}

// IsHandshake reports whether a datagram may be from a stranger: it looks at the first byte alone. An owner goes through every
// received batch twice: first it gives the Server the datagrams for which this is false, which are of established
// sessions or cost no cryptography, then the others. So a flood of strangers, whose tokens cost five times as much to
// open, does not delay the players of the same batch.
func IsHandshake(datagram []byte) bool {
	k := KindOf(datagram)
	return k < KindKeepAlive || k > KindDisconnect
}

// replayProtected says for which kinds a replay window decides.
func (k Kind) replayProtected() bool { return k >= KindKeepAlive && k <= KindPath }
