// Package object holds moving and placed objects of a match: projectiles, grenades and their
// blasts, barrels, damage areas, teleporters, movable cubes and capture zones; and the queue of
// all damage. Rows of plain structs and the tick's Scene go in; the rows of the next tick, damage,
// blasts and teleports come out. It reads no clock, draws no random number and starts no
// goroutine; one owner calls it. Numbers of the game are parameters (ProjectileKind, GrenadeKind,
// Splash, ...); the Default... functions give those of Unity's FPSSample.
//
// # A tick
//
//	StepProjectiles, StepGrenades, StepAreas  movement; hits go to the DamageQueue, blasts to
//	                                          Blasts
//	ResolveBlasts                             applies damage and impulse of blasts, under a budget
//	ResolveDamage                             subtracts health; broken barrels explode next tick
//	StepCubes, StepTeleporters,               the rest, in any order
//	CountOccupants
//
// Players are tested through lagcomp. Tests of the present use the newest recorded tick, so record
// before these run.
//
// # The tick that each object tests
//
//	projectile   now less its shooter's delay, fixed at launch   not the shooter's team
//	its blast    the same                                        not the shooter's team
//	grenade      now                                             not the thrower's team
//	its blast    now                                             not the thrower's team
//	barrel       now                                             all teams
//
// The map's movers are where they are at now, for all of these. What rests on one is carried, and what
// one is in is pushed out, before it moves.
//
// A blast also reaches its own instigator if its OwnerFraction is above 0. Blasts need a line of
// sight, unlike in FPSSample: a wall protects.
//
// # What a client predicts
//
// A projectile's path is a formula of its Trajectory, and a grenade's next tick a function of this
// one, both of numbers that the wire carries exactly. Sums of products are rounded in between, so
// that no processor fuses them.
package object
