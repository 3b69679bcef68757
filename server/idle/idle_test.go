package idle

import (
	"math"
	"math/rand/v2"
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

// passivePlayer is what a player does in a second: where it stands, its view in each command, and
// whether it hits somebody.
type passivePlayer struct {
	name    string
	at      func(second int) (life uint8, x, z float32)
	view    func(n int) (yaw, pitch uint16) // nth command, 60 a second
	hits    func(second int) bool
	passive bool
}

// Players that hold a key, turn in a circle, or run about a spot are passive, also while they are killed
// and respawn. Players that walk about, hit others, or hold an angle with the mouse in hand are not.
func TestRow10PassivePlayers(t *testing.T) {
	stand := func(int) (uint8, float32, float32) { return 1, 20, 30 }
	still := func(int) (uint16, uint16) { return 100, 0 }
	never := func(int) bool { return false }
	rng := rand.New(rand.NewPCG(1, 2))
	hand := func(n int) (uint16, uint16) { // small corrections now and then
		if n%300 < 40 {
			return uint16(1000 + rng.IntN(200)), uint16(rng.IntN(60))
		}
		return 1000, 0
	}
	for _, p := range []passivePlayer{
		{"holds a key", stand, still, never, true},
		{"turns in a circle", stand, func(n int) (uint16, uint16) { return uint16(n * 300), 0 }, never, true},
		{"turns in a circle over a bad link", stand,
			func(n int) (uint16, uint16) { return uint16((n + rng.IntN(3)) * 300), 0 }, never, true},
		{"turns to and fro", stand, func(n int) (uint16, uint16) { return uint16(n / 30 % 2 * 9000), 0 }, never,
			true},
		{"runs in a small circle", func(s int) (uint8, float32, float32) {
			sin, cos := math.Sincos(float64(s))
			return 1, 20 + 4*float32(sin), 30 + 4*float32(cos)
		}, still, never, true},
		{"is killed and respawns elsewhere", func(s int) (uint8, float32, float32) {
			return uint8(s / 20), float32(s / 20 * 37 % 90), float32(s / 20 * 53 % 90)
		}, still, never, true},
		{"patrols", func(s int) (uint8, float32, float32) { return 1, float32(s * 5 % 40), 30 }, still, never, false},
		{"camps and hits", stand, still, func(s int) bool { return s%200 == 199 }, false},
		{"camps and aims", stand, hand, never, false},
	} {
		var passive Passive
		l := Limits{Warn: 240 * 60, Kick: 300 * 60}
		warned, kicked, n := 0, 0, 0
		for s := 1; s <= 600 && kicked == 0; s++ {
			for range 60 {
				passive.Turn(p.view(n))
				n++
			}
			now := tick.Tick(s * 60)
			if p.hits(s) {
				passive.Hit(now)
			}
			life, x, z := p.at(s)
			switch passive.Step(now, life, x, z, l) {
			case Warn:
				warned = s
				if left := passive.Left(now, l); left != 60*60 {
					t.Errorf("%s: %d ticks left at the warning", p.name, left)
				}
			case Kick:
				kicked = s
			}
		}
		if p.passive && (warned != 241 || kicked != 301) || !p.passive && warned+kicked != 0 {
			t.Errorf("%s: warned after %d s, kicked after %d s", p.name, warned, kicked)
		}
	}
}

// A player that was warned and takes part is back once, and is warned anew.
func TestPassiveComesBack(t *testing.T) {
	var p Passive
	l := Limits{Warn: 100, Kick: 200}
	steps := []struct {
		now  tick.Tick
		x    float32
		hit  bool
		want Action
	}{{1, 0, false, None}, {101, 0, false, Warn}, {110, 0, false, None}, {120, 30, false, Back},
		{130, 30, false, None}, {220, 30, false, Warn}, {230, 30, true, Back}, {240, 30, false, None},
		{330, 30, false, Warn}, {430, 30, false, Kick}, {440, 30, false, None}}
	for i, s := range steps {
		if s.hit {
			p.Hit(s.now)
		}
		if got := p.Step(s.now, 1, s.x, 0, l); got != s.want {
			t.Errorf("%d: %v at tick %d, expected %v", i, got, s.now, s.want)
		}
	}
}
