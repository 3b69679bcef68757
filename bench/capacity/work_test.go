package capacity

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// workOf are rounds of a made-up lobby of which everything is known.
func workOf(change func(*Facts)) Measurements {
	m := gateRounds(rand.New(rand.NewPCG(1, 1)), GateRounds, 0.01, "", 1)
	for i := range m.Steps {
		f := m.Steps[i].Facts
		f.Plays, f.Side, f.Codec, f.Cap, f.Seconds, f.Bursts = 6, 120, "huffman", 64000, 3, 0.5
		change(f)
	}
	return m
}

// Another scenario of the same name and size is refused, by the first fact that is not the same; what came of the play is no such fact.
func TestGateRefusesOtherScenarios(t *testing.T) {
	fine := workOf(func(*Facts) {})
	for i, c := range []struct {
		change func(f *Facts)
		want   string // "": it is the same work
	}{
		/*  0 */ {func(f *Facts) { f.TickHz = 128 }, "tick_hz is 128 in the baseline and 60 now"},
		/*  1 */ {func(f *Facts) { f.SendEvery, f.Codec = 2, "range" }, "send_every_ticks is 2 in the baseline and 3 now"},
		/*  2 */ {func(f *Facts) { f.Codec = "range" }, "codec is range in the baseline and huffman now"},
		/*  3 */ {func(f *Facts) { f.Side = 240 }, "side_m is 240 in the baseline and 120 now"},
		/*  4 */ {func(f *Facts) { f.Delay = 0.025 }, "delay_s is 0.025 in the baseline and 0 now"},
		/*  5 */ {func(f *Facts) { f.Loss = 0.01 }, "loss is 0.01 "},
		/*  6 */ {func(f *Facts) { f.Walls = true }, "walls_hide is true in the baseline and false now"},
		/*  7 */ {func(f *Facts) { f.Mode = "assault" }, "mode is assault in the baseline and deathmatch now"},
		/*  8 */ {func(f *Facts) { f.Cap = 0 }, "cap_bytes is 0 in the baseline and 64000 now"},
		/*  9 */ {func(f *Facts) { f.Spectators = 2 }, "spectators is 2 "},
		/* 10 */ {func(f *Facts) { f.Far = 40 }, "far_m is 40 "},
		/* 11 */ {func(f *Facts) { f.Crowd = 0.5 }, "crowd is 0.5 "},
		/* 12 */ {func(f *Facts) { f.Bursts = 0 }, "bursts_hz is 0 in the baseline and 0.5 now"},
		/* 13 */ {func(f *Facts) { f.Throws = 1 }, "throws_hz is 1 "},
		/* 14 */ {func(f *Facts) { f.Leaves = 5 }, "leaves_minute is 5 "},
		/* 15 */ {func(f *Facts) { f.Plays = 2 }, "plays is 2 in the baseline and 6 now"},
		/* 16 */ {func(f *Facts) { f.Seconds = 4 }, "match_seconds is 4 in the baseline and 3 now"},
		/* 17 */ {func(f *Facts) { f.Plays, f.Side, f.Codec, f.Seconds = 0, 0, "", 0 }, ""}, // of before these were told
		/* 18 */ {func(f *Facts) {
			f.Bytes, f.Visible, f.Kills, f.Memory, f.Matches, f.Meets[0].Facing = 5001, 9, 1, 1e6, 3, 0.5
		}, ""},
		/* 19 */ {func(f *Facts) { f.Side *= 1 + 1e-12 }, ""},
	} {
		other := workOf(c.change)
		_, err := Gate(other, fine)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%d: %v", i, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), "a with 64 players to be the same scenario on both sides: "+c.want)):
			t.Errorf("%d: %v, want %s", i, err, c.want)
		}
		if _, back := Gate(fine, other); (back == nil) != (err == nil) {
			t.Errorf("%d: the other way round %v", i, back)
		}
	}
}

// Rounds of two scenarios of one name in one file are no rounds of either.
func TestGateRefusesMixedRounds(t *testing.T) {
	fine, mixed := workOf(func(*Facts) {}), workOf(func(*Facts) {})
	mixed.Steps[4].Facts.Leaves = 5
	const want = "all rounds of a with 64 players to be of one scenario: leaves_minute is 0 in one and 5 in another"
	for i, c := range [][2]Measurements{{fine, mixed}, {mixed, fine}} {
		if _, err := Gate(c[0], c[1]); err == nil || err.Error() != want {
			t.Errorf("%d: %v, want %s", i, err, want)
		}
	}
}
