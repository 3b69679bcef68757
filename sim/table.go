package sim

import (
	"fmt"
	"slices"
)

// Side is who runs a system.
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
	Reads   []Datum // what it depends on, besides the clock, the kit and the arena, which nobody writes
	Writes  []Datum // what it may change
	Side    Side
	run     func(*columns)
}

// Datum is a component or resource that systems share.
type Datum string

// Lifetime says how long a datum lasts.
type Lifetime uint8

// The sorts.
const (
	Persistent Lifetime = iota // is state: the next tick begins with it
	External                   // comes from outside before the tick, and lasts
	PerTick                    // empty when a tick begins, forgotten when it ends
	Output                     // empty when a tick begins, for those outside when it ends
)

// String names the sort.
func (s Lifetime) String() string { return [...]string{"lasting", "given", "momentary", "told"}[s&3] }

// The data.
const (
	dCommandBuffers Datum = "inboxes"
	dClampLimits    Datum = "know"
	dCommand        Datum = "command"
	dLook           Datum = "look"
	dVital          Datum = "vital"
	dAbility        Datum = "ability"
	dMotion         Datum = "motion"
	dAnim           Datum = "animation"
	dInput          Datum = "input"
	dActions        Datum = "acts"
	dTeams          Datum = "crowd"
	dPoses          Datum = "poses"
	dHistory        Datum = "history"
	dShots          Datum = "rounds"
	dProjectiles    Datum = "projectiles"
	dGrenades       Datum = "grenades"
	dAreas          Datum = "areas"
	dBarrels        Datum = "barrels"
	dCubes          Datum = "cubes"
	dTeleporters    Datum = "teleporters"
	dTeleports      Datum = "jumps"
	dZones          Datum = "zones"
	dBlasts         Datum = "blasts"
	dDamage         Datum = "ledger"
	dDeaths         Datum = "deaths"
	dMode           Datum = "mode"
	dEvents         Datum = "events"
	dAnnounced      Datum = "announcements"
)

// Data lists what systems share: name, sort, and what it is.
func Data() []struct {
	Name Datum
	Sort Lifetime
	Is   string
} {
	return data
}

var data = []struct {
	Name Datum
	Sort Lifetime
	Is   string
}{
	{dCommandBuffers, External, "commands that wait, by slot"},
	{dClampLimits, External, "what the server measured of connections, and the last view judged"},
	{dCommand, Persistent, "each player's command of the tick"},
	{dLook, Persistent, "where each player looks"},
	{dVital, Persistent, "health, team, hero, points, lives"},
	{dAbility, Persistent, "ability.State"},
	{dMotion, Persistent, "position, velocity, move.State"},
	{dAnim, Persistent, "anim.State"},
	{dInput, PerTick, "what abilities leave for the feet, and whose body it is"},
	{dActions, PerTick, "actions that abilities brought about"},
	{dTeams, PerTick, "team and life by row, for objects"},
	{dPoses, Output, "what everybody looks like, by slot"},
	{dHistory, Persistent, "poses of the last ticks"},
	{dShots, Output, "rounds and punches, and what they hit"},
	{dProjectiles, Persistent, "projectiles"},
	{dGrenades, Persistent, "grenades"},
	{dAreas, Persistent, "when damage areas hurt whom again"},
	{dBarrels, Persistent, "barrels"},
	{dCubes, Persistent, "movable cubes"},
	{dTeleporters, Persistent, "teleporters"},
	{dTeleports, Persistent, "teleports that are due"},
	{dZones, PerTick, "who stands in which capture zone"},
	{dBlasts, Persistent, "explosions that wait"},
	{dDamage, PerTick, "damage of the tick"},
	{dDeaths, PerTick, "kills of the tick"},
	{dMode, Persistent, "phase, scores, turns, teams"},
	{dEvents, Output, "hits and kills"},
	{dAnnounced, Output, "what everybody is told of the round"},
}

// Systems lists the systems in the order in which a tick runs them.
func Systems() []System { return systems }

// Those of side Both are CompiledGame.StepPlayer, and so is their order. Side effects on others wait in acts, ledger, blasts and jumps,
// and each is resolved in one place: combat, settle, blasts, teleport.
var systems = []System{
	{"commands", "takes each player's command for the tick out of its inbox", []Datum{dCommandBuffers}, []Datum{dCommandBuffers, dCommand, dLook}, Server, takeCommands},
	{"heroes", "makes players the heroes that they asked to be, where the mode allows it", []Datum{dVital, dMotion, dMode}, []Datum{dVital, dAbility, dAnim}, Server, changeHeroes},
	{"respawn", "brings the dead back whose time has come", []Datum{dVital, dMode}, []Datum{dVital, dAbility, dMotion, dMode, dAreas, dAnim}, Server, respawn},
	{"teleport", "takes away those who stood in a teleporter", []Datum{dTeleports, dVital, dMotion}, []Datum{dTeleports, dVital, dMotion}, Server, teleport},
	{"abilities", "runs everybody's abilities by their keys", []Datum{dCommand, dVital, dAbility, dMotion}, []Datum{dAbility, dMotion, dInput, dActions}, Both, runAbilities},
	{"move", "moves everybody by what their abilities leave of the command", []Datum{dInput, dMotion}, []Datum{dMotion}, Both, movePlayers},
	{"animate", "moves everybody's figure by how the body moved", []Datum{dInput, dMotion, dLook, dVital, dAbility, dAnim}, []Datum{dAnim}, Server, animate},
	{"record", "notes what everybody looks like now, for this tick's objects and the shots of later ticks", []Datum{dMotion, dLook, dVital, dAbility, dAnim}, []Datum{dPoses, dHistory, dTeams}, Server, record},
	{"fire", "lets rounds, punches, projectiles and grenades go, in the past that their players looked at", []Datum{dActions, dCommand, dMotion, dVital, dClampLimits}, []Datum{dShots, dProjectiles, dGrenades, dClampLimits}, Server, fire},
	{"combat", "finds what rounds and punches hit, in the world as each shooter saw it", []Datum{dShots, dHistory, dBarrels, dCubes}, []Datum{dShots, dDamage, dCubes}, Server, combat},
	{"projectiles", "flies projectiles against the delayed past of their shooters", []Datum{dProjectiles, dHistory, dBarrels, dCubes}, []Datum{dProjectiles, dDamage, dBlasts, dCubes}, Server, flyProjectiles},
	{"grenades", "throws grenades on, bounces them, sets them off", []Datum{dGrenades, dHistory}, []Datum{dGrenades, dBlasts}, Server, flyGrenades},
	{"areas", "hurts whoever stands where it hurts", []Datum{dAreas, dMotion, dTeams}, []Datum{dAreas, dDamage}, Server, hurtInAreas},
	{"blasts", "resolves the explosions that the budget allows", []Datum{dBlasts, dHistory, dBarrels, dCubes}, []Datum{dBlasts, dDamage, dCubes}, Server, resolveBlasts},
	{"cubes", "moves the cubes", []Datum{dCubes, dHistory}, []Datum{dCubes}, Server, moveCubes},
	{"settle", "takes all damage of the tick once: wounds, deaths, knock-backs, broken barrels", []Datum{dDamage, dVital, dBarrels, dMotion, dShots}, []Datum{dDamage, dVital, dBarrels, dBlasts, dMotion, dDeaths, dEvents}, Server, applyDamage},
	{"places", "notes who stands in teleporters and capture zones", []Datum{dMotion, dTeams}, []Datum{dTeleporters, dTeleports, dZones}, Server, occupyZones},
	{"mode", "counts points, and takes the round through its phases", []Datum{dMode, dDeaths, dZones}, []Datum{dMode, dVital, dMotion, dEvents, dAnnounced, dProjectiles, dGrenades, dBarrels, dCubes}, Server, playMode},
}

// Conflicts reads a table as a tick runs it, and says what cannot be right, one line each; none if all is well:
//
//	a datum that is not in Data, or a name that comes twice
//	a momentary datum, or one that is told, is read before anybody wrote it
//	a momentary datum is written and nobody reads it after
//	a datum is written twice by systems that do not read it, and nobody reads it in between: the first was for nothing
func Conflicts(table []System) (out []string) {
	sorts := map[Datum]Lifetime{}
	for _, d := range data {
		sorts[d.Name] = d.Sort
	}
	names := map[string]bool{}
	writer, fresh := map[Datum]string{}, map[Datum]bool{} // who wrote it last, and whether nobody has read it since
	for i := range table {
		s := &table[i]
		if names[s.Name] {
			out = append(out, fmt.Sprintf("%s comes twice", s.Name))
		}
		names[s.Name] = true
		for _, d := range s.Reads {
			if sort, known := sorts[d]; !known {
				out = append(out, fmt.Sprintf("%s reads %s, which there is not", s.Name, d))
			} else if sort >= PerTick && writer[d] == "" {
				out = append(out, fmt.Sprintf("%s reads %s before anybody wrote it", s.Name, d))
			}
			fresh[d] = false
		}
		for _, d := range s.Writes {
			if _, known := sorts[d]; !known {
				out = append(out, fmt.Sprintf("%s writes %s, which there is not", s.Name, d))
			}
			if fresh[d] && !gathers(d) && !slices.Contains(s.Reads, d) {
				out = append(out, fmt.Sprintf("%s writes %s over what %s wrote and nobody read", s.Name, d, writer[d]))
			}
			writer[d], fresh[d] = s.Name, true
		}
	}
	for _, d := range data {
		if d.Sort == PerTick && fresh[d.Name] && !slices.Contains(consumes(table, d.Name), writer[d.Name]) {
			out = append(out, fmt.Sprintf("%s writes %s and nobody reads it", writer[d.Name], d.Name))
		}
	}
	return out
}

// gathers reports whether writing a datum adds to it: rows of components, and lists that many append to.
func gathers(d Datum) bool {
	switch d {
	case dInput, dActions, dTeams, dPoses, dZones, dCommand, dLook:
		return false
	}
	return true
}

// consumes lists the systems that read a datum and write it: they take out of it what others put in.
func consumes(table []System, d Datum) (names []string) {
	for i := range table {
		if s := &table[i]; slices.Contains(s.Reads, d) && slices.Contains(s.Writes, d) {
			names = append(names, s.Name)
		}
	}
	return names
}
