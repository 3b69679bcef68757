package netcode

// Datagrams of KindPath carry a client's session to another address. They are sealed with the keys and counted with
// the sequences of the session, and have between header and body, authenticated with it:
//
//	8  session id  0 while the client has none; a key to look up, and no proof
//
// The body:
//
//	1  op      0 hello      client, known address: I know kind 7; session id 0
//	           1 grant      server: 8 bytes, your session id
//	           2 probe      client, any address: zeros, until the datagram has 192 bytes
//	           3 challenge  server, to the new address: 16 unpredictable bytes
//	           4 echo       client, new address: the same bytes
//
// The old address serves until the echo has come. A probe or echo from a new address counts only if it has the highest
// sequence that the session has seen: so no delayed or recorded one can pull it back.
const (
	pathHello = iota
	pathGrant
	pathProbe
	pathChallenge
	pathEcho
)

const proofSize = 16

// probeBody is how long the body of a probe is behind a header of the given size.
func probeBody(header int) int { return probeSize - header - 8 - tagSize }

// pathFits says whether a body of this length, op included, is what its op carries.
func pathFits(op byte, n int) bool {
	switch op {
	case pathHello:
		return n == 1
	case pathGrant:
		return n == 1+8
	case pathProbe:
		return true // its datagram's length decides
	case pathChallenge, pathEcho:
		return n == 1+proofSize
	}
	return false
}
