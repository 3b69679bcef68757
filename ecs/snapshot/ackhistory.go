package snapshot

import (
	"math/bits"

	"github.com/tickrate/tickrate/ecs/tick"
)

// Implementation constants of AckHistory.
const (
	historySnapshots = 32  // snapshots remembered
	historyPackets   = 256 // packages remembered, of all of them
)

// AckHistory remembers what each of the newest 32 snapshots to one client said of which slot, in which package, and from which of its commands
// on the client had that package. So the server can tell, for each shot, between which two snapshots its shooter saw each
// player, whatever was lost on the way, left out by a budget or hidden.
//
// It takes 688 bytes for each 64 slots and 4.7 KB: 16 KB for 1000 slots, 16 MB for 1000 clients of those. It allocates nothing after
// NewAckHistory.
type AckHistory struct {
	words         int
	at            int // of the newest snapshot
	snapshots     [historySnapshots]sentSnapshot
	sets          []uint64 // by snapshot: slots that were said to hold somebody, and to hold nobody; then those of long ago, by the same two
	packets       [historyPackets]sentPacket
	next          uint32 // packages ever sent
	newlyAcked    [64]uint8
	newlyAckedLen int

	covered, want, from, to []uint64 // of Look; cover is of one snapshot, by slot
	before, after           []uint8  // by slot: 1 + which snapshot
}

type sentSnapshot struct {
	tick  tick.Tick // 0: none
	first uint32    // number of its first package
	count uint32
}

type sentPacket struct {
	first, count uint16    // groups
	seq          uint16    // of the package
	since        tick.Tick // first command that was made when it had arrived, as the client says; 0: it is not known to have
	at           tick.Tick // when it said so, by the server's ticks
}

// NewAckHistory returns the memory of a client that holds nothing, for frames of so many slots.
func NewAckHistory(slots int) *AckHistory {
	words := (slots + 63) / 64
	sets := make([]uint64, (2*(historySnapshots+1)+4)*words)
	own := sets[2*(historySnapshots+1)*words:]
	return &AckHistory{words: words, sets: sets, before: make([]uint8, 64*words), after: make([]uint8, 64*words),
		covered: own[:words], want: own[words : 2*words], from: own[2*words : 3*words], to: own[3*words:]}
}

// Reset takes the client to be a new one that was told nothing.
func (h *AckHistory) Reset() {
	clear(h.sets)
	h.snapshots, h.packets, h.next, h.at, h.newlyAckedLen = [historySnapshots]sentSnapshot{}, [historyPackets]sentPacket{}, 0, 0, 0
}

func (h *AckHistory) visible(n int) []uint64 { return h.sets[2*n*h.words:][:h.words] }
func (h *AckHistory) removed(n int) []uint64 { return h.sets[(2*n+1)*h.words:][:h.words] }

// Begin says that the snapshot of tick t, later than the one before, is about to be sent.
func (h *AckHistory) Begin(t tick.Tick) {
	h.at = (h.at + 1) % historySnapshots
	m := &h.snapshots[h.at]
	if m.tick != 0 { // what arrived of it becomes long ago
		h.findCovered(h.at, CommandTime{NoDeadline, NoDeadline})
		shown, gone := h.visible(historySnapshots), h.removed(historySnapshots)
		for i, c := range h.covered {
			s, g := h.visible(h.at)[i]&c, h.removed(h.at)[i]&c
			shown[i], gone[i] = shown[i]&^g|s, gone[i]&^s|g
		}
	}
	*m = sentSnapshot{tick: t, first: h.next}
	clear(h.visible(h.at))
	clear(h.removed(h.at))
}

// noteRows notes rows of groups first to end-1, of which those in here hold somebody, as Tracker.noteRows does.
func (h *AckHistory) noteRows(first, end int, say, hide, here []uint64) {
	shown, gone := h.visible(h.at), h.removed(h.at)
	for i := first / wordGroups; i*wordGroups < end; i++ {
		in := groupMask(i, first, end)
		s := say[i] & in &^ hide[i]
		shown[i] |= s & here[i]
		gone[i] |= hide[i]&in | s&^here[i]
	}
}

// Sent notes a package of the snapshot and which groups it is about, none if count is 0. all is the frame if all of their rows were said as they are, as by
// Packer.Begin; nil if the packer's tracker was told which.
func (h *AckHistory) Sent(seq uint16, first, count int, all *Frame) {
	if all != nil && count > 0 {
		shown, gone := h.visible(h.at), h.removed(h.at)
		for i := first / wordGroups; i*wordGroups < first+count; i++ {
			in := groupMask(i, first, first+count)
			shown[i] |= all.occupied[i] & in
			gone[i] |= in &^ all.occupied[i]
		}
	}
	h.packets[h.next%historyPackets] = sentPacket{first: uint16(first), count: uint16(count), seq: seq}
	h.next++
	h.snapshots[h.at].count++
}

// BeginAcks begins the acknowledgements of a package from the client.
func (h *AckHistory) BeginAcks() { h.newlyAckedLen = 0 }

// CommandTime is a client's command: its tick, and when it came, by the server's ticks. What the client says to have arrived counts for a command if it said so before
// AckDeadline: who says it together with a shot may have chosen it by what it hits. By NoDeadline all that it says counts.
type CommandTime struct{ Tick, AckDeadline tick.Tick }

// NoDeadline is later than any tick.
const NoDeadline = ^tick.Tick(0)

// Acked says, at tick at, that the client has the package with count groups from first on of the snapshot of tick t, and had it when it made the command of
// tick since, unless Lacked says later that it came after a later one.
func (h *AckHistory) Acked(t tick.Tick, first, count int, since, at tick.Tick) {
	for n := range h.snapshots {
		m := &h.snapshots[n]
		if m.tick != t || t == 0 {
			continue
		}
		for i := m.first; i != m.first+m.count; i++ {
			if p := &h.packets[i%historyPackets]; h.next-i <= historyPackets && int(p.first) == first && int(p.count) == count && p.since == 0 {
				p.since, p.at = max(since, 1), at
				if h.newlyAckedLen < len(h.newlyAcked) {
					h.newlyAcked[h.newlyAckedLen] = uint8(i % historyPackets)
					h.newlyAckedLen++
				}
			}
		}
		return
	}
}

// ArrivedAfter says that the package seq came after the command of a tick was made. It counts only of what has Arrived since Open: nobody can
// take back what was acknowledged before.
func (h *AckHistory) ArrivedAfter(seq uint16, command tick.Tick) {
	for _, i := range h.newlyAcked[:h.newlyAckedLen] {
		if p := &h.packets[i]; p.seq == seq {
			p.since = max(p.since, command+1)
		}
	}
}

// BracketingTicks finds the two snapshots around an instant, in 1/256 tick, of which the client had anything when it made the command of a tick: the newest
// up to it and the oldest behind it. At just the newest that it had, both are that; both are 0 where one is missing.
func (h *AckHistory) BracketingTicks(instant int64, command CommandTime) (from, to tick.Tick) {
	for back := range historySnapshots { // from the newest on
		m := &h.snapshots[(h.at-back)&(historySnapshots-1)]
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
func (h *AckHistory) had(m *sentSnapshot, command CommandTime) bool {
	for i := m.first; i != m.first+m.count; i++ {
		if p := &h.packets[i%historyPackets]; h.next-i <= historyPackets && p.had(command) {
			return true
		}
	}
	return false
}

// had reports whether the client had the package when it made a command.
func (p *sentPacket) had(c CommandTime) bool {
	return p.since != 0 && p.since <= c.Tick && p.at < c.AckDeadline
}

// HasLateAcks reports whether the client says of some package that it had it when it made a command, and said so no sooner than with it.
func (h *AckHistory) HasLateAcks(c CommandTime) bool {
	for i := range h.packets {
		if p := &h.packets[i]; p.at >= c.AckDeadline && p.since != 0 && p.since <= c.Tick {
			return true
		}
	}
	return false
}

// findCovered makes cover the slots of groups of snapshot n that the client had when it made the command of a tick.
func (h *AckHistory) findCovered(n int, command CommandTime) {
	clear(h.covered)
	m := &h.snapshots[n]
	for i := m.first; i != m.first+m.count; i++ {
		p := &h.packets[i%historyPackets]
		if h.next-i > historyPackets || !p.had(command) {
			continue
		}
		first, end := int(p.first), int(p.first)+int(p.count)
		for w := first / wordGroups; w*wordGroups < end && w < h.words; w++ {
			h.covered[w] |= groupMask(w, first, end)
		}
	}
}

// TargetView is a slot that a client did not see as both ticks of its view say.
type TargetView struct {
	Slot          int
	Before        tick.Tick // newest snapshot up to the view's first that told of it, 0: none
	After         tick.Tick // oldest from the view's second on that did, 0: none
	VisibleBefore bool      // somebody was there at Before, or, if there is none, at After
	VisibleAfter  bool      // somebody was there at After
	Lost          bool      // some snapshot behind Before and up to the view's second told of it, and has not arrived
	Expired       bool      // it was told of longer ago than is remembered: Before is 0, and Was is what was said then
}

// ResolveView appends to out, for a client that made the command of a tick while it looked at v, each slot of which it had not all that the
// view's two ticks say: that it was told at both that somebody is there. Of slots that it has never been told of, nothing is appended:
// plain says whether v is as it is for the others, and is valid until the next call. On a slot in neither nobody can be seen.
func (h *AckHistory) ResolveView(v tick.View, command CommandTime, out []TargetView) (glimpses []TargetView, plain []uint64) {
	clear(h.from)
	clear(h.to)
	copy(h.want, h.visible(historySnapshots)) // anybody who may be seen at all
	for n := range h.snapshots {
		m := &h.snapshots[n]
		if m.tick == 0 {
			continue
		}
		for i, s := range h.visible(n) {
			h.want[i] |= s
		}
		for _, end := range [2]struct {
			at  tick.Tick
			set []uint64
		}{{v.From, h.from}, {v.To, h.to}} {
			if m.tick == end.at {
				h.findCovered(n, command)
				for i, s := range h.visible(n) {
					end.set[i] = s & h.covered[i]
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
	return h.resolveMissing(v, command, out), plain
}

// resolveMissing is Look for the slots of want.
func (h *AckHistory) resolveMissing(v tick.View, command CommandTime, out []TargetView) []TargetView {
	h.nearest(v.From, command, false)
	h.nearest(v.To, command, true)
	for i, w := range h.want {
		for ; w != 0; w &= w - 1 {
			slot := i*64 + bits.TrailingZeros64(w)
			g := TargetView{Slot: slot}
			if b := int(h.after[slot]) - 1; b >= 0 {
				g.After, g.VisibleAfter = h.snapshots[b].tick, h.visible(b)[i]&(w&-w) != 0
				g.VisibleBefore = g.VisibleAfter
			}
			if a := int(h.before[slot]) - 1; a >= 0 {
				g.Before, g.VisibleBefore = h.snapshots[a].tick, h.visible(a)[i]&(w&-w) != 0
			} else if h.visible(historySnapshots)[i]&(w&-w) != 0 || h.removed(historySnapshots)[i]&(w&-w) != 0 {
				g.Expired, g.VisibleBefore = true, h.visible(historySnapshots)[i]&(w&-w) != 0
			}
			g.Lost = h.lost(slot, g.Before, v.To)
			out = append(out, g)
		}
	}
	return out
}

// nearest finds for the slots of want the snapshot nearest to tick t, at or behind it if later is set and at or before it if not, that told of
// them and that the client had.
func (h *AckHistory) nearest(t tick.Tick, command CommandTime, later bool) {
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
	for back := range historySnapshots {
		n := (h.at - back + historySnapshots) % historySnapshots
		if later {
			n = (h.at + 1 + back) % historySnapshots
		}
		m := &h.snapshots[n]
		if m.tick == 0 || later && m.tick < t || !later && m.tick > t {
			continue
		}
		h.findCovered(n, command)
		any := uint64(0)
		shown, gone := h.visible(n), h.removed(n)
		for i := range left {
			hit := left[i] & h.covered[i] & (shown[i] | gone[i])
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
func (h *AckHistory) lost(slot int, after, upTo tick.Tick) bool {
	i, bit := slot>>6, uint64(1)<<(slot&63)
	for n := range h.snapshots {
		if t := h.snapshots[n].tick; t > after && t <= upTo && (h.visible(n)[i]|h.removed(n)[i])&bit != 0 {
			return true
		}
	}
	return false
}
