package ability

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
)

var rates = []tick.Rate{20, 30, 60, 64, 128}

// slowRifle is a naive gun, for comparison with Step.
type slowRifle struct {
	ammo, clip    int
	reloading     bool
	cool          int // 1/perSec tick, or ticks to reload
	cone, widest  int // 1/256 degree
	grow, shrink  int // a shot, a second
	perSec, rate  int
	reloadSeconds float64
}

func (w *slowRifle) step(t int, fire, reload bool) (fired bool, cone int) {
	if w.reloading || w.cool <= 0 {
		w.cone = max(0, w.cone-(t*w.shrink/w.rate-(t-1)*w.shrink/w.rate))
	}
	if w.reloading {
		if w.cool--; w.cool > 0 {
			return false, 0
		}
		w.reloading, w.cool, w.ammo = false, 0, w.clip
	} else if w.cool > 0 {
		w.cool -= w.perSec
	}
	switch {
	case w.ammo == 0, reload && w.ammo < w.clip:
		w.reloading, w.cool = true, int(math.Ceil(w.reloadSeconds*float64(w.rate)))
		return false, 0
	case !fire:
		w.cool = max(w.cool, 0)
		return false, 0
	case w.cool > 0:
		return false, 0
	}
	cone = w.cone
	w.ammo--
	w.cool += w.rate
	w.cone = min(w.widest, w.cone+w.grow)
	return true, cone
}

// TestRow53RifleTwin pulls and reloads at random: every shot, cone and clip is the twin's.
func TestRow53RifleTwin(t *testing.T) {
	for _, rate := range rates {
		h := TerraformerParams().MustCompile(rate)
		w := slowRifle{ammo: 25, clip: 25, widest: 8 * 256, grow: 128, shrink: 16 * 256, perSec: 14,
			rate: int(rate), reloadSeconds: 1.5}
		s := h.NewState()
		r := rand.New(rand.NewPCG(uint64(rate), 1))
		var keys uint16
		shots := 0
		for i := range 20000 {
			if r.IntN(12) == 0 {
				keys = Primary * uint16(min(r.IntN(4), 1))
			}
			in := Input{Tick: tick.Tick(1 + i), Buttons: keys, Alive: true}
			if r.IntN(50) == 0 {
				in.Buttons |= ReloadKey
			}
			out := play(h, &s, in)
			fired, cone := w.step(1+i, in.Buttons&Primary != 0, in.Buttons&ReloadKey != 0)
			if fired != (out.Count == 1) || fired && (out.List[0].Kind != ActionShot ||
				int(out.List[0].Cone) != cone/2) {
				t.Fatalf("%d Hz tick %d: %+v, twin fires %v at %d", rate, i, out.All(), fired, cone)
			}
			if g := s.Slots[0]; int(g.Load) != w.ammo || int(g.Heat) != w.cone ||
				(s.Reloading != 0) != w.reloading {
				t.Fatalf("%d Hz tick %d: %+v, twin %+v", rate, i, s, w)
			}
			if fired {
				shots++
			}
		}
		if shots < 400 {
			t.Errorf("%d Hz: %d shots: nothing tested", rate, shots)
		}
	}
}

// TestRow53Shot checks the actions of the rifle, rivet, rocket, grenade and punch.
func TestRow53Shot(t *testing.T) {
	for _, c := range []struct {
		hero HeroParams
		key  uint16
		want Action
	}{
		{TerraformerParams(), Primary, Action{Kind: ActionShot, Damage: 7, Impulse: 7, Range: 500,
			Radius: 0.2}},
		{TerraformerParams(), Secondary, Action{Kind: ActionProjectile, Slot: 1, Type: uint8(GooRocket),
			Range: 200}},
		{TerraformerParams(), MeleeKey, Action{Kind: ActionMelee, Slot: 3, Damage: 100, Impulse: 10,
			Range: 3, Radius: 1}},
		{TerraformerParams(), EmoteDefeat, Action{Kind: ActionEmote, Slot: 4, Type: 2}},
		{RobotParams(), Primary, Action{Kind: ActionProjectile, Type: uint8(Rivet), Range: 200}},
		{RobotParams(), Secondary, Action{Kind: ActionGrenade, Slot: 1, Type: uint8(Grenade), Speed: 50,
			Pitch: geom.Degrees(5)}},
		{RobotParams(), MeleeKey, Action{Kind: ActionMelee, Slot: 2, Damage: 100, Impulse: 10, Range: 3,
			Radius: 1}},
	} {
		h := c.hero.MustCompile(60)
		s := h.NewState()
		var got []Action
		for _, out := range script(h, &s, 10, Input{Buttons: c.key, Alive: true}) {
			got = append(got, out.All()...)
		}
		if len(got) == 0 || got[0] != c.want {
			t.Errorf("%s, key %b: %+v, want %+v", c.hero.Name, c.key, got, c.want)
		}
	}
}

// TestRow53Rates holds keys for ten seconds: the numbers of shots are exact at every tick rate.
func TestRow53Rates(t *testing.T) {
	endless := TerraformerParams()
	endless.Slots[0].Gun.Clip = 255
	for _, c := range []struct {
		what string
		hero HeroParams
		key  uint16
		want int
	}{
		{"14 rounds a second", endless, Primary, 140},
		{"a rocket a second", TerraformerParams(), Secondary, 10},
		{"a grenade a second", RobotParams(), Secondary, 10},
		{"a punch a second", RobotParams(), MeleeKey, 10},
		{"2 to 8 rivets a second: 1 + 5 in the first second, then 8 each", RobotParams(), Primary, 78},
	} {
		for _, rate := range rates {
			h := c.hero.MustCompile(rate)
			s := h.NewState()
			shots := 0
			for _, out := range script(h, &s, 10*int(rate), Input{Buttons: c.key, Alive: true}) {
				shots += int(out.Count)
			}
			slack := 0
			if c.want == 78 { // the spin may end between two shots
				slack = 1
			}
			if shots < c.want-slack || shots > c.want+slack {
				t.Errorf("%s: %d in 10 s at %d Hz, want %d", c.what, shots, rate, c.want)
			}
		}
	}
}

// TestRow53Spin follows the chaingun's rate: 2 to 8 rounds a second at 6/s2, and back.
func TestRow53Spin(t *testing.T) {
	for _, rate := range rates {
		h := RobotParams().MustCompile(rate)
		s := h.NewState()
		script(h, &s, int(rate)*2, Input{Buttons: Primary, Alive: true})
		if s.Slots[0].Heat != 6*spinUnit {
			t.Errorf("%d Hz: after 2 s it adds %d/64 rounds/s, want 384", rate, s.Slots[0].Heat)
		}
		s = h.NewState()
		script(h, &s, int(rate), Input{Buttons: Primary, Alive: true})
		if s.Slots[0].Heat != 6*spinUnit {
			t.Errorf("%d Hz: after 1 s it adds %d/64 rounds/s, want 384", rate, s.Slots[0].Heat)
		}
		script(h, &s, int(rate)/2, Input{Alive: true})
		if got := int(s.Slots[0].Heat); got < 3*spinUnit-20 || got > 3*spinUnit+20 {
			t.Errorf("%d Hz: half a second later %d/64, want 192", rate, got)
		}
		script(h, &s, int(rate), Input{Alive: true})
		if s.Slots[0].Heat != 0 || s.Slots[0].Cool != 0 || s.On != 0 {
			t.Errorf("%d Hz: it does not come to rest: %+v", rate, s.Slots[0])
		}
	}
}

// TestRow53Cone: half a degree a shot, 16 degrees a second back, 8 at most; at 60, 30 and 128 Hz,
// in whole 1/256 degree.
func TestRow53Cone(t *testing.T) {
	for _, rate := range []tick.Rate{60, 30, 128} {
		h := TerraformerParams().MustCompile(rate)
		s := h.NewState()
		play(h, &s, Input{Tick: 1, Buttons: Primary, Alive: true})
		if s.Slots[0].Heat != 128 {
			t.Errorf("%d Hz: a shot opens the cone to %d/256 degree, want 128", rate, s.Slots[0].Heat)
		}
		s.Slots[0].Heat, s.Slots[0].Cool = 8*256, 0
		script(h, &s, int(rate)/2, Input{Alive: true}) // 0.5 s: 8 degrees
		if s.Slots[0].Heat != 0 {
			t.Errorf("%d Hz: 8 degrees close in half a second but for %d/256", rate, s.Slots[0].Heat)
		}
		s.Slots[0].Heat, s.Slots[0].Cool = 8*256, 0
		script(h, &s, int(rate)/4, Input{Alive: true})
		if got, want := int(s.Slots[0].Heat), 8*256-int(rate)/4*16*256/int(rate); got < want-1 ||
			got > want+1 {
			t.Errorf("%d Hz: after a quarter of a second %d/256 degree, want %d", rate, got, want)
		}
		s = h.NewState()
		var shots []Action
		for _, out := range script(h, &s, 2*int(rate), Input{Buttons: Primary, Alive: true}) {
			shots = append(shots, out.All()...)
		}
		if len(shots) != 25 {
			t.Fatalf("%d Hz: %d shots, want a clip", rate, len(shots))
		}
		for i, a := range shots {
			if want := min(8*256, i*128) / 2; int(a.Cone) != want || a.Shot != 0 {
				t.Errorf("%d Hz: shot %d within %d/256 degree, want %d", rate, i, a.Cone, want)
			}
		}
	}
}

// TestRow53Reload: 1.5 s, by the key and by itself; no shot meanwhile.
func TestRow53Reload(t *testing.T) {
	for _, hero := range []HeroParams{RobotParams(), TerraformerParams()} {
		for _, rate := range rates {
			h := hero.MustCompile(rate)
			want := int(math.Ceil(1.5 * float64(rate)))
			clip := hero.Slots[0].Gun.Clip
			s := h.NewState()
			s.Slots[0].Load = 1
			began, shots := -1, 0
			for i, out := range script(h, &s, 4*int(rate), Input{Buttons: Primary, Alive: true}) {
				if began >= 0 && i < began+want && out.Count != 0 {
					t.Fatalf("%s %d Hz: it fires while it reloads", hero.Name, rate)
				}
				if out.Reload != 0 && began < 0 {
					began = i
				}
				if out.Loaded != 0 && i != began+want {
					t.Errorf("%s %d Hz: reload took %d ticks, want %d", hero.Name, rate, i-began, want)
				}
				shots += int(out.Count)
			}
			if began != 1 || shots < 2 {
				t.Errorf("%s %d Hz: an empty clip reloads from tick %d, %d shots", hero.Name, rate, began,
					shots)
			}
			s = h.NewState()
			if out := play(h, &s, Input{Buttons: ReloadKey, Alive: true}); out.Reload != 0 || s.On != 0 {
				t.Errorf("%s: a full clip reloads", hero.Name)
			}
			s.Slots[0].Load--
			if out := play(h, &s, Input{Buttons: ReloadKey, Alive: true}); out.Reload == 0 {
				t.Errorf("%s: the key does not reload", hero.Name)
			}
			if script(h, &s, want+1, Input{Alive: true}); s.Slots[0].Load != clip || s.Active != 0 {
				t.Errorf("%s %d Hz: after a reload %+v", hero.Name, rate, s)
			}
		}
	}
}

// TestRow53Times checks the times of a throw and a punch, in ticks from the key: when it acts, how
// long it keeps the other weapons off, when it acts again.
func TestRow53Times(t *testing.T) {
	for _, c := range []struct {
		rate                 tick.Rate
		key                  uint16
		acts, active, period int
	}{
		{60, Secondary, 0, 30, 60}, {30, Secondary, 0, 15, 30}, {128, Secondary, 0, 64, 128},
		{20, Secondary, 0, 10, 20},
		{60, MeleeKey, 6, 60, 60}, {30, MeleeKey, 3, 30, 30}, {128, MeleeKey, 13, 128, 128},
		{20, MeleeKey, 2, 20, 20},
	} {
		for _, hero := range []HeroParams{RobotParams(), TerraformerParams()} {
			h := hero.MustCompile(c.rate)
			s := h.NewState()
			var acted, over []int
			for i, out := range script(h, &s, 3*c.period+c.acts, Input{Buttons: c.key, Alive: true}) {
				if out.Count > 0 {
					acted = append(acted, i)
				}
				if out.Ended != 0 {
					over = append(over, i)
				}
			}
			if len(acted) != 3 || acted[0] != c.acts || acted[1]-acted[0] != c.period ||
				acted[2]-acted[1] != c.period {
				t.Errorf("%s %d Hz key %b: acts in ticks %v", hero.Name, c.rate, c.key, acted)
			}
			if len(over) == 0 || over[0] != c.active {
				t.Errorf("%s %d Hz key %b: off in ticks %v, want first %d", hero.Name, c.rate, c.key, over,
					c.active)
			}
		}
	}
}

// TestRow52RocketJump adds the rocket jump, which no hero of FPSSample has, to one.
func TestRow52RocketJump(t *testing.T) {
	p := RobotParams()
	p.Slots = append(p.Slots, SlotParams{Name: "rocket jump", Kind: Rocket, Keys: RocketKey,
		RunsWith: []string{"movement"}, Interrupts: []string{"sprint"},
		Rocket: RocketParams{ActiveMillis: 500, CooldownMillis: 3000}})
	h := p.MustCompile(60)
	s := h.NewState()
	if out := play(h, &s, Input{Buttons: RocketKey, Alive: true}); out.Count != 0 || s.Request != 0 {
		t.Errorf("launched in the air: %+v", out)
	}
	var launched []int
	for i, out := range script(h, &s, 400, Input{Buttons: RocketKey, Alive: true, Grounded: true}) {
		if out.Count == 1 && out.List[0].Kind == ActionLaunch {
			launched = append(launched, i)
		}
	}
	if len(launched) != 3 || launched[0] != 0 || launched[1] != 180 || launched[2] != 360 {
		t.Errorf("launched in ticks %v, want 0, 180, 360", launched)
	}
}

func TestAim(t *testing.T) {
	const seed = 7
	yaw, pitch := geom.Degrees(33), geom.Degrees(-12)
	ahead := geom.Forward(yaw, pitch)
	if Aim(DrawKey{seed, 1, 1, 0}, yaw, pitch, 0) != ahead {
		t.Error("without a cone it does not fly straight")
	}
	inner := 0
	seen := map[geom.Vec3]bool{}
	const n, cone = 4000, 8 * 256
	for i := range n {
		d := Aim(DrawKey{seed, uint32(i % 3), tick.Tick(i / 6), uint8(i / 3 % 2)}, yaw, pitch, cone)
		off := math.Acos(min(1, float64(d.Dot(ahead)))) * 180 / math.Pi
		if off > 8.02 || math.Abs(float64(d.Len())-1) > 1e-5 {
			t.Fatalf("a shot %v degrees off, length %v", off, d.Len())
		}
		if off < 8/math.Sqrt2 {
			inner++
		}
		seen[d] = true
	}
	if inner < n*45/100 || inner > n*55/100 { // half of the disc's area
		t.Errorf("%d of %d shots in the inner half of the disc", inner, n)
	}
	if len(seen) < n*99/100 {
		t.Errorf("only %d different directions of %d: entity, tick or shot does not count", len(seen), n)
	}
}
