package snapshot

import (
	"math/bits"

	"github.com/tickrate/tickrate/ecs/tick"
)

// Implementation constants of AckHistory.
const (
	historySnapshots = 32  // snapshots remembered
	historyPackets   = 256 // packets remembered, of all snapshots
)

// AckHistory remembers, for the newest 32 snapshots to one client, the rows in each of their
// packets, and the command from which on the client had each packet. For a shot it tells between
// which two snapshots the shooter saw each target, even where packets were lost, rows were left
// out by a budget, or players were hidden.
//
// It takes 696 bytes for each 64 slots and 4.7 KB: 16 KB for 1000 slots. It allocates nothing
// after NewAckHistory.
type AckHistory struct {
	words         int32
	next          uint32 // packets ever sent
	at            uint16 // index of the newest snapshot
	newlyAckedLen uint16
	sets          []uint64 // by snapshot, then of older ones together: slots sent, slots removed
	covered       []uint64 // scratch of findCovered, by slot
	newlyAcked    [64]uint8

	want, from, to []uint64 // scratch of FindMissing and ResolveMissing, by slot
	lost           []uint64 // result of nearestBefore, by slot: TargetView.Lost
	before, after  []uint8  // by slot: 1 + index of a snapshot

	snapshots [historySnapshots]sentSnapshot
	packets   [historyPackets]sentPacket
}

// sentSnapshot is one snapshot: packets first to first+count-1.
type sentSnapshot struct {
	tick  tick.Tick // 0: none
	first uint32    // number of its first packet
	count uint32
}

// sentPacket is one packet of a snapshot.
type sentPacket struct {
	first, count uint16 // groups
	seq          uint16 // sequence number of the packet
	// First command that the client made with the packet at hand; 0: not known to have arrived.
	since tick.Tick
	at    tick.Tick // server tick of the acknowledgement
}

// NewAckHistory returns the history of a client that holds nothing, for frames of up to slots
// slots.
func NewAckHistory(slots int) *AckHistory {
	words := (slots + 63) / 64
	sets := make([]uint64, (2*(historySnapshots+1)+5)*words)
	own := sets[2*(historySnapshots+1)*words:]
	return &AckHistory{words: int32(words), sets: sets,
		before: make([]uint8, 64*words), after: make([]uint8, 64*words),
		covered: own[:words], want: own[words : 2*words], from: own[2*words : 3*words],
		to: own[3*words : 4*words], lost: own[4*words:]}
}

// Reset forgets everything: the slot has a new client.
func (h *AckHistory) Reset() {
	clear(h.sets)
	h.snapshots, h.packets = [historySnapshots]sentSnapshot{}, [historyPackets]sentPacket{}
	h.next, h.at, h.newlyAckedLen = 0, 0, 0
}

func (h *AckHistory) visible(n int) []uint64 { return h.sets[2*n*int(h.words):][:h.words] }
func (h *AckHistory) removed(n int) []uint64 { return h.sets[(2*n+1)*int(h.words):][:h.words] }

// Begin starts the snapshot of tick t, which must be later than the one before.
func (h *AckHistory) Begin(t tick.Tick) {
	h.at = (h.at + 1) % historySnapshots
	at := int(h.at)
	m := &h.snapshots[at]
	if m.tick != 0 { // what arrived of it becomes long ago
		h.findCovered(at, CommandTime{NoDeadline, NoDeadline})
		visible, removed := h.visible(historySnapshots), h.removed(historySnapshots)
		for i, c := range h.covered {
			s, g := h.visible(at)[i]&c, h.removed(at)[i]&c
			visible[i], removed[i] = visible[i]&^g|s, removed[i]&^s|g
		}
	}
	*m = sentSnapshot{tick: t, first: h.next}
	clear(h.visible(at))
	clear(h.removed(at))
}

// noteRows records rows of groups first to end-1: those of send as they are, those of remove as
// empty. occupied are the slots in use.
func (h *AckHistory) noteRows(first, end int, send, remove, occupied []uint64) {
	visible, removed := h.visible(int(h.at)), h.removed(int(h.at))
	for i := first / wordGroups; i*wordGroups < end; i++ {
		in := groupMask(i, first, end)
		s := send[i] & in &^ remove[i]
		visible[i] |= s & occupied[i]
		removed[i] |= remove[i]&in | s&^occupied[i]
	}
}

// Sent records a packet of the snapshot and its groups, none if count is 0. all is the frame if
// every row of those groups was sent (Packer.Begin), and nil if the packer's tracker keeps this
// history.
func (h *AckHistory) Sent(seq uint16, first, count int, all *Frame) {
	if all != nil && count > 0 {
		visible, removed := h.visible(int(h.at)), h.removed(int(h.at))
		for i := first / wordGroups; i*wordGroups < first+count; i++ {
			in := groupMask(i, first, first+count)
			visible[i] |= all.occupied[i] & in
			removed[i] |= in &^ all.occupied[i]
		}
	}
	h.packets[h.next%historyPackets] = sentPacket{first: uint16(first), count: uint16(count), seq: seq}
	h.next++
	h.snapshots[h.at].count++
}

// BeginAcks starts the acknowledgements of one packet from the client.
func (h *AckHistory) BeginAcks() { h.newlyAckedLen = 0 }

// CommandTime is a client's command as the history judges it. An acknowledgement counts for the
// command only if it came before AckDeadline: a client that acknowledges together with a shot may
// have chosen the acknowledgement by what the shot hits.
type CommandTime struct{ Tick, AckDeadline tick.Tick }

// NoDeadline is an AckDeadline at which every acknowledgement counts.
const NoDeadline = ^tick.Tick(0)

// Acked records, at server tick at, that the client has the packet with count groups from first on
// of the snapshot of tick t, and had it when it made the command of tick since. ArrivedAfter may
// move that later.
func (h *AckHistory) Acked(t tick.Tick, first, count int, since, at tick.Tick) {
	for back := range historySnapshots { // from the newest on
		m := &h.snapshots[(int(h.at)-back)&(historySnapshots-1)]
		if m.tick > t {
			continue
		}
		if m.tick != t || t == 0 { // older ones follow
			return
		}
		for i := m.first; i != m.first+m.count; i++ {
			if p := &h.packets[i%historyPackets]; h.next-i <= historyPackets &&
				int(p.first) == first && int(p.count) == count && p.since == 0 {
				p.since, p.at = max(since, 1), at
				if int(h.newlyAckedLen) < len(h.newlyAcked) {
					h.newlyAcked[h.newlyAckedLen] = uint8(i % historyPackets)
					h.newlyAckedLen++
				}
			}
		}
		return
	}
}

// ArrivedAfter records that packet seq arrived after the command of a tick was made. It affects
// only packets acked since BeginAcks: a client cannot take back an older acknowledgement.
func (h *AckHistory) ArrivedAfter(seq uint16, command tick.Tick) {
	for _, i := range h.newlyAcked[:h.newlyAckedLen] {
		if p := &h.packets[i]; p.seq == seq {
			p.since = max(p.since, command+1)
		}
	}
}

// BracketingTicks finds the two snapshots around an instant, in 1/256 tick: the newest at or before
// it and the oldest after it. A snapshot counts if the client had at least one of its packets when
// it made a command. If the newest one is exactly at the instant, both results are its tick. Both
// are 0 if one is missing.
func (h *AckHistory) BracketingTicks(instant int64, command CommandTime) (from, to tick.Tick) {
	for back := range historySnapshots { // from the newest on
		m := &h.snapshots[(int(h.at)-back)&(historySnapshots-1)]
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

// had reports whether the client had any packet of a snapshot when it made a command.
func (h *AckHistory) had(m *sentSnapshot, command CommandTime) bool {
	for i := m.first; i != m.first+m.count; i++ {
		if p := &h.packets[i%historyPackets]; h.next-i <= historyPackets && p.had(command) {
			return true
		}
	}
	return false
}

// had reports whether the client had the packet when it made a command.
func (p *sentPacket) had(c CommandTime) bool {
	return p.since != 0 && p.since <= c.Tick && p.at < c.AckDeadline
}

// HasLateAcks reports whether some packet counts for a command but was acknowledged at the
// command's deadline or later.
func (h *AckHistory) HasLateAcks(c CommandTime) bool {
	for i := range h.packets {
		if p := &h.packets[i]; p.at >= c.AckDeadline && p.since != 0 && p.since <= c.Tick {
			return true
		}
	}
	return false
}

// findCovered sets covered to the slots in packets of snapshot n that the client had when it made
// a command, and reports whether it had one.
func (h *AckHistory) findCovered(n int, command CommandTime) (any bool) {
	clear(h.covered)
	m := &h.snapshots[n]
	for i := m.first; i != m.first+m.count; i++ {
		p := &h.packets[i%historyPackets]
		if h.next-i > historyPackets || !p.had(command) {
			continue
		}
		any = true
		first, end := int(p.first), int(p.first)+int(p.count)
		for w := first / wordGroups; w*wordGroups < end && w < int(h.words); w++ {
			h.covered[w] |= groupMask(w, first, end)
		}
	}
	return any
}

// TargetView is how a client saw one target that is missing from a snapshot of its view.
type TargetView struct {
	Slot          int
	Before        tick.Tick // newest snapshot up to the view's first that has the slot, 0: none
	After         tick.Tick // oldest snapshot from the view's second on that has the slot, 0: none
	VisibleBefore bool      // the target was there at Before
	VisibleAfter  bool      // the target was there at After
	// A snapshot after Before and up to the view's second has the slot and did not arrive.
	Lost bool
	// The last word is older than the history: Before is 0, VisibleBefore is that word.
	Expired bool
}

// FindMissing finds, for a client that made a command while it looked at v, the slots that are
// missing from one of the view's two snapshots, for ResolveMissing. regular are the slots that both
// have, to be rewound as the view says; the set is valid until the next call. In a slot of neither
// nobody can be seen.
func (h *AckHistory) FindMissing(v tick.View, command CommandTime) (regular []uint64, missing bool) {
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
		if m.tick == v.From {
			h.acked(n, command, h.from)
		}
		if m.tick == v.To {
			h.acked(n, command, h.to)
		}
	}
	any := uint64(0)
	regular = h.from
	for i := range regular {
		regular[i] &= h.to[i]
		h.want[i] &^= regular[i]
		any |= h.want[i]
	}
	return regular, any != 0
}

// acked sets out to the slots that snapshot n showed to the client when it made a command.
func (h *AckHistory) acked(n int, command CommandTime, out []uint64) {
	h.findCovered(n, command)
	for i, s := range h.visible(n) {
		out[i] = s & h.covered[i]
	}
}

// ResolveMissing appends to out, for the view and the command of the last FindMissing, the missing
// slots of near, ascending, and all missing slots whose last word is older than the history and
// shows a target. A near of nil is every slot.
func (h *AckHistory) ResolveMissing(
	v tick.View, command CommandTime, near []uint64, out []TargetView,
) []TargetView {
	if near != nil {
		any := uint64(0)
		for i, s := range h.visible(historySnapshots) {
			h.want[i] &= near[i] | s
			any |= h.want[i]
		}
		if any == 0 {
			return out
		}
	}
	if left := h.nearestBefore(v, command); near != nil {
		any := uint64(0)
		for i, s := range left {
			h.want[i] &= near[i] | s
			any |= h.want[i]
		}
		if any == 0 {
			return out
		}
	}
	h.nearestAfter(v.To, command)
	for i, w := range h.want {
		for ; w != 0; w &= w - 1 {
			slot := i*64 + bits.TrailingZeros64(w)
			out = append(out, TargetView{})
			g := &out[len(out)-1] // in place: a copy would wait for its fields
			g.Slot = slot
			if b := int(h.after[slot]) - 1; b >= 0 {
				g.After, g.VisibleAfter = h.snapshots[b].tick, h.visible(b)[i]&(w&-w) != 0
			}
			if a := int(h.before[slot]) - 1; a >= 0 {
				g.Before, g.VisibleBefore = h.snapshots[a].tick, h.visible(a)[i]&(w&-w) != 0
			} else if h.visible(historySnapshots)[i]&(w&-w) != 0 ||
				h.removed(historySnapshots)[i]&(w&-w) != 0 {
				g.Expired, g.VisibleBefore = true, h.visible(historySnapshots)[i]&(w&-w) != 0
			}
			g.Lost = h.lost[i]&(w&-w) != 0
		}
	}
	return out
}

// nearestBefore finds, for the slots of want, the newest acked snapshot up to the view's first one
// that has the slot, and whether one after that and up to the view's second has it, arrived or not.
// left are the slots that none has.
func (h *AckHistory) nearestBefore(v tick.View, command CommandTime) (left []uint64) {
	left = h.beginNearest(h.before)
	clear(h.lost)
	for back := range historySnapshots {
		n := (int(h.at) - back + historySnapshots) % historySnapshots
		at := h.snapshots[n].tick
		if at == 0 || at > v.To {
			continue
		}
		if at <= v.From && h.found(n, command, left, h.before) {
			break
		}
		visible, removed := h.visible(n), h.removed(n)
		for i, w := range left {
			h.lost[i] |= w & (visible[i] | removed[i])
		}
	}
	return left
}

// nearestAfter finds, for the slots of want, the oldest acked snapshot at or after tick t that has
// the slot.
func (h *AckHistory) nearestAfter(t tick.Tick, command CommandTime) {
	left := h.beginNearest(h.after)
	for ahead := range historySnapshots {
		n := (int(h.at) + 1 + ahead) % historySnapshots
		if at := h.snapshots[n].tick; at != 0 && at >= t && h.found(n, command, left, h.after) {
			return
		}
	}
}

// beginNearest clears the slots of want in into, and returns them as the slots to find.
func (h *AckHistory) beginNearest(into []uint8) (left []uint64) {
	left = h.to // FindMissing is done with it
	copy(left, h.want)
	for i, w := range left {
		if w != 0 {
			clear(into[i*64 : i*64+64])
		}
	}
	return left
}

// found moves the slots that snapshot n has from left into into, and reports whether none is left.
func (h *AckHistory) found(n int, command CommandTime, left []uint64, into []uint8) bool {
	if !h.findCovered(n, command) {
		return false
	}
	any := uint64(0)
	visible, removed := h.visible(n), h.removed(n)
	for i := range left {
		hit := left[i] & h.covered[i] & (visible[i] | removed[i])
		left[i] &^= hit
		any |= left[i]
		for ; hit != 0; hit &= hit - 1 {
			into[i*64+bits.TrailingZeros64(hit)] = uint8(n + 1)
		}
	}
	return any == 0
}
