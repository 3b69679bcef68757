package client

import (
	"errors"

	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/sim/effect"
	"github.com/tickrate/tickrate/sim/netstate"
)

// Meter counts the bits of received datagrams by component, field and reason. The cells add up to
// the datagrams exactly. Several clients of one goroutine may share one. It takes about 6 KB;
// counting costs about as much as decoding. Without DecodeFull, rows of others are under refused.
//
//	seal      prefix, sequence and tag of a datagram with an accepted packet
//	packet    the packet's header
//	reliable, unreliable, transfer, close   its sections
//	snapshot  section byte and head of a snapshot, and the padding after its rows
//	player, owner, object        rows by schema and field, see snapshot.Reason
//	effect    impacts and damage
//	session   datagrams without a packet: keep-alives, challenges
//	refused   dropped bits by reason, and rows that could not be decoded
type Meter struct {
	Datagrams uint64
	Bytes     uint64 // in them: UDP payload

	seal      struct{ prefix, sequence, tag uint64 } // all of these in bytes
	kinds     [16]uint64
	refused   [netcode.NumDrops]uint64
	dropped   [packet.NumDrops]uint64
	packet    packet.Meter
	head      struct{ section, tick, flags, objects uint64 }
	undecoded uint64
	effects   effect.Meter

	public, owner, objects *snapshot.Meter
}

// Cell is one entry of a Meter. Field is empty for bits of no field.
type Cell struct {
	Component, Field, Reason string
	Bits                     uint64
}

// NewMeter returns an empty meter.
func NewMeter() *Meter {
	return &Meter{
		public: snapshot.NewMeter(netstate.Public), owner: snapshot.NewMeter(netstate.Owner),
		objects: snapshot.NewMeter(netstate.Objects),
	}
}

// Reset empties the meter.
func (m *Meter) Reset() {
	m.public.Reset()
	m.owner.Reset()
	m.objects.Reset()
	*m = Meter{public: m.public, owner: m.owner, objects: m.objects}
}

// add counts a datagram after it was received: pkt is the packet in it, nil for none, and err what
// Receive returns. The first byte of a datagram is never sealed.
func (m *Meter) add(c *Client, datagram, pkt []byte, err error) {
	m.Datagrams++
	m.Bytes += uint64(len(datagram))
	if pkt == nil {
		if why, ok := err.(netcode.Drop); ok {
			m.refused[why] += uint64(len(datagram))
		} else {
			m.kinds[netcode.KindOf(datagram)] += uint64(len(datagram))
		}
		return
	}
	sequence := int(datagram[0] >> 4)
	m.seal.prefix++
	m.seal.sequence += uint64(sequence)
	m.seal.tag += uint64(len(datagram) - 1 - sequence - len(pkt))
	if why, ok := err.(packet.Drop); ok {
		m.dropped[why] += uint64(len(pkt))
		return
	}
	m.addPacket(c, pkt)
}

// addPacket counts an accepted packet. What cannot be read is undecoded.
func (m *Meter) addPacket(c *Client, pkt []byte) {
	left, err := m.packet.Packet(pkt)
	if err != nil {
		left = pkt
	} else if len(left) > 0 {
		left, err = m.addSnapshot(c, left)
	}
	if err != nil {
		m.undecoded += uint64(len(left))
	}
}

var errNoDecoder = errors.New("client: Config.Decode leaves these rows out")

// addSnapshot counts a snapshot section. With an error it returns the bytes from where on it does
// not.
func (m *Meter) addSnapshot(c *Client, src []byte) (left []byte, err error) {
	h, rows, err := netstate.ParseHeader(src[1:])
	if err != nil {
		return src, err
	}
	m.head.section++
	m.head.tick += 4
	m.head.flags += uint64(len(src) - len(rows) - 1 - 4)
	if h.Owner && c.replica.decoder == nil {
		return rows, errNoDecoder
	}
	if h.Owner {
		if rows, err = c.replica.decoder.Explain(m.owner, h.Tick, rows); err != nil {
			return rows, err
		}
	}
	if c.interp.Decoder == nil {
		return rows, errNoDecoder
	}
	if h.Objects {
		rest, header, err := c.Objects.Explain(m.objects, h, rows)
		if err != nil {
			return rows, err
		}
		m.head.objects += uint64(header)
		rows = rest
	}
	if h.Effects {
		if rows, err = c.Effects.format.Explain(&m.effects, h.Tick, rows); err != nil {
			return rows, err
		}
	}
	return rows, c.interp.Decoder.Explain(m.public, h.Tick, rows)
}

// Total is the sum of all cells, in bits: 8 for each of Bytes.
func (m *Meter) Total() (sum uint64) {
	for _, c := range m.Cells(nil) {
		sum += c.Bits
	}
	return sum
}

// Cells appends the entries that are not empty, from the outside of a datagram inwards.
func (m *Meter) Cells(dst []Cell) []Cell {
	add := func(component, field, reason string, bits uint64) {
		if bits > 0 {
			dst = append(dst, Cell{component, field, reason, bits})
		}
	}
	add("seal", "prefix", "seal", 8*m.seal.prefix)
	add("seal", "sequence", "seal", 8*m.seal.sequence)
	add("seal", "tag", "seal", 8*m.seal.tag)
	for k, n := range m.kinds {
		add("session", netcode.Kind(k).String(), "handshake", 8*n)
	}
	for p, n := range m.packet {
		component, field := packet.Part(p).Name()
		add(component, field, packet.Part(p).Reason(), 8*n)
	}
	add("snapshot", "section", "head", 8*m.head.section)
	add("snapshot", "tick", "head", 8*m.head.tick)
	add("snapshot", "flags", "head", 8*m.head.flags)
	padding := m.public.Bits(-1, snapshot.ReasonFill) + m.objects.Bits(-1, snapshot.ReasonFill)
	add("snapshot", "", snapshot.ReasonFill.String(), padding)
	add("snapshot", "objects", "head", 8*m.head.objects)
	for _, rows := range [...]struct {
		component string
		*snapshot.Meter
	}{{"owner", m.owner}, {"player", m.public}, {"object", m.objects}} {
		rows.Each(func(c snapshot.Cell) {
			if c.Reason != snapshot.ReasonFill { // counted above
				add(rows.component, c.Field, c.Reason.String(), c.Bits)
			}
		})
	}
	m.effects.Each(func(field, reason string, bits uint64) { add("effect", field, reason, bits) })
	for d, n := range m.refused {
		add("refused", "datagram", netcode.Drop(d).String(), 8*n)
	}
	for d, n := range m.dropped {
		add("refused", "packet", packet.Drop(d).String(), 8*n)
	}
	add("refused", "rows", "undecoded", 8*m.undecoded)
	return dst
}
