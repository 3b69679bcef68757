package ability

import (
	"encoding/binary"
	"hash/fnv"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/alloctest"
)

// all is a hero with everything: eight abilities, some with run and interrupt rules that no shipped
// hero has.
func all() HeroParams {
	p := TerraformerParams()
	p.Name = "all"
	p.Slots[0].RunsWith = append(p.Slots[0].RunsWith, "projectile launcher")
	p.Slots[1].RunsWith = append(p.Slots[1].RunsWith, "auto rifle")
	p.Slots[4].Interrupts = []string{"*"}
	p.Slots = append(p.Slots, SlotParams{Name: "rocket jump", Kind: Rocket, Keys: RocketKey,
		RunsWith:   []string{"movement"},
		Interrupts: []string{"sprint", "auto rifle", "projectile launcher", "melee"},
		Rocket:     RocketParams{ActiveMillis: 400, CooldownMillis: 900}})
	return p
}

func heroes() []HeroParams { return []HeroParams{RobotParams(), TerraformerParams(), all()} }

// referee checks the rules in each tick of a player.
type referee struct {
	h    *Hero
	last [MaxSlots]int // tick of the last action, or far back
	tick int
}

func newReferee(h *Hero) *referee {
	r := &referee{h: h}
	for i := range r.last {
		r.last[i] = -1 << 20
	}
	return r
}

func (r *referee) watch(t testing.TB, s *State, in Input, out *Actions) {
	t.Helper()
	h := r.h
	if s.Active&^s.On != 0 || s.Asked&^s.On != 0 || s.Active&s.Cooling != 0 ||
		s.Request&(s.Active|s.Cooling) != 0 || s.Reloading&^(h.guns) != 0 {
		t.Fatalf("tick %d: masks at odds: %+v", r.tick, s)
	}
	for a := range h.count {
		c, w := &h.slots[a], &s.Slots[a]
		for b := range a {
			if both := uint8(1<<a | 1<<b); s.On&both == both && c.runsWith>>b&1 == 0 &&
				h.slots[b].runsWith>>a&1 == 0 {
				t.Fatalf("tick %d: %s and %s are on: %+v", r.tick, h.Name(a), h.Name(b), s)
			}
		}
		switch c.kind {
		case Gun:
			if w.Load > c.clip || w.Heat > max(c.coneMax, c.spin) || w.Cool > max(int16(c.perShot),
				c.reload) || w.Cool < -int16(c.perShot) {
				t.Fatalf("tick %d: gun out of range: %+v", r.tick, w)
			}
		default:
			if w.Heat != 0 || w.Cool < 0 || w.Cool > max(c.period, c.stop) {
				t.Fatalf("tick %d: %s out of range: %+v", r.tick, h.Name(a), w)
			}
		}
	}
	seen := uint8(0)
	for _, a := range out.All() {
		i := int(a.Slot)
		c := &h.slots[i]
		if seen>>i&1 != 0 || s.On>>i&1 == 0 || !in.Alive {
			t.Fatalf("tick %d: %s acts twice, or while it is off: %+v %+v", r.tick, h.Name(i), a, s)
		}
		seen |= 1 << i
		least := int(c.period)
		if c.kind == Gun {
			least = int(c.perShot / (c.perTick + int32(c.spin)))
		}
		if r.tick-r.last[i] < least {
			t.Fatalf("tick %d: %s acts again after %d ticks, want at least %d", r.tick, h.Name(i),
				r.tick-r.last[i], least)
		}
		if r.last[i] = r.tick; c.kind == Emote {
			r.last[i] = -1 << 20
		}
		if a.Kind == ActionShot && (a.Cone > c.coneMax/2 || a.Damage != 7) {
			t.Fatalf("tick %d: shot %+v", r.tick, a)
		}
	}
	if out.Sprint && (!in.forward() || in.Buttons&SprintKey == 0 || bits.OnesCount8(s.On&^h.movement) != 1) {
		t.Fatalf("tick %d: sprints with %+v: %+v", r.tick, in, s)
	}
	if out.Began&^(s.On|out.Ended) != 0 {
		t.Fatalf("tick %d: began %b, on %b", r.tick, out.Began, s.On)
	}
	r.tick++
}

// walker makes inputs that hold their keys for a while.
type walker struct {
	r  *rand.Rand
	in Input
}

func (w *walker) next() Input {
	if w.r.IntN(10) == 0 {
		w.in.Buttons = uint16(w.r.Uint64()&(w.r.Uint64()>>16)) & 0x3ff
		w.in.MoveMag = uint8(min(w.r.IntN(3), 1) * 200)
		w.in.MoveYaw = uint8(w.r.IntN(256))
		w.in.Grounded = w.r.IntN(4) > 0
		w.in.Alive = w.r.IntN(12) > 0
	}
	w.in.Tick++
	return w.in
}

// TestRow52Invariants lets every hero do anything at every rate.
func TestRow52Invariants(t *testing.T) {
	for n, p := range heroes() {
		for _, rate := range rates {
			h := p.MustCompile(rate)
			s, ref := h.NewState(), newReferee(h)
			w := walker{r: rand.New(rand.NewPCG(uint64(n), uint64(rate)))}
			began := uint8(0)
			for range 30000 {
				in := w.next()
				out := play(h, &s, in)
				ref.watch(t, &s, in, &out)
				began |= out.Began
			}
			if want := uint8(1<<h.Len() - 1); began != want {
				t.Errorf("%s %d Hz: only %b of %b ever began: nothing tested", p.Name, rate, began, want)
			}
		}
	}
}

// TestRow41Prediction copies a state, as a client gets it from a snapshot, and plays on from both:
// the same states and actions, whatever the list held before, and a replay of ticks that were
// played already changes nothing.
func TestRow41Prediction(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := rapid.SampledFrom(heroes()).Draw(t, "hero").MustCompile(rapid.SampledFrom(rates).Draw(t, "rate"))
		w := walker{r: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))}
		s := h.NewState()
		for range rapid.IntRange(0, 500).Draw(t, "before") {
			play(h, &s, w.next())
		}
		inputs := make([]Input, rapid.IntRange(1, 200).Draw(t, "after"))
		copied := s
		var out, stale Actions
		for i := range stale.List {
			stale.List[i] = Action{Kind: ActionLaunch, Cone: 9, Shot: 3}
		}
		for i := range inputs {
			inputs[i] = w.next()
			Step(&s, inputs[i], h, &out)
			Step(&copied, inputs[i], h, &stale)
			same := out.Count == stale.Count && out.Began == stale.Began && out.Ended == stale.Ended &&
				out.Reload == stale.Reload &&
				out.Loaded == stale.Loaded && out.Sprint == stale.Sprint && out.Move == stale.Move
			for j, a := range out.All() {
				same = same && a == stale.List[j]
			}
			if s != copied || !same {
				t.Fatalf("tick %d: %+v and %+v, %+v and %+v", i, s, copied, out, stale)
			}
		}
	})
}

// TestRow42Hash pins the state after a minute of random input, for each hero. A new hash means that
// recorded matches replay differently.
func TestRow42Hash(t *testing.T) {
	want := map[string]uint64{"robot": 0xa29784a67201df70, "terraformer": 0x5c7e774e3414a2a5,
		"all": 0xb0b36865ae430a4e}
	for _, p := range heroes() {
		h := p.MustCompile(60)
		s := h.NewState()
		w := walker{r: rand.New(rand.NewPCG(1, 1))}
		digest := fnv.New64a()
		for range 3600 {
			out := play(h, &s, w.next())
			words := []uint16{uint16(s.Request) | uint16(s.Active)<<8, uint16(s.Cooling) | uint16(s.On)<<8,
				uint16(s.Asked),
				uint16(s.Reloading), uint16(out.Count), uint16(out.Began) | uint16(out.Ended)<<8}
			for _, x := range s.Slots {
				words = append(words, uint16(x.Load)|uint16(x.Count)<<8, uint16(x.Cool), x.Heat)
			}
			for _, x := range words {
				digest.Write(binary.LittleEndian.AppendUint16(nil, x))
			}
		}
		if got := digest.Sum64(); got != want[p.Name] {
			t.Errorf("%s: %#x, pinned %#x", p.Name, got, want[p.Name])
		}
	}
}

// FuzzStep plays a script of bytes from a fresh player with the referee's checks, and from any
// state without them.
func FuzzStep(f *testing.F) {
	f.Add([]byte("\x04\x00\xff\x06\x00\xff\x0c\x00\xff"), uint64(0), uint8(0), uint8(2))
	f.Add([]byte("\x2e\x40\x01\x00\x80\xc1"), uint64(1<<40), uint8(1), uint8(0))
	f.Fuzz(func(t *testing.T, keys []byte, garbage uint64, hero, rate uint8) {
		h := heroes()[hero%3].MustCompile(rates[rate%5])
		s, ref := h.NewState(), newReferee(h)
		r := rand.New(rand.NewPCG(garbage, 2))
		any := State{Request: uint8(r.Uint32()), Active: uint8(r.Uint32()), Cooling: uint8(r.Uint32()),
			On:    uint8(r.Uint32()),
			Asked: uint8(r.Uint32()), Reloading: uint8(r.Uint32())}
		for i := range any.Slots {
			any.Slots[i] = Slot{uint8(r.Uint32()), uint8(r.Uint32()), int16(r.Uint32()), uint16(r.Uint32())}
		}
		for i := 0; i+3 <= len(keys) && i < 600; i += 3 {
			k := binary.LittleEndian.Uint16(keys[i:])
			in := Input{Tick: tick.Tick(garbage) + tick.Tick(i/3), Buttons: k, MoveYaw: keys[i+2],
				MoveMag: uint8(k>>10) << 4, Grounded: k>>14&1 == 0, Alive: k>>15 == 0}
			for range 1 + keys[i+2]%16 {
				in.Tick++
				out := play(h, &s, in)
				ref.watch(t, &s, in, &out)
				out = play(h, &any, in)
				if int(out.Count) > MaxSlots {
					t.Fatalf("%d actions", out.Count)
				}
				h.Public(&any)
			}
		}
	})
}

func TestPublic(t *testing.T) {
	h := TerraformerParams().MustCompile(60)
	s := h.NewState()
	script(h, &s, 20, Input{Buttons: SprintKey, MoveMag: 1, Alive: true})
	if got := h.Public(&s); got != (Public{Sprinting: true}) {
		t.Errorf("sprinting: %+v", got)
	}
	s = h.NewState()
	script(h, &s, 61, Input{Buttons: Primary, Alive: true})
	script(h, &s, 60, Input{Buttons: Secondary, Alive: true})
	script(h, &s, 60, Input{Buttons: MeleeKey, Alive: true})
	if got, want := h.Public(&s), (Public{Fired: [2]uint8{15, 1}, Punches: 1}); got != want {
		t.Errorf("after a second each of rifle, launcher and melee: %+v, want %+v", got, want)
	}
	script(h, &s, 1, Input{Buttons: ReloadKey, Alive: true})
	if got := h.Public(&s); !got.Reloading {
		t.Errorf("reloading: %+v", got)
	}
}

func TestSizes(t *testing.T) {
	for what, c := range map[string][2]uintptr{
		"State": {unsafe.Sizeof(State{}), 54}, "Slot": {unsafe.Sizeof(Slot{}), 6},
		"Input":  {unsafe.Sizeof(Input{}), 12},
		"Action": {unsafe.Sizeof(Action{}), 28}, "Public": {unsafe.Sizeof(Public{}), 7},
	} {
		if c[0] != c[1] {
			t.Errorf("%s is %d bytes, want %d", what, c[0], c[1])
		}
	}
}

// TestCompileErrors breaks a good hero in one place each.
func TestCompileErrors(t *testing.T) {
	for _, c := range []struct {
		break_ func(*HeroParams)
		rate   tick.Rate
		want   string
	}{
		{func(p *HeroParams) {}, 10, "hero robot: 10 ticks a second, want 20 to 144"},
		{func(p *HeroParams) { p.Slots = nil }, 60, "hero robot: 0 slots, want 1 to 8"},
		{func(p *HeroParams) { p.Health = 0 }, 60, "hero robot: Health: 0, want 1 to 10000"},
		{func(p *HeroParams) { p.Slots[0].RunsWith = []string{"wings"} }, 60,
			`hero robot: slots[0] "chaingun": field RunsWith: no slot is called "wings"`},
		{func(p *HeroParams) { p.Slots[0].Interrupts = []string{"wings"} }, 60,
			`hero robot: slots[0] "chaingun": field Interrupts: no slot is called "wings"`},
		{func(p *HeroParams) { p.Slots[1].Name = "chaingun" }, 60,
			`hero robot: slots[1] "chaingun": want a Name that no other slot has`},
		{func(p *HeroParams) { p.Slots[0].Gun.RoundsPerSec = 61 }, 60,
			`hero robot: slots[0] "chaingun": Gun.RoundsPerSec: 61, want 0.015625 to 60`},
		{func(p *HeroParams) { p.Slots[0].Gun.ConeDegrees = 3 }, 60,
			`hero robot: slots[0] "chaingun": want one of Gun.MostPerSec and Gun.ConeDegrees to be 0`},
		{func(p *HeroParams) { p.Slots[0].Gun.ReloadMillis = 499 }, 60,
			`hero robot: slots[0] "chaingun": Gun.ReloadMillis: 499, want 500 to 60000`},
		{func(p *HeroParams) { p.Slots[0].Gun.Clip = 0 }, 60,
			`hero robot: slots[0] "chaingun": Gun.Clip: 0, want 1 to 255`},
		{func(p *HeroParams) { p.Slots[1].Launcher.CooldownMillis = 1 }, 60,
			`hero robot: slots[1] "grenade launcher": CooldownMillis: 1, want 500 to 60000`},
		{func(p *HeroParams) { p.Slots[1].Launcher.Projectile = 0 }, 60,
			`hero robot: slots[1] "grenade launcher": Launcher.Projectile: 0, want 1 to 4`},
		{func(p *HeroParams) { p.Slots[2].Melee.ImpactMillis = 1000 }, 60,
			`hero robot: slots[2] "melee": Melee.ImpactMillis: 1000, want 0 to 999`},
		{func(p *HeroParams) { p.Slots[3].Sprint.StopMillis = -1 }, 60,
			`hero robot: slots[3] "sprint": Sprint.StopMillis: -1, want 0 to 10000`},
		{func(p *HeroParams) { p.Slots[4].Kind = Sprint }, 60,
			`hero robot: slots[4] "emote": the hero has two of its Kind`},
		{func(p *HeroParams) { p.Slots[4].Kind = kinds }, 60,
			`hero robot: slots[4] "emote": field Kind: 9, want 1 to 8`},
	} {
		p := RobotParams()
		c.break_(&p)
		if _, err := p.Compile(c.rate); err == nil || strings.TrimSpace(err.Error()) != c.want {
			t.Errorf("got %v\nwant %s", err, c.want)
		}
	}
	if kinds.String() != "?" || Rocket.String() != "rocket" || Projectiles.String() != "?" ||
		Grenade.String() != "grenade" {
		t.Error("names of kinds or projectiles")
	}
	if h := RobotParams().MustCompile(60); h.Name(8) != "" || h.Index("wings") != -1 || h.Health() != 100 {
		t.Error("names or health of the robot")
	}
}

func TestNoAllocations(t *testing.T) {
	h := TerraformerParams().MustCompile(60)
	s := h.NewState()
	w := walker{r: rand.New(rand.NewPCG(1, 1))}
	var out Actions
	if n := alloctest.In(1000, func() { Step(&s, w.next(), h, &out) }); n != 0 {
		t.Errorf("%v allocations a tick", n)
	}
}

// BenchmarkStep is one player for one tick: standing, running, firing the rifle or the chaingun,
// and a thousand players, 15 % of them firing.
func BenchmarkStep(b *testing.B) {
	for _, c := range []struct {
		name string
		hero HeroParams
		in   Input
	}{
		{"idle", TerraformerParams(), Input{Alive: true, Grounded: true}},
		{"rifle", TerraformerParams(), Input{Alive: true, Grounded: true, MoveMag: 255, Buttons: Primary}},
		{"chaingun", RobotParams(), Input{Alive: true, Grounded: true, MoveMag: 255, Buttons: Primary}},
	} {
		b.Run(c.name, func(b *testing.B) {
			h := c.hero.MustCompile(60)
			s := h.NewState()
			in := c.in
			var out Actions
			b.ReportAllocs()
			for b.Loop() {
				in.Tick++
				Step(&s, in, h, &out)
			}
		})
	}
	b.Run("crowd", func(b *testing.B) {
		const n = 1000
		h := []*Hero{TerraformerParams().MustCompile(60), RobotParams().MustCompile(60)}
		r := rand.New(rand.NewPCG(1, 1))
		states, inputs := make([]State, n), make([]Input, n)
		for i := range states {
			states[i] = h[i&1].NewState()
			inputs[i] = Input{Alive: true, Grounded: true, MoveMag: uint8(min(r.IntN(5), 1) * 255)}
			if r.IntN(100) < 15 {
				inputs[i].Buttons = Primary
			}
			if r.IntN(4) == 0 {
				inputs[i].Buttons |= SprintKey
			}
		}
		var out Actions
		b.ReportAllocs()
		for b.Loop() {
			for i := range states {
				inputs[i].Tick++
				Step(&states[i], inputs[i], h[i&1], &out)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/player")
	})
}

// At the highest rate every clock of an ability fits into an owner row.
func TestHighestRateFits(t *testing.T) {
	p := TerraformerParams()
	for i := range p.Slots {
		p.Slots[i].Gun.RoundsPerSec = min(p.Slots[i].Gun.RoundsPerSec, 128)
	}
	h := p.MustCompile(tick.MaxRate)
	s := h.NewState()
	most := int16(0)
	var out Actions
	for now := tick.Tick(1); now < 3000; now++ {
		Step(&s, Input{Tick: now, Buttons: uint16(now >> 6), Alive: true}, h, &out)
		for i := range s.Slots {
			most = max(most, s.Slots[i].Cool, -s.Slots[i].Cool)
		}
	}
	if most > maxCool || most == 0 {
		t.Errorf("a clock stood at %d", most)
	}
	for i := range p.Slots {
		if p.Slots[i].Kind == Launcher {
			p.Slots[i].Launcher.CooldownMillis = 57000
		}
	}
	if _, err := p.Compile(128); err != nil {
		t.Error(err)
	}
	if _, err := p.Compile(tick.MaxRate); err == nil || !strings.Contains(err.Error(), "to 56888") {
		t.Errorf("57 s at 144 Hz: %v", err)
	}
}
