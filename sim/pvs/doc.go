// Package pvs computes potentially visible sets: which cells of the ground can never see each
// other, wherever players stand in them. An arena and a grid go in at load time; a table of bits
// comes out that answers in a few nanoseconds. It is meant for ecs/interest, whose VisibleFunc is
// Table.Visible or, sharper, Occupancy.Visible. It keeps no time, draws no random number and starts
// no goroutine; any number of goroutines may read a Table.
//
// # What a "no" means
//
// If Visible(from, to) is false, then no eye of a player now in one of the two cells, wherever it
// moves within the look-ahead, has a free line to any point of the body of a player now in the
// other, wherever that one moves in the same time. The table is symmetric. A "yes" promises
// nothing: there may be a line of sight, or the builder gave up.
//
// The look-ahead is how far a client may be behind the server: LookAhead seconds, in which a body
// moves LookAhead*Speed metres over the ground and rises LookAhead*Climb metres besides steps and
// ramps. It does not pass through boxes: of the ground around a cell only what can be walked or
// flown to counts.
//
// # Levels
//
// A double jump lifts the eyes over most walls, so a table for any height above a cell hides
// little in an arena without roofs. The table therefore has levels: on level l < Levels()-1 the
// feet are now at most Config.Levels[l] above the lowest ground of the cell, on the highest level
// they are anywhere. Level returns a player's level, Occupancy keeps the highest level of each cell
// for a snapshot.
//
// # What breaks the promise
//
// A teleport, a spawn, or a knock-back that moves a body faster than Speed or Climb: let every client see such a body for LookAhead (ecs/interest has hysteresis). A camera that is
// not a player's eye: spectators, a third person. A solid that can be opened or broken: leave it
// out of the arena that the table is built from, or make it a mover, which hides nothing. A shadow, a tracer, a weapon or a name tag
// outside the capsule of sim/move. There are no ladders in sim/move; one would be a ramp here.
// Glass is a solid and hides. A client more than LookAhead behind is not covered.
package pvs
