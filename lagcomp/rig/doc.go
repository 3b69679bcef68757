// Package rig is the skeleton that shots are judged by. A pose of 32 bytes goes in; 16 capsules of the body and one of the
// head come out, or the first of them that a ray meets. Everything here is a pure function of its arguments: no state, no
// clock, no allocation.
//
// # One function for both ends
//
// A pose holds what the wire carries and nothing else, and Lerp and LocalCapsules use integers, square roots, geom's sines and
// products that are rounded before they are summed. So a client and a server that hold the same pose hold the same capsules,
// bit for bit, and nobody stores capsules: they are worked out for the few players that a shot passes near.
//
// # The figure
//
// Bones have constant lengths and hang together by the table in Skeleton. What moves them:
//
//	Yaw, Pitch   the view: head, chest and arms; the pitch is spread along the spine
//	Hips         where the hips face, away from the view
//	Move, Gait   which way and how fast the legs stride; the torso leans into it
//	Phase        where in the stride the legs are; the arms swing against them
//	Bank         lean of the torso to the side
//	Aim          arms from hanging or swinging (0) to holding a weapon along the view
//	Air          legs tucked up, not reaching for the ground
//	Squat        legs bent, to soften a landing; all the way down for the dead
//
// On the ground the hips are as high as the lower foot demands, so that one foot stands on it and none is below it; runners
// fly a little between two steps, or their heads would bob. The figure is posed within the body that moves, it does not move
// it.
package rig
