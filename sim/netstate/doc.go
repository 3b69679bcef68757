// Package netstate defines which state of players and objects the network carries, and at what
// precision. State of the simulation goes in and rows of integers come out (PublicRow, OwnerRow),
// and back again on the other end (PoseOf, SelfOf). It also writes the header of a snapshot
// section. It keeps no state; any goroutine may call it.
//
// There are two rows of a player: the public one, which every client gets and interpolates, and
// the owner's, at the full precision of the simulation, from which only its owner predicts.
// Objects have a third. All are exact images of what the simulation keeps: it rounds its state to
// these grids at the end of every tick, so nothing is lost on the way.
package netstate
