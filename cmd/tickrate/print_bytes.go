// The byte account of clients as text, for plan and swarm.

package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/tickrate/tickrate/bench/measure"
)

// Fields and reasons that are named for a component: at most maxNamed, each at least minPercent of
// all bytes.
const (
	maxNamed   = 5
	maxColumns = 46 // of the names of a component, what is left of a line of 80
	minPercent = 0.1
)

// printBytes prints the bytes that clients received by component, with the largest fields and
// reasons of each, and the overhead of UDP and IP beneath.
func printBytes(w io.Writer, people string, b *measure.Bytes) {
	fmt.Fprintf(w, "bytes down, %s: %.0f B/s and %.1f datagrams/s a client (%d sampled)\n",
		people, b.PerSecond(), b.DatagramsPerSecond(), b.Clients)
	if err := b.Check(); err != nil { // else every bit is accounted for
		printWrapped(w, "  "+err.Error())
	}
	for _, s := range b.Components() {
		fmt.Fprintf(w, "  %-9s %9.0f B/s %5.1f %%  %s\n", s.Name, s.PerSecond, s.Percent, largest(b, s.Name))
	}
	fmt.Fprintf(w, "  beneath   %9.0f B/s more for UDP and IPv4, %d B a datagram; IPv6 %d\n",
		measure.OverIPv4*b.DatagramsPerSecond(), measure.OverIPv4, measure.OverIPv6)
}

// largest lists the largest fields and reasons of a component, with their percentages, as many as
// fit a line of 80 columns.
func largest(b *measure.Bytes, component string) string {
	text := ""
	for i, s := range b.By(func(c measure.Cell) string {
		if c.Component != component {
			return ""
		}
		return strings.TrimLeft(c.Name()[len(component):], ". ")
	}) {
		share := fmt.Sprintf("%s %.1f %%", s.Name, s.Percent)
		if i > 0 {
			share = ", " + share
		}
		if i == maxNamed || s.Percent < minPercent || len(text)+len(share) > maxColumns {
			break
		}
		text += share
	}
	return text
}
