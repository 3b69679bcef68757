package ability

// Kind says how an ability works.
type Kind uint8

// The kinds of abilities.
const (
	None     Kind = iota
	Movement      // lets the player move; without it the player stands
	Dead          // on while the player is dead
	Sprint        // runs faster while the key is held and the player moves forward
	Emote         // plays a gesture until the player moves
	Gun           // fires rounds or projectiles from a clip
	Launcher      // throws one thing, then cools down
	Melee         // one sweep a little after the key
	Rocket        // launches the player along an arc
	kinds         // how many there are
)

// String returns the kind's name.
func (k Kind) String() string {
	if k < kinds {
		return [kinds]string{"none", "movement", "dead", "sprint", "emote", "gun", "launcher", "melee",
			"rocket"}[k]
	}
	return "?"
}

// Keys. Slots name theirs as a mask of these; Jump, ReloadKey and the feet are known to Step
// itself.
const (
	Jump         uint16 = 1 << 0
	SprintKey    uint16 = 1 << 1 // "Ability1"
	Primary      uint16 = 1 << 2
	Secondary    uint16 = 1 << 3
	ReloadKey    uint16 = 1 << 4
	MeleeKey     uint16 = 1 << 5
	EmoteVictory uint16 = 1 << 6
	EmoteDefeat  uint16 = 1 << 7
	EmoteDance   uint16 = 1 << 8
	RocketKey    uint16 = 1 << 9
	Emotes              = EmoteVictory | EmoteDefeat | EmoteDance
)

// Projectile names a kind of projectile; its numbers are package object's.
type Projectile uint8

// The projectiles of FPSSample. Hitscan is none: the shot hits in the tick that it is fired in.
const (
	Hitscan Projectile = iota
	Rivet
	RocketShell
	GooRocket
	Grenade
	Projectiles // how many there are
)

// String returns the projectile's name.
func (p Projectile) String() string {
	if p < Projectiles {
		return [Projectiles]string{"hitscan", "rivet", "rocket", "goo rocket", "grenade"}[p]
	}
	return "?"
}

// HeroParams is a hero's content: its abilities, in the order in which the controller serves them.
type HeroParams struct {
	Name   string       // for errors and lists
	Health int16        // points at spawn, 1 to 10000
	Slots  []SlotParams // 1 to MaxSlots
}

// SlotParams is one ability. Of the structs at its end only the one of its kind counts.
type SlotParams struct {
	Name       string   // unique in its hero
	Kind       Kind     // at most one Movement, Dead, Sprint, Emote and Melee in a hero
	Keys       uint16   // any of these requests it; of an Emote, the first is gesture 1
	RunsWith   []string // abilities that may be on together with it
	Interrupts []string // abilities that it switches off; "*" are all

	Gun      GunParams
	Launcher LauncherParams
	Melee    MeleeParams
	Sprint   SprintParams
	Rocket   RocketParams
}

// GunParams is the numbers of a gun. It widens its cone or spins up, or neither.
type GunParams struct {
	Projectile Projectile // Hitscan, or what it fires
	Damage     int16      // points of a hit, of a Hitscan; 0 to 10000
	Impulse    float32    // m/s that a hit adds, of a Hitscan; 0 to 64
	Range      float32    // metres; 0 to 4000
	Radius     float32    // metres, of a round; 0 to 5

	RoundsPerSec float32 // at first; 1/64 to the tick rate
	MostPerSec   float32 // when spun up; 0: it does not spin
	SpinPerSec   float32 // rounds/s added per second of fire, removed per second of rest; 0 to 1000
	Clip         uint8   // rounds, 1 to 255
	ReloadMillis int32   // not below the time between two shots; to 60000, or 8192 ticks

	ConeDegrees   float32 // greatest opening of the cone, edge to edge, 0 to 180; 0: no spread
	ConePerShot   float32 // degrees that a shot adds; 0 to 90
	ConePerSecond float32 // degrees that a second takes away, but not between two shots; 0 to 1000
}

// LauncherParams are the numbers of a launcher. Both times count from the activation.
type LauncherParams struct {
	Projectile     Projectile // not Hitscan
	Speed          float32    // m/s, of a Grenade; 0 to 200
	PitchDegrees   float32    // above the view; -90 to 90
	Range          float32    // metres, of a projectile; 0 to 4000
	ActiveMillis   int32      // 0 to 60000, or 8192 ticks
	CooldownMillis int32      // until it can be thrown again; not below ActiveMillis
}

// MeleeParams are the numbers of a punch. Both times count from the activation.
type MeleeParams struct {
	Damage       int16   // points; 0 to 10000
	Impulse      float32 // m/s; 0 to 64
	Range        float32 // metres; 0 to 20
	Radius       float32 // metres, of the sweep; 0 to 5
	ImpactMillis int32   // when it lands; below PeriodMillis
	PeriodMillis int32   // until the next; 1 to 60000, or 8192 ticks
}

// SprintParams are the numbers of a sprint.
type SprintParams struct {
	StopMillis int32 // time for which it blocks others after the sprint; 0 to 10000
}

// RocketParams are the times of a rocket jump, from the activation. The arc is the body's, see
// move.Arc.
type RocketParams struct {
	ActiveMillis   int32 // 0 to 60000, or 8192 ticks
	CooldownMillis int32 // not below ActiveMillis
}

// RobotParams are the numbers of FPSSample's Robot.
func RobotParams() HeroParams {
	return HeroParams{Name: "robot", Health: 100, Slots: []SlotParams{
		{Name: "chaingun", Kind: Gun, Keys: Primary, RunsWith: []string{"movement"}, Gun: GunParams{
			Projectile: Rivet, Range: 200, RoundsPerSec: 2, MostPerSec: 8, SpinPerSec: 6, Clip: 80,
			ReloadMillis: 1500,
		}},
		{Name: "grenade launcher", Kind: Launcher, Keys: Secondary, RunsWith: []string{"movement"},
			Launcher: LauncherParams{
				Projectile: Grenade, Speed: 50, PitchDegrees: 5, ActiveMillis: 500, CooldownMillis: 1000,
			}},
		melee(), sprint(), emote(), movement("chaingun", "grenade launcher"), dead(),
	}}
}

// TerraformerParams are the numbers of FPSSample's Terraformer.
func TerraformerParams() HeroParams {
	return HeroParams{Name: "terraformer", Health: 100, Slots: []SlotParams{
		{Name: "auto rifle", Kind: Gun, Keys: Primary, RunsWith: []string{"movement"}, Gun: GunParams{
			Damage: 7, Impulse: 7, Range: 500, Radius: 0.2, RoundsPerSec: 14, Clip: 25, ReloadMillis: 1500,
			ConeDegrees: 8, ConePerShot: 0.5, ConePerSecond: 16,
		}},
		{Name: "projectile launcher", Kind: Launcher, Keys: Secondary, RunsWith: []string{"movement"},
			Launcher: LauncherParams{
				Projectile: GooRocket, Range: 200, ActiveMillis: 500, CooldownMillis: 1000,
			}},
		sprint(), melee(), emote(), movement("auto rifle", "projectile launcher"), dead(),
	}}
}

func melee() SlotParams {
	return SlotParams{Name: "melee", Kind: Melee, Keys: MeleeKey, RunsWith: []string{"movement"},
		Interrupts: []string{"sprint"},
		Melee: MeleeParams{Damage: 100, Impulse: 10, Range: 3, Radius: 1, ImpactMillis: 100,
			PeriodMillis: 1000}}
}

func sprint() SlotParams {
	return SlotParams{Name: "sprint", Kind: Sprint, Keys: SprintKey, RunsWith: []string{"movement"},
		Sprint: SprintParams{StopMillis: 200}}
}

func emote() SlotParams {
	return SlotParams{Name: "emote", Kind: Emote, Keys: Emotes, Interrupts: []string{"movement"}}
}

// movement requests the emote to end, and nothing else.
func movement(weapons ...string) SlotParams {
	return SlotParams{Name: "movement", Kind: Movement, RunsWith: append(weapons, "sprint", "melee")}
}

func dead() SlotParams { return SlotParams{Name: "dead", Kind: Dead, Interrupts: []string{"*"}} }
