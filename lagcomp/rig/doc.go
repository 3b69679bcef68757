// Package rig is the bodies that shots are judged by. A pose of 32 bytes goes in; of a skeleton 16
// capsules of the body and one of the head come out, or the first of them that a ray hits. Every
// function is pure and may be called by any goroutine: no state, no clock, no allocation.
//
// # Builds
//
// Bodies is a table of what kinds of bodies are hit by: the skeleton below, or rigid boxes, balls and
// capsules, which turn with the yaw. The pose's Form names the build. HeroBodies is the table of the
// match; NewBodies makes one for another game.
//
// # One function for both ends
//
// A pose holds what the wire carries and nothing else, and Lerp and LocalCapsules use integers,
// square roots, geom's sines and products that are rounded before they are summed. A client and a
// server that hold the same pose therefore compute the same capsules, bit for bit. Capsules are not
// stored: they are computed for the few players that a shot passes close to.
//
// # The body
//
// Bones have constant lengths and hang together by the table in Skeleton. These parameters move
// them:
//
//	Yaw, Pitch   the view: head, chest and arms; the pitch is spread along the spine
//	Hips         where the hips face, relative to the view
//	Move, Gait   direction and speed of the stride; the torso leans into it
//	Phase        position in the stride of the legs; the arms swing against them
//	Bank         lean of the torso to the side
//	Aim          arms from hanging or swinging (0) to holding a weapon along the view
//	Air          legs tucked up, not reaching for the ground
//	Squat        legs bent, to soften a landing; fully bent for the dead
//
// On the ground the lower foot decides the height of the hips, so that one foot stands on the
// ground and none is below it; runners leave the ground a little between two steps, so that their
// heads stay level. The body is posed within the capsule that moves; it does not move it.
package rig
