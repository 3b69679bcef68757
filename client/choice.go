package client

import (
	"net/netip"
	"time"

	"github.com/tickrate/tickrate/netio/netcode"
)

// Addresses returns the addresses that the token names: datagrams of Outgoing go to one of them. It
// allocates.
func (c *conn) Addresses() []netip.AddrPort { return c.dial.Addresses() }

// Choice says how the client has chosen Server.
type Choice struct {
	Server netip.AddrPort
	Pings  []netcode.ServerPing // of each address, in the token's order; nil: there was one
	Took   time.Duration        // from the first ping; 0: not chosen yet, or there was one address
}

// Choice returns the address that the client has chosen out of those in the token, and what its
// pings have shown of each. It allocates.
func (c *conn) Choice() Choice {
	return Choice{Server: c.dial.Server(), Pings: c.dial.Pings(), Took: c.dial.ChoiceTime()}
}
