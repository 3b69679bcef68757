package idle

import (
	"slices"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/tickrate/tickrate/ecs/tick"
)

// controls are those of the match: 8 bytes.
type controls struct {
	Yaw, Pitch, Buttons uint16
	Dir, Mag            uint8
}

// step is Step, or Exempt for a player that may be idle.
func step[I comparable](w *Tracker[I], now tick.Tick, input I, exempt bool, l Limits) Action {
	if exempt {
		return w.Exempt(now, input)
	}
	return w.Step(now, input, l)
}

// Row 10: a player without changes of input is warned, then kicked, once each. A change starts its
// time anew, and an exempt player stays.
func TestRow10IdlePlayersLeave(t *testing.T) {
	l := Limits{60, 180}
	type event struct {
		at tick.Tick
		do Action
	}
	for i, c := range []struct {
		input  func(now tick.Tick) controls
		exempt func(now tick.Tick) bool
		want   []event
	}{
		0: {func(tick.Tick) controls { return controls{} }, nil, []event{{160, Warn}, {280, Kick}}},
		// holds a key for ever
		1: {func(tick.Tick) controls {
			return controls{Buttons: 1, Mag: 255}
		}, nil, []event{{160, Warn}, {280, Kick}}},
		2: {func(now tick.Tick) controls { return controls{Yaw: uint16(now / 59)} }, nil, nil},
		3: {func(now tick.Tick) controls {
			return controls{Yaw: uint16(now / 200)}
		}, nil, []event{{160, Warn}, {200, Back}, {260, Warn}, {380, Kick}}},
		// a bot
		4: {func(tick.Tick) controls { return controls{} }, func(tick.Tick) bool { return true }, nil},
		// looked on, then played
		5: {func(tick.Tick) controls {
			return controls{}
		}, func(now tick.Tick) bool { return now < 300 }, []event{{359, Warn}}},
		6: {func(tick.Tick) controls {
			return controls{}
		}, func(now tick.Tick) bool { return now >= 200 }, []event{{160, Warn}, {200, Back}}},
	} {
		var w Tracker[controls]
		var got []event
		for now := tick.Tick(100); now < 400; now++ {
			exempt := c.exempt != nil && c.exempt(now)
			left := w.Left(now, l)
			if do := step(&w, now, c.input(now), exempt, l); do != None {
				got = append(got, event{now, do})
				if do == Kick && left != 0 {
					t.Errorf("%d: kicked with %d ticks left", i, left)
				}
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%d: %v, want %v", i, got, c.want)
		}
	}
	if n := unsafe.Sizeof(Tracker[controls]{}); n != 16 {
		t.Errorf("a watch has %d bytes", n)
	}
}

// slow returns the same actions from all inputs so far, written for reading.
func slow(inputs []uint8, exempt []bool, l Limits) (did []Action) {
	warned, kicked := false, false
	for now := range inputs {
		same := 0 // ticks that the controls have been as they are
		for same < now && inputs[now-same-1] == inputs[now] && !exempt[now-same] {
			same++
		}
		if exempt[now] {
			same = 0
		}
		do := None
		switch {
		case same == 0:
			if warned && !kicked {
				do = Back
			}
			warned, kicked = false, false
		case l.Kick != 0 && same >= int(l.Kick):
			if !kicked {
				do = Kick
			}
			kicked = true
		case l.Warn != 0 && same >= int(l.Warn):
			if !warned {
				do = Warn
			}
			warned = true
		}
		did = append(did, do)
	}
	return did
}

func TestWatchAgreesWithItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "ticks")
		inputs, exempt := make([]uint8, n), make([]bool, n)
		for i := range n {
			if inputs[i] = 0; i > 0 {
				inputs[i] = inputs[i-1]
			}
			if rapid.IntRange(0, 9).Draw(t, "change") == 0 {
				inputs[i]++
			}
			exempt[i] = rapid.IntRange(0, 19).Draw(t, "exempt") == 0
		}
		l := Limits{Warn: tick.Tick(rapid.IntRange(0, 5).Draw(t, "warn")),
			Kick: tick.Tick(rapid.SampledFrom([]int{0, 6, 9}).Draw(t, "kick"))}
		var w Tracker[uint8]
		var got []Action
		for i := range n {
			got = append(got, step(&w, tick.Tick(i+5), inputs[i], exempt[i], l))
		}
		if want := slow(inputs, exempt, l); !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	})
}
