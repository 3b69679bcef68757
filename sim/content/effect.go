package content

import (
	"cmp"
	"regexp"
	"slices"

	"github.com/tickrate/tickrate/sim/ability"
)

// EffectID is a 1-based index in Pack.Effects, 0 for none. Client and server have the same ids.
type EffectID uint8

// EffectKind says where an effect is shown: at a place, or along a ray.
type EffectKind uint8

// The kinds.
const (
	Spatial EffectKind = iota // at a place: a muzzle, an impact, an explosion
	Hitscan                   // from a muzzle along a ray to what it strikes
)

// effectKinds are the kinds in files, by value.
var effectKinds = []string{"spatial", "hitscan"}

// Effect is a row of [[effect]] in a content pack. Client and server have its name and kind. Only
// clients read its look.
type Effect struct {
	Name string
	Kind EffectKind
	Look EffectLook
}

// EffectLook is how an effect looks and sounds. A front end chooses what is 0 or "".
type EffectLook struct {
	Title        string
	Image, Sound string  // names of assets
	Color        string  // "rrggbb"
	Size         float32 // metres
	Millis       int32   // how long it is shown
	Light        float32 // metres that it lights
	Audible      float32 // metres from which it is heard
	Mark         float32 // metres: radius of the mark that it leaves on a surface
	Speed        float32 // m/s along the ray, as of a tracer; hitscan effects only
}

var colorForm = regexp.MustCompile(`^[0-9a-f]{6}$`)

var lookKeys = table{
	titleKey(func(l *EffectLook) *string { return &l.Title }),
	keyOf("image", 1, 32, func(l *EffectLook) *string { return &l.Image }, client),
	keyOf("sound", 1, 32, func(l *EffectLook) *string { return &l.Sound }, client),
	keyOf("color", 6, 6, func(l *EffectLook) *string { return &l.Color }, client),
	keyOf("size_m", 0, 100, func(l *EffectLook) *float32 { return &l.Size }, client),
	keyOf("life_ms", 0, 60000, func(l *EffectLook) *int32 { return &l.Millis }, client),
	keyOf("light_m", 0, 100, func(l *EffectLook) *float32 { return &l.Light }, client),
	keyOf("audible_m", 0, 1000, func(l *EffectLook) *float32 { return &l.Audible }, client),
	keyOf("mark_m", 0, 10, func(l *EffectLook) *float32 { return &l.Mark }, client),
	keyOf("speed", 0, 10000, func(l *EffectLook) *float32 { return &l.Speed }, client),
}

var effectKeys = table{
	nameKey(func(e *Effect) *string { return &e.Name }),
	keyOf("kind", 0, 0, func(e *Effect) *EffectKind { return &e.Kind }, words(0, effectKinds...)),
	tableOf("look", lookKeys, func(e *Effect) *EffectLook { return &e.Look }, client),
}

// effectKey is a reference to an effect, which may be left out.
func effectKey[R any](name string, at func(*R) *string, options ...option) key {
	return keyOf(name, 1, 32, at, append(options, optional)...)
}

// shown selects the kinds of ability that may name an effect.
var shown = is(ability.Gun, ability.Launcher, ability.Melee)

// Effect returns the row of an id.
func (p *Pack) Effect(id EffectID) (e Effect, ok bool) {
	if id == 0 || int(id) > len(p.Effects) {
		return Effect{}, false
	}
	return p.Effects[id-1], true
}

// effectID is the id of an effect, 0 if there is none of that name.
func (p *Pack) effectID(name string) EffectID {
	return EffectID(1 + slices.IndexFunc(p.Effects, func(e Effect) bool { return e.Name == name }))
}

// EffectTable has the effect of each ability, projectile and explosion of a pack; 0 is none. Client
// and server have the same table. The zero value has no effects.
type EffectTable struct {
	Names           []string                     // Names[id-1] is the name of effect id
	Abilities       [][ability.MaxSlots]EffectID // by hero, then by ability slot
	Impacts         []EffectID                   // by projectile
	Explosions      []EffectID                   // by projectile
	Grenade, Barrel EffectID                     // effects of their explosions
}

// EffectTable compiles the pack's references to effects.
func (p *Pack) EffectTable() (t EffectTable) {
	for i := range p.Effects {
		t.Names = append(t.Names, p.Effects[i].Name)
	}
	for i := range p.Heroes {
		var slots [ability.MaxSlots]EffectID
		for slot, name := range p.Heroes[i].Abilities {
			// A pack has every ability that its heroes name.
			at := slices.IndexFunc(p.Abilities, func(a Ability) bool { return a.Name == name })
			slots[slot] = p.effectID(p.Abilities[at].Effect)
		}
		t.Abilities = append(t.Abilities, slots)
	}
	for i := range p.Projectiles {
		t.Impacts = append(t.Impacts, p.effectID(p.Projectiles[i].Impact))
		t.Explosions = append(t.Explosions, p.effectID(p.Projectiles[i].Explosion))
	}
	if len(p.Grenades) > 0 {
		t.Grenade = p.effectID(p.Grenades[0].Explosion)
	}
	t.Barrel = p.effectID(p.Barrel.Explosion)
	return t
}

// Name is the name of an effect, "" for none.
func (t *EffectTable) Name(id EffectID) string {
	if id == 0 || int(id) > len(t.Names) {
		return ""
	}
	return t.Names[id-1]
}

// ID is the id of an effect, 0 if there is none of that name.
func (t *EffectTable) ID(name string) EffectID { return EffectID(1 + slices.Index(t.Names, name)) }

// effects checks the look of each effect, and that each reference names an effect of the kind that
// it needs.
func (r *reader) effects(p *Pack) error {
	for i := range p.Effects {
		if err := r.look(p, &p.Effects[i], row("effect", i)+".look"); err != nil {
			return err
		}
	}
	for i := range p.Abilities {
		a, kind := &p.Abilities[i], Spatial
		if hitscan(a) {
			kind = Hitscan
		}
		if err := r.effect(p, row("ability", i)+".effect", a.Effect, kind); err != nil {
			return err
		}
	}
	for i := range p.Projectiles {
		o, at := &p.Projectiles[i], row("projectile", i)
		if err := cmp.Or(r.effect(p, at+".impact", o.Impact, Spatial),
			r.effect(p, at+".explosion", o.Explosion, Spatial), r.bounds(at, []bound{
				{o.Explosion != "" && o.Splash.Radius == 0, "explosion", "it left out where the splash radius is 0"}})); err != nil {
			return err
		}
	}
	for i := range p.Grenades {
		if err := r.effect(p, row("grenade", i)+".explosion", p.Grenades[i].Explosion, Spatial); err != nil {
			return err
		}
	}
	return r.effect(p, "barrel.explosion", p.Barrel.Explosion, Spatial)
}

// effect checks a reference to an effect.
func (r *reader) effect(p *Pack, at, name string, kind EffectKind) error {
	if id := p.effectID(name); name != "" && (id == 0 || p.Effects[id-1].Kind != kind) {
		return r.fail(at, "%q, want the name of an [[effect]] of kind %s", name, effectKinds[kind])
	}
	return nil
}

// look checks the assets, the color and the speed of an effect.
func (r *reader) look(p *Pack, e *Effect, at string) error {
	for _, a := range [...]struct{ key, name string }{{"image", e.Look.Image}, {"sound", e.Look.Sound}} {
		i := slices.IndexFunc(p.Assets, func(x Asset) bool { return x.Name == a.name && x.Needed != Server })
		if a.name != "" && i < 0 {
			return r.fail(at+"."+a.key, "%q, want the name of an [[asset]] that clients have", a.name)
		}
	}
	if e.Look.Color != "" && !colorForm.MatchString(e.Look.Color) {
		return r.fail(at+".color", "%q, want rrggbb", e.Look.Color)
	}
	return r.bounds(at, []bound{{e.Kind != Hitscan && e.Look.Speed != 0, "speed", "0 unless kind is hitscan"}})
}
