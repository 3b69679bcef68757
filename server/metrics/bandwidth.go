package metrics

import (
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/sim/effect"
	"github.com/tickrate/tickrate/sim/netstate"
)

// Cell is one entry of the byte account: the bits that Component's Field took for Reason. Field is
// empty where the bits belong to no field.
type Cell struct {
	Component string `json:"component"` // name of a Section
	Field     string `json:"field,omitempty"`
	Reason    string `json:"reason"`
	Bits      uint64 `json:"bits"`
}

// Bandwidth accounts for all bytes that a lobby has sent. Sections are exact and add up to Bytes.
// Cells go down to the bit, cover the sampled datagrams, and add up to exactly 8 times
// SampledBytes.
type Bandwidth struct {
	Every           int                 // one datagram of Every is sampled on average; 0: none
	Datagrams       uint64              // sent
	Bytes           uint64              // UDP payload sent
	Sections        [NumSections]uint64 // bytes
	Sampled         uint64              // datagrams
	SampledBytes    uint64              // UDP payload of the sampled datagrams
	SampledSections [NumSections]uint64 // bytes of the sampled datagrams
	// Entries above zero, from the outside of a datagram inwards.
	Cells []Cell
}

// Encoders are what wrote the rows of a snapshot; they take the rows apart again for the account.
type Encoders struct {
	Owner    *snapshot.OwnerWriter
	Objects  *snapshot.Encoder
	Public   *snapshot.Encoder
	Effects  *effect.Format
	Interval tick.Tick // from one snapshot of a client to the next
}

// BandwidthMeter keeps the byte account of a lobby. It belongs to the goroutine of the lobby.
type BandwidthMeter struct {
	sampler Sampler
	total   Bandwidth // but for its cells

	seal     struct{ prefix, sequence, tag uint64 } // bytes of the sampled datagrams, as all below
	kinds    [16]uint64                             // datagrams without a packet, by netcode.Kind
	parts    packet.Meter
	head     struct{ section, tick, flags, objects uint64 }
	effects  effect.Meter
	unparsed uint64 // bytes that no parser took: a bug

	owner, public, objects *snapshot.Meter
}

// MaxCells is more than the number of cells that there can be.
const MaxCells = 16 + 4 + int(packet.NumParts) + 16 +
	int(snapshot.NumReasons)*(3+netstate.PublicFields+netstate.OwnerFields+netstate.ObjectStateFields)

// NewBandwidthMeter returns an empty account that samples one datagram of every, or none for 0 or
// less.
func NewBandwidthMeter(every int) BandwidthMeter {
	return BandwidthMeter{
		sampler: NewSampler(every, samplerSeed), total: Bandwidth{Every: max(every, 0)},
		public:  snapshot.NewMeter(netstate.Public),
		owner:   snapshot.NewMeter(netstate.Owner),
		objects: snapshot.NewMeter(netstate.Objects),
	}
}

// Total is the account so far, without its cells. It is not a copy.
func (b *BandwidthMeter) Total() *Bandwidth { return &b.total }

// AddSnapshot accounts for a packet with or without a snapshot and its encrypted datagram; e says
// where the sections of the packet end.
func (b *BandwidthMeter) AddSnapshot(pkt, datagram []byte, e *SectionEnds, from Encoders) {
	b.total.Datagrams++
	b.total.Bytes += uint64(len(datagram))
	e.addTo(&b.total.Sections, len(pkt), len(datagram))
	if !b.sampler.Due() {
		return
	}
	b.total.Sampled++
	b.total.SampledBytes += uint64(len(datagram))
	e.addTo(&b.total.SampledSections, len(pkt), len(datagram))
	if rest := b.packet(pkt, datagram); len(rest) > 0 {
		if left, err := b.rows(from, rest); err != nil {
			b.unparsed += uint64(len(left))
		}
	}
}

// AddPacket accounts for a packet without a snapshot and its encrypted datagram.
func (b *BandwidthMeter) AddPacket(pkt, datagram []byte) {
	var parts packet.Meter
	var n [NumSections]uint64
	if rest, err := parts.Packet(pkt); err != nil || len(rest) > 0 {
		parts = packet.Meter{packet.PartSequence: uint64(len(pkt))}
	}
	for p, bytes := range parts {
		n[sectionOf[p]] += bytes
	}
	n[SectionSeal] = uint64(len(datagram) - len(pkt))
	if b.add(&n, len(datagram)) {
		b.packet(pkt, datagram)
	}
}

// AddSession accounts for a datagram without a packet.
func (b *BandwidthMeter) AddSession(datagram []byte) {
	var n [NumSections]uint64
	n[SectionSession] = uint64(len(datagram))
	if b.add(&n, len(datagram)) {
		b.kinds[netcode.KindOf(datagram)] += uint64(len(datagram))
	}
}

// add counts a datagram and reports whether it is sampled.
func (b *BandwidthMeter) add(n *[NumSections]uint64, size int) (sampled bool) {
	t := &b.total
	for i := range n {
		t.Sections[i] += n[i]
	}
	t.Datagrams++
	t.Bytes += uint64(size)
	if sampled = b.sampler.Due(); sampled {
		for i := range n {
			t.SampledSections[i] += n[i]
		}
		t.Sampled++
		t.SampledBytes += uint64(size)
	}
	return sampled
}

// packet accounts for the encryption of a sampled datagram and the outer parts of its packet, and
// returns the section of the snapshot.
func (b *BandwidthMeter) packet(pkt, datagram []byte) (rest []byte) {
	sequence := uint64(datagram[0] >> 4)
	b.seal.prefix++
	b.seal.sequence += sequence
	b.seal.tag += uint64(len(datagram)-len(pkt)) - 1 - sequence
	rest, err := b.parts.Packet(pkt)
	if err != nil {
		b.unparsed += uint64(len(pkt))
		return nil
	}
	return rest
}

// rows accounts for the section of a snapshot. With an error it returns the bytes that are not
// accounted for.
func (b *BandwidthMeter) rows(from Encoders, src []byte) (left []byte, err error) {
	h, rows, err := netstate.ParseHeader(src[1:])
	if err != nil {
		return src, err
	}
	b.head.section++
	b.head.tick += 4
	b.head.flags += uint64(len(src) - len(rows) - 1 - 4)
	if h.Owner {
		if rows, err = from.Owner.Explain(b.owner, rows); err != nil {
			return rows, err
		}
	}
	if h.Objects {
		runs, _, rest, err := h.CutObjects(rows)
		if err != nil {
			return rows, err
		}
		if err = from.Objects.Explain(b.objects, from.Interval, runs); err != nil {
			return rows, err
		}
		b.head.objects += uint64(h.ObjectsHeadSize())
		rows = rest
	}
	if h.Effects {
		if rows, err = from.Effects.Explain(&b.effects, h.Tick, rows); err != nil {
			return rows, err
		}
	}
	return rows, from.Public.Explain(b.public, from.Interval, rows)
}

// AppendCells appends the entries above zero to dst. It allocates nothing if dst has room for
// MaxCells.
func (b *BandwidthMeter) AppendCells(dst []Cell) []Cell {
	add := func(component, field, reason string, bits uint64) {
		if bits > 0 {
			dst = append(dst, Cell{component, field, reason, bits})
		}
	}
	add("seal", "prefix", "seal", 8*b.seal.prefix)
	add("seal", "sequence", "seal", 8*b.seal.sequence)
	add("seal", "tag", "seal", 8*b.seal.tag)
	for kind, n := range b.kinds {
		if n > 0 {
			add("session", netcode.Kind(kind).String(), "handshake", 8*n)
		}
	}
	for p, n := range b.parts {
		component, field := packet.Part(p).Name()
		add(component, field, packet.Part(p).Reason(), 8*n)
	}
	add("snapshot", "section", "head", 8*b.head.section)
	add("snapshot", "tick", "head", 8*b.head.tick)
	add("snapshot", "flags", "head", 8*b.head.flags)
	add("snapshot", "objects", "head", 8*b.head.objects)
	add("snapshot", "", snapshot.ReasonFill.String(), b.public.Bits(-1, snapshot.ReasonFill))
	rows := [...]struct {
		section Section
		*snapshot.Meter
	}{{SectionOwner, b.owner}, {SectionObject, b.objects}, {SectionPlayer, b.public}}
	for _, m := range rows {
		m.Each(func(c snapshot.Cell) {
			if c.Reason != snapshot.ReasonFill { // belongs to no row: added above
				add(m.section.String(), c.Field, c.Reason.String(), c.Bits)
			}
		})
	}
	b.effects.Each(func(field, reason string, bits uint64) {
		add(SectionEffect.String(), field, reason, bits)
	})
	add("unparsed", "", "unparsed", 8*b.unparsed)
	return dst
}
