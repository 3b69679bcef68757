package sim

import (
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/ecs/netid"
)

// NextTeam is the team that the next player gets, however many others join in the tick, and JoinFrom
// takes the lowest free slot from one on.
func TestJoinFrom(t *testing.T) {
	const half = 100
	m := New(2*half, Rules{Seed: 1}, plain(t))
	rng := rand.New(rand.NewPCG(1, 1))
	var in []netid.ID
	for range 30 {
		first := len(in)
		for range rng.IntN(20) {
			if len(in) < 2*half-20 {
				in = append(in, m.JoinFrom(int(m.NextTeam())*half))
			}
		}
		if rng.IntN(4) == 0 {
			m.JoinSpectator()
		}
		m.Step()
		for _, id := range in[first:] {
			if team := int(m.Vital(id).Team); id.Index()/half != team {
				t.Fatalf("slot %d has a player of team %d", id.Index(), team)
			}
		}
		for n := len(in) / 8; n > 0; n-- {
			i := rng.IntN(len(in))
			m.Leave(in[i])
			in = append(in[:i], in[i+1:]...)
		}
		m.Step()
	}
	for range 2 * half { // slots of the other team are taken when none of its own is left
		m.JoinFrom(half)
	}
	if id := m.JoinFrom(0); id != 0 {
		t.Errorf("a full match gave %v", id)
	}
}
