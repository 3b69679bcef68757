package metrics

import (
	"slices"

	"github.com/tickrate/tickrate/netio/packet"
)

// Section is a part of what a lobby sends. Each byte of every datagram is in exactly one section.
type Section uint8

// The sections, from the outside of a datagram inwards. Their names are the components of Cell.
const (
	SectionSeal Section = iota // prefix, sequence and tag of an encrypted datagram
	// Datagrams without a packet: handshakes, keep-alives, disconnects.
	SectionSession
	SectionPacket     // headers of packets
	SectionReliable   // reliable messages
	SectionUnreliable // unreliable messages
	SectionTransfer   // fragments of models and maps
	SectionClose      // reasons of disconnects
	// Heads of snapshots and of their object parts, and padding after rows.
	SectionSnapshot
	SectionOwner  // the client's own row
	SectionObject // rows of objects: projectiles and scenery
	SectionPlayer // rows of players
	SectionEffect // impacts and damage
	NumSections   // how many there are
)

var sectionNames = [NumSections]string{
	"seal", "session", "packet", "reliable", "unreliable", "transfer", "close",
	"snapshot", "owner", "object", "player", "effect",
}

// String is the section's name in tables and metrics.
func (s Section) String() string { return sectionNames[s] }

// sectionOf is the section of each part of a packet.
var sectionOf = func() (of [packet.NumParts]Section) {
	for p := range of {
		component, _ := packet.Part(p).Name()
		of[p] = Section(slices.Index(sectionNames[:], component))
	}
	return of
}()

// SectionEnds are the offsets in bytes at which the sections of a packet with a snapshot end;
// padding follows Rows. All are zero in a packet without a snapshot.
type SectionEnds struct {
	Reliable, Head, Owner, Objects, Effects, Rows uint16

	ObjectHead uint16 // bytes of the object part before its rows
	First      bool   // the packet is the first of its snapshot
}

// addTo adds the bytes of a packet of size bytes, and of its datagram, to their sections.
func (e *SectionEnds) addTo(n *[NumSections]uint64, pkt, datagram int) {
	n[SectionSeal] += uint64(datagram - pkt)
	n[SectionPacket] += packet.HeaderSize
	if e.Rows == 0 {
		n[SectionReliable] += uint64(pkt - packet.HeaderSize)
		return
	}
	n[SectionReliable] += uint64(e.Reliable - packet.HeaderSize)
	n[SectionSnapshot] += uint64(e.Head-e.Reliable) + uint64(e.ObjectHead) + uint64(pkt-int(e.Rows))
	n[SectionOwner] += uint64(e.Owner - e.Head)
	n[SectionObject] += uint64(e.Objects - e.Owner - e.ObjectHead)
	n[SectionEffect] += uint64(e.Effects - e.Objects)
	n[SectionPlayer] += uint64(e.Rows - e.Effects)
}
