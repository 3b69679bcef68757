package netcode

// Kind is the low half of a datagram's first byte.
type Kind uint8

// The kinds of the standard, and those that other implementations ignore: KindPath and the pings.
const (
	KindRequest    Kind = iota // client: the sealed token; the datagram is not sealed
	KindDenied                 // server: no slot
	KindChallenge              // server: asks for proof of the client's address
	KindResponse               // client: returns the challenge
	KindKeepAlive              // both
	KindPayload                // both: 1 to MaxPayload bytes of the application
	KindDisconnect             // both
	KindPath                   // both: a client's address has changed
	KindPing                   // client: how far is this server; not sealed
	KindPong                   // server: the answer, not sealed
	numKinds
)

// String names the kind.
func (k Kind) String() string {
	if k >= numKinds {
		return "invalid"
	}
	return [numKinds]string{"request", "denied", "challenge", "response", "keep-alive", "payload",
		"disconnect", "path", "ping", "pong"}[k]
}

// KindOf returns the kind that a datagram claims to be; an invalid kind for an empty one.
func KindOf(datagram []byte) Kind {
	if len(datagram) == 0 {
		return 0xff
	}
	return Kind(datagram[0] & 15)
}

// IsHandshake reports whether a datagram may be from an address without a session, by its first
// byte alone. An owner passes over every received batch twice: first it gives the Server the
// datagrams for which IsHandshake is false, then the others. So a flood of tokens, which cost
// five times as much to open, does not delay the players of the same batch.
func IsHandshake(datagram []byte) bool {
	k := KindOf(datagram)
	return k < KindKeepAlive || k > KindDisconnect
}

// replayProtected reports whether the replay window applies to a kind.
func (k Kind) replayProtected() bool { return k >= KindKeepAlive && k <= KindPath }
