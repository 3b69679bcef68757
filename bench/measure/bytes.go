package measure

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Cell is one entry of an account: what Bits were sent for. Field is empty where they are of no field.
type Cell struct {
	Component string `json:"component"`
	Field     string `json:"field,omitempty"`
	Reason    string `json:"reason"`
	Bits      uint64 `json:"bits"`
}

// Name is the cell's field with its component before it or, where it has none, its reason: "player.yaw", "player mask".
func (c Cell) Name() string {
	if c.Field == "" {
		return c.Component + " " + c.Reason
	}
	return c.Component + "." + c.Field
}

// UDP and IP add so much to a datagram, in bytes.
const (
	OverIPv4 = 8 + 20
	OverIPv6 = 8 + 40
)

// Bytes is what the bits were for that a sample of a step's clients received.
type Bytes struct {
	Clients   int           `json:"clients"` // in the sample
	Duration  time.Duration `json:"duration_ns"`
	Datagrams uint64        `json:"datagrams"`      // that their sockets gave, all together
	Received  uint64        `json:"received_bytes"` // in those: UDP payload
	Cells     []Cell        `json:"cells"`
}

// Check says whether the cells add up to what the sockets gave, to the bit.
func (b *Bytes) Check() error {
	if sum := b.bits(); sum != 8*b.Received {
		return fmt.Errorf("the account of bytes has %d bits, and %d were received", sum, 8*b.Received)
	}
	return nil
}

func (b *Bytes) bits() (sum uint64) {
	for _, c := range b.Cells {
		sum += c.Bits
	}
	return sum
}

// each is how much so many bits in all are to one client, in bytes a second; 0 if nothing was measured.
func (b *Bytes) each(bits uint64) float64 {
	if b.Clients <= 0 || b.Duration <= 0 {
		return 0
	}
	return float64(bits) / 8 / b.Duration.Seconds() / float64(b.Clients)
}

// PerSecond is what one client received, in bytes a second of UDP payload.
func (b *Bytes) PerSecond() float64 { return b.each(8 * b.Received) }

// DatagramsPerSecond is how many datagrams one client received.
func (b *Bytes) DatagramsPerSecond() float64 { return b.each(8 * b.Datagrams) }

// Share is one part of what clients received.
type Share struct {
	Name      string
	PerSecond float64 // bytes, one client
	Percent   float64 // of all
}

// By sums the cells that have the same name, the largest sum first; those that name calls "" are left out.
func (b *Bytes) By(name func(Cell) string) []Share {
	sums, all := map[string]uint64{}, b.bits()
	for _, c := range b.Cells {
		sums[name(c)] += c.Bits
	}
	var shares []Share
	for n, bits := range sums {
		if n != "" && bits > 0 {
			shares = append(shares, Share{n, b.each(bits), 100 * float64(bits) / float64(all)})
		}
	}
	slices.SortFunc(shares, func(x, y Share) int {
		return cmp.Or(-cmp.Compare(x.Percent, y.Percent), cmp.Compare(x.Name, y.Name))
	})
	return shares
}

// Components are the shares of players' rows, of their owners' rows, of seals and so on.
func (b *Bytes) Components() []Share { return b.By(func(c Cell) string { return c.Component }) }

// Names are the shares of single fields and, of what is no field's, of single reasons.
func (b *Bytes) Names() []Share { return b.By(Cell.Name) }

// Reasons are the shares of the reasons of some component: what is an update, a spawn, a mask.
func (b *Bytes) Reasons(component string) []Share {
	return b.By(func(c Cell) string {
		if c.Component != component {
			return ""
		}
		return c.Reason
	})
}
