package agent

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// Every client is in exactly one share, and shares differ by one client at most.
func TestSharesHoldEveryPlayerOnce(t *testing.T) {
	for clients := range 130 {
		for agents := 1; agents < 20; agents++ {
			next, least, most := 0, clients, 0
			for _, s := range Cut(clients, agents) {
				if s.First != next || s.Count < 0 {
					t.Fatalf("%d clients, %d agents: %+v begins after player %d", clients, agents, s, next-1)
				}
				next, least, most = next+s.Count, min(least, s.Count), max(most, s.Count)
			}
			if next != clients || most-least > 1 {
				t.Fatalf("%d clients, %d agents: %d in shares of %d to %d", clients, agents, next, least, most)
			}
		}
	}
}

// A player of a share dials the server that it would dial in a swarm of all players, and as many
// players decode everything.
func TestSharesKeepServersAndFullPlayers(t *testing.T) {
	servers := []int{0, 1, 2, 3, 4, 5}
	full := 0
	for _, s := range Cut(40, 7) {
		own := rotated(servers, s.First)
		for i := range s.Count {
			if got, want := own[i%len(own)], (s.First+i)%len(servers); got != want {
				t.Errorf("player %d: server %d, want %d", s.First+i, got, want)
			}
		}
		full += s.full(17)
	}
	if full != 17 {
		t.Errorf("%d full players, want 17", full)
	}
	if !slices.Equal(servers, []int{0, 1, 2, 3, 4, 5}) {
		t.Error("the servers were reordered in place")
	}
}

// Whatever the delays of question and answer, the true offset is within the bound, and the bound is
// half of the shortest round trip.
func TestOffsetIsWithinItsBound(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		var o Offset
		ahead, now := time.Duration(rng.Int64N(2e9)-1e9), int64(1e18)
		shortest := time.Hour
		for range 1 + rng.IntN(offsetSamples) {
			there, busy, back := rng.Int64N(5e7), rng.Int64N(1e7), rng.Int64N(5e7)
			arrives := now + there + int64(ahead)
			if !o.Add(now, arrives, arrives+busy, now+there+busy+back) {
				t.Fatal("a good question was refused")
			}
			shortest = min(shortest, time.Duration(there+back))
			now += 1e9
		}
		got, bound := o.Estimate()
		if wrong := (got - ahead).Abs(); wrong > bound || bound != (shortest+1)/2 {
			t.Fatalf("offset %v, want %v; bound %v of a round trip of %v", got, ahead, bound, shortest)
		}
	}
}

func TestOffsetRefusesInstantsThatCannotBe(t *testing.T) {
	const now = int64(1e18)
	for i, c := range [][4]int64{
		{0, now, now, now},               // no question
		{now, now + 5, now + 4, now + 9}, // answered before it arrived
		{now, now, now + 10, now + 9},    // longer there than here
		{now, now, now, now - 1},         // back before it left
		{now, 1, 1, now + 9},             // decades off
		{now, 1<<63 - 1, 1<<63 - 1, now + 9},
	} {
		var o Offset
		if o.Add(c[0], c[1], c[2], c[3]) || o.Known() {
			t.Errorf("%d: %v was believed", i, c)
		}
	}
}
