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
		was, known := h.old[slot]
		g.Expired, g.VisibleBefore = known, g.VisibleAfter
		if known {
			g.VisibleBefore = was
		}
	}
	for i := range h.sent {
		_, has := h.sent[i].rows[slot]
		g.Lost = g.Lost || has && h.sent[i].tick > g.Before && h.sent[i].tick <= v.To
	}
	return g, ends == 2, any
}

// ResolveMissing finds what the slow twin finds, slot by slot: with lost and late packets, rows left
// out by turns or at random, spawns and despawns; near leaves out nothing but what it may.
func TestResolveMissingIsTheSlowOne(t *testing.T) {
	r := rand.New(rand.NewPCG(26, 4))
	var rows, far, expired, lost, regulars int
	for round := range 6 {
		const groups = 12
		slots := groups * GroupRows
		words := (slots + 63) / 64
		h, s := NewAckHistory(slots), &slowHistory{old: map[int]bool{}}
		occupied, send, remove := make([]uint64, words), make([]uint64, words), make([]uint64, words)
		near := make([]uint64, words)
		now, server, seq := tick.Tick(1), tick.Tick(1), uint16(0)
		for step := range 90 {
			now += tick.Tick(1 + r.IntN(4))
			server += tick.Tick(r.IntN(3))
			h.Begin(now)
			s.begin(now)
			newest := &s.sent[len(s.sent)-1]
			for i := range words {
				if r.IntN(3) == 0 {
					occupied[i] ^= r.Uint64() & r.Uint64() & r.Uint64() & r.Uint64() // spawns, despawns
				}
				switch round % 3 {
				case 0: // a budget: few rows
					send[i], remove[i] = r.Uint64()&r.Uint64()&r.Uint64(), r.Uint64()&r.Uint64()&r.Uint64()&r.Uint64()
				case 1: // half of the groups by turns
					send[i], remove[i] = 0xffff_0000_ffff_0000>>(step%2*16), 0
				default:
					send[i], remove[i] = ^uint64(0), 0
				}
			}
			for first := 0; first < groups; {
				count := min(1+r.IntN(6), groups-first)
				h.noteRows(first, first+count, send, remove, occupied)
				for slot := first * GroupRows; slot < (first+count)*GroupRows; slot++ {
					bit := uint64(1) << (slot & 63)
					switch in := occupied[slot>>6]&bit != 0; {
					case remove[slot>>6]&bit != 0:
						newest.rows[slot] = false
					case send[slot>>6]&bit != 0:
						newest.rows[slot] = in
					}
				}
				h.Sent(seq, first, count, nil)
				newest.packs = append(newest.packs, slowPack{of: now, seq: seq, first: first, count: count})
				seq++
				first += count
			}
			h.BeginAcks()
			for range r.IntN(4) {
				of := &s.sent[max(0, len(s.sent)-1-r.IntN(10))]
				p := &of.packs[r.IntN(len(of.packs))]
				if !p.has {
					p.has, p.since, p.at = true, now-min(now-1, tick.Tick(r.IntN(6))), server
					h.Acked(of.tick, p.first, p.count, p.since, server)
				}
			}
			for range 4 {
				from := s.sent[max(0, len(s.sent)-1-r.IntN(12))].tick + tick.Tick(r.IntN(8)/7)
				v := tick.View{From: from, To: max(from, s.sent[max(0, len(s.sent)-1-r.IntN(8))].tick)}
				c := CommandTime{Tick: now + 2 - min(now, tick.Tick(r.IntN(9))), AckDeadline: server + 1 -
					min(server, tick.Tick(r.IntN(4)))}
				some := near
				if r.IntN(3) == 0 {
					some = nil
				}
				for i := range near {
					near[i] = r.Uint64() & r.Uint64() & r.Uint64()
				}
				regular, missing := h.FindMissing(v, c)
				regular = slices.Clone(regular)
				got, n := h.ResolveMissing(v, c, some, nil), 0
				for slot := range slots {
					want, both, any := s.view(slot, v, c)
					if in := regular[slot>>6]>>(slot&63)&1 != 0; in != both {
						t.Fatalf("round %d, tick %d, slot %d: regular %v, want %v", round, now, slot, in, both)
					}
					if both {
						regulars++
						continue
					}
					if !any {
						continue
					}
					if !missing {
						t.Fatalf("round %d, tick %d, slot %d: nothing is missing", round, now, slot)
					}
					if some != nil && some[slot>>6]>>(slot&63)&1 == 0 && !(want.Expired && want.VisibleBefore) {
						far++
						continue
					}
					if n == len(got) || got[n] != want {
						t.Fatalf("round %d, tick %d, slot %d: %+v, want %+v", round, now, slot, got[n:], want)
					}
					n++
					rows++
					if want.Expired {
						expired++
					}
					if want.Lost {
						lost++
					}
				}
				if n != len(got) {
					t.Fatalf("round %d, tick %d: %d rows, want %d", round, now, len(got), n)
				}
			}
		}
	}
	t.Logf("%d regular, %d missing, of them %d expired, %d lost; %d far", regulars, rows, expired, lost, far)
	if regulars < 500 || expired < 500 || lost < 1000 || far < 1000 || rows < 3*expired/2 {
		t.Error("the cases prove little")
	}
}
