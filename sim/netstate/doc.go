// Package netstate says which of a player's state the network carries, and at what precision. State of the simulation goes
// in and rows of integers come out (PublicRow, OwnerRow), and back again on the other end (PoseOf, SelfOf). It also draws
// the head of a snapshot section.
//
// Ghost is the field's word for an entity as its network image (Netcode for Entities). Two rows exist for a player:
// the public one, which everybody gets and interpolates, and the owner's, at the full precision of the simulation, from
// which only its owner predicts. Both are exact images of what the simulation keeps: the simulation rounds its state to
// these grids at the end of every tick, so nothing is lost on the way.
package netstate
