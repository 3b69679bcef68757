package sim

import (
	"bytes"
	"slices"
	"testing"

	"github.com/tickrate/tickrate/internal/alloctest"
)

// TestStateIsACopy: what a State encodes and hashes ticks later is what the match was when it was
// copied, with its poses copied tick by tick or all at once.
func TestStateIsACopy(t *testing.T) {
	for name, game := range map[string]*Game{"deathmatch": rocketeers(), "assault": assault(1)} {
		t.Run(name, func(t *testing.T) {
			s, _ := saved(t, game, 16, 100)
			spread, at := NewState(s.m), s.m.Tick()+150
			if spread.CopiedBytes() == 0 {
				t.Error("nothing copied")
			}
			flying := 0
			for range 20 {
				for s.m.Tick() < at {
					s.step()
					spread.CopyPoses(s.m, at, 2)
				}
				once := NewState(s.m)
				if err := spread.CopyAll(s.m); err != nil || once.CopyAll(s.m) != nil {
					t.Fatal(err)
				}
				state, err := s.m.Save(nil)
				if err != nil {
					t.Fatal(err)
				}
				hash, sums := s.m.Hash(), s.m.Checksums(nil)
				flying += len(s.m.Objects().Projectiles) + len(s.m.Objects().Grenades)
				at += 7
				for range 5 {
					s.step()
				}
				for _, c := range []*State{spread, once} {
					if c.Hash() != hash || !slices.Equal(c.Checksums(nil), sums) ||
						!bytes.Equal(c.Append(nil), state) {
						t.Fatalf("tick %d: the copy differs from the match", c.Tick())
					}
				}
				m := s.load(t, spread.Append(nil))
				if m.Hash() != hash {
					t.Fatalf("tick %d: loaded from the copy, it is another match", m.Tick())
				}
			}
			if flying == 0 {
				t.Error("too quiet: nothing flew")
			}
		})
	}
}

// Copying a match allocates nothing once a State has been used.
func TestStateCopyAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	s, _ := saved(t, rocketeers(), 16, 300)
	state := NewState(s.m)
	if n := alloctest.In(20, func() {
		if err := state.CopyAll(s.m); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkStateCopy is what a tick of 64 players pays for a state: one copy. encode and hash are
// what is left for later.
func BenchmarkStateCopy(b *testing.B) {
	rules := Rules{Seed: 7, RespawnMillis: 700, Mix: true, Rate: 128, Game: rocketeers()}
	s := newScript(b, 64, rules, "arena-64")
	for range 300 {
		s.step()
	}
	state := NewState(s.m)
	b.Run("copy", func(b *testing.B) {
		for b.Loop() {
			state.Copy(s.m)
		}
		b.ReportMetric(float64(state.CopiedBytes()), "B/copy")
	})
	b.Run("all", func(b *testing.B) {
		for b.Loop() {
			if err := state.CopyAll(s.m); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encode", func(b *testing.B) {
		var buf []byte
		for b.Loop() {
			buf = state.Append(buf[:0])
		}
		b.ReportMetric(float64(len(buf)), "B/state")
	})
	b.Run("hash", func(b *testing.B) {
		var sums []Checksum
		for b.Loop() {
			sums = state.Checksums(sums[:0])
			_ = state.Hash()
		}
	})
}
