// Package object holds what flies and stands about in a match: projectiles, grenades and their blasts, barrels, damage
// areas, teleporters, movable cubes and capture zones; and the ledger that takes everybody's damage. Rows of plain structs
// and the tick's scene go in; the rows of the next tick, damage, blasts and jumps come out. It reads no clock, draws no
// random number and starts no goroutine; one owner calls it. Numbers of the game are parameters (ProjectileKind, GrenadeKind, Splash, ...);
// the functions called Default... give the reference's (FPSSample).
//
// # A tick
//
//	StepProjectiles, StepGrenades, StepAreas   what flies, flies; hits go to the DamageQueue, explosions to Blasts
//	ResolveBlasts                              the one place where explosions hurt and push, under a budget
//	Settle                                     the one place where health is lost; barrels that break explode next tick
//	StepCubes, Enter, CountOccupants                   the rest, in any order
//
// Players are seen through lagcomp. What is said to be judged now is judged at the newest recorded tick, so record before
// these run.
//
// # Who tests which tick
//
//	projectile   its shooter's delay behind now, the same for the whole flight   not the shooter's team
//	its blast    the same                                                        not the shooter's team
//	grenade      now                                                             not the thrower's team
//	its blast    now                                                             not the thrower's team
//	barrel       now                                                             everybody
//
// A blast reaches its own instigator besides, if its OwnerFraction is above 0. Blasts need a line of sight, which the
// reference does not ask for: a wall protects.
//
// # What a client predicts
//
// A projectile's path is a formula of its Trajectory, and a grenade's next tick a function of this one, both of numbers that the
// wire carries exactly. Sums of products are rounded in between, so that no processor fuses them.
package object
