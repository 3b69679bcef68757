package netcode

import "time"

// Sizes and times of the standard.
const (
	TokenSize    = 2048 // a public token, as a client gets it
	UserDataSize = 256  // opaque data from the backend to the server
	MaxPayload   = 1200 // bytes of an application in one datagram
	MaxDatagram  = 1225 // the longest datagram sent: a payload with an eight byte sequence
	MaxServers   = 32   // addresses in a token

	// requests, responses and keep-alives, since the last datagram of any kind
	sendEvery         = 100 * time.Millisecond
	disconnectRepeats = 10   // disconnects, sent at once
	maxReceived       = 1300 // bytes; longer datagrams are dropped
	tagSize           = 16
	requestSize       = 1078
	bodySize          = 8 + sealedChallengeSize // of a challenge and of its response
)

// Limits of our own.
const (
	MaxClients = 10_000 // slots of a Server

	globalBase    = 1 << 63                // first sequence of datagrams sealed without a slot
	sequenceLimit = 1 << 62                // a session ends before it, so no nonce repeats
	takeoverAfter = time.Second            // a session that was silent for less is not taken over
	challengeGap  = 250 * time.Millisecond // between two path challenges of a session
	challengeLife = time.Second            // of a path challenge
	packetBurst   = 64                     // datagrams of a session at once, beyond its rate
	kickAfter     = 5 * time.Second        // of floodFactor times the rate
	probeSize     = 192                    // least size of a probe, whose answer has 50 bytes
)

// amplification bounds what is sent to an unproven address: no more than this share of what came
// from it.
const amplification = 0.31

// version begins tokens and requests and is authenticated with every seal.
const version = "NETCODE 1.02\x00"
