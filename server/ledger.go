package server

import (
	"slices"
	"sync"

	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/sim/ghost"
)

// Section is a part of what a lobby sends. Together the sections are all of it: of every datagram each byte is in one.
type Section uint8

// The sections, from the outside of a datagram inwards. Their names are the components of Ledger's cells.
const (
	SectionSeal     Section = iota // prefix, sequence and tag of a datagram with a package
	SectionSession                 // datagrams without one: handshakes, keep-alives, goodbyes
	SectionPackage                 // headers of packages
	SectionEvents                  // reliable events
	SectionNotes                   // notes
	SectionBlob                    // parts of models and arenas
	SectionClose                   // reasons of goodbyes
	SectionSnapshot                // heads of snapshots and of their parts about things, and padding behind their rows
	SectionOwner                   // the client's own row
	SectionThing                   // the rows of things: flights, and what stands about
	SectionPlayer                  // the rows of players
	NumSections                    // how many there are
)

var sectionNames = [NumSections]string{"seal", "session", "package", "events", "notes", "blob", "close", "snapshot", "owner", "thing", "player"}

// String is the section's name in tables and metrics.
func (s Section) String() string { return sectionNames[s] }

// sectionOf is by part of a package.
var sectionOf = func() (of [packet.NumParts]Section) {
	for p := range of {
		component, _ := packet.Part(p).Name()
		of[p] = Section(slices.Index(sectionNames[:], component))
	}
	return of
}()

// Cell is one entry of a ledger: what bits of Component's Field were sent for. Field is empty where the bits are of no field.
type Cell struct {
	Component string `json:"component"` // name of a Section
	Field     string `json:"field,omitempty"`
	Reason    string `json:"reason"`
	Bits      uint64 `json:"bits"`
}

// Ledger accounts for what a lobby has sent since it was made. Sections are exact: they add up to Bytes. Cells, which go down to
// the bit, are of the datagrams that were sampled, and add up to 8 times SampledBytes exactly; if Every is 1 that is all of them.
type Ledger struct {
	Every          int                 // one datagram in so many is sampled, on average; 0: none
	Datagrams      uint64              // sent
	Bytes          uint64              // in them: UDP payload
	Sections       [NumSections]uint64 // bytes
	Sampled        uint64              // datagrams
	SampledBytes   uint64              // in them
	SampledSection [NumSections]uint64 // bytes of the sampled ones
	Cells          []Cell              // those that are not empty, from the outside of a datagram inwards

	Looked uint64                       // snapshots of which it was looked at who is not in them, one in Every
	Why    [NumWhys]uint64              // of these: pairs of client and player, by what became of the player
	Things [ghost.Kinds][NumWhys]uint64 // likewise of client and thing, by class
	Census Census                       // who is here
}

// Census is how a lobby is filled.
type Census struct {
	Players        int  // with a session, who play
	Spectators     int  // likewise, who look on
	Ready          int  // of both, those who get snapshots
	Entering       int  // of those, the ones who do not hold the whole of what they see yet
	Away           int  // of both, those whose session timed out, and who may come back
	Arriving       int  // sessions that wait for a player
	Room           int  // most players
	SpectatorsRoom int  // most spectators
	Open           bool // somebody new may play
}

// ledger is what the tick writes. Nobody else reads it but through publish.
type ledger struct {
	random uint64 // of which datagram is sampled next
	left   int    // datagrams until then
	unseen int    // snapshots until the next that is looked at

	now   Ledger // but for its cells
	seal  struct{ prefix, sequence, tag uint64 }
	kinds [16]uint64 // all of these in bytes
	parts packet.Meter
	head  struct{ section, tick, flags, things uint64 }
	odd   uint64 // bytes that could not be read: anything but 0 is a bug

	owner, public, things *snapshot.Meter

	told int // ticks since the last Publish of the tick

	mu     sync.Mutex // of shared. The tick only tries it
	shared Ledger
}

// mostCells is more than there can be.
const mostCells = 16 + int(packet.NumParts) + 16 + int(snapshot.NumReasons)*(3+ghost.PublicFields+ghost.OwnerFields+ghost.ThingFields)

func (k *ledger) init(every int) {
	k.now.Every, k.random, k.left, k.unseen = max(every, 0), seedStride, 1, 1
	k.public, k.owner, k.things = snapshot.NewMeter(ghost.Public), snapshot.NewMeter(ghost.Owner), snapshot.NewMeter(ghost.Things)
	k.shared.Cells = make([]Cell, 0, mostCells)
}

// Sample changes Config.SampleEvery: 1 or more, or -1 for none. Call it between ticks.
func (l *Lobby) Sample(every int) {
	k := &l.ledger
	k.now.Every = max(every, 0)
	k.left, k.unseen = 1, 1
	if k.now.Every > 0 {
		k.left, k.unseen = k.stride(), k.stride()
	}
}

// stride is how far it is to the next sample: from 1 to 2*every-1, each as likely, so that no rhythm of the traffic meets that of
// the samples.
func stride(random *uint64, every int) int {
	n := *random
	n ^= n << 13
	n ^= n >> 7
	n ^= n << 17
	*random = n
	return 1 + int(n>>33)%(2*every-1)
}

// seedStride is what strides begin with.
const seedStride = 0x9e3779b97f4a7c15

func (k *ledger) stride() int { return stride(&k.random, k.now.Every) }

// due reports whether the next datagram is sampled.
func (k *ledger) due() bool {
	if k.left--; k.left > 0 || k.now.Every == 0 {
		return false
	}
	k.left = k.stride()
	return true
}

// looks reports whether it is looked at who is not in the next snapshot.
func (k *ledger) looks() bool {
	if k.unseen--; k.unseen > 0 || k.now.Every == 0 {
		return false
	}
	k.unseen = k.stride()
	return true
}

// cuts are where the parts of a package end, in bytes: what stands behind the rows is padding. A package without a snapshot has none.
type cuts struct {
	events, head, owner, things, rows uint16
	thingsHead                        uint16 // bytes of the part about things that come before its runs
	first                             bool   // of its snapshot
}

// into adds a package's bytes, and its datagram's, to their sections.
func (c *cuts) into(n *[NumSections]uint64, pack, datagram int) {
	n[SectionSeal] += uint64(datagram - pack)
	n[SectionPackage] += packet.HeaderSize
	if c.rows == 0 {
		n[SectionEvents] += uint64(pack - packet.HeaderSize)
		return
	}
	n[SectionEvents] += uint64(c.events - packet.HeaderSize)
	n[SectionSnapshot] += uint64(c.head-c.events) + uint64(c.thingsHead) + uint64(pack-int(c.rows))
	n[SectionOwner] += uint64(c.owner - c.head)
	n[SectionThing] += uint64(c.things - c.owner - c.thingsHead)
	n[SectionPlayer] += uint64(c.rows - c.things)
}

// draft accounts for the package of a draft, and for its datagram.
func (k *ledger) draft(l *Lobby, g *guest, pack, datagram []byte, c *cuts) {
	k.now.Datagrams++
	k.now.Bytes += uint64(len(datagram))
	c.into(&k.now.Sections, len(pack), len(datagram))
	if !k.due() {
		return
	}
	k.now.Sampled++
	k.now.SampledBytes += uint64(len(datagram))
	c.into(&k.now.SampledSection, len(pack), len(datagram))
	if rest := k.open(pack, datagram); len(rest) > 0 {
		if left, err := k.rowsOf(l, g, rest); err != nil {
			k.odd += uint64(len(left))
		}
	}
}

// add counts a datagram, and reports whether it is sampled.
func (k *ledger) add(n *[NumSections]uint64, size int) (sampled bool) {
	for i := range n {
		k.now.Sections[i] += n[i]
	}
	k.now.Datagrams++
	k.now.Bytes += uint64(size)
	if sampled = k.due(); sampled {
		for i := range n {
			k.now.SampledSection[i] += n[i]
		}
		k.now.Sampled++
		k.now.SampledBytes += uint64(size)
	}
	return sampled
}

// open accounts for the seal of a sampled datagram and the outer parts of its package, and returns the snapshot's section.
func (k *ledger) open(pack, datagram []byte) (rest []byte) {
	sequence := uint64(datagram[0] >> 4)
	k.seal.prefix++
	k.seal.sequence += sequence
	k.seal.tag += uint64(len(datagram)-len(pack)) - 1 - sequence
	rest, err := k.parts.Package(pack)
	if err != nil {
		k.odd += uint64(len(pack))
		return nil
	}
	return rest
}

// rowsOf accounts for a snapshot's section. With an error it returns from where on it does not.
func (k *ledger) rowsOf(l *Lobby, g *guest, src []byte) (left []byte, err error) {
	h, rows, err := ghost.ParseHead(src[1:])
	if err != nil {
		return src, err
	}
	k.head.section++
	k.head.tick += 4
	k.head.flags += uint64(len(src) - len(rows) - 1 - 4)
	if h.Owner {
		if rows, err = g.owner.Explain(k.owner, rows); err != nil {
			return rows, err
		}
	}
	interval := tick.Tick(l.cfg.Interval)
	if h.Things {
		runs, _, rest, err := h.CutThings(rows)
		if err != nil {
			return rows, err
		}
		if err = l.things.encoder.Explain(k.things, interval, runs); err != nil {
			return rows, err
		}
		k.head.things += uint64(h.ThingsHead())
		rows = rest
	}
	return rows, l.encoder.Explain(k.public, interval, rows)
}

// pack accounts for a package without a snapshot that has just been sealed.
func (k *ledger) pack(pack, datagram []byte) {
	var parts packet.Meter
	var n [NumSections]uint64
	if rest, err := parts.Package(pack); err != nil || len(rest) > 0 {
		parts = packet.Meter{packet.PartSequence: uint64(len(pack))} // it is none of ours
	}
	for p, bytes := range parts {
		n[sectionOf[p]] += bytes
	}
	n[SectionSeal] = uint64(len(datagram) - len(pack))
	if k.add(&n, len(datagram)) {
		k.open(pack, datagram)
	}
}

// session accounts for a datagram without a package.
func (k *ledger) session(datagram []byte) {
	var n [NumSections]uint64
	n[SectionSession] = uint64(len(datagram))
	if k.add(&n, len(datagram)) {
		k.kinds[netcode.KindOf(datagram)] += uint64(len(datagram))
	}
}

// cells appends the entries that are not empty.
func (k *ledger) cells(dst []Cell) []Cell {
	add := func(component, field, reason string, bits uint64) {
		if bits > 0 {
			dst = append(dst, Cell{component, field, reason, bits})
		}
	}
	add("seal", "prefix", "seal", 8*k.seal.prefix)
	add("seal", "sequence", "seal", 8*k.seal.sequence)
	add("seal", "tag", "seal", 8*k.seal.tag)
	for kind, n := range k.kinds {
		if n > 0 {
			add("session", netcode.Kind(kind).String(), "handshake", 8*n)
		}
	}
	for p, n := range k.parts {
		component, field := packet.Part(p).Name()
		add(component, field, packet.Part(p).Reason(), 8*n)
	}
	add("snapshot", "section", "head", 8*k.head.section)
	add("snapshot", "tick", "head", 8*k.head.tick)
	add("snapshot", "flags", "head", 8*k.head.flags)
	add("snapshot", "things", "head", 8*k.head.things)
	add("snapshot", "", snapshot.ReasonFill.String(), k.public.Bits(-1, snapshot.ReasonFill))
	for _, m := range [...]*snapshot.Meter{k.owner, k.things, k.public} {
		m.Each(func(c snapshot.Cell) {
			if c.Reason != snapshot.ReasonFill { // no row's: it stands above
				add(c.Component, c.Field, c.Reason.String(), c.Bits)
			}
		})
	}
	add("odd", "", "unread", 8*k.odd)
	return dst
}

// publishAfter publishes once a second, also of a lobby that sleeps: so many ticks are over.
func (l *Lobby) publishAfter(ticks int) {
	k := &l.ledger
	if k.told += ticks; k.told >= int(l.cfg.Rules.Rate) {
		k.told = 0
		l.Publish()
	}
}

// Publish makes the figures of now those that Ledger returns, unless somebody is just copying them; the tick does so once a second.
// It is for the lobby's goroutine. It allocates nothing and waits for nobody.
func (l *Lobby) Publish() {
	k := &l.ledger
	if !k.mu.TryLock() {
		return
	}
	cells := k.cells(k.shared.Cells[:0])
	k.shared = k.now
	k.shared.Cells, k.shared.Census = cells, l.census()
	k.mu.Unlock()
}

// Ledger is the account of what was sent, as it was within the last second. It may be asked for by any goroutine.
func (l *Lobby) Ledger() Ledger {
	k := &l.ledger
	k.mu.Lock()
	defer k.mu.Unlock()
	n := k.shared
	n.Cells = slices.Clone(n.Cells)
	return n
}

// census counts who is here.
func (l *Lobby) census() Census {
	c := Census{Away: len(l.reconnectable), Arriving: len(l.join.arrivals), Room: l.cfg.Players - l.cfg.Spectators, SpectatorsRoom: l.cfg.Spectators}
	for _, slot := range l.live {
		g := &l.guests[slot]
		if g.watches {
			c.Spectators++
		} else {
			c.Players++
		}
		if g.ready {
			c.Ready++
			if g.byRow && g.entry != entered {
				c.Entering++
			}
		}
	}
	c.Open = l.shed < ShedDoor && l.join.hasSlot(false)
	return c
}
