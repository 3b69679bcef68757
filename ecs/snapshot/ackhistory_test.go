package snapshot

import (
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/alloctest"
)

// slowHeld is what a client was sent and says to have, all of it, in the order in which it was
// sent; what AckHistory may remember of it is counted off from the end whenever it is asked.
type slowHeld struct {
	ticks []tick.Tick
	packs []slowPack
	fresh []int // packs acknowledged since Open
}

type slowPack struct {
	of           tick.Tick
	seq          uint16
	first, count int
	has          bool
	since, at    tick.Tick
}

func (s *slowHeld) remembers(t tick.Tick) bool {
	for _, known := range s.ticks[max(0, len(s.ticks)-32):] {
		if known == t {
			return true
		}
	}
	return false
}

func (s *slowHeld) arrived(t tick.Tick, first, count int, since, at tick.Tick) {
	for i := max(0, len(s.packs)-256); i < len(s.packs); i++ {
		p := &s.packs[i]
		if p.of == t && s.remembers(t) && p.first == first && p.count == count && !p.has {
			p.has, p.since, p.at = true, max(since, 1), at
			s.fresh = append(s.fresh, i)
		}
	}
}

func (s *slowHeld) lacked(seq uint16, command tick.Tick) {
	for _, i := range s.fresh {
		if p := &s.packs[i]; p.seq == seq {
			p.since = max(p.since, command+1)
		}
	}
}

// around looks for the ticks one by one.
func (s *slowHeld) around(instant int64, c CommandTime) (from, to tick.Tick) {
	had := map[tick.Tick]bool{}
	for _, p := range s.packs[max(0, len(s.packs)-256):] {
		if p.has && p.since <= c.Tick && p.at < c.AckDeadline && s.remembers(p.of) {
			had[p.of] = true
		}
	}
	newest := s.ticks[len(s.ticks)-1]
	for t := tick.Tick(1); t <= newest; t++ {
		switch {
		case !had[t]:
		case int64(t)*256 <= instant:
			from = t
		case to == 0:
			to = t
		}
	}
	if from != 0 && to == 0 && int64(from)*256 == instant {
		return from, from
	}
	if from == 0 || to == 0 {
		return 0, 0
	}
	return from, to
}

func (s *slowHeld) late(c CommandTime) bool {
	for _, p := range s.packs[max(0, len(s.packs)-256):] {
		if p.has && p.since <= c.Tick && p.at >= c.AckDeadline {
			return true
		}
	}
	return false
}

// AckHistory answers as the twin that forgets nothing but what it may not remember: packages lost,
// acknowledged late, twice or for ever, taken back at once or too late, of snapshots long
// forgotten.
func TestHeldIsTheSlowOne(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 36))
	found, ends, lates, asked, gone := 0, 0, 0, 0, 0
	for round := range 60 {
		h, s := NewAckHistory(130), &slowHeld{}
		if round%2 == 0 { // a client was here before
			h.Begin(5)
			h.Sent(1, 0, 3, nil)
			h.BeginAcks()
			h.Acked(5, 0, 3, 1, 1)
			h.Reset()
		}
		now, server, seq := tick.Tick(round), tick.Tick(0), uint16(65500)
		// Packages of a snapshot: 20 are soon more than are remembered.
		most := []int{2, 5, 20}[round%3]
		for range 150 {
			now += tick.Tick(1 + r.IntN(3))
			h.Begin(now)
			s.ticks = append(s.ticks, now)
			for range r.IntN(most) {
				first, count := r.IntN(4)*32, r.IntN(3)*16 // alike more often than not
				h.Sent(seq, first, count, nil)
				s.packs = append(s.packs, slowPack{of: now, seq: seq, first: first, count: count})
				seq++
			}
			server += tick.Tick(r.IntN(3))
			h.BeginAcks()
			s.fresh = s.fresh[:0]
			for range r.IntN(4) {
				if len(s.packs) == 0 {
					break
				}
				p := s.packs[max(0, len(s.packs)-1-r.IntN(12*most))]
				of, since := p.of, now-min(now, tick.Tick(r.IntN(6)))
				if r.IntN(8) == 0 { // of another snapshot, or none
					of = tick.Tick(r.IntN(int(now) + 3))
				}
				if !s.remembers(of) {
					gone++
				}
				h.Acked(of, p.first, p.count, since, server)
				s.arrived(of, p.first, p.count, since, server)
				if len(s.fresh) > 0 && r.IntN(2) == 0 {
					back, command := s.packs[s.fresh[r.IntN(len(s.fresh))]].seq, now-min(now, tick.Tick(r.IntN(4)))
					if r.IntN(4) == 0 { // acknowledged before, or never
						back = seq - uint16(1+r.IntN(40))
					}
					h.ArrivedAfter(back, command)
					s.lacked(back, command)
				}
			}
			for range 12 {
				c := CommandTime{Tick: now + 2 - min(now, tick.Tick(r.IntN(40))), AckDeadline: server + 1 - min(server, tick.Tick(r.IntN(6)))}
				if r.IntN(4) == 0 {
					c.AckDeadline = NoDeadline
				}
				instant := (int64(now)+1-int64(r.IntN(90)))*256 + int64([]int{0, r.IntN(256)}[r.IntN(2)])
				from, to := h.BracketingTicks(instant, c)
				if wantFrom, wantTo := s.around(instant, c); from != wantFrom || to != wantTo {
					t.Fatalf("round %d, tick %d: Around(%d/256, %+v) is %d to %d, want %d to %d", round, now, instant, c, from, to, wantFrom, wantTo)
				}
				if got, want := h.HasLateAcks(c), s.late(c); got != want {
					t.Fatalf("round %d, tick %d: Late(%+v) is %v, want %v", round, now, c, got, want)
				} else if got {
					lates++
				}
				asked++
				switch {
				case from == 0:
				case from == to:
					ends++
				default:
					found++
				}
			}
		}
	}
	t.Logf("%d questions: %d between two snapshots, %d at the newest, %d late, %d acknowledgements of what is forgotten", asked, found, ends, lates, gone)
	if found < asked/5 || ends < asked/500 || lates < asked/20 || lates > asked*19/20 || gone < 100 {
		t.Error("the cases prove little")
	}
}

// What Around and Late say, by hand.
func TestHeldAround(t *testing.T) {
	h := NewAckHistory(64)
	for i, at := range []tick.Tick{10, 13, 16, 19} {
		h.Begin(at)
		h.Sent(uint16(i), 0, 64, nil)
	}
	h.BeginAcks()
	h.Acked(10, 0, 64, 100, 50)
	h.Acked(16, 0, 64, 103, 51) // 13 was lost
	h.Acked(19, 0, 64, 104, 52)
	h.ArrivedAfter(3, 104) // 19 came after command 104
	const mid = 14*256 + 128
	for i, c := range []struct {
		instant  int64
		command  CommandTime
		from, to tick.Tick
		late     bool
	}{
		{mid, CommandTime{104, NoDeadline}, 10, 16, false},
		{mid, CommandTime{102, NoDeadline}, 0, 0, false}, // 16 was not there yet
		{mid, CommandTime{104, 52}, 10, 16, false},
		{mid, CommandTime{104, 51}, 0, 0, true}, // the client said so with the shot
		// At a snapshot the next is the other end.
		{10 * 256, CommandTime{104, NoDeadline}, 10, 16, false},
		{10*256 - 1, CommandTime{104, NoDeadline}, 0, 0, false},
		{16 * 256, CommandTime{104, NoDeadline}, 16, 16, false}, // just the newest
		{16*256 + 1, CommandTime{104, NoDeadline}, 0, 0, false},
		{16*256 + 1, CommandTime{105, NoDeadline}, 16, 19, false},
		{16*256 + 1, CommandTime{105, 52}, 0, 0, true},
	} {
		from, to := h.BracketingTicks(c.instant, c.command)
		if late := h.HasLateAcks(c.command); from != c.from || to != c.to || late != c.late {
			t.Errorf("%d: %d to %d, late %v, want %d to %d, %v", i, from, to, late, c.from, c.to, c.late)
		}
	}
	// Nothing that was acknowledged before can be taken back.
	h.BeginAcks()
	h.ArrivedAfter(0, 200)
	if from, to := h.BracketingTicks(mid, CommandTime{104, NoDeadline}); from != 10 || to != 16 {
		t.Errorf("%d to %d after a late word", from, to)
	}
	if n := alloctest.In(100, func() { h.BracketingTicks(mid, CommandTime{104, NoDeadline}); h.HasLateAcks(CommandTime{104, 51}) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
