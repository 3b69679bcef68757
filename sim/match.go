package sim

import (
	"unsafe"

	"github.com/tickrate/tickrate/ecs"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/prefetch"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim/ability"
	"github.com/tickrate/tickrate/sim/anim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/mode"
	"github.com/tickrate/tickrate/sim/move"
	"github.com/tickrate/tickrate/sim/object"
)

// Match is one game: a world of players and objects on an arena. It holds handles only; all state
// is in the world.
type Match struct {
	World *ecs.World
	resources
	components
	hooks
}

// components are the handles of kinds and components.
type components struct {
	kinds       [maxKinds]ecs.Kind // by page
	fired       []ecs.Kind         // kinds whose entities end with a round
	player      ecs.Kind
	view        *ecs.View
	pos         ecs.Comp[geom.Vec3]
	vel         ecs.Comp[Velocity]
	state       ecs.Comp[move.State]
	look        ecs.Comp[Look]
	vital       ecs.Comp[Vital]
	ability     ecs.Comp[ability.State]
	anim        ecs.Comp[anim.State]
	command     ecs.Comp[Command]
	clampLimits ecs.Comp[ClampLimits]
	projectile  ecs.Comp[object.Projectile]
	grenade     ecs.Comp[object.Grenade]
	teleporting ecs.Sparse[object.TeleportRequest] // players to move in the next tick
	burning     ecs.Sparse[Burning]
	spectating  ecs.Sparse[Spectating]
	owner       ecs.Comp[Owner] // of kinds that belong to players
}

// hooks are set by the owner of a match. They change the match only through their answers.
type hooks struct {
	hitFilter    func(w *lagcomp.Sweep, id uint32) bool // see SetHitFilter
	viewResolver ViewResolver                           // see SetViewResolver
	inputLog     *TickInputs                            // see SetInputLog
	shotLog      *lagcomp.ShotLog                       // see SetShotLog; nil: no records
}

// resources are the world's, kept here since looking each up by type would cost too much. None is
// replaced while the world lives.
type resources struct {
	rules          *Rules
	kit            *CompiledGame
	clock          *Clock
	arena          *arena.Arena
	history        *lagcomp.History
	score          *Score
	mode           *mode.State
	scene          *object.Scene
	objects        *Objects
	outcome        *Outcome
	scratch        *scratch
	commandBuffers *commandBuffers
	poses          *poses
	spawns         *spawns
}

// keep registers the resources with the world.
func (r *resources) keep(w *ecs.World) {
	ecs.SetResource(w, r.rules)
	ecs.SetResource(w, r.kit)
	ecs.SetResource(w, r.clock)
	ecs.SetResource(w, r.arena)
	ecs.SetResource(w, r.history)
	ecs.SetResource(w, r.score)
	ecs.SetResource(w, r.mode)
	ecs.SetResource(w, r.scene)
	ecs.SetResource(w, r.objects)
	ecs.SetResource(w, r.outcome)
	ecs.SetResource(w, r.scratch)
	ecs.SetResource(w, r.commandBuffers)
	ecs.SetResource(w, r.poses)
	ecs.SetResource(w, r.spawns)
}

// Clock is the resource of the tick that was simulated last.
type Clock struct{ Tick tick.Tick }

// Score is the resource of team sizes. Points are in the mode's state.
type Score struct{ Members [mode.Teams]uint16 }

// Outcome is the resource of what the last tick produced for its readers. The next Step reuses its
// memory.
type Outcome struct {
	Events        []Event             // in the order they happened
	Announcements []mode.Announcement // for all players
	// rounds fired, their views clamped, their rays cut at the first obstacle
	Shots []Shot
	// what each shot hit in its shooter's view, whatever happened to the victim since
	Hits    []lagcomp.Hit
	Punches []Shot // melee sweeps, likewise
	// what players and barrels lost, as it was taken: by victim, the greatest damage first
	Damage       []object.DamageResult
	Clamped      int // actions whose claimed view was moved
	ViewsExpired int // shots with Shot.ViewExpired
	// shots that passed through a player that their shooter had not been shown, by the view
	// resolver
	NotShown int
	Refused  int // entities that were not spawned, since their kind was at its capacity
}

// Shot is a round or a punch.
type Shot struct {
	lagcomp.Sweep
	Shooter   uint32
	Damage    int16
	Impulse   float32  // m/s
	HitObject netid.ID // the barrel or cube that stopped it, 0: the ground or nothing
	HitWall   bool     // the ground or a wall stopped it, if HitObject did not

	Claimed     tick.View           // the view that its command named
	ClampReason lagcomp.ClampReason // why View is another, if shot records are written
	Clamped     bool                // View is not the claimed view
	Judged      tick.View           // view that decided the hit: View, or the target's own
	// the shooter's view of a target was older than the history, and a later instant was used
	ViewExpired bool
}

// commandBuffers is the resource of commands that wait, by slot.
type commandBuffers struct{ of []CommandBuffer }

// poses is the resource of each player's public appearance, by slot; ID 0 = empty slot.
type poses struct {
	of   []rig.Pose
	acts []ability.Public
}

// New makes an empty match for at most slots players. It panics for rules that Rules.Compile
// refuses, and for a game that Game.OnArena cannot place on the arena.
func New(slots int, rules Rules, a *arena.Arena) *Match {
	rules = rules.WithDefaults()
	on, err := rules.Game.OnArena(a)
	if err != nil {
		panic("sim: " + err.Error())
	}
	rules.Game = on
	kit, err := rules.Compile()
	if err != nil {
		panic("sim: " + err.Error())
	}
	m := &Match{World: ecs.New(slots)}
	m.resources = newResources(slots, &rules, kit, a)
	m.declareKinds(slots)
	m.components = newComponents(m)
	m.resources.keep(m.World)
	m.placeKinds()
	m.scratch.now = columns{match: m, resources: m.resources}
	return m
}

// newComponents looks up the components that systems use by name, once all kinds are declared.
func newComponents(m *Match) components {
	w, player := m.World, m.kinds[pagePlayer]
	return components{
		kinds: m.kinds, fired: m.firedKinds(), player: player, view: w.View(player),
		pos: ecs.CompOf[geom.Vec3](w), vel: ecs.CompOf[Velocity](w), state: ecs.CompOf[move.State](w),
		look: ecs.CompOf[Look](w), vital: ecs.CompOf[Vital](w), ability: ecs.CompOf[ability.State](w),
		anim: ecs.CompOf[anim.State](w), command: ecs.CompOf[Command](w),
		clampLimits: ecs.CompOf[ClampLimits](w), projectile: ecs.CompOf[object.Projectile](w),
		grenade: ecs.CompOf[object.Grenade](w), teleporting: ecs.SparseOf[object.TeleportRequest](w),
		burning: ecs.SparseOf[Burning](w), spectating: ecs.SparseOf[Spectating](w), owner: ecs.Register[Owner](w),
	}
}

// newResources makes the resources of an empty match.
func newResources(slots int, rules *Rules, kit *CompiledGame, a *arena.Arena) resources {
	start := kit.Mode.Start()
	history := lagcomp.NewHistory(slots, int(rules.Rate)+int(rules.Rate)/4)
	l := &rules.Game.Layout
	scene := &object.Scene{
		Arena: a, Players: lagcomp.NewSweeper(history), Rate: rules.Rate,
		Damage:          object.NewDamageQueue(4 * slots),
		ProjectileKinds: kit.ProjectileKinds, GrenadeKinds: kit.GrenadeKinds, BarrelKind: rules.Game.Barrel,
		CubeKind: rules.Game.Cube,
	}
	scene.Reserve(4*slots, slots+len(l.Barrels), slots)
	return resources{
		rules: rules, kit: kit, clock: &Clock{}, arena: a, history: history, score: &Score{}, mode: &start,
		scene: scene,
		objects: &Objects{
			areaHits:  object.NewAreaHits(len(l.Areas), slots),
			occupants: make([]object.Occupancy, len(l.Points)),
		},
		outcome: &Outcome{
			Events: make([]Event, 0, 2*slots), Shots: make([]Shot, 0, slots), Hits: make([]lagcomp.Hit,
				slots), Punches: make([]Shot, 0, slots),
		},
		scratch: newScratch(slots), commandBuffers: &commandBuffers{make([]CommandBuffer, slots)},
		poses:  &poses{make([]rig.Pose, slots), make([]ability.Public, slots)},
		spawns: &spawns{joinAs: make([]joinKind, slots)},
	}
}

// SetRespawn sets how long dead players wait from now on, in milliseconds; no client prediction
// depends on it. On an error, which says what the mode cannot use, nothing changes.
func (m *Match) SetRespawn(millis int32) error {
	kit, rules := m.kit, m.rules
	p := kit.game.Mode
	p.RespawnMillis = millis
	compiled, err := p.Compile(rules.Rate)
	if err == nil {
		if millis != rules.RespawnMillis {
			m.recordChange(ChangeRespawn, 0, millis)
		}
		kit.Mode, rules.RespawnMillis = compiled, millis
	}
	return err
}

// Rules returns the rules in force.
func (m *Match) Rules() *Rules { return m.rules }

// Game returns the compiled game.
func (m *Match) Game() *CompiledGame { return m.kit }

// Tick returns the tick that was simulated last, 0 before the first.
func (m *Match) Tick() tick.Tick { return m.clock.Tick }

// Score returns the team sizes.
func (m *Match) Score() *Score { return m.score }

// Mode returns the state of the round.
func (m *Match) Mode() *mode.State { return m.mode }

// Objects returns projectiles, grenades, areas, teleporters and zones; read-only.
func (m *Match) Objects() *Objects { return m.objects }

// Scene returns barrels, cubes, blasts and the object tables; read-only.
func (m *Match) Scene() *object.Scene { return m.scene }

// Outcome returns what the last tick produced; valid until the next Step.
func (m *Match) Outcome() *Outcome { return m.outcome }

// History returns the poses that shots are tested against.
func (m *Match) History() *lagcomp.History { return m.history }

// Poses returns each player's public pose after the last tick, by slot; ID 0 = empty slot. It is
// read-only and valid until the next Step. A player that died in that tick is still standing, as
// in History, which was recorded before.
func (m *Match) Poses() []rig.Pose { return m.poses.of }

// AbilityStates returns each player's public ability state, by slot, with the lifetime of Poses.
func (m *Match) AbilityStates() []ability.Public { return m.poses.acts }

// CommandBuffer returns the waiting commands of a player, nil for a stale id.
func (m *Match) CommandBuffer(id netid.ID) *CommandBuffer {
	if m.World.KindOf(id) != m.player {
		return nil
	}
	return &m.commandBuffers.of[id.Index()]
}

// PrefetchCommands loads what the next window of commands for a slot reads into the cache.
func (m *Match) PrefetchCommands(slot int) {
	b := &m.commandBuffers.of[slot]
	prefetch.Bytes(unsafe.Pointer(b), unsafe.Offsetof(b.ring))
	next := (m.Tick() + 1) % bufferTicks
	prefetch.Bytes(unsafe.Pointer(&b.ring[next]), prefetchedCommands*unsafe.Sizeof(b.ring[0]))
}

// PrefetchCommand loads the command for the next tick of a slot into the cache.
func (m *Match) PrefetchCommand(slot int) {
	b := &m.commandBuffers.of[slot]
	prefetch.Bytes(unsafe.Pointer(&b.ring[(m.Tick()+1)%bufferTicks]), unsafe.Sizeof(b.ring[0]))
}

// prefetchedCommands is how many ticks ahead the commands of most clients are.
const prefetchedCommands = 4

// Vital returns a player's vital state, nil for an id without a row; valid until the next Step.
func (m *Match) Vital(id netid.ID) *Vital { return m.vital.Get(id) }

// Self returns what a player's owner predicts from, zero for an id without a row.
func (m *Match) Self(id netid.ID) (motion move.Motion, abilities ability.State, vital Vital) {
	if v := m.SelfInto(id, &motion, &abilities); v != nil {
		vital = *v
	}
	return motion, abilities, vital
}

// SelfInto is Self into the caller's memory. It returns nil, and writes nothing, for an id without
// a row.
func (m *Match) SelfInto(id netid.ID, motion *move.Motion, abilities *ability.State) *Vital {
	p := m.pos.Get(id)
	if p == nil {
		return nil
	}
	motion.Load(p, (*geom.Vec3)(m.vel.Get(id)), m.state.Get(id))
	*abilities = *m.ability.Get(id)
	return m.vital.Get(id)
}

// SetClampLimits stores what the server has measured of a player's connection, for the shots of
// the coming tick. LastInstant is kept, as the match itself maintains it. No view reaches further
// back than Rules.RewindMillis, or the default of CapTicks if that is more.
func (m *Match) SetClampLimits(id netid.ID, k lagcomp.ClampLimits) {
	if at := m.clampLimits.Get(id); at != nil {
		last := at.LastInstant
		at.ClampLimits = k // then the differences: a struct that was just changed is copied slowly
		at.LastInstant = last
		at.CapTicks = min(k.CapTicks, m.Rules().rewind())
	}
}

// SetHitFilter sets the hit filter: whether the shooter of a sweep had the player called id in its
// view. A player that it had not cannot be hit. nil, the default, lets every shooter see every
// player. The match calls it in the combat system; it must not change the match.
func (m *Match) SetHitFilter(seen func(s *lagcomp.Sweep, id uint32) bool) { m.hitFilter = seen }

// Join adds a player to the smaller team, alive from the end of the coming tick, or from the next
// round if the round is over. It returns 0 if the match is full.
func (m *Match) Join() netid.ID { return m.spawnPlayer(0) }

// JoinAsHero is Join as a hero; an unknown hero is the first.
func (m *Match) JoinAsHero(hero uint8) netid.ID {
	return m.spawnPlayer(joinKind(1 + int(m.Game().heroOrFirst(hero))))
}

// JoinSpectator adds a spectator, which has a row but no body, no team and no score.
func (m *Match) JoinSpectator() netid.ID { return m.spawnPlayer(spectator) }

// joinKind is how a player joins: 0 as the rules say, spectator, or 1 + hero.
type joinKind uint8

// spectator is the joinKind of players without a body; other values are heroes.
const spectator joinKind = 255

// spawnPlayer adds a row for a new player; it is part of ticks after the next.
func (m *Match) spawnPlayer(as joinKind) netid.ID {
	return m.addPlayer(m.World.Spawn(m.player), as)
}

// addPlayer notes how the player with a new id joins.
func (m *Match) addPlayer(id netid.ID, as joinKind) netid.ID {
	if id != 0 {
		m.commandBuffers.of[id.Index()].reset(m.Tick() + 1)
		if m.spawns.joinAs[id.Index()] = as; as == spectator {
			m.spectating.Add(id, Spectating{m.Tick() + 1})
		}
	}
	m.recordChange(ChangeJoin, id, int32(as))
	return id
}

// RequestHero notes that a player wants another hero. It changes where the mode allows it: at
// home, in a base of its team, or at its next spawn. It reports false for an unknown player or
// hero.
func (m *Match) RequestHero(id netid.ID, hero uint8) bool {
	v := m.vital.Get(id)
	if v == nil || int(hero) >= len(m.Game().Heroes) {
		return false
	}
	v.RequestedHero = hero + 1
	m.recordHero(id, hero)
	return true
}

// Leave removes a player at the end of the coming tick; a stale id is ignored.
func (m *Match) Leave(id netid.ID) {
	v, spectates := m.vital.Get(id), m.Spectates(id)
	if m.World.KindOf(id) != m.player || !m.World.Despawn(id) {
		return
	}
	m.recordChange(ChangeLeave, id, 0)
	if v != nil && !spectates {
		m.Score().Members[v.Team]--
	}
}

// ClampLimits returns what SetClampLimits stored for a player, with the instant of its last shot.
func (m *Match) ClampLimits(id netid.ID) (k lagcomp.ClampLimits) {
	if at := m.clampLimits.Get(id); at != nil {
		k = at.ClampLimits
	}
	return k
}
