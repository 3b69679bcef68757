package snapshot

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tickrate/tickrate/ecs/tick"
)

// slowHistory is the slow twin of AckHistory's views: it looks at each slot alone, in the snapshots
// that an AckHistory remembers.
type slowHistory struct {
	sent []slowSnapshot // the newest 32, oldest first
	old  map[int]bool   // by slot: what older snapshots said last, as far as acked when forgotten
}

type slowSnapshot struct {
	tick  tick.Tick
	rows  map[int]bool // by slot: visible, or removed
	packs []slowPack
}

// acked reports whether the client had the packet with a slot when it made a command.
func (s *slowSnapshot) acked(slot int, c CommandTime) bool {
	return slices.ContainsFunc(s.packs, func(p slowPack) bool {
		return p.has && p.since <= c.Tick && p.at < c.AckDeadline && slot/GroupRows >= p.first &&
			slot/GroupRows < p.first+p.count
	})
}

func (h *slowHistory) begin(t tick.Tick) {
	if len(h.sent) == historySnapshots {
		for slot, visible := range h.sent[0].rows {
			if h.sent[0].acked(slot, CommandTime{NoDeadline, NoDeadline}) {
				h.old[slot] = visible
			}
		}
		h.sent = h.sent[1:]
	}
	h.sent = append(h.sent, slowSnapshot{tick: t, rows: map[int]bool{}})
}

// view is how a client saw one slot: by the view alone if regular, else by the target's view, if
// anybody can have been seen there.
func (h *slowHistory) view(slot int, v tick.View, c CommandTime) (g TargetView, regular, any bool) {
	g.Slot = slot
	any = h.old[slot]
	ends := 0
	for i := range h.sent {
		s := &h.sent[i]
		visible, has := s.rows[slot]
		any = any || visible
		has = has && s.acked(slot, c)
		if has && visible && s.tick == v.From {
			ends++
		}
		if has && visible && s.tick == v.To {
			ends++
		}
		if has && s.tick <= v.From {
			g.Before, g.VisibleBefore = s.tick, visible
		}
		if has && s.tick >= v.To && g.After == 0 {
			g.After, g.VisibleAfter = s.tick, visible
		}
	}
	if g.Before == 0 {
		g.VisibleBefore, g.Expired = h.old[slot]
	}
	for i := range h.sent {
		_, has := h.sent[i].rows[slot]
		g.Lost = g.Lost || has && h.sent[i].tick > g.Before && h.sent[i].tick <= v.To
	}
	return g, ends == 2, any
}

// missingGroups is the number of groups of rows of a missingScript.
const missingGroups = 12

// missingScript plays one history to an AckHistory and to its slow twin: rows left out by turns or
// at random, spawns and despawns, lost and late packets.
type missingScript struct {
	*testing.T
	r           *rand.Rand
	fast        *AckHistory
	slow        *slowHistory
	round, step int
	now, server tick.Tick
	seq         uint16

	occupied, send, remove []uint64
	near                   []uint64 // of a comparison: any set
	missingCounts
}

// missingCounts counts the rows of all comparisons by their answer.
type missingCounts struct{ rows, far, expired, lost, regular int }

// begin starts a round: its number says how rows are left out.
func (m *missingScript) begin(round int) {
	slots := missingGroups * GroupRows
	words := (slots + 63) / 64
	m.round, m.fast, m.slow = round, NewAckHistory(slots), &slowHistory{old: map[int]bool{}}
	m.occupied, m.near = make([]uint64, words), make([]uint64, words)
	m.send, m.remove = make([]uint64, words), make([]uint64, words)
	m.now, m.server, m.seq = 1, 1, 0
}

// snapshot sends the next snapshot in packets of a few groups.
func (m *missingScript) snapshot() {
	r := m.r
	m.now += tick.Tick(1 + r.IntN(4))
	m.server += tick.Tick(r.IntN(3))
	m.fast.Begin(m.now)
	m.slow.begin(m.now)
	m.drawRows()
	newest := &m.slow.sent[len(m.slow.sent)-1]
	for first := 0; first < missingGroups; {
		count := min(1+r.IntN(6), missingGroups-first)
		m.fast.noteRows(first, first+count, m.send, m.remove, m.occupied)
		for slot := first * GroupRows; slot < (first+count)*GroupRows; slot++ {
			bit := uint64(1) << (slot & 63)
			switch in := m.occupied[slot>>6]&bit != 0; {
			case m.remove[slot>>6]&bit != 0:
				newest.rows[slot] = false
			case m.send[slot>>6]&bit != 0:
				newest.rows[slot] = in
			}
		}
		m.fast.Sent(m.seq, first, count, nil)
		newest.packs = append(newest.packs, slowPack{of: m.now, seq: m.seq, first: first, count: count})
		m.seq++
		first += count
	}
	m.step++
}

// drawRows draws who lives, and which rows the next snapshot sends and removes.
func (m *missingScript) drawRows() {
	r := m.r
	for i := range m.occupied {
		if r.IntN(3) == 0 {
			m.occupied[i] ^= r.Uint64() & r.Uint64() & r.Uint64() & r.Uint64() // spawns, despawns
		}
		switch m.round % 3 {
		case 0: // a budget: few rows
			m.send[i] = r.Uint64() & r.Uint64() & r.Uint64()
			m.remove[i] = r.Uint64() & r.Uint64() & r.Uint64() & r.Uint64()
		case 1: // half of the groups by turns
			m.send[i], m.remove[i] = 0xffff_0000_ffff_0000>>(m.step%2*16), 0
		default:
			m.send[i], m.remove[i] = ^uint64(0), 0
		}
	}
}

// ack acknowledges a few packets of late snapshots.
func (m *missingScript) ack() {
	r := m.r
	m.fast.BeginAcks()
	for range r.IntN(4) {
		of := &m.slow.sent[max(0, len(m.slow.sent)-1-r.IntN(10))]
		p := &of.packs[r.IntN(len(of.packs))]
		if !p.has {
			p.has, p.since, p.at = true, m.now-min(m.now-1, tick.Tick(r.IntN(6))), m.server
			m.fast.Acked(of.tick, p.first, p.count, p.since, m.server)
		}
	}
}

// command draws a view and the command that has it.
func (m *missingScript) command() (v tick.View, c CommandTime) {
	r, sent := m.r, m.slow.sent
	v.From = sent[max(0, len(sent)-1-r.IntN(12))].tick + tick.Tick(r.IntN(8)/7)
	v.To = max(v.From, sent[max(0, len(sent)-1-r.IntN(8))].tick)
	c.Tick = m.now + 2 - min(m.now, tick.Tick(r.IntN(9)))
	c.AckDeadline = m.server + 1 - min(m.server, tick.Tick(r.IntN(4)))
	return v, c
}

// compare compares the answers of both for one command, slot by slot.
func (m *missingScript) compare(v tick.View, c CommandTime) {
	m.Helper()
	near := m.near
	if m.r.IntN(3) == 0 {
		near = nil
	}
	for i := range m.near {
		m.near[i] = m.r.Uint64() & m.r.Uint64() & m.r.Uint64()
	}
	regular, missing := m.fast.FindMissing(v, c)
	regular = slices.Clone(regular)
	got, n := m.fast.ResolveMissing(v, c, near, nil), 0
	for slot := range missingGroups * GroupRows {
		want, both, seen := m.slow.view(slot, v, c)
		switch in := regular[slot>>6]>>(slot&63)&1 != 0; {
		case in != both:
			m.Fatalf("round %d, tick %d, slot %d: regular %v, want %v", m.round, m.now, slot, in, both)
		case both:
			m.regular++
			continue
		case !seen:
			continue
		case !missing:
			m.Fatalf("round %d, tick %d, slot %d: nothing is missing", m.round, m.now, slot)
		case near != nil && near[slot>>6]>>(slot&63)&1 == 0 && !(want.Expired && want.VisibleBefore):
			m.far++
			continue
		case n == len(got) || got[n] != want:
			m.Fatalf("round %d, tick %d, slot %d: %+v, want %+v", m.round, m.now, slot, got[n:], want)
		}
		n++
		m.count(want)
	}
	if n != len(got) {
		m.Fatalf("round %d, tick %d: %d rows, want %d", m.round, m.now, len(got), n)
	}
}

// count counts an answer of both.
func (m *missingScript) count(g TargetView) {
	m.rows++
	if g.Expired {
		m.expired++
	}
	if g.Lost {
		m.lost++
	}
}

// ResolveMissing finds what the slow twin finds, slot by slot: with lost and late packets, rows left
// out by turns or at random, spawns and despawns; near leaves out nothing but what it may.
func TestResolveMissingIsTheSlowOne(t *testing.T) {
	m := &missingScript{T: t, r: rand.New(rand.NewPCG(26, 4))}
	for round := range 6 {
		m.begin(round)
		for range 90 {
			m.snapshot()
			m.ack()
			for range 4 {
				m.compare(m.command())
			}
		}
	}
	t.Logf("%d regular, %d missing, of them %d expired, %d lost; %d far", m.regular, m.rows, m.expired,
		m.lost, m.far)
	if m.regular < 500 || m.expired < 500 || m.lost < 1000 || m.far < 1000 || m.rows < 3*m.expired/2 {
		t.Error("the cases prove little")
	}
}
