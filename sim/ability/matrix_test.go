package ability

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tickrate/tickrate/ecs/tick"
)

// The activation matrix, row by row from FPSSample's lists: what happens when the
// ability of a row requests to be activated while the one of a column is on.
//
//   - it runs beside the other
//     x  the other is switched off, and it is switched on
//     ?  the other is asked to end, and it waits
//     .  itself
var matrices = []struct {
	hero  HeroParams
	order []string
	rows  []string
}{
	{RobotParams(), []string{"chaingun", "grenade launcher", "melee", "sprint", "emote", "movement",
		"dead"}, []string{
		/* chaingun         */ ". ? ? ? ? + ?",
		/* grenade launcher */ "? . ? ? ? + ?",
		/* melee            */ "? ? . x ? + ?",
		/* sprint           */ "? ? ? . ? + ?",
		/* emote            */ "? ? ? ? . x ?",
		/* movement         */ "+ + + + ? . ?",
		/* dead             */ "x x x x x x .",
	}},
	{TerraformerParams(), []string{"auto rifle", "projectile launcher", "sprint", "melee", "emote",
		"movement", "dead"}, []string{
		/* auto rifle          */ ". ? ? ? ? + ?",
		/* projectile launcher */ "? . ? ? ? + ?",
		/* sprint              */ "? ? . ? ? + ?",
		/* melee               */ "? ? x . ? + ?",
		/* emote               */ "? ? ? ? . x ?",
		/* movement            */ "+ + + + ? . ?",
		/* dead                */ "x x x x x x .",
	}},
}

func TestRow52ActivationMatrix(t *testing.T) {
	for _, m := range matrices {
		h := m.hero.MustCompile(60)
		if h.Len() != len(m.order) {
			t.Fatalf("%s has %d abilities, want %d", m.hero.Name, h.Len(), len(m.order))
		}
		for i, name := range m.order {
			if h.Name(i) != name {
				t.Fatalf("%s: slot %d is %q, want %q", m.hero.Name, i, h.Name(i), name)
			}
			for j, other := range m.order {
				want := m.rows[i][2*j]
				if i == j {
					continue
				}
				a, b := uint8(1)<<i, uint8(1)<<j
				s := h.NewState()
				s.Request, s.On, s.Active = a, b, b
				var out Actions
				s.control(0, h, &out)
				got := byte('?')
				switch s.On {
				case a | b:
					got = '+'
				case a:
					got = 'x'
				}
				if got != want {
					t.Errorf("%s: %s while %s is on: %c, want %c", m.hero.Name, name, other, got, want)
				}
				if (s.Asked == b) != (want == '?') || (s.Request == a) != (want == '?') ||
					(out.Ended == b) != (want == 'x') || s.Active != s.On {
					t.Errorf("%s: %s while %s is on leaves %+v, ended %b", m.hero.Name, name, other, s,
						out.Ended)
				}
			}
		}
	}
}

// slowAbility is one ability as FPSSample's controller has it.
type slowAbility struct {
	state               string // idle, request, active, cooldown
	active, deactivate  bool
	runsWith, interrupt []string
	last, whenIdle      bool // served after the others; starts only beside idle abilities
}

// slowControl is the honest twin of control: names and lists for masks (spec 7.2, controller 1 to
// 3).
func slowControl(order []string, all map[string]*slowAbility) {
	for _, a := range all {
		a.last = a.whenIdle || a.active && a.state != "active" && a.deactivate
		if a.active && a.state != "active" {
			a.active, a.deactivate = false, false
		}
	}
	for _, last := range []bool{false, true} {
		for _, name := range order {
			a := all[name]
			if a.state != "request" || a.last != last {
				continue
			}
			var conflicts []string
			for _, other := range order {
				if all[other].active && !slices.Contains(a.runsWith, other) {
					conflicts = append(conflicts, other)
				}
			}
			if a.whenIdle && len(conflicts) > 0 {
				continue
			}
			waits := false
			for _, other := range conflicts {
				o := all[other]
				if slices.Contains(a.interrupt, other) || slices.Contains(a.interrupt, "*") {
					o.active, o.deactivate, o.state = false, false, "idle"
				} else {
					o.deactivate, waits = true, true
				}
			}
			if !waits {
				a.active, a.deactivate, a.state = true, false, "active"
			}
		}
	}
}

// TestRow52ControllerTwin holds control to the twin, from any state that an update can leave.
func TestRow52ControllerTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(52, 1))
	for _, p := range heroes() {
		h := p.MustCompile(60)
		for range 20000 {
			s := h.NewState()
			var order []string
			var whenIdle uint8
			twin := map[string]*slowAbility{}
			for i, slot := range p.Slots {
				bit := uint8(1) << i
				a := &slowAbility{runsWith: slot.RunsWith, interrupt: slot.Interrupts, state: "idle"}
				switch r.IntN(5) {
				case 0, 1:
					a.state = "active"
					s.Active |= bit
				case 2, 3:
					a.state = "request"
					s.Request |= bit
					if a.whenIdle = r.IntN(4) == 0; a.whenIdle {
						whenIdle |= bit
					}
				}
				if a.state == "active" || r.IntN(3) == 0 { // or it has just ended
					a.active = true
					s.On |= bit
					if a.deactivate = r.IntN(3) == 0; a.deactivate {
						s.Asked |= bit
					}
				}
				order = append(order, slot.Name)
				twin[slot.Name] = a
			}
			before := s
			var out Actions
			s.control(whenIdle, h, &out)
			slowControl(order, twin)
			for i, name := range order {
				a := twin[name]
				got := slowAbility{state: "idle", active: s.On>>i&1 != 0, deactivate: s.Asked>>i&1 != 0}
				if s.Active>>i&1 != 0 {
					got.state = "active"
				} else if s.Request>>i&1 != 0 {
					got.state = "request"
				}
				if got.state != a.state || got.active != a.active || got.deactivate != a.deactivate {
					t.Fatalf("%s, %s: %+v became %+v; twin %+v", p.Name, name, before, s, a)
				}
			}
		}
	}
}

// TestRow52Order lets all abilities request at once: the first of the list goes on, and what may
// run with it.
func TestRow52Order(t *testing.T) {
	for _, c := range []struct {
		hero  HeroParams
		apart string // asks in vain
		on    []string
	}{
		{RobotParams(), "grenade launcher", []string{"chaingun", "movement"}},
		{TerraformerParams(), "projectile launcher", []string{"auto rifle", "movement"}},
	} {
		h := c.hero.MustCompile(60)
		s := h.NewState()
		out := play(h, &s, Input{Tick: 1, Buttons: Primary | Secondary | SprintKey | MeleeKey, MoveMag: 255,
			Alive: true, Grounded: true})
		if want := set(h, c.on...); s.On != want || out.Began != want || s.Asked != set(h, c.on[0]) {
			t.Errorf("%s: on %b, asked %b, want %b", c.hero.Name, s.On, s.Asked, want)
		}
		if s.Request&set(h, c.apart) == 0 {
			t.Errorf("%s: the %s does not wait", c.hero.Name, c.apart)
		}
	}
}

// TestRow52TwoWeapons lets a list's matrix allow two weapons at once: both fire.
func TestRow52TwoWeapons(t *testing.T) {
	p := TerraformerParams()
	p.Slots[0].RunsWith = append(p.Slots[0].RunsWith, "projectile launcher")
	p.Slots[1].RunsWith = append(p.Slots[1].RunsWith, "auto rifle")
	h := p.MustCompile(60)
	s := h.NewState()
	out := play(h, &s, Input{Tick: 1, Buttons: Primary | Secondary, Alive: true})
	if out.Count != 2 || out.List[0].Kind != ActionShot || out.List[1].Kind != ActionProjectile ||
		Projectile(out.List[1].Type) != GooRocket {
		t.Errorf("both keys bring about %+v", out.All())
	}
}

// TestRow52Life checks the rules by which abilities end, tick by tick at 60 Hz.
func TestRow52Life(t *testing.T) {
	const ahead = SprintKey
	run := Input{Buttons: ahead, MoveMag: 255, Alive: true, Grounded: true}
	with := func(in Input, keys uint16) Input { in.Buttons |= keys; return in }
	stand := Input{Alive: true, Grounded: true}

	// The gun fires 0.2 s later, and the sprint goes on when the trigger is released.
	t.Run("fire stops a sprint", func(t *testing.T) {
		h := TerraformerParams().MustCompile(60)
		s := h.NewState()
		ticks := script(h, &s, 10, run)
		if !ticks[0].Sprint || !ticks[9].Sprint {
			t.Fatal("it does not sprint from the first tick on")
		}
		ticks = script(h, &s, 60, with(run, Primary))
		for i, out := range ticks {
			if out.Sprint {
				t.Fatalf("tick %d of fire: it sprints", i)
			}
			if first := 12; i <= first && (out.Count == 1) != (i == first) {
				t.Fatalf("tick %d of fire: %d shots, want the first in tick %d", i, out.Count, first)
			}
		}
		if ticks = script(h, &s, 10, run); !ticks[9].Sprint {
			t.Error("the sprint does not go on")
		}
	})
	t.Run("a sprint waits for the trigger", func(t *testing.T) {
		h := TerraformerParams().MustCompile(60)
		s := h.NewState()
		script(h, &s, 10, with(Input{MoveMag: 255, Alive: true}, Primary))
		shots := 0
		for _, out := range script(h, &s, 60, with(run, Primary)) {
			if shots += int(out.Count); out.Sprint {
				t.Fatal("it sprints")
			}
		}
		if shots != 14 {
			t.Errorf("%d shots in a second, want 14", shots)
		}
	})
	t.Run("sprinting sideways or not at all", func(t *testing.T) {
		h := RobotParams().MustCompile(60)
		for yaw, want := range map[uint8]bool{0: true, 63: true, 64: false, 128: false, 192: false,
			193: true} {
			s := h.NewState()
			in := run
			in.MoveYaw = yaw
			if out := play(h, &s, in); out.Sprint != want {
				t.Errorf("feet at %d/256: sprints %v", yaw, out.Sprint)
			}
		}
		s := h.NewState()
		if out := play(h, &s, with(stand, SprintKey)); out.Sprint {
			t.Error("it sprints on the spot")
		}
	})
	t.Run("melee interrupts a sprint at once; the sprint comes back after it", func(t *testing.T) {
		h := RobotParams().MustCompile(60)
		s := h.NewState()
		script(h, &s, 10, run)
		out := play(h, &s, with(run, MeleeKey))
		if out.Sprint || s.On != set(h, "melee", "movement") || out.Ended != set(h, "sprint") {
			t.Fatalf("on %b, ended %b", s.On, out.Ended)
		}
		for i, out := range script(h, &s, 60, run) {
			if out.Sprint != (i == 59) {
				t.Fatalf("%d ticks after the key: sprints %v", i+1, out.Sprint)
			}
		}
	})
	t.Run("an emote stops the feet, and moving stops the emote", func(t *testing.T) {
		h := RobotParams().MustCompile(60)
		s := h.NewState()
		script(h, &s, 5, Input{MoveMag: 9, Alive: true})
		out := play(h, &s, with(stand, EmoteDance))
		if out.Count != 1 || out.List[0].Kind != ActionEmote || out.List[0].Type != 3 || out.Move ||
			h.Public(&s) != (Public{Gesture: 3, Gestures: 1}) {
			t.Fatalf("dancing: %+v, %+v", out.All(), h.Public(&s))
		}
		if ticks := script(h, &s, 300, stand); ticks[299].Ended != 0 || h.Public(&s).Gesture != 3 {
			t.Fatal("the dance ends by itself")
		}
		ticks := script(h, &s, 2, Input{MoveMag: 9, Alive: true})
		if ticks[0].Move || !ticks[1].Move || ticks[1].Ended != set(h, "emote") || h.Public(&s).Gesture != 0 {
			t.Errorf("moving: %+v", ticks)
		}
		if out := play(h, &s, Input{MoveMag: 9, Buttons: EmoteVictory, Alive: true}); out.Count != 0 ||
			s.Request != 0 {
			t.Errorf("an emote on the run: %+v", out)
		}
	})
	t.Run("a tap on the grenade's key is remembered", func(t *testing.T) {
		h := RobotParams().MustCompile(60)
		s := h.NewState()
		script(h, &s, 1, with(stand, Primary))
		script(h, &s, 1, with(stand, Primary|Secondary))
		thrown := -1
		for i, out := range script(h, &s, 120, with(stand, Primary)) {
			for _, a := range out.All() {
				if a.Kind == ActionGrenade {
					if thrown >= 0 {
						t.Fatal("thrown twice")
					}
					thrown = i
				} else if thrown >= 0 && i < thrown+30 {
					t.Fatalf("the chaingun fires %d ticks after the throw", i-thrown)
				}
			}
		}
		if thrown < 0 || thrown > 30 {
			t.Errorf("thrown after %d ticks", thrown)
		}
	})
	t.Run("an empty gun reloads when no ability is active", func(t *testing.T) {
		h := TerraformerParams().MustCompile(60)
		s := h.NewState()
		s.Slots[0].Load = 0
		if ticks := script(h, &s, 30, run); !ticks[29].Sprint || s.Reloading != 0 {
			t.Fatal("the empty gun stopped the sprint")
		}
		reload := 0
		for i, out := range script(h, &s, 60, stand) {
			if out.Reload != 0 {
				reload = i
			}
		}
		if reload != 12 {
			t.Errorf("it reloads %d ticks after the sprint, want 12", reload)
		}
	})
	t.Run("dying ends all, being alive again ends dying", func(t *testing.T) {
		h := TerraformerParams().MustCompile(60)
		s := h.NewState()
		script(h, &s, 10, with(run, Primary))
		gone := with(run, Primary|MeleeKey)
		gone.Alive = false
		ticks := script(h, &s, 100, gone)
		if s.On != set(h, "dead") || ticks[0].Ended == 0 || s.Request != 0 || ticks[0].Move {
			t.Fatalf("dead: %+v", s)
		}
		for i, out := range ticks {
			if out.Count != 0 || out.Sprint {
				t.Fatalf("tick %d: the dead do %+v", i, out)
			}
		}
		if script(h, &s, 2, stand); s.On != 0 {
			t.Errorf("alive again: %+v", s)
		}
	})
}

// play is one tick.
func play(h *Hero, s *State, in Input) (out Actions) {
	Step(s, in, h, &out)
	return out
}

// script is ticks of one input, at ticks that follow each other from whatever comes first.
func script(h *Hero, s *State, ticks int, in Input) (all []Actions) {
	for i := range ticks {
		in.Tick = tick.Tick(1000 + i)
		all = append(all, play(h, s, in))
	}
	return all
}

// set is the mask of names.
func set(h *Hero, names ...string) (mask uint8) {
	for _, n := range names {
		mask |= 1 << h.Index(n)
	}
	return mask
}
