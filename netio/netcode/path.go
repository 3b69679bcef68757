package netcode

// Datagrams of KindPath move a client's session to another address. They are sealed with the keys
// and counted with the sequences of the session. Between header and body they carry a session id
// that is authenticated with it:
//
//	8  session id  0 while the client has none; it finds the session and proves nothing
//
// The body:
//
//	1  op      0 hello      client, known address: I know kind 7; session id 0
//	           1 grant      server: 8 bytes, your session id
//	           2 probe      client, any address: zeros, until the datagram has 192 bytes
//	           3 challenge  server, to the new address: 16 unpredictable bytes
//	           4 echo       client, new address: the same bytes
//
// The old address serves until the echo has come. A probe or echo from a new address counts only
// if it has the highest sequence of the session, so that no delayed or recorded one can move it
// back.
const (
	pathHello = iota
	pathGrant
	pathProbe
	pathChallenge
	pathEcho
)

const proofSize = 16

// probeBody returns the length of a probe's body after a header of the given size.
func probeBody(header int) int { return probeSize - header - 8 - tagSize }

// pathFits reports whether a body of n bytes, op included, has the length of its op.
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
