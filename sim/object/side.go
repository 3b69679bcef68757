package object

import (
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/lagcomp"
)

// Side is whom somebody or something fights for.
type Side struct {
	ID    netid.ID // itself
	Owner netid.ID // the root of its owners (see Root): a pet's master, a projectile's shooter; 0 or ID: itself
	Team  uint8    // its owner's; lagcomp.NoTeam: every other owner is an enemy
	Marks Marks
}

// Marks are bits that set somebody outside the rule of teams.
type Marks uint8

// The marks.
const (
	Neutral   Marks = 1 << iota // is nobody's enemy: a passer-by, a spectator
	Thing                       // is an enemy of nobody, yet everybody's target: a barrel, a cube
	Protected                   // cannot be attacked, though it may attack: just spawned
)

// owner is who answers for s.
func (s Side) owner() netid.ID {
	if s.Owner != 0 {
		return s.Owner
	}
	return s.ID
}

// Hostile reports whether a and b are enemies: of different owners, and of different teams or of none. It is symmetric,
// and nobody is hostile to itself, its pets or what it shot. Neutral ones and things have no enemies.
func Hostile(a, b Side) bool {
	if (a.Marks|b.Marks)&(Neutral|Thing) != 0 || a.owner() == b.owner() {
		return false
	}
	return a.Team != b.Team || a.Team == lagcomp.NoTeam
}

// Harm is how a way of attacking chooses whom it hurts.
type Harm uint8

// The ways: of guns and projectiles; of fists, which hit friends too; of blasts that reach their own instigator.
const (
	HarmEnemies Harm = iota
	HarmEveryone
	HarmEnemiesAndSelf
)

// Harms reports whether an attack by attacker may hurt target: enemies and things always, friends and itself as the way of
// attacking says; never a protected or a neutral one. Nobody hurts itself with HarmEveryone: a fist is not swung at oneself.
func Harms(way Harm, attacker, target Side) bool {
	if target.Marks&(Protected|Neutral) != 0 {
		return false
	}
	if target.Marks&Thing != 0 || Hostile(attacker, target) {
		return true
	}
	switch self := target.ID == attacker.owner(); way {
	case HarmEveryone:
		return !self
	case HarmEnemiesAndSelf:
		return self
	}
	return false
}

// Spare is the team that a sweep into the past leaves out for a way of attacking: the attacker's, or lagcomp.NoTeam. The
// attacker itself is left out by its id, or reached by it.
func (h Harm) Spare(team uint8) uint8 {
	if h == HarmEveryone {
		return lagcomp.NoTeam
	}
	return team
}

// MaxOwners is the longest chain of owners that Root follows: a pet's projectile has two.
const MaxOwners = 4

// Root follows owners from id to the one that has none. A longer chain than MaxOwners, or a ring, ends where it is cut.
func Root(id netid.ID, owner func(netid.ID) netid.ID) netid.ID {
	for range MaxOwners {
		next := owner(id)
		if next == 0 || next == id {
			return id
		}
		id = next
	}
	return id
}
