package query

import (
	"net/netip"
	"time"
)

// buckets is how many networks have a budget of their own; two that share one share its budget.
const buckets = 4096

// bucket is how much of a budget is spent: the zero value owes nothing.
type bucket struct {
	debt int64 // microseconds until it is paid off
	at   time.Duration
}

// take spends n of a budget of some a second, if there is room in the burst.
func (b *bucket) take(now time.Duration, n, perSecond, burst int) bool {
	if now > b.at {
		b.debt = max(0, b.debt-int64((now-b.at)/time.Microsecond))
		b.at = now.Truncate(time.Microsecond)
	}
	price := max(1, int64(time.Second/time.Microsecond)/int64(perSecond))
	if b.debt+int64(n)*price > int64(burst)*price {
		return false
	}
	b.debt += int64(n) * price
	return true
}

// budget is a bucket for each network, in constant memory.
type budget [buckets]bucket

// of is the bucket of an address's network: /24 of IPv4, /48 of IPv6.
func (b *budget) of(key [2]uint64, at netip.AddrPort) *bucket {
	ip := at.Addr().Unmap()
	a := ip.As16()
	network := a[:6]
	if ip.Is4() {
		network = a[:15] // ten zeros, two 0xff, and three of the address
	}
	return &b[siphash(key, network)%buckets]
}
