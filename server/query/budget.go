package query

import (
	"net/netip"

	"github.com/tickrate/tickrate/internal/ratelimit"
)

// buckets is the number of token buckets; networks with the same hash share one.
const buckets = 4096

// budget is a token bucket for each network, in constant memory.
type budget [buckets]ratelimit.Bucket

// fill fills all buckets.
func (b *budget) fill(full ratelimit.Bucket) {
	for i := range b {
		b[i] = full
	}
}

// of returns the bucket of an address's network: /24 of IPv4, /48 of IPv6.
func (b *budget) of(key [2]uint64, at netip.AddrPort) *ratelimit.Bucket {
	ip := at.Addr().Unmap()
	a := ip.As16()
	network := a[:6]
	if ip.Is4() {
		network = a[:15] // ten zeros, two 0xff, and three of the address
	}
	return &b[siphash(key, network)%buckets]
}
