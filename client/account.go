package client

import (
	"errors"

	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/sim/netstate"
)

// Account says what the bits of datagrams received were for: by component, field and reason, and they add up to the datagrams
// exactly. Several clients of one goroutine may fill one account. It takes about 6 KB.
//
//	seal      prefix, sequence and tag of a datagram whose package was taken
//	package   its header
//	events, notes, blob, close   sections of it
//	snapshot  section byte and head of a snapshot, and the padding behind its rows
//	player, owner, thing         the schemas of its rows, by field, see snapshot.Reason
//	session   datagrams without a package: keep-alives, challenges
//	refused   what was dropped, by its reason, and rows that could not be decoded
type Account struct {
	Datagrams uint64
	Bytes     uint64 // in them: UDP payload

	seal      struct{ prefix, sequence, tag uint64 } // all of these in bytes
	kinds     [16]uint64
	refused   [netcode.NumDrops]uint64
	dropped   [packet.NumDrops]uint64
	pack      packet.Meter
	head      struct{ section, tick, flags, things uint64 }
	undecoded uint64

	public, owner, things *snapshot.Meter
}

// Cell is one entry of an account. Field is empty where the bits are of no field.
type Cell struct {
	Component, Field, Reason string
	Bits                     uint64
}

// NewAccount returns an account of nothing.
func NewAccount() *Account {
	return &Account{public: snapshot.NewMeter(netstate.Public), owner: snapshot.NewMeter(netstate.Owner), things: snapshot.NewMeter(netstate.Objects)}
}

// Reset forgets everything.
func (a *Account) Reset() {
	a.public.Reset()
	a.owner.Reset()
	a.things.Reset()
	*a = Account{public: a.public, owner: a.owner, things: a.things}
}

// Account makes the client account for every datagram from now on; nil stops it. It costs about as much as decoding them; of a
// client that is Thin, the rows of others stand under refused.
func (c *Client) Account(a *Account) { c.account = a }

// take accounts for a datagram after everything was done with it: pack is what was in it, nil if nothing was, and err what
// Receive returns. The first byte of a datagram is never sealed.
func (a *Account) take(c *Client, datagram, pack []byte, err error) {
	a.Datagrams++
	a.Bytes += uint64(len(datagram))
	if pack == nil {
		if why, ok := err.(netcode.Drop); ok {
			a.refused[why] += uint64(len(datagram))
		} else {
			a.kinds[netcode.KindOf(datagram)] += uint64(len(datagram))
		}
		return
	}
	sequence := int(datagram[0] >> 4)
	a.seal.prefix++
	a.seal.sequence += uint64(sequence)
	a.seal.tag += uint64(len(datagram) - 1 - sequence - len(pack))
	if why, ok := err.(packet.Drop); ok {
		a.dropped[why] += uint64(len(pack))
		return
	}
	a.sections(c, pack)
}

// sections accounts for a package that was taken. What cannot be read is undecoded.
func (a *Account) sections(c *Client, pack []byte) {
	left, err := a.pack.Packet(pack)
	if err != nil {
		left = pack
	} else if len(left) > 0 {
		left, err = a.snapshot(c, left)
	}
	if err != nil {
		a.undecoded += uint64(len(left))
	}
}

var errThin = errors.New("client: thin, so the rows of others are not decoded")

// snapshot accounts for a snapshot section. With an error it returns from where on it does not.
func (a *Account) snapshot(c *Client, src []byte) (left []byte, err error) {
	h, rows, err := netstate.ParseHeader(src[1:])
	if err != nil {
		return src, err
	}
	a.head.section++
	a.head.tick += 4
	a.head.flags += uint64(len(src) - len(rows) - 1 - 4)
	if h.Owner && c.owner == nil {
		return rows, errThin
	}
	if h.Owner {
		if rows, err = c.owner.Explain(a.owner, h.Tick, rows); err != nil {
			return rows, err
		}
	}
	if c.decoder == nil {
		return rows, errThin
	}
	if h.Objects {
		runs, _, rest, err := h.CutObjects(rows)
		if err != nil || c.flights.decoder == nil {
			return rows, netstate.ErrHeader
		}
		if err = c.flights.decoder.Explain(a.things, h.Tick, runs); err != nil {
			return rows, err
		}
		a.head.things += uint64(len(rows) - len(rest) - len(runs))
		rows = rest
	}
	return rows, c.decoder.Explain(a.public, h.Tick, rows)
}

// Total is the sum of all cells, in bits: 8 for each of Bytes.
func (a *Account) Total() (sum uint64) {
	for _, c := range a.Cells(nil) {
		sum += c.Bits
	}
	return sum
}

// Cells appends the entries that are not empty, from the outside of a datagram inwards.
func (a *Account) Cells(dst []Cell) []Cell {
	add := func(component, field, reason string, bits uint64) {
		if bits > 0 {
			dst = append(dst, Cell{component, field, reason, bits})
		}
	}
	add("seal", "prefix", "seal", 8*a.seal.prefix)
	add("seal", "sequence", "seal", 8*a.seal.sequence)
	add("seal", "tag", "seal", 8*a.seal.tag)
	for k, n := range a.kinds {
		add("session", netcode.Kind(k).String(), "handshake", 8*n)
	}
	for p, n := range a.pack {
		component, field := packet.Part(p).Name()
		add(component, field, packet.Part(p).Reason(), 8*n)
	}
	add("snapshot", "section", "head", 8*a.head.section)
	add("snapshot", "tick", "head", 8*a.head.tick)
	add("snapshot", "flags", "head", 8*a.head.flags)
	add("snapshot", "", snapshot.ReasonFill.String(), a.public.Bits(-1, snapshot.ReasonFill)+a.things.Bits(-1, snapshot.ReasonFill))
	add("snapshot", "things", "head", 8*a.head.things)
	for _, m := range [...]*snapshot.Meter{a.owner, a.public, a.things} {
		m.Each(func(c snapshot.Cell) {
			if c.Reason != snapshot.ReasonFill { // no row's: it stands above
				add(c.Component, c.Field, c.Reason.String(), c.Bits)
			}
		})
	}
	for d, n := range a.refused {
		add("refused", "datagram", netcode.Drop(d).String(), 8*n)
	}
	for d, n := range a.dropped {
		add("refused", "package", packet.Drop(d).String(), 8*n)
	}
	add("refused", "rows", "undecoded", 8*a.undecoded)
	return dst
}
