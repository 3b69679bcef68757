package arena

import (
	"encoding/hex"
	"math"
	"testing"
)

// ways is where one can walk or jump in a town, by quarter of a metre from its corner: no house is
// nearer than half a metre.
func ways(a *Arena) (open []bool, side int) {
	half := int(a.Bounds.Max.X-1) * 4
	t := town{builder{half: half, solids: append([]Solid{}, a.Solids[:5]...)}}
	for _, s := range a.Solids[5:] {
		if s.Shape == Box && s.Max.Y > 3 {
			t.solids = append(t.solids, s)
		}
	}
	return t.free(2), 2 * half
}

// TestTown checks what Town promises, for small and large lobbies: its size and free ground, roofs
// out of reach, and that one gets from each spawn to all others.
func TestTown(t *testing.T) {
	for _, players := range []int{-1, 2, 3, 16, 31, 64, 100, 333, 1000} {
		for seed := range uint64(5) {
			a := Town(players, seed)
			n := max(players, 2)
			side := float64(a.Bounds.Max.X-a.Bounds.Min.X) - 2
			if want := max(townSide, math.Sqrt(townPerPlayer*float64(n))); side < want || side > want+2 {
				t.Errorf("%s: side %v m, want %v", a.Name, side, want)
			}
			roofs, built := 0, 0.0
			for _, s := range a.Solids[5:] {
				switch h := s.Max.Y; {
				case h > 3 && (h < 10 || h > 16 || s.Min.Y != 0):
					t.Errorf("%s: %v to %v is neither cover nor a house", a.Name, s.Min, s.Max)
				case h > 3:
					roofs++
				}
				if s.Grade > 0.8 {
					t.Errorf("%s: a ramp of grade %v", a.Name, s.Grade)
				}
				if s.Min.Y == 0 {
					built += float64((s.Max.X - s.Min.X) * (s.Max.Z - s.Min.Z))
				}
			}
			if free := (side*side - built) / float64(n); n >= 64 && (free < 36 || free > 46) || roofs == 0 {
				t.Errorf("%s: %.1f m² of free ground a player, %d houses", a.Name, free, roofs)
			}
			for team := range uint8(Teams) {
				checkSpawns(t, a, team, (n+1)/2)
			}
			checkWays(t, a)
		}
	}
}

func checkWays(t *testing.T, a *Arena) {
	open, side := ways(a)
	at := func(s Spawn) int {
		return int((s.Pos.Z+float32(side)/8)*4)*side +
			int((s.Pos.X+float32(side)/8)*4)
	}
	todo := []int{at(a.Spawns[0])}
	open[todo[0]] = false
	been := map[int]bool{todo[0]: true}
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, next := range [4]int{i - 1, i + 1, i - side, i + side} {
			if next >= 0 && next < len(open) && open[next] {
				open[next] = false
				been[next] = true
				todo = append(todo, next)
			}
		}
	}
	for _, s := range a.Spawns {
		if !been[at(s)] {
			t.Errorf("%s: no way from %v to %v", a.Name, a.Spawns[0].Pos, s.Pos)
		}
	}
}

// TestTownHash pins what Town makes: servers and clients of different builds agree on "town:500:7"
// by name.
func TestTownHash(t *testing.T) {
	h := Town(500, 7).Hash()
	if got, want := hex.EncodeToString(h[:]),
		"13aa5501bea9277cb4569db437f65259e2e829fe6e5ce9c7bd98378c31aeb9c3"; got != want {
		t.Errorf("town:500:7 is %s, pinned %s", got, want)
	}
	if Town(500, 7).Hash() == Town(500, 8).Hash() || Town(500, 7).Hash() == Town(501, 7).Hash() {
		t.Error("different arguments make the same town")
	}
}
