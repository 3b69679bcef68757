package netcode

import "time"

// Sizes and times of the standard.
const (
	TokenSize    = 2048 // a public token, as a client gets it
	UserDataSize = 256  // what a backend may say about a client to the server
	MaxPayload   = 1200 // bytes of an application in one datagram
	MaxDatagram  = 1225 // the longest datagram sent: a payload with an eight byte sequence
	MaxServers   = 32   // addresses in a token

	sendEvery         = 100 * time.Millisecond // requests, responses and keep-alives, since the last datagram of any kind
	disconnectRepeats = 10                     // disconnect datagrams, sent at once
	maxReceived       = 1300                   // longer datagrams are not looked at
	tagSize           = 16
	requestSize       = 1078
	bodySize          = 8 + sealedChallengeSize // of a challenge and of its response
)

// Limits of our own.
const (
	MaxClients = 10_000 // slots of a Server

	globalBase    = 1 << 63                // sequences sealed before a slot exists lie above it
	sequenceLimit = 1 << 62                // a session ends before its sequence reaches it: a nonce is never used twice
	takeoverAfter = time.Second            // a session heard more recently than that is not taken over
	challengeGap  = 250 * time.Millisecond // between two path challenges of a session
	challengeLife = time.Second            // of a path challenge
	packetBurst   = 64                     // a session may send at once, beyond its rate
	kickAfter     = 5 * time.Second        // of ten times its rate
	probeSize     = 192                    // the least size of a probe, so that its answer of 50 B stays small beside it
)

// Nothing that is sent to an unproven address may be longer than amplification times what came from it.
const amplification = 0.31

// version opens tokens and requests and is part of what every seal authenticates.
const version = "NETCODE 1.02\x00"
