// Package move takes one player through one tick: a motion, an input and the arena go in, the next
// motion comes out. Body.Step is what clients predict with; Batch.StepBodies is the same arithmetic
// for a server's columns, to the same bits. It allocates nothing once a Batch is warm, reads no
// clock and draws no random number; any goroutine may call it, one at a time for a Batch.
//
// A body is an upright capsule with its hero's numbers, which Params.Compile turns into a Body;
// Pos is its lowest point, between the feet. The default body has a radius of 0.4 m and a height
// of 1.8 m. The capsule that collides is smaller by less than a quarter of a millimetre, so that
// its radius and height are multiples of 1/4096 m: a player against a wall then stands on a
// position that the wire can carry, and stands still.
//
// Other changes to a body between ticks are functions from motion to motion: ApplyPush
// (knock-back), Teleport, Launch. Called before a Motion is sent to its owner, they need no
// further message for prediction.
//
// The numbers and rules of speed, friction, acceleration, jumps and gravity are those of
// Unity's FPSSample, also where they are odd: a player that walks off a ledge starts to fall at
// 400 m/s2 times the tick, 6.67 m/s at 60 Hz.
//
// All lengths inside a tick are measured from where the tick began. Positions are multiples of
// 1/4096 m and the arena's coordinates of 1/64 m, both within 2048 m, so these differences are
// exact, and a walk has the same bits anywhere on the map.
package move
