package netcode

import (
	"net/netip"
	"time"

	"github.com/tickrate/tickrate/internal/ratelimit"
)

// Limits of answers to pings, a second and at once. A client sends three.
const (
	pingsPerSecond  = 4096
	pingsPerNetwork = 512 // from one /24 or /48
	pingNetworks    = 1024
)

// pingBudget limits answers to pings, which anybody may send in the name of anybody.
type pingBudget struct {
	all      ratelimit.Bucket
	networks [pingNetworks]ratelimit.Bucket // two networks may share one
	seed     [2]uint64
}

func newPingBudget(seed [2]uint64) *pingBudget {
	b := &pingBudget{all: ratelimit.NewBurst(pingsPerSecond, pingsPerSecond), seed: seed}
	for i := range b.networks {
		b.networks[i] = ratelimit.NewBurst(pingsPerNetwork, pingsPerNetwork)
	}
	return b
}

func (b *pingBudget) allow(now time.Duration, from netip.AddrPort) bool {
	network := &b.networks[addressKey(from).network().hash(b.seed)%pingNetworks]
	return network.Allow(now, 1) && b.all.Allow(now, 1)
}

// ping answers a ping, unless the server takes no clients now: then another address is the better
// choice.
func (s *Server) ping(now time.Duration, from netip.AddrPort, datagram []byte, out *Outbox) Drop {
	tag, why := parsePing(datagram, s.cfg.ProtocolID)
	if why != DropNone {
		return why
	}
	if s.stopped || s.paused || !s.pings.allow(now, from) {
		return DropPing
	}
	s.answer(KindPong, appendPong(out.bytes, tag), len(datagram), from, out)
	return DropNone
}
