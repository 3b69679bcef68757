package content

import (
	"slices"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim/ability"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/mode"
	"github.com/tickrate/tickrate/sim/move"
	"github.com/tickrate/tickrate/sim/object"
)

// FormatVersion is the version of the format that this package reads.
const FormatVersion = 1

// How many rows a pack may have of each kind.
const (
	maxFiles    = 32
	maxHeroes   = 64
	maxRows     = 256
	maxFlying   = int(ability.Grenade) - 1 // ability tells projectiles apart by its own constants
	maxGrenades = 1
	maxModes    = 16
	maxMaps     = 64
	maxStands   = 256
	maxAssets   = 64
	maxItems    = 64
	maxEffects  = 255 // an EffectID is a byte, and 0 is none
)

// keymask is a set of ability keys.
type keymask uint16

// keyNames are the names of ability keys in files, by bit.
var keyNames = []string{
	"jump", "ability1", "primary", "secondary", "reload", "melee", "emote_victory", "emote_defeat",
	"emote_dance", "rocket",
}

// The tables of a pack, from the inside out. Their order is that of the canonical text.
var (
	splashKeys = table{
		keyOf("radius_m", 0.1, 10, func(s *object.Splash) *float32 { return &s.Radius }),
		keyOf("falloff_start_m", 0, 10, func(s *object.Splash) *float32 { return &s.FalloffStart }, server),
		keyOf("damage", 0, 10000, func(s *object.Splash) *float32 { return &s.Damage }, server),
		keyOf("min_damage", 0, 10000, func(s *object.Splash) *float32 { return &s.MinDamage }, server),
		keyOf("impulse", 0, 64, func(s *object.Splash) *float32 { return &s.Impulse }, server),
		keyOf("min_impulse", 0, 64, func(s *object.Splash) *float32 { return &s.MinImpulse }, server),
		keyOf("owner_fraction", 0, 1, func(s *object.Splash) *float32 { return &s.OwnerFraction }, server),
	}
	arcKeys = table{
		keyOf("speed", 0, 60, func(a *move.Arc) *float32 { return &a.Speed }),
		keyOf("start_degrees", -90, 90, func(a *move.Arc) *float32 { return &a.StartDegrees }),
		keyOf("end_degrees", -90, 90, func(a *move.Arc) *float32 { return &a.EndDegrees }),
		keyOf("duration_ms", 0, 10000, func(a *move.Arc) *int32 { return &a.Millis }),
	}
	bodyKeys = table{
		keyOf("radius_m", 0.25, 0.75, func(p *move.Params) *float32 { return &p.RadiusMetres }),
		keyOf("height_m", 0.51, 4, func(p *move.Params) *float32 { return &p.HeightMetres }),
		keyOf("eye_m", 0, 4, func(p *move.Params) *float32 { return &p.EyeMetres }),
		keyOf("step_m", 0, 0.8, func(p *move.Params) *float32 { return &p.StepMetres }),
		keyOf("slope_degrees", 10, 80, func(p *move.Params) *float32 { return &p.SlopeDegrees }),
		keyOf("walk_speed", 0, 30, func(p *move.Params) *float32 { return &p.WalkSpeed }),
		keyOf("sprint_speed", 0, 30, func(p *move.Params) *float32 { return &p.SprintSpeed }),
		keyOf("acceleration", 0, 1000, func(p *move.Params) *float32 { return &p.Acceleration }),
		keyOf("friction", 0, 1000, func(p *move.Params) *float32 { return &p.Friction }),
		keyOf("air_acceleration", 0, 1000, func(p *move.Params) *float32 { return &p.AirAcceleration }),
		keyOf("air_friction", 0, 1000, func(p *move.Params) *float32 { return &p.AirFriction }),
		keyOf("gravity", 0, 100, func(p *move.Params) *float32 { return &p.Gravity }),
		keyOf("fall_speed", 0, move.TopSpeed, func(p *move.Params) *float32 { return &p.FallSpeed }),
		keyOf("stick_gravity", 0, 1000, func(p *move.Params) *float32 { return &p.StickGravity }),
		keyOf("jump_m", 0, 100, func(p *move.Params) *float32 { return &p.JumpMetres }),
		keyOf("jump_ms", 1, 10000, func(p *move.Params) *int32 { return &p.JumpMillis }),
		keyOf("jumps", 0, 3, func(p *move.Params) *uint8 { return &p.Jumps }),
		tableOf("arc", arcKeys, func(p *move.Params) *move.Arc { return &p.Arc }, optional),
	}
	heroKeys = table{
		nameKey(func(h *Hero) *string { return &h.Name }),
		titleKey(func(h *Hero) *string { return &h.Title }),
		keyOf("health", 1, 10000, func(h *Hero) *int16 { return &h.Health }),
		keyOf("abilities", 1, ability.MaxSlots, func(h *Hero) *[]string { return &h.Abilities }),
		tableOf("body", bodyKeys, func(h *Hero) *move.Params { return &h.Body }),
	}
	projectileKeys = table{
		nameKey(func(p *Projectile) *string { return &p.Name }),
		titleKey(func(p *Projectile) *string { return &p.Title }),
		keyOf("velocity", 1, 1000, func(p *Projectile) *float32 { return &p.Velocity }),
		keyOf("range_m", 1, 4000, func(p *Projectile) *float32 { return &p.Range }),
		keyOf("radius_m", 0, 5, func(p *Projectile) *float32 { return &p.Radius }),
		keyOf("ground_radius_m", 0, arena.MaxSweep, func(p *Projectile) *float32 { return &p.Ground }),
		keyOf("damage", 0, 10000, func(p *Projectile) *int32 { return &p.Damage }, server),
		keyOf("impulse", 0, 64, func(p *Projectile) *float32 { return &p.Impulse }, server),
		keyOf("linger_ms", 0, 60000, func(p *Projectile) *int32 { return &p.LingerMillis }, server),
		effectKey("impact", func(p *Projectile) *string { return &p.Impact }),
		effectKey("explosion", func(p *Projectile) *string { return &p.Explosion }),
		tableOf("splash", splashKeys, func(p *Projectile) *object.Splash { return &p.Splash }, optional),
	}
	grenadeKeys = table{
		nameKey(func(g *Grenade) *string { return &g.Name }),
		titleKey(func(g *Grenade) *string { return &g.Title }),
		keyOf("life_ms", 1, 60000, func(g *Grenade) *int32 { return &g.LifeMillis }),
		keyOf("gravity", 0, 100, func(g *Grenade) *float32 { return &g.Gravity }),
		keyOf("bounciness", 0, 1, func(g *Grenade) *float32 { return &g.Bounciness }),
		keyOf("radius_m", 0.01, arena.MaxSweep, func(g *Grenade) *float32 { return &g.Radius }),
		keyOf("rest_speed", 0, 10, func(g *Grenade) *float32 { return &g.RestSpeed }),
		keyOf("proximity_m", 0, 10, func(g *Grenade) *float32 { return &g.Proximity }, server),
		keyOf("arm_ms", 0, 60000, func(g *Grenade) *int32 { return &g.ArmMillis }, server),
		keyOf("linger_ms", 0, 60000, func(g *Grenade) *int32 { return &g.LingerMillis }, server),
		effectKey("explosion", func(g *Grenade) *string { return &g.Explosion }),
		tableOf("splash", splashKeys, func(g *Grenade) *object.Splash { return &g.Splash }),
	}
	barrelKeys = table{
		keyOf("health", 1, 10000, func(b *Barrel) *int16 { return &b.Health }),
		keyOf("radius_m", 0.05, 2, func(b *Barrel) *float32 { return &b.Radius }),
		keyOf("height_m", 0.1, 10, func(b *Barrel) *float32 { return &b.Height }),
		effectKey("explosion", func(b *Barrel) *string { return &b.Explosion }),
		tableOf("splash", splashKeys, func(b *Barrel) *object.Splash { return &b.Splash }),
	}
	cubeKeys = table{
		keyOf("edge_m", 0.1, 2*arena.MaxSweep, func(c *object.CubeKind) *float32 { return &c.Edge }),
		keyOf("gravity", 0, 100, func(c *object.CubeKind) *float32 { return &c.Gravity }),
		keyOf("bounciness", 0, 1, func(c *object.CubeKind) *float32 { return &c.Bounciness }),
		keyOf("friction", 0, 100, func(c *object.CubeKind) *float32 { return &c.Friction }),
		keyOf("push_speed", 0, 30, func(c *object.CubeKind) *float32 { return &c.PushSpeed }),
		keyOf("rest_speed", 0, 10, func(c *object.CubeKind) *float32 { return &c.RestSpeed }),
	}
	zoneKeys = table{
		keyOf("radius_m", 0.5, 50, func(z *Zone) *float32 { return &z.Radius }),
		keyOf("height_m", 0.5, 50, func(z *Zone) *float32 { return &z.Height }),
	}
	areaKeys = table{
		nameKey(func(a *Area) *string { return &a.Name }),
		keyOf("instant", 0, 0, func(a *Area) *bool { return &a.Kind.Instant }, optional, server),
		keyOf("damage", 0, 10000, func(a *Area) *int32 { return &a.Kind.Points }, server, when(lasting)),
		keyOf("hits_per_sec", 0.01, 128, func(a *Area) *float32 { return &a.Kind.PerSecond }, server,
			when(lasting)),
		keyOf("burn_ms", 0, 60000, func(a *Area) *int32 { return &a.Kind.BurnMillis }, optional, server,
			when(lasting)),
	}
	itemKeys = table{
		nameKey(func(i *Item) *string { return &i.Name }),
		titleKey(func(i *Item) *string { return &i.Title }),
		keyOf("gives", 0, 0, func(i *Item) *object.Gives { return &i.Kind.Gives }, words(0, "health", "ammo"),
			server),
		keyOf("heal", 1, 10000, func(i *Item) *int32 { return &i.Kind.Heal }, server, when(heals)),
		keyOf("radius_m", 0.1, 5, func(i *Item) *float32 { return &i.Kind.Radius }, server),
		keyOf("respawn_ms", 1000, object.MaxItemRespawn, func(i *Item) *int32 { return &i.Kind.RespawnMillis },
			server),
	}
	modeKeys = table{
		nameKey(func(m *Mode) *string { return &m.Name }),
		titleKey(func(m *Mode) *string { return &m.Title }),
		keyOf("kind", 0, 0, func(m *Mode) *mode.Kind { return &m.Kind }, words(0, "deathmatch", "assault")),
		keyOf("min_players", 1, 10000, func(m *Mode) *uint16 { return &m.MinPlayers }),
		keyOf("prematch_ms", 0, 600000, func(m *Mode) *int32 { return &m.PrematchMillis }),
		keyOf("round_ms", 1000, 7200000, func(m *Mode) *int32 { return &m.RoundMillis }),
		keyOf("postmatch_ms", 0, 600000, func(m *Mode) *int32 { return &m.PostmatchMillis }),
		keyOf("respawn_ms", 0, 60000, func(m *Mode) *int32 { return &m.RespawnMillis }),
		keyOf("score_limit", 0, 1000000, func(m *Mode) *int32 { return &m.ScoreLimit }, optional,
			when(isMode(mode.Deathmatch))),
		keyOf("points", 1, mode.MaxPoints, func(m *Mode) *uint8 { return &m.Points },
			when(isMode(mode.Assault))),
		keyOf("capture_ms", 100, 600000, func(m *Mode) *int32 { return &m.CaptureMillis },
			when(isMode(mode.Assault))),
		keyOf("spawn_behind", 0, mode.MaxPoints, func(m *Mode) *uint8 { return &m.SpawnBehind }, optional,
			when(isMode(mode.Assault))),
	}
	mapKeys = table{
		nameKey(func(m *Map) *string { return &m.Name }),
		titleKey(func(m *Map) *string { return &m.Title }),
		keyOf("arena", 1, 64, func(m *Map) *string { return &m.Arena }),
		keyOf("modes", 1, maxModes, func(m *Map) *[]string { return &m.Modes }),
		listOf("home", maxStands, table{
			keyOf("team", 0, mode.Teams-1, func(h *Home) *uint8 { return &h.Team }),
			keyOf("box_m", -arena.Limit, arena.Limit, func(h *Home) *geom.AABB { return &h.Box }),
		}, func(m *Map) *[]Home { return &m.Homes }),
		listOf("point", mode.MaxPoints, table{
			nameKey(func(p *Point) *string { return &p.Name }),
			keyOf("at_m", -arena.Limit, arena.Limit, func(p *Point) *geom.Vec3 { return &p.At }),
		}, func(m *Map) *[]Point { return &m.Points }),
		listOf("barrel", maxStands, standKeys, func(m *Map) *[]Stand { return &m.Barrels }),
		listOf("cube", object.MaxCubes, standKeys, func(m *Map) *[]Stand { return &m.Cubes }),
		listOf("area", maxStands, table{
			keyOf("kind", 1, 32, func(f *Field) *string { return &f.Kind }),
			keyOf("box_m", -arena.Limit, arena.Limit, func(f *Field) *geom.AABB { return &f.Box }),
		}, func(m *Map) *[]Field { return &m.Areas }),
		listOf("teleporter", maxStands, table{
			keyOf("box_m", -arena.Limit, arena.Limit, func(p *Port) *geom.AABB { return &p.Box }),
			keyOf("target_m", -arena.Limit, arena.Limit, func(p *Port) *geom.Vec3 { return &p.Target }),
			keyOf("yaw", 0, 65535, func(p *Port) *geom.Angle { return &p.Yaw }),
		}, func(m *Map) *[]Port { return &m.Teleporters }),
		listOf("item", maxStands, table{
			keyOf("kind", 1, 32, func(i *PlacedItem) *string { return &i.Kind }),
			keyOf("at_m", -arena.Limit, arena.Limit, func(i *PlacedItem) *geom.Vec3 { return &i.At }),
		}, func(m *Map) *[]PlacedItem { return &m.Items }),
		listOf("object", maxStands, table{
			keyOf("kind", 1, 32, func(o *Object) *string { return &o.Kind }),
			keyOf("at_m", -arena.Limit, arena.Limit, func(o *Object) *geom.Vec3 { return &o.At }),
			keyOf("yaw", 0, 65535, func(o *Object) *geom.Angle { return &o.Yaw }, optional),
		}, func(m *Map) *[]Object { return &m.Objects }),
		listOf("mover", arena.MaxMovers, table{
			keyOf("box_m", -arena.Limit, arena.Limit, func(o *Mover) *geom.AABB { return &o.Box }),
			keyOf("travel_m", -2*arena.Limit, 2*arena.Limit, func(o *Mover) *geom.Vec3 { return &o.Travel }),
			keyOf("travel_ms", arena.MinTravelMillis, arena.MaxMoverMillis,
				func(o *Mover) *int32 { return &o.TravelMillis }),
			keyOf("dwell_ms", 0, arena.MaxMoverMillis, func(o *Mover) *int32 { return &o.DwellMillis }),
			keyOf("phase_ms", 0, 4*arena.MaxMoverMillis, func(o *Mover) *int32 { return &o.PhaseMillis }, optional),
		}, func(m *Map) *[]Mover { return &m.Movers }),
	}
	standKeys = table{keyOf("at_m", -arena.Limit, arena.Limit, func(s *Stand) *geom.Vec3 { return &s.At })}
	ruleKeys  = table{
		keyOf("head_scale", 1, 100, func(r *Rules) *int16 { return &r.HeadScale }, server),
		keyOf("rewind_ms", 0, 1000, func(r *Rules) *int32 { return &r.RewindMillis }, server),
	}
	assetKeys = table{
		nameKey(func(a *Asset) *string { return &a.Name }),
		keyOf("file", 1, 128, func(a *Asset) *string { return &a.File }),
		keyOf("side", 0, 0, func(a *Asset) *Side { return &a.Needed }, words(0, sides...)),
		keyOf("sha256", 64, 64, func(a *Asset) *string { return &a.SHA256 }),
	}
	packKeys = table{
		keyOf("format", FormatVersion, FormatVersion, func(p *Pack) *int32 { return &p.Format }),
		nameKey(func(p *Pack) *string { return &p.Name }),
		keyOf("files", 0, maxFiles, func(p *Pack) *[]string { return &p.Files }, optional),
		tableOf("rules", ruleKeys, func(p *Pack) *Rules { return &p.Rules }),
		tableOf("barrel", barrelKeys, func(p *Pack) *Barrel { return &p.Barrel }),
		tableOf("cube", cubeKeys, func(p *Pack) *object.CubeKind { return &p.Cube }),
		tableOf("zone", zoneKeys, func(p *Pack) *Zone { return &p.Zone }),
		listOf("hero", maxHeroes, heroKeys, func(p *Pack) *[]Hero { return &p.Heroes }),
		listOf("ability", maxRows, abilityKeys, func(p *Pack) *[]Ability { return &p.Abilities }),
		listOf("projectile", maxFlying, projectileKeys,
			func(p *Pack) *[]Projectile { return &p.Projectiles }),
		listOf("grenade", maxGrenades, grenadeKeys, func(p *Pack) *[]Grenade { return &p.Grenades }),
		listOf("area", maxRows, areaKeys, func(p *Pack) *[]Area { return &p.Areas }),
		listOf("item", maxItems, itemKeys, func(p *Pack) *[]Item { return &p.Items }),
		listOf("effect", maxEffects, effectKeys, func(p *Pack) *[]Effect { return &p.Effects }),
		listOf("mode", maxModes, modeKeys, func(p *Pack) *[]Mode { return &p.Modes }),
		listOf("map", maxMaps, mapKeys, func(p *Pack) *[]Map { return &p.Maps }),
		listOf("asset", maxAssets, assetKeys, func(p *Pack) *[]Asset { return &p.Assets }, marked),
	}
)

// abilityKeys: which of them there are depends on the kind, and of a gun on what it fires.
var abilityKeys = table{
	nameKey(func(a *Ability) *string { return &a.Name }),
	titleKey(func(a *Ability) *string { return &a.Title }),
	keyOf("kind", 0, 0, func(a *Ability) *ability.Kind { return &a.Kind },
		words(1, "movement", "dead", "sprint", "emote", "gun", "launcher", "melee", "rocket")),
	keyOf("keys", 0, 0, func(a *Ability) *keymask { return (*keymask)(&a.Keys) }, optional,
		words(0, keyNames...)),
	keyOf("runs_with", 0, 32, func(a *Ability) *[]string { return &a.RunsWith }, optional),
	keyOf("interrupts", 0, 32, func(a *Ability) *[]string { return &a.Interrupts }, optional),
	effectKey("effect", func(a *Ability) *string { return &a.Effect }, when(shown)),

	keyOf("fires", 1, 32, func(a *Ability) *string { return &a.Flies }, optional, when(is(ability.Gun))),
	keyOf("rounds_per_sec", 1./64, 128, func(a *Ability) *float32 { return &a.Gun.RoundsPerSec },
		when(is(ability.Gun))),
	keyOf("most_per_sec", 0, 128, func(a *Ability) *float32 { return &a.Gun.MostPerSec }, optional,
		when(is(ability.Gun))),
	keyOf("spin_per_sec", 0, 1000, func(a *Ability) *float32 { return &a.Gun.SpinPerSec }, optional,
		when(is(ability.Gun))),
	keyOf("clip", 1, 255, func(a *Ability) *uint8 { return &a.Gun.Clip }, when(is(ability.Gun))),
	keyOf("reload_ms", 0, 60000, func(a *Ability) *int32 { return &a.Gun.ReloadMillis },
		when(is(ability.Gun))),
	keyOf("cone_degrees", 0, 180, func(a *Ability) *float32 { return &a.Gun.ConeDegrees }, optional,
		when(is(ability.Gun))),
	keyOf("cone_per_shot", 0, 90, func(a *Ability) *float32 { return &a.Gun.ConePerShot }, optional,
		when(is(ability.Gun))),
	keyOf("cone_per_sec", 0, 1000, func(a *Ability) *float32 { return &a.Gun.ConePerSecond }, optional,
		when(is(ability.Gun))),
	keyOf("damage", 0, 10000, func(a *Ability) *int16 { return &a.Gun.Damage }, server, when(hitscan)),
	keyOf("impulse", 0, 64, func(a *Ability) *float32 { return &a.Gun.Impulse }, server, when(hitscan)),
	keyOf("range_m", 0, 4000, func(a *Ability) *float32 { return &a.Gun.Range }, when(hitscan)),
	keyOf("radius_m", 0, 5, func(a *Ability) *float32 { return &a.Gun.Radius }, when(hitscan)),

	keyOf("throws", 1, 32, func(a *Ability) *string { return &a.Flies }, when(is(ability.Launcher))),
	keyOf("speed", 0, 200, func(a *Ability) *float32 { return &a.Launcher.Speed }, optional,
		when(is(ability.Launcher))),
	keyOf("pitch_degrees", -90, 90, func(a *Ability) *float32 { return &a.Launcher.PitchDegrees }, optional,
		when(is(ability.Launcher))),
	keyOf("active_ms", 0, 60000, func(a *Ability) *int32 { return &a.Launcher.ActiveMillis },
		when(is(ability.Launcher))),
	keyOf("cooldown_ms", 0, 60000, func(a *Ability) *int32 { return &a.Launcher.CooldownMillis },
		when(is(ability.Launcher))),

	keyOf("damage", 0, 10000, func(a *Ability) *int16 { return &a.Melee.Damage }, server,
		when(is(ability.Melee))),
	keyOf("impulse", 0, 64, func(a *Ability) *float32 { return &a.Melee.Impulse }, server,
		when(is(ability.Melee))),
	keyOf("range_m", 0, 20, func(a *Ability) *float32 { return &a.Melee.Range }, when(is(ability.Melee))),
	keyOf("radius_m", 0, 5, func(a *Ability) *float32 { return &a.Melee.Radius }, when(is(ability.Melee))),
	keyOf("impact_ms", 0, 59999, func(a *Ability) *int32 { return &a.Melee.ImpactMillis },
		when(is(ability.Melee))),
	keyOf("period_ms", 1, 60000, func(a *Ability) *int32 { return &a.Melee.PeriodMillis },
		when(is(ability.Melee))),

	keyOf("stop_ms", 0, 10000, func(a *Ability) *int32 { return &a.Sprint.StopMillis },
		when(is(ability.Sprint))),

	keyOf("active_ms", 0, 60000, func(a *Ability) *int32 { return &a.Rocket.ActiveMillis },
		when(is(ability.Rocket))),
	keyOf("cooldown_ms", 0, 60000, func(a *Ability) *int32 { return &a.Rocket.CooldownMillis },
		when(is(ability.Rocket))),
}

// nameKey is the name of a row: 1 to 32 bytes, unique in its list.
func nameKey[R any](at func(*R) *string) key { return keyOf("name", 1, 32, at) }

// titleKey is the title that clients show: at most 64 bytes.
func titleKey[R any](at func(*R) *string) key { return keyOf("title", 0, 64, at, client) }

// is selects abilities of some kinds.
func is(kinds ...ability.Kind) func(*Ability) bool {
	return func(a *Ability) bool { return slices.Contains(kinds, a.Kind) }
}

// hitscan selects guns without a projectile.
func hitscan(a *Ability) bool { return a.Kind == ability.Gun && a.Flies == "" }

// isMode selects modes of a kind.
func isMode(kind mode.Kind) func(*Mode) bool { return func(m *Mode) bool { return m.Kind == kind } }

// heals selects items that give health.
func heals(i *Item) bool { return i.Kind.Gives == object.GivesHealth }

// lasting selects damage areas that hurt at an interval.
func lasting(a *Area) bool { return !a.Kind.Instant }

// marked filters the rows of an array by their own Needed.
func marked(k *key) { k.mark = func(row any) Side { return row.(*Asset).Needed } }
