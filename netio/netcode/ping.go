package netcode

import (
	"crypto/sha256"
	"encoding/binary"
	"time"
)

// A ping asks a server how far away it is, before there is a session. It is not sealed:
//
//	1   8
//	8   protocol id
//	8   tag          any
//	15  zeros        so that the answer is shorter than amplification allows
//
// The answer:
//
//	1   9
//	8   tag          of the ping
//
// A server keeps nothing of a ping, and answers no answer: two servers cannot be set at each other.
const (
	pingSize = 32
	pongSize = 9
)

func appendPing(dst []byte, protocolID, tag uint64) []byte {
	end := len(dst) + pingSize
	dst = append(dst, byte(KindPing))
	dst = binary.LittleEndian.AppendUint64(dst, protocolID)
	dst = binary.LittleEndian.AppendUint64(dst, tag)
	return append(dst, zeros[:end-len(dst)]...)
}

// parsePing reads a ping of a protocol. The zeros are ignored.
func parsePing(src []byte, protocolID uint64) (tag uint64, why Drop) {
	if len(src) != pingSize {
		return 0, DropSize
	}
	if binary.LittleEndian.Uint64(src[1:]) != protocolID {
		return 0, DropReqProtocol
	}
	return binary.LittleEndian.Uint64(src[9:]), DropNone
}

func appendPong(dst []byte, tag uint64) []byte {
	return binary.LittleEndian.AppendUint64(append(dst, byte(KindPong)), tag)
}

func parsePong(src []byte) (tag uint64, why Drop) {
	if len(src) != pongSize {
		return 0, DropSize
	}
	return binary.LittleEndian.Uint64(src[1:]), DropNone
}

// pinging is the choice of a client among the addresses of its token.
type pinging struct {
	*Nearest        // nil: there is one address, or the choice is the token's order
	secret   uint64 // of the tags, which only the client and the servers that it asks know
}

// pingSecret is drawn from the token, since a client has no randomness of its own.
func pingSecret(t *PublicToken) uint64 {
	h := sha256.New()
	h.Write([]byte("tickrate ping\x00"))
	h.Write(t.ClientToServer[:])
	h.Write(t.Nonce[:])
	return binary.LittleEndian.Uint64(h.Sum(nil)) &^ 0xffff
}

// tag is the secret, and in its low bytes the address and the round.
func (p *pinging) tag(server, round int) uint64 {
	return p.secret | uint64(server)<<8 | uint64(round)
}

// nearest pings the addresses of the token, and reports whether the choice is still open. Once it is
// made, the token has the addresses in its order.
func (c *Client) nearest(now time.Duration, out *Outbox) (open bool) {
	p := &c.pinging
	if p.decided {
		return false
	}
	if !p.Decide(now) {
		if round, due := p.Round(now); due {
			c.ping(round, out)
		}
		return true
	}
	given := c.token.Servers
	for at, i := range p.Order() {
		c.token.Servers[at] = given[i]
	}
	c.dial(now, 0)
	return false
}

func (c *Client) ping(round int, out *Outbox) {
	for i, at := range c.token.Servers[:c.token.NumServers] {
		out.commit(appendPing(out.bytes, c.token.ProtocolID, c.pinging.tag(i, round)), at)
		c.counters.Sent[KindPing]++
	}
}

// pong takes the answer to a ping. Its source does not matter, since its tag says what it answers.
func (c *Client) pong(now time.Duration, datagram []byte) Drop {
	tag, why := parsePong(datagram)
	switch {
	case why != DropNone:
		return why
	case c.pinging.Nearest == nil:
		return DropState
	case tag&^0xffff != c.pinging.secret || !c.pinging.Answer(now, int(tag>>8&0xff), int(tag&0xff)):
		return DropPing
	}
	return DropNone
}

// Pings returns what the client's pings have shown of the addresses of its token, in the token's
// order; nil if it sends none, see ClientConfig.Nearest. It allocates.
func (c *Client) Pings() []ServerPing {
	if c.pinging.Nearest == nil {
		return nil
	}
	return c.pinging.Nearest.Pings()
}

// ChoiceTime returns how long the choice among several addresses took; 0 if there was none.
func (c *Client) ChoiceTime() time.Duration {
	if c.pinging.Nearest == nil {
		return 0
	}
	return c.pinging.Duration()
}
