package object

import (
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"pgregory.net/rapid"
)

// slowSettle is the honest twin of a ledger: sums in a map, sorted, taken one by one.
func slowSettle(all []Damage, health map[netid.ID]int32) (out []DamageResult) {
	type key struct {
		victim, instigator netid.ID
		cause              Cause
	}
	sums := map[key]DamageResult{}
	for _, d := range all {
		k := key{d.Victim, d.Instigator, d.Cause}
		w := sums[k]
		w.Victim, w.Instigator, w.Cause = d.Victim, d.Instigator, d.Cause
		w.Points += max(0, d.Points)
		w.Impulse = w.Impulse.Add(d.Impulse) // of multiples of 1/8: exact
		sums[k] = w
	}
	list := slices.Collect(maps.Values(sums))
	slices.SortFunc(list, func(a, b DamageResult) int {
		return cmp.Or(cmp.Compare(a.Victim, b.Victim), cmp.Compare(b.Points, a.Points),
			cmp.Compare(a.Instigator, b.Instigator), cmp.Compare(a.Cause, b.Cause))
	})
	for _, w := range list {
		h, ok := health[w.Victim]
		if !ok || h <= 0 {
			continue
		}
		w.Taken = min(w.Points, h)
		health[w.Victim] = h - w.Taken
		w.Killed = h == w.Taken
		out = append(out, w)
	}
	return out
}

// TestRow50LedgerAgainstTwin notes the same damage in two orders: nothing is lost, kills are
// credited once, and the order cannot be seen.
func TestRow50LedgerAgainstTwin(t *testing.T) {
	kills, merged := 0, 0
	l, m := NewDamageQueue(0), NewDamageQueue(1000)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 300).Draw(t, "n")
		seed := rapid.Uint64().Draw(t, "seed")
		rng := rand.New(rand.NewPCG(seed, 1))
		people := 1 + rng.IntN(12)
		var all []Damage
		for range n {
			all = append(all, Damage{
				Victim: player(rng.IntN(people)), Instigator: player(rng.IntN(people)),
				Cause:   Cause(rng.IntN(int(causes))),
				Points:  int32(rng.IntN(40) - 2),
				Impulse: v3(float32(rng.IntN(64)-32)/8, float32(rng.IntN(64)-32)/8, 0),
			})
		}
		for range 3 { // ticks: the ledgers are used again
			health, mine, yours := map[netid.ID]int32{}, map[netid.ID]*int16{}, map[netid.ID]*int16{}
			total := map[netid.ID]int32{}
			for i := range people {
				if i == 3 {
					continue // has left
				}
				h := int16(rng.IntN(130) - 10)
				h2 := h
				health[player(i)], mine[player(i)], yours[player(i)], total[player(i)] = int32(h), &h, &h2,
					int32(h)
			}
			for _, d := range all {
				l.Add(d)
			}
			for _, i := range rng.Perm(len(all)) {
				m.Add(all[i])
			}
			if len(all) > l.Len() {
				merged++
			}
			got := l.Resolve(func(id netid.ID) *int16 { return mine[id] }, nil)
			other := m.Resolve(func(id netid.ID) *int16 { return yours[id] }, nil)
			want := slowSettle(all, health)
			if !slices.Equal(got, want) || !slices.Equal(got, other) {
				t.Fatalf("got   %+v\nwant  %+v\nother %+v", got, want, other)
			}
			died := map[netid.ID]int{}
			for _, w := range got {
				total[w.Victim] -= w.Taken
				if w.Killed {
					died[w.Victim]++
					kills++
				}
			}
			for id, h := range mine {
				if int32(*h) != total[id] || died[id] > 1 || (died[id] == 1) != (*h == 0 &&
					total[id] == 0 && wasAlive(got, id)) {
					t.Fatalf("%v has %d, counted %d, died %d times", id, *h, total[id], died[id])
				}
			}
		}
	})
	least := 50
	if testing.Short() { // fewer cases
		least = 10
	}
	if kills < least || merged < least {
		t.Fatalf("%d kills, %d merges: the cases prove little", kills, merged)
	}
}

func wasAlive(wounds []DamageResult, id netid.ID) bool {
	return slices.ContainsFunc(wounds, func(w DamageResult) bool { return w.Victim == id })
}

// No number of additions overflows, whatever they are, and no order of them is seen.
func TestRow50NothingOverflows(t *testing.T) {
	wild := []float32{0, 1e30, -1e30, nan, inf, -inf, 1. / 2048, -7.3}
	var first []DamageResult
	for round := range 4 {
		l := NewDamageQueue(4)
		rng := rand.New(rand.NewPCG(1, uint64(round)))
		order := rng.Perm(40000)
		for _, i := range order {
			l.Add(Damage{Victim: 1, Instigator: netid.ID(i % 3), Points: math.MaxInt32 - int32(i%5),
				Impulse: v3(wild[i%8], wild[i%7], wild[i%5])})
		}
		health := int16(math.MaxInt16)
		got := l.Resolve(func(netid.ID) *int16 { return &health }, nil)
		if health != 0 || len(got) != 1 || !got[0].Killed || got[0].Points != maxSum ||
			!got[0].Impulse.Finite() {
			t.Fatalf("health %d, %+v", health, got)
		}
		if round == 0 {
			first = got
		} else if !slices.Equal(got, first) {
			t.Fatalf("%+v, then %+v", first, got)
		}
	}
}

func TestRow50KillGoesToTheGreatestDamage(t *testing.T) {
	for _, order := range [][]int{{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 0, 3, 1}} {
		l, h := NewDamageQueue(4), int16(50)
		all := []Damage{
			{Victim: 9, Instigator: 1, Points: 30}, {Victim: 9, Instigator: 2, Points: 25},
			{Victim: 9, Instigator: 2, Points: 20},
			{Victim: 9, Instigator: 3, Cause: CauseBlast, Points: 45},
		}
		for _, i := range order {
			l.Add(all[i])
		}
		got := l.Resolve(func(netid.ID) *int16 { return &h }, nil)
		if len(got) != 2 || got[0].Instigator != 2 || got[0].Taken != 45 || got[1].Instigator != 3 ||
			got[1].Taken != 5 || !got[1].Killed {
			t.Errorf("order %v: %+v", order, got)
		}
	}
}

// A queue has memory for as many triples as it was made for: its first busy tick allocates nothing.
func TestFirstTickAllocatesNothing(t *testing.T) {
	const runs, triples = 10, 500
	var queues [runs + 1]*DamageQueue // the first is AllocsPerRun's warm-up
	for i := range queues {
		queues[i] = NewDamageQueue(triples)
	}
	n, health, out := 0, int16(100), make([]DamageResult, 0, triples)
	if n := testing.AllocsPerRun(runs, func() {
		for i := range triples {
			queues[n].Add(Damage{Victim: netid.ID(1 + i), Instigator: 1, Points: 1})
		}
		out = queues[n].Resolve(func(netid.ID) *int16 { return &health }, out[:0])
		n++
	}); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

func TestLedgerAllocatesNothing(t *testing.T) {
	l, health, out := NewDamageQueue(16), int16(100), make([]DamageResult, 0, 4096)
	tick := func() {
		for i := range 4000 {
			l.Add(Damage{Victim: netid.ID(i % 500), Instigator: netid.ID(i % 7), Points: 1,
				Impulse: geom.Vec3{X: 1}})
		}
		out = l.Resolve(func(netid.ID) *int16 { return &health }, out[:0])
	}
	tick()
	if n := testing.AllocsPerRun(10, tick); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}
