package mode

import "github.com/tickrate/tickrate/ecs/tick"

// Assign is the team of a joining player: the smaller, the first of two equal ones.
func Assign(players [Teams]uint16) uint8 {
	if players[1] < players[0] {
		return 1
	}
	return 0
}

// MayRespawn reports whether a player that died in a tick may respawn now; died is 0 for players
// that have just joined. A Restart makes it 0 for all. No player spawns while a round is over.
func (r *Rules) MayRespawn(s *State, died, now tick.Tick) bool {
	return s.Phase != Ended && (died == 0 || now-died >= r.respawn)
}

// SpawnChoice is where to spawn. The map has some places at every base and some for every team;
// the place with index Turn modulo their number is meant, so that places take turns.
type SpawnChoice struct {
	Base int8 // the point whose base it is; -1: the team's own places
	Turn uint16
}

// Spawn chooses where a player of a team spawns, and advances the team's turn. In Assault
// attackers spawn at the last point that they captured, and defenders at the next one to be
// attacked (or SpawnBehind further); without such a point, and in Deathmatch, at the places of
// their team.
func (r *Rules) Spawn(s *State, team uint8) SpawnChoice {
	p := SpawnChoice{Base: -1}
	if r.Kind == Assault {
		switch team {
		case Attackers:
			p.Base = int8(s.Point) - 1
		case Defenders:
			if base := s.Point + r.SpawnBehind; base < r.Points {
				p.Base = int8(base)
			}
		}
	}
	if team < Teams {
		p.Turn = s.Turn[team]
		s.Turn[team]++
	}
	return p
}

// Location is where a player stands with regard to bases.
type Location struct {
	Home   bool  // in the box of its own team
	Points uint8 // bit i: in the cylinder of point i
}

// MayChangeHero reports whether a living player may become another hero: at home, or in a base that
// its team holds.
func (r *Rules) MayChangeHero(s *State, team uint8, at Location) bool {
	return at.Home || at.Points&r.Held(s, team) != 0
}

// Held is the mask of points that a team holds: captured points are the attackers', all others the
// defenders'.
func (r *Rules) Held(s *State, team uint8) uint8 {
	captured := uint8(1<<s.Point - 1)
	switch {
	case r.Kind != Assault:
		return 0
	case team == Attackers:
		return captured
	case team == Defenders:
		return uint8(1<<r.Points-1) &^ captured
	}
	return 0
}
