package sim

import (
	"fmt"
	"slices"
)

// Side is where a system runs.
type Side uint8

// The sides. A client runs what is Both's for its own player: CompiledGame.StepPlayer.
const (
	Server Side = iota
	Both
)

// String names the side.
func (s Side) String() string { return [...]string{"server", "both"}[s&1] }

// System is one step of a tick: a function over the columns of all players. It keeps nothing.
type System struct {
	Name    string // also its name in profiles and stage tables
	Purpose string
	Reads   []Datum // inputs besides clock, game and arena, which are never written
	Writes  []Datum // what it may change
	Side    Side
	run     func(*columns)
}

// Datum is a component or resource that systems share.
type Datum string

// Lifetime is how long a datum lasts.
type Lifetime uint8

// The lifetimes.
const (
	Persistent Lifetime = iota // state: the next tick begins with it
	External                   // comes from outside before the tick, and lasts
	PerTick                    // empty when a tick begins, dropped when it ends
	Output                     // empty when a tick begins, for readers outside when it ends
)

// String names the lifetime in tables.
func (s Lifetime) String() string {
	return [...]string{"persistent", "external", "per tick", "output"}[s&3]
}

// The data.
const (
	dCommandBuffers Datum = "command buffers"
	dClampLimits    Datum = "clamp limits"
	dCommand        Datum = "command"
	dLook           Datum = "look"
	dVital          Datum = "vital"
	dSpectating     Datum = "spectating"
	dAbility        Datum = "ability"
	dMotion         Datum = "motion"
	dAnim           Datum = "animation"
	dInput          Datum = "input"
	dActions        Datum = "actions"
	dTeams          Datum = "teams"
	dPoses          Datum = "poses"
	dHistory        Datum = "history"
	dShots          Datum = "shots"
	dProjectiles    Datum = "projectiles"
	dGrenades       Datum = "grenades"
	dAreas          Datum = "areas"
	dBurning        Datum = "burning"
	dBarrels        Datum = "barrels"
	dCubes          Datum = "cubes"
	dTeleporters    Datum = "teleporters"
	dTeleports      Datum = "teleports"
	dZones          Datum = "zones"
	dBlasts         Datum = "blasts"
	dDamage         Datum = "damage"
	dDeaths         Datum = "deaths"
	dMode           Datum = "mode"
	dEvents         Datum = "events"
	dAnnounced      Datum = "announcements"
)

// Data lists what systems share: name, lifetime, and what it is.
func Data() []DatumRow { return data }

// DatumRow is one line of Data.
type DatumRow struct {
	Name Datum
	Sort Lifetime
	Is   string
}

var data = []DatumRow{
	{dCommandBuffers, External, "waiting commands, by slot"},
	{dClampLimits, External, "measurements of connections, and the last view judged"},
	{dCommand, Persistent, "each player's command of the tick"},
	{dLook, Persistent, "view directions"},
	{dVital, Persistent, "health, team, hero, points, lives"},
	{dAbility, Persistent, "ability.State"},
	{dMotion, Persistent, "position, velocity, move.State"},
	{dAnim, Persistent, "anim.State"},
	{dInput, PerTick, "what abilities leave for the motion, and the body"},
	{dActions, PerTick, "actions that abilities started"},
	{dTeams, PerTick, "team and life by row, for objects"},
	{dPoses, Output, "public poses, by slot"},
	{dHistory, Persistent, "poses of the last ticks"},
	{dShots, Output, "shots and punches, and their hits"},
	{dProjectiles, Persistent, "projectiles"},
	{dGrenades, Persistent, "grenades"},
	{dAreas, Persistent, "damage areas, and their next hits"},
	{dBurning, Persistent, "players that burn"},
	{dBarrels, Persistent, "barrels"},
	{dCubes, Persistent, "movable cubes"},
	{dTeleporters, Persistent, "teleporters"},
	{dTeleports, Persistent, "teleports that are due"},
	{dZones, PerTick, "capture points, with the players in each"},
	{dBlasts, Persistent, "explosions that wait"},
	{dDamage, PerTick, "damage of the tick"},
	{dDeaths, PerTick, "kills of the tick"},
	{dMode, Persistent, "phase, scores, spawn turns, teams"},
	{dEvents, Output, "hits and kills, and the damage of each cause"},
	{dAnnounced, Output, "announcements to all players"},
}

// Systems lists the systems in the order in which a tick runs them.
func Systems() []System { return systems }

// The systems of side Both, in this order, are CompiledGame.StepPlayer. Effects on other players
// wait in actions, damage, blasts and teleports, and one system each resolves them: fire, damage,
// blasts, teleport.
var systems = []System{
	{
		"commands", "takes each player's command for the tick out of its buffer",
		[]Datum{dCommandBuffers}, []Datum{dCommandBuffers, dCommand, dLook}, Server, takeCommands,
	},
	{
		"heroes", "changes heroes on request, where the mode allows it",
		[]Datum{dVital, dSpectating, dMotion, dMode}, []Datum{dVital, dAbility, dAnim}, Server, changeHeroes,
	},
	{
		"respawn", "respawns players whose wait is over",
		[]Datum{dVital, dSpectating, dMode}, []Datum{dVital, dAbility, dMotion, dMode, dAreas, dAnim}, Server,
		respawn,
	},
	{
		"teleport", "moves players that stood in a teleporter",
		[]Datum{dTeleports, dVital, dMotion}, []Datum{dTeleports, dVital, dMotion}, Server, teleport,
	},
	{
		"abilities", "runs each player's abilities by its keys",
		[]Datum{dCommand, dVital, dAbility, dMotion}, []Datum{dAbility, dMotion, dInput, dActions}, Both,
		runAbilities,
	},
	{
		"move", "moves each player by what its abilities leave of the command",
		[]Datum{dInput, dMotion}, []Datum{dMotion}, Both, movePlayers,
	},
	{
		"animate", "animates each player by how its body moved",
		[]Datum{dInput, dMotion, dLook, dVital, dAbility, dAnim}, []Datum{dAnim}, Server, animate,
	},
	{
		"record", "records public poses, for this tick's objects and the shots of later ticks",
		[]Datum{dMotion, dLook, dVital, dSpectating, dAbility, dAnim}, []Datum{dPoses, dHistory, dTeams}, Server,
		record,
	},
	{
		"fire", "starts shots, punches, projectiles and grenades, with clamped views",
		[]Datum{dActions, dCommand, dMotion, dVital, dClampLimits},
		[]Datum{dShots, dProjectiles, dGrenades, dClampLimits}, Server, fire,
	},
	{
		"combat", "finds what shots and punches hit, in the world as each shooter saw it",
		[]Datum{dShots, dHistory, dBarrels, dCubes}, []Datum{dShots, dDamage, dCubes}, Server, combat,
	},
	{
		"projectiles", "moves projectiles against the delayed past of their shooters",
		[]Datum{dProjectiles, dHistory, dBarrels, dCubes},
		[]Datum{dProjectiles, dDamage, dBlasts, dCubes}, Server, flyProjectiles,
	},
	{
		"grenades", "moves, bounces and detonates grenades",
		[]Datum{dGrenades, dHistory}, []Datum{dGrenades, dBlasts}, Server, flyGrenades,
	},
	{
		"areas", "hurts players in damage areas, and those that burn on",
		[]Datum{dAreas, dBurning, dMotion, dVital, dTeams}, []Datum{dAreas, dBurning, dDamage},
		Server, hurtInAreas,
	},
	{
		"blasts", "resolves the explosions that the budget allows",
		[]Datum{dBlasts, dHistory, dBarrels, dCubes}, []Datum{dBlasts, dDamage, dCubes}, Server,
		resolveBlasts,
	},
	{"cubes", "moves the cubes", []Datum{dCubes, dHistory}, []Datum{dCubes}, Server, moveCubes},
	{
		"damage", "applies all damage of the tick once: hits, deaths, knock-backs, broken barrels",
		[]Datum{dDamage, dVital, dBarrels, dMotion, dShots},
		[]Datum{dDamage, dVital, dBurning, dBarrels, dBlasts, dMotion, dDeaths, dEvents}, Server, applyDamage,
	},
	{
		"zones", "finds the players in teleporters and capture zones",
		[]Datum{dMotion, dTeams}, []Datum{dTeleporters, dTeleports, dZones}, Server, occupyZones,
	},
	{
		"mode", "counts points, and takes the round through its phases",
		[]Datum{dMode, dDeaths, dZones},
		[]Datum{dMode, dVital, dBurning, dMotion, dEvents, dAnnounced, dProjectiles, dGrenades, dBarrels,
			dCubes},
		Server, playMode,
	},
}

// Conflicts checks a table in the order of a tick, and returns one line a fault:
//
//	a datum that is not in Data, or a duplicate name
//	a PerTick or Output datum is read before it is written
//	a PerTick datum is written and not read afterwards
//	a datum is written twice without a read in between: the first write is lost
func Conflicts(table []System) (out []string) {
	sorts := map[Datum]Lifetime{}
	for _, d := range data {
		sorts[d.Name] = d.Sort
	}
	names := map[string]bool{}
	writer, fresh := map[Datum]string{}, map[Datum]bool{} // last writer; value unread
	for i := range table {
		s := &table[i]
		if names[s.Name] {
			out = append(out, fmt.Sprintf("%s is there twice", s.Name))
		}
		names[s.Name] = true
		for _, d := range s.Reads {
			if sort, known := sorts[d]; !known {
				out = append(out, fmt.Sprintf("%s reads %s, which is not in the list of data", s.Name, d))
			} else if sort >= PerTick && writer[d] == "" {
				out = append(out, fmt.Sprintf("%s reads %s before it is written", s.Name, d))
			}
			fresh[d] = false
		}
		for _, d := range s.Writes {
			if _, known := sorts[d]; !known {
				out = append(out, fmt.Sprintf("%s writes %s, which is not in the list of data", s.Name, d))
			}
			if fresh[d] && !gathers(d) && !slices.Contains(s.Reads, d) {
				out = append(out, fmt.Sprintf("%s writes %s over an unread value of %s", s.Name, d,
					writer[d]))
			}
			writer[d], fresh[d] = s.Name, true
		}
	}
	for _, d := range data {
		if d.Sort == PerTick && fresh[d.Name] && !slices.Contains(consumes(table, d.Name), writer[d.Name]) {
			out = append(out, fmt.Sprintf("%s writes %s, which is not read", writer[d.Name], d.Name))
		}
	}
	return out
}

// gathers reports whether writing a datum adds to it: rows of components, and lists that several
// systems append to.
func gathers(d Datum) bool {
	switch d {
	case dInput, dActions, dTeams, dPoses, dZones, dCommand, dLook:
		return false
	}
	return true
}

// consumes lists the systems that read and write a datum: they remove what others added.
func consumes(table []System, d Datum) (names []string) {
	for i := range table {
		if s := &table[i]; slices.Contains(s.Reads, d) && slices.Contains(s.Writes, d) {
			names = append(names, s.Name)
		}
	}
	return names
}
