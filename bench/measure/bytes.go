package measure

import (
	"cmp"
	"fmt"
	"slices"
)

// Cell is the bits that one field took for one reason. Field is empty for bits of no field.
type Cell struct {
	Component string `json:"component"`
	Field     string `json:"field,omitempty"`
	Reason    string `json:"reason"`
	Bits      uint64 `json:"bits"`
}

// Name is the component with its field or, without a field, with the reason: "player.yaw", "player
// mask".
func (c Cell) Name() string {
	if c.Field == "" {
		return c.Component + " " + c.Reason
	}
	return c.Component + "." + c.Field
}

// Bytes that UDP and IP add to a datagram.
const (
	OverIPv4 = 8 + 20
	OverIPv6 = 8 + 40
)

// Bytes divides the bytes that a sample of a step's clients received into cells.
type Bytes struct {
	Clients   int    `json:"clients"` // in the sample
	Duration  Span   `json:"duration_ms"`
	Datagrams uint64 `json:"datagrams"`      // of all clients in the sample
	Received  uint64 `json:"received_bytes"` // UDP payload in those datagrams
	Cells     []Cell `json:"cells"`
}

// Check returns an error unless the cells add up to what was received, to the bit.
func (b *Bytes) Check() error {
	if sum := b.bits(); sum != 8*b.Received {
		return fmt.Errorf("the byte counts add up to %d bits: expected %d, as received", sum, 8*b.Received)
	}
	return nil
}

func (b *Bytes) bits() (sum uint64) {
	for _, c := range b.Cells {
		sum += c.Bits
	}
	return sum
}

// each converts bits of all clients to bytes per second of one client; 0 if nothing was measured.
func (b *Bytes) each(bits uint64) float64 {
	if b.Clients <= 0 || b.Duration.Duration <= 0 {
		return 0
	}
	return float64(bits) / 8 / b.Duration.Seconds() / float64(b.Clients)
}

// PerSecond is the UDP payload that one client received, bytes a second.
func (b *Bytes) PerSecond() float64 { return b.each(8 * b.Received) }

// DatagramsPerSecond is how many datagrams one client received per second.
func (b *Bytes) DatagramsPerSecond() float64 { return b.each(8 * b.Datagrams) }

// Share is one part of the received bytes.
type Share struct {
	Name      string
	PerSecond float64 // bytes, one client
	Percent   float64 // of all
}

// By groups the cells by the result of name, the largest group first. Cells with the name "" are
// left out.
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

// Components are the shares of components: players, owners, encryption and others.
func (b *Bytes) Components() []Share { return b.By(func(c Cell) string { return c.Component }) }

// Names are the shares of fields, and of reasons for bits that belong to no field.
func (b *Bytes) Names() []Share { return b.By(Cell.Name) }

// Reasons are the shares of the reasons of one component: updates, spawns, masks.
func (b *Bytes) Reasons(component string) []Share {
	return b.By(func(c Cell) string {
		if c.Component != component {
			return ""
		}
		return c.Reason
	})
}
