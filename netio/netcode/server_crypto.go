package netcode

import (
	"crypto/cipher"
	"math/rand/v2"
)

// serverCrypto holds what a server seals and opens with, and memory for what it opens.
type serverCrypto struct {
	sealer            sealer
	private           cipher.AEAD // of private tokens
	challengeAEAD     cipher.AEAD // of challenge tokens; its key is new at every start, and that of all members
	challengeSequence uint64      // of the next challenge
	globalSequence    uint64      // of the next datagram that is sealed without a slot

	token     PrivateToken // the last one opened
	opened    [privateSize]byte
	tokenData [29]byte // authenticated with a private token
	echoed    challenge
}

func newServerCrypto(c *ServerConfig, rng *rand.ChaCha8) serverCrypto {
	s := serverCrypto{sealer: newSealer(c.ProtocolID), private: privateAEAD(&c.PrivateKey)}
	var challengeKey Key
	_, _ = c.challengeSource(rng).Read(challengeKey[:]) // never fails
	s.challengeAEAD = packetAEAD(&challengeKey)
	s.challengeSequence = uint64(c.Group.Member) << 48
	s.globalSequence = globalBase + rng.Uint64()>>2
	return s
}

// challengeSource is the randomness for the key of challenges, which a group shares.
func (c *ServerConfig) challengeSource(rng *rand.ChaCha8) *rand.ChaCha8 {
	if c.Group.Index == nil {
		return rng
	}
	e := c.Entropy
	e[30] ^= 1 // for this use alone
	return rand.NewChaCha8(e)
}
