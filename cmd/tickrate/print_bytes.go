package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/tickrate/tickrate/bench/measure"
)

// most is how many fields of a component are named, and leastPercent which of them are worth it.
const (
	most         = 5
	leastPercent = 0.1
)

// printBytes says where the bytes went that clients received: a line a component, with its largest
// fields and reasons.
func printBytes(w io.Writer, players int, b *measure.Bytes) {
	proof := "every bit accounted for"
	if err := b.Check(); err != nil {
		proof = err.Error()
	}
	fmt.Fprintf(w, "bytes down at %d players: %.0f B/s a client in %.1f datagrams (%d clients sampled, %s)\n",
		players, b.PerSecond(), b.DatagramsPerSecond(), b.Clients, proof)
	for _, s := range b.Components() {
		fmt.Fprintf(w, "  %-9s %9.0f B/s %5.1f %%  %s\n", s.Name, s.PerSecond, s.Percent, largest(b, s.Name))
	}
	fmt.Fprintf(w, "  beneath   %9.0f B/s more for UDP and IPv4, %d B a datagram; IPv6 %d\n",
		measure.OverIPv4*b.DatagramsPerSecond(), measure.OverIPv4, measure.OverIPv6)
}

// largest names what most bytes of a component are for.
func largest(b *measure.Bytes, component string) string {
	var said []string
	for _, s := range b.By(func(c measure.Cell) string {
		if c.Component != component {
			return ""
		}
		return strings.TrimLeft(c.Name()[len(component):], ". ")
	}) {
		if len(said) == most || s.Percent < leastPercent {
			break
		}
		said = append(said, fmt.Sprintf("%s %.1f %%", s.Name, s.Percent))
	}
	return strings.Join(said, ", ")
}
