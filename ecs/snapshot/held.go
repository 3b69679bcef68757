package snapshot

import (
	"math/bits"

	"github.com/tickrate/tickrate/ecs/tick"
)

// Implementation constants of Held.
const (
	heldTicks = 32  // snapshots remembered
	heldPacks = 256 // packages remembered, of all of them
)

// Held remembers what each of the newest 32 snapshots to one client said of which slot, in which package, and from which of its commands
// on the client had that package. So the server can tell, for each shot, between which two snapshots its shooter saw each
// player, whatever was lost on the way, left out by a budget or hidden.
//
// It takes 688 bytes for each 64 slots and 4.7 KB: 16 KB for 1000 slots, 16 MB for 1000 clients of those. It allocates nothing after
// NewHeld.
type Held struct {
	words  int
	at     int // of the newest snapshot
	marks  [heldTicks]heldMark
	sets   []uint64 // by snapshot: slots that were said to hold somebody, and to hold nobody; then those of long ago, by the same two
	packs  [heldPacks]heldPack
	next   uint32 // packages ever sent
	fresh  [64]uint8
	nFresh int

	cover, want, from, to []uint64 // of Look; cover is of one snapshot, by slot
	before, after         []uint8  // by slot: 1 + which snapshot
}

type heldMark struct {
	tick  tick.Tick // 0: none
	first uint32    // number of its first package
	count uint32
}

type heldPack struct {
	first, count uint16    // groups
	seq          uint16    // of the package
	since        tick.Tick // first command that was made when it had arrived, as the client says; 0: it is not known to have
	at           tick.Tick // when it said so, by the server's ticks
}

// NewHeld returns the memory of a client that holds nothing, for frames of so many slots.
func NewHeld(slots int) *Held {
	words := (slots + 63) / 64
	sets := make([]uint64, (2*(heldTicks+1)+4)*words)
	own := sets[2*(heldTicks+1)*words:]
	return &Held{words: words, sets: sets, before: make([]uint8, 64*words), after: make([]uint8, 64*words),
		cover: own[:words], want: own[words : 2*words], from: own[2*words : 3*words], to: own[3*words:]}
}

// Reset takes the client to be a new one that was told nothing.
func (h *Held) Reset() {
	clear(h.sets)
	h.marks, h.packs, h.next, h.at, h.nFresh = [heldTicks]heldMark{}, [heldPacks]heldPack{}, 0, 0, 0
}

func (h *Held) shown(n int) []uint64 { return h.sets[2*n*h.words:][:h.words] }
func (h *Held) gone(n int) []uint64  { return h.sets[(2*n+1)*h.words:][:h.words] }

// Begin says that the snapshot of tick t, later than the one before, is about to be sent.
func (h *Held) Begin(t tick.Tick) {
	h.at = (h.at + 1) % heldTicks
	m := &h.marks[h.at]
	if m.tick != 0 { // what arrived of it becomes long ago
		h.covers(h.at, Command{Anytime, Anytime})
		shown, gone := h.shown(heldTicks), h.gone(heldTicks)
		for i, c := range h.cover {
			s, g := h.shown(h.at)[i]&c, h.gone(h.at)[i]&c
			shown[i], gone[i] = shown[i]&^g|s, gone[i]&^s|g
		}
	}
	*m = heldMark{tick: t, first: h.next}
	clear(h.shown(h.at))
	clear(h.gone(h.at))
}

// said notes rows of groups first to end-1, of which those in here hold somebody, as Tracker.said does.
func (h *Held) said(first, end int, say, hide, here []uint64) {
	shown, gone := h.shown(h.at), h.gone(h.at)
	for i := first / wordGroups; i*wordGroups < end; i++ {
		in := within(i, first, end)
		s := say[i] & in &^ hide[i]
		shown[i] |= s & here[i]
		gone[i] |= hide[i]&in | s&^here[i]
	}
}

// Sent notes a package of the snapshot and which groups it is about, none if count is 0. all is the frame if all of their rows were said as they are, as by
// Packer.Begin; nil if the packer's tracker was told which.
func (h *Held) Sent(seq uint16, first, count int, all *Frame) {
	if all != nil && count > 0 {
		shown, gone := h.shown(h.at), h.gone(h.at)
		for i := first / wordGroups; i*wordGroups < first+count; i++ {
			in := within(i, first, first+count)
			shown[i] |= all.here[i] & in
			gone[i] |= in &^ all.here[i]
		}
	}
	h.packs[h.next%heldPacks] = heldPack{first: uint16(first), count: uint16(count), seq: seq}
	h.next++
	h.marks[h.at].count++
}

// Open begins the acknowledgements of a package from the client.
func (h *Held) Open() { h.nFresh = 0 }

// Command is a client's command: its tick, and when it came, by the server's ticks. What the client says to have arrived counts for a command if it said so before
// By: who says it together with a shot may have chosen it by what it hits. By Anytime all that it says counts.
type Command struct{ Tick, By tick.Tick }

// Anytime is later than any tick.
const Anytime = ^tick.Tick(0)

// Arrived says, at tick at, that the client has the package with count groups from first on of the snapshot of tick t, and had it when it made the command of
// tick since, unless Lacked says later that it came after a later one.
func (h *Held) Arrived(t tick.Tick, first, count int, since, at tick.Tick) {
	for n := range h.marks {
		m := &h.marks[n]
		if m.tick != t || t == 0 {
			continue
		}
		for i := m.first; i != m.first+m.count; i++ {
			if p := &h.packs[i%heldPacks]; h.next-i <= heldPacks && int(p.first) == first && int(p.count) == count && p.since == 0 {
				p.since, p.at = max(since, 1), at
				if h.nFresh < len(h.fresh) {
					h.fresh[h.nFresh] = uint8(i % heldPacks)
					h.nFresh++
				}
			}
		}
		return
	}
}

// Lacked says that the package seq came after the command of a tick was made. It counts only of what has Arrived since Open: nobody can
// take back what was acknowledged before.
func (h *Held) Lacked(seq uint16, command tick.Tick) {
	for _, i := range h.fresh[:h.nFresh] {
		if p := &h.packs[i]; p.seq == seq {
			p.since = max(p.since, command+1)
		}
	}
}

// Around finds the two snapshots around an instant, in 1/256 tick, of which the client had anything when it made the command of a tick: the newest
// up to it and the oldest behind it. At just the newest that it had, both are that; both are 0 where one is missing.
func (h *Held) Around(instant int64, command Command) (from, to tick.Tick) {
	for back := range heldTicks { // from the newest on
		m := &h.marks[(h.at-back)&(heldTicks-1)]
		if m.tick == 0 {
			break // nor was any sent before
		}
		if !h.had(m, command) {
			continue
		}
		if int64(m.tick)<<8 <= instant {
			from = m.tick
			break
		}
		to = m.tick
	}
	switch {
	case from != 0 && to == 0 && int64(from)<<8 == instant:
		return from, from
	case from == 0 || to == 0:
		return 0, 0
	}
	return from, to
}

// had reports whether the client had anything of a snapshot when it made the command of a tick.
func (h *Held) had(m *heldMark, command Command) bool {
	for i := m.first; i != m.first+m.count; i++ {
		if p := &h.packs[i%heldPacks]; h.next-i <= heldPacks && p.had(command) {
			return true
		}
	}
	return false
}

// had reports whether the client had the package when it made a command.
func (p *heldPack) had(c Command) bool { return p.since != 0 && p.since <= c.Tick && p.at < c.By }

// Late reports whether the client says of some package that it had it when it made a command, and said so no sooner than with it.
func (h *Held) Late(c Command) bool {
	for i := range h.packs {
		if p := &h.packs[i]; p.at >= c.By && p.since != 0 && p.since <= c.Tick {
			return true
		}
	}
	return false
}

// covers makes cover the slots of groups of snapshot n that the client had when it made the command of a tick.
func (h *Held) covers(n int, command Command) {
	clear(h.cover)
	m := &h.marks[n]
	for i := m.first; i != m.first+m.count; i++ {
		p := &h.packs[i%heldPacks]
		if h.next-i > heldPacks || !p.had(command) {
			continue
		}
		first, end := int(p.first), int(p.first)+int(p.count)
		for w := first / wordGroups; w*wordGroups < end && w < h.words; w++ {
			h.cover[w] |= within(w, first, end)
		}
	}
}

// Glimpse is a slot that a client did not see as both ticks of its view say.
type Glimpse struct {
	Slot   int
	Before tick.Tick // newest snapshot up to the view's first that told of it, 0: none
	After  tick.Tick // oldest from the view's second on that did, 0: none
	Was    bool      // somebody was there at Before, or, if there is none, at After
	Is     bool      // somebody was there at After
	Lost   bool      // some snapshot behind Before and up to the view's second told of it, and has not arrived
	Old    bool      // it was told of longer ago than is remembered: Before is 0, and Was is what was said then
}

// Look appends to out, for a client that made the command of a tick while it looked at v, each slot of which it had not all that the
// view's two ticks say: that it was told at both that somebody is there. Of slots that it has never been told of, nothing is appended:
// plain says whether v is as it is for the others, and is valid until the next call. On a slot in neither nobody can be seen.
func (h *Held) Look(v tick.View, command Command, out []Glimpse) (glimpses []Glimpse, plain []uint64) {
	clear(h.from)
	clear(h.to)
	copy(h.want, h.shown(heldTicks)) // anybody who may be seen at all
	for n := range h.marks {
		m := &h.marks[n]
		if m.tick == 0 {
			continue
		}
		for i, s := range h.shown(n) {
			h.want[i] |= s
		}
		for _, end := range [2]struct {
			at  tick.Tick
			set []uint64
		}{{v.From, h.from}, {v.To, h.to}} {
			if m.tick == end.at {
				h.covers(n, command)
				for i, s := range h.shown(n) {
					end.set[i] = s & h.cover[i]
				}
			}
		}
	}
	any := uint64(0)
	plain = h.from
	for i := range plain {
		plain[i] &= h.to[i]
		h.want[i] &^= plain[i]
		any |= h.want[i]
	}
	if any == 0 {
		return out, plain
	}
	return h.stray(v, command, out), plain
}

// stray is Look for the slots of want.
func (h *Held) stray(v tick.View, command Command, out []Glimpse) []Glimpse {
	h.nearest(v.From, command, false)
	h.nearest(v.To, command, true)
	for i, w := range h.want {
		for ; w != 0; w &= w - 1 {
			slot := i*64 + bits.TrailingZeros64(w)
			g := Glimpse{Slot: slot}
			if b := int(h.after[slot]) - 1; b >= 0 {
				g.After, g.Is = h.marks[b].tick, h.shown(b)[i]&(w&-w) != 0
				g.Was = g.Is
			}
			if a := int(h.before[slot]) - 1; a >= 0 {
				g.Before, g.Was = h.marks[a].tick, h.shown(a)[i]&(w&-w) != 0
			} else if h.shown(heldTicks)[i]&(w&-w) != 0 || h.gone(heldTicks)[i]&(w&-w) != 0 {
				g.Old, g.Was = true, h.shown(heldTicks)[i]&(w&-w) != 0
			}
			g.Lost = h.lost(slot, g.Before, v.To)
			out = append(out, g)
		}
	}
	return out
}

// nearest finds for the slots of want the snapshot nearest to tick t, at or behind it if later is set and at or before it if not, that told of
// them and that the client had.
func (h *Held) nearest(t tick.Tick, command Command, later bool) {
	into := h.before
	if later {
		into = h.after
	}
	left := h.to // not needed any more
	copy(left, h.want)
	for i, w := range left {
		if w != 0 {
			clear(into[i*64 : i*64+64])
		}
	}
	for back := range heldTicks {
		n := (h.at - back + heldTicks) % heldTicks
		if later {
			n = (h.at + 1 + back) % heldTicks
		}
		m := &h.marks[n]
		if m.tick == 0 || later && m.tick < t || !later && m.tick > t {
			continue
		}
		h.covers(n, command)
		any := uint64(0)
		shown, gone := h.shown(n), h.gone(n)
		for i := range left {
			hit := left[i] & h.cover[i] & (shown[i] | gone[i])
			left[i] &^= hit
			any |= left[i]
			for ; hit != 0; hit &= hit - 1 {
				into[i*64+bits.TrailingZeros64(hit)] = uint8(n + 1)
			}
		}
		if any == 0 {
			return
		}
	}
}

// lost reports whether some snapshot of (after, upTo] told of a slot, be it that it arrived or not.
func (h *Held) lost(slot int, after, upTo tick.Tick) bool {
	i, bit := slot>>6, uint64(1)<<(slot&63)
	for n := range h.marks {
		if t := h.marks[n].tick; t > after && t <= upTo && (h.shown(n)[i]|h.gone(n)[i])&bit != 0 {
			return true
		}
	}
	return false
}
