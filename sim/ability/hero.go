package ability

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
)

// MaxSlots is how many abilities a hero may have.
const MaxSlots = 8

// spinUnit is the grid of a gun's rate: 1/64 round a second, and 1/32 at fastRate and above. A shot
// costs spinUnit * tick rate of what a tick brings, at most maxCool.
const spinUnit = 64

// fastRate is the first rate at which a shot would cost more than maxCool with the finer grid.
const fastRate = maxCool/spinUnit + 1

// heatSteps is a power of two above the highest rate, so that an index needs no check.
const heatSteps = 256

var _ [heatSteps - tick.MaxRate]struct{}

// maxCool is the largest Slot.Cool that an owner row has room for.
const maxCool = 8192

// spinUnit returns the grid at the hero's rate.
func (h *Hero) spinUnit() float64 {
	if h.rate >= fastRate {
		return spinUnit / 2
	}
	return spinUnit
}

// longest returns the longest time of an ability, in milliseconds: a minute, or maxCool ticks.
func (h *Hero) longest() float64 { return min(60000, float64(maxCool*1000/h.rate)) }

// Hero is a compiled hero, for one tick rate. It is read-only; any number of players share it. A
// set of abilities is a mask: bit i is slot i of the list.
type Hero struct {
	slots [MaxSlots]compiledSlot
	count int
	rate  uint32

	wants [16]uint8 // by key: what it requests
	keys  uint16    // that request anything

	movement, dead, sprint, emote, guns, rockets uint8
	// throw, punch or launch: abilities with an end and a cool-down
	timed          uint8
	sticky         uint8 // their requests outlive the key
	work           uint8 // active slots that update must visit
	weapons        [Weapons]int8
	punch, gesture int8 // slots, or -1

	params HeroParams
}

// compiledSlot is a compiled ability. Times are ticks.
type compiledSlot struct {
	kind                 Kind
	clip                 uint8
	runsWith, interrupts uint8
	keys                 uint16

	perShot, perTick int32  // cost of a shot and what a tick brings, in 1/64 round at the tick rate
	spin             uint16 // most that spinning adds to perTick; 0: none
	coneMax, cone    uint16 // 1/256 degree: the greatest, and what a shot adds
	reload           int16

	impact, active, period int16 // of what is timed: when it acts, ends, may begin again
	stop                   int16

	action Action
	// by tick modulo the rate: what it takes from or adds to Heat; whole numbers, a second is exact
	heat [heatSteps]uint16
}

// Compile checks the numbers of a hero and converts them for a tick rate. It keeps no reference to
// p. The error names the slot, the field and the range.
func (p HeroParams) Compile(rate tick.Rate) (*Hero, error) {
	if !rate.Valid() {
		return nil, fmt.Errorf("hero %s: %d ticks a second, want %d to %d", p.Name, rate, tick.MinRate,
			tick.MaxRate)
	}
	if n := len(p.Slots); n < 1 || n > MaxSlots {
		return nil, fmt.Errorf("hero %s: %d slots, want 1 to %d", p.Name, n, MaxSlots)
	}
	if p.Health < 1 || p.Health > 10000 {
		return nil, fmt.Errorf("hero %s: Health: %d, want 1 to 10000", p.Name, p.Health)
	}
	p.Slots = slices.Clone(p.Slots)
	h := &Hero{count: len(p.Slots), rate: uint32(rate), punch: -1, gesture: -1, params: p}
	for i := range h.weapons {
		h.weapons[i] = -1
	}
	for i := range p.Slots {
		if err := h.addSlot(i); err != nil {
			return nil, fmt.Errorf("hero %s: slots[%d] %q: %w", p.Name, i, p.Slots[i].Name, err)
		}
	}
	return h, nil
}

// MustCompile is Compile for numbers that are known to be valid; it panics for others.
func (p HeroParams) MustCompile(rate tick.Rate) *Hero {
	h, err := p.Compile(rate)
	if err != nil {
		panic("ability: " + err.Error())
	}
	return h
}

// Len is how many slots the hero has. Slot i of it is bit i of every mask.
func (h *Hero) Len() int { return h.count }

// Name is the name of a slot, "" if there is none.
func (h *Hero) Name(slot int) string {
	if slot < 0 || slot >= h.count {
		return ""
	}
	return h.params.Slots[slot].Name
}

// Index is the slot of a name, -1 if there is none.
func (h *Hero) Index(name string) int {
	return slices.IndexFunc(h.params.Slots, func(s SlotParams) bool { return s.Name == name })
}

// WeaponSlot is the slot of a weapon by its index in Public.Fired, PunchSlot that of the punch, and
// RoundSlot that of the first weapon whose shots are rounds. -1: the hero has none.
func (h *Hero) WeaponSlot(weapon int) int { return int(h.weapons[weapon]) }
func (h *Hero) PunchSlot() int            { return int(h.punch) }
func (h *Hero) RoundSlot() int {
	return slices.IndexFunc(h.params.Slots, func(s SlotParams) bool {
		return s.Kind == Gun && s.Gun.Projectile == Hitscan
	})
}

// Health is the points at spawn.
func (h *Hero) Health() int16 { return h.params.Health }

// addSlot compiles slot i: its name and masks, its keys, then the part that depends on its Kind.
func (h *Hero) addSlot(i int) (err error) {
	p, c := &h.params.Slots[i], &h.slots[i]
	if p.Name == "" || p.Name == "*" || h.Index(p.Name) != i {
		return errors.New("want a Name that no other slot has")
	}
	c.kind, c.keys, c.action.Slot = p.Kind, p.Keys, uint8(i)
	if c.runsWith, err = h.mask(p.RunsWith, i); err != nil {
		return fmt.Errorf("field RunsWith: %w", err)
	}
	if c.interrupts, err = h.mask(p.Interrupts, i); err != nil {
		return fmt.Errorf("field Interrupts: %w", err)
	}
	h.bindKeys(p.Keys, 1<<i)
	switch p.Kind {
	case Movement, Dead, Sprint, Emote, Gun:
		return h.addUntimed(i)
	case Launcher, Melee, Rocket:
		return h.addTimed(i)
	}
	return fmt.Errorf("field Kind: %d, want 1 to %d", p.Kind, kinds-1)
}

// bindKeys makes keys request the ability of a bit.
func (h *Hero) bindKeys(keys uint16, bit uint8) {
	for k := range h.wants {
		if keys>>k&1 != 0 {
			h.wants[k] |= bit
		}
	}
	h.keys |= keys
}

// addUntimed compiles slot i of a Kind without a fixed duration.
func (h *Hero) addUntimed(i int) error {
	p, c := &h.params.Slots[i], &h.slots[i]
	bit := uint8(1) << i
	switch p.Kind {
	case Movement:
		return setOnce(&h.movement, bit)
	case Dead:
		return setOnce(&h.dead, bit)
	case Sprint:
		h.work |= bit
		if err := within("Sprint.StopMillis", float64(p.Sprint.StopMillis), 0, 10000); err != nil {
			return err
		}
		c.stop = h.ticks(p.Sprint.StopMillis)
		return setOnce(&h.sprint, bit)
	case Emote:
		h.work |= bit
		h.gesture = int8(i)
		c.action.Kind = ActionEmote
		return setOnce(&h.emote, bit)
	}
	h.guns |= bit
	h.addWeapon(i)
	return c.gun(&p.Gun, h)
}

// addTimed compiles slot i of a Kind with a duration and a cool-down.
func (h *Hero) addTimed(i int) error {
	p, c := &h.params.Slots[i], &h.slots[i]
	bit := uint8(1) << i
	h.timed |= bit
	h.work |= bit
	switch p.Kind {
	case Launcher:
		h.sticky |= bit
		h.addWeapon(i)
		return c.launcher(&p.Launcher, h)
	case Melee:
		if h.punch >= 0 {
			return errTwoOfKind
		}
		h.sticky |= bit
		h.punch = int8(i)
		return c.melee(&p.Melee, h)
	}
	h.rockets |= bit
	c.action.Kind = ActionLaunch
	return c.times(0, p.Rocket.ActiveMillis, p.Rocket.CooldownMillis, h)
}

var errTwoOfKind = errors.New("the hero has two of its Kind")

// setOnce sets the mask of a Kind that a hero may have once.
func setOnce(mask *uint8, bit uint8) error {
	if *mask != 0 {
		return errTwoOfKind
	}
	*mask = bit
	return nil
}

// addWeapon counts slot i among the public weapons.
func (h *Hero) addWeapon(i int) {
	if n := slices.Index(h.weapons[:], -1); n >= 0 {
		h.weapons[n] = int8(i)
	}
}

// mask is the slots with some names, without the slot self. "*" is all slots.
func (h *Hero) mask(names []string, self int) (mask uint8, err error) {
	for _, name := range names {
		if name == "*" {
			mask |= uint8(1<<h.count - 1)
			continue
		}
		i := h.Index(name)
		if i < 0 {
			return 0, fmt.Errorf("no slot is called %q", name)
		}
		mask |= 1 << i
	}
	return mask &^ (1 << self), nil
}

// ticks converts milliseconds to ticks, rounded up.
func (h *Hero) ticks(millis int32) int16 { return int16((int64(millis)*int64(h.rate) + 999) / 1000) }

// gun checks and compiles a gun. Only one of spin and spread may use Heat.
func (c *compiledSlot) gun(p *GunParams, h *Hero) error {
	for _, f := range []field{
		{"Projectile", float64(p.Projectile), 0, float64(Projectiles - 1)},
		{"Damage", float64(p.Damage), 0, 10000},
		{"Impulse", float64(p.Impulse), 0, 64},
		{"Range", float64(p.Range), 0, 4000},
		{"Radius", float64(p.Radius), 0, 5},
		{"RoundsPerSec", float64(p.RoundsPerSec), 1. / h.spinUnit(), float64(h.rate)},
		{"MostPerSec", float64(p.MostPerSec), 0, float64(h.rate)},
		{"SpinPerSec", float64(p.SpinPerSec), 0, 1000},
		{"Clip", float64(p.Clip), 1, 255},
		{"ReloadMillis", float64(p.ReloadMillis), math.Floor(1000 / float64(p.RoundsPerSec)), h.longest()},
		{"ConeDegrees", float64(p.ConeDegrees), 0, 180},
		{"ConePerShot", float64(p.ConePerShot), 0, 90},
		{"ConePerSecond", float64(p.ConePerSecond), 0, 1000},
	} {
		if err := within("Gun."+f.name, f.v, f.lo, f.hi); err != nil {
			return err
		}
	}
	if p.MostPerSec > p.RoundsPerSec && p.ConeDegrees > 0 {
		return errors.New("want one of Gun.MostPerSec and Gun.ConeDegrees to be 0")
	}
	c.clip, c.reload = p.Clip, h.ticks(p.ReloadMillis)
	c.perShot, c.perTick = int32(h.spinUnit())*int32(h.rate), whole(p.RoundsPerSec, h.spinUnit())
	heat := uint64(whole(p.ConePerSecond, 256))
	if p.MostPerSec > p.RoundsPerSec {
		c.spin = uint16(whole(p.MostPerSec, h.spinUnit()) - c.perTick)
		heat = uint64(whole(p.SpinPerSec, h.spinUnit()))
	}
	c.coneMax, c.cone = uint16(whole(p.ConeDegrees, 256)), uint16(whole(p.ConePerShot, 256))
	n := uint64(h.rate)
	for t := range n { // adds up to heat in a second, spread evenly
		c.heat[t] = uint16((t+n)*heat/n - (t+n-1)*heat/n)
	}
	c.action.Kind, c.action.Type = ActionShot, uint8(p.Projectile)
	if p.Projectile != Hitscan {
		c.action.Kind = ActionProjectile
	}
	c.action.Damage, c.action.Impulse, c.action.Range, c.action.Radius = p.Damage, p.Impulse, p.Range,
		p.Radius
	return nil
}

// launcher checks and compiles a launcher.
func (c *compiledSlot) launcher(p *LauncherParams, h *Hero) error {
	for _, f := range []field{
		{"Projectile", float64(p.Projectile), 1, float64(Projectiles - 1)},
		{"Speed", float64(p.Speed), 0, 200},
		{"PitchDegrees", float64(p.PitchDegrees), -90, 90},
		{"Range", float64(p.Range), 0, 4000},
	} {
		if err := within("Launcher."+f.name, f.v, f.lo, f.hi); err != nil {
			return err
		}
	}
	c.action.Kind, c.action.Type = ActionProjectile, uint8(p.Projectile)
	if p.Projectile == Grenade {
		c.action.Kind = ActionGrenade
	}
	c.action.Speed, c.action.Range, c.action.Pitch = p.Speed, p.Range, geom.Degrees(float64(p.PitchDegrees))
	return c.times(0, p.ActiveMillis, p.CooldownMillis, h)
}

// melee checks and compiles a melee attack; it hits at least a tick before it ends.
func (c *compiledSlot) melee(p *MeleeParams, h *Hero) error {
	for _, f := range []field{
		{"Damage", float64(p.Damage), 0, 10000},
		{"Impulse", float64(p.Impulse), 0, 64},
		{"Range", float64(p.Range), 0, 20},
		{"Radius", float64(p.Radius), 0, 5},
		{"ImpactMillis", float64(p.ImpactMillis), 0, float64(p.PeriodMillis) - 1},
	} {
		if err := within("Melee."+f.name, f.v, f.lo, f.hi); err != nil {
			return err
		}
	}
	c.action.Kind = ActionMelee
	c.action.Damage, c.action.Impulse, c.action.Range, c.action.Radius = p.Damage, p.Impulse, p.Range,
		p.Radius
	err := c.times(p.ImpactMillis, p.PeriodMillis, p.PeriodMillis, h)
	c.impact = min(c.impact, c.active-1) // both may round up to the same tick
	return err
}

// times sets the times of what is timed; it lasts at least a tick.
func (c *compiledSlot) times(impact, active, cooldown int32, h *Hero) error {
	if err := within("ActiveMillis", float64(active), 0, h.longest()); err != nil {
		return err
	}
	if err := within("CooldownMillis", float64(cooldown), float64(active), h.longest()); err != nil {
		return err
	}
	c.impact, c.active, c.period = h.ticks(impact), max(1, h.ticks(active)), max(1, h.ticks(cooldown))
	return nil
}

// field is a number with its allowed range, for errors.
type field struct {
	name      string
	v, lo, hi float64
}

// within returns an error that names the field if v is outside [lo, hi] or NaN.
func within(name string, v, lo, hi float64) error {
	if !(v >= lo && v <= hi) {
		return fmt.Errorf("%s: %v, want %v to %v", name, v, lo, hi)
	}
	return nil
}

// whole converts x to a grid of 1/units, rounded to nearest.
func whole(x float32, units float64) int32 { return int32(math.Round(float64(x) * units)) }
