// Package anim moves the figures. How a body moved and what it did this tick go in; the next state of its animation comes
// out, and from that the pose parameters of lagcomp/rig that others are told and shots are judged by. Integers only: the same
// inputs give the same states on every machine. Nothing here allocates, reads a clock or draws a random number.
//
// # The machine
//
//	stand   --the view turns more than TurnAfter from the hips-->  turn  --hips within TurnWithin-->  stand
//	stand   --faster than Still-->  run  --Sprinting-->  sprint, and back
//	any     --jump-->  jump  -->  air  --NearGround the ground, falling-->  land  -->  stand or run
//	any     --death-->  dead
//
// Stances are functions of this tick's motion, but for the turn, which remembers that it began. What blends between them are
// weights that run towards their goals at constant speed, so there is no table of transitions to get wrong.
//
// The phase of the stride is the way walked: a foot does not slide at any speed or rate of ticks.
//
// # What is replicated
//
// State is the server's own, 20 bytes. Others are told what WritePose makes of it, in the steps of the wire (see Public): 19 bits
// besides place and view and what never changes, of which a player changes none standing still, and the phase alone running
// straight on. The reference tells 28 fields; feet are kept on the ground by geometry here, squash and jump times are weights.
package anim
