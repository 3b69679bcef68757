package rowtrace

import (
	"math"
	"testing"
	"time"

	"github.com/tickrate/tickrate/compress/huffman"
	"github.com/tickrate/tickrate/sim/netstate"
)

// spending is what a static code of one symbol costs: its entropy, and the bits behind its symbols.
type spending struct {
	seen  map[int]int
	extra int
}

func (s *spending) add(sym int, extra uint) {
	if s.seen == nil {
		s.seen = map[int]int{}
	}
	s.seen[sym]++
	s.extra += int(extra)
}

func (s *spending) change(e int32) {
	if e == 0 {
		s.add(-1, 0)
		return
	}
	sym, _, n := huffman.Bucket(e)
	s.add(sym, n)
}

func (s *spending) bits() float64 {
	all, sum := 0, float64(s.extra)
	for _, n := range s.seen {
		all += n
	}
	for _, n := range s.seen {
		sum -= float64(n) * math.Log2(float64(n)/float64(all))
	}
	return sum
}

// A motion class of two bits that says which predictor to use, as reference E proposes, against
// what both ends can find out by themselves, for positions of people, acks 100 ms old: a class of
// its own is worth less than it costs.
func TestMotionClassAgainstBest(t *testing.T) {
	tr := lobby(t, 16, 60*time.Second, 2, "qw_4on4_dm2_8p.csv.gz")
	size := func(v int32) int32 { return max(v, -v) }
	var hold, best, told, class spending
	rows := 0
	for s := late + 2; s < len(tr.Snapshots); s++ {
		for e := range tr.Entities {
			now, v0, v1, v2 := tr.Row(s, e), tr.Row(s-late, e), tr.Row(s-late-1, e), tr.Row(s-late-2, e)
			rows++
			joint := 0
			for f := range 3 { // x, y, z
				if netstate.Public.Fields[f].Wrap != 0 {
					t.Fatalf("field %s goes round", netstate.Public.Fields[f].Name)
				}
				move, before := v0[f]-v1[f], v1[f]-v2[f]
				stays, goesOn := now[f]-v0[f], now[f]-v0[f]-late*move
				bends := goesOn - late*(late+1)/2*(move-before)
				hold.change(stays)
				if size(move-before) < size(move) {
					best.change(goesOn)
				} else {
					best.change(stays)
				}
				choice, least := 0, stays
				for i, e := range []int32{goesOn, bends} {
					if size(e) < size(least) {
						choice, least = i+1, e
					}
				}
				told.change(least)
				joint = joint*3 + choice
			}
			class.add(joint, 0) // one symbol for the row, which is less than two bits a field
		}
	}
	a, b, c, d := hold.bits()/float64(rows), best.bits()/float64(rows), told.bits()/float64(rows),
		class.bits()/float64(rows)
	t.Logf("bits of a position: held %.2f, best of recent error %.2f, by a class %.2f and %.2f for the class",
		a, b, c, d)
	if b >= a || c+d <= b {
		t.Errorf("held %.2f, best %.2f, class %.2f + %.2f: the decision on three baselines "+
			"rests on another order", a, b, c, d)
	}
}
