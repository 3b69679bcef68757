// Package anim animates players: stance, stride, hips and weights. The motion of one body in one
// tick goes in; the next State of its animation comes out, and from that the pose parameters of
// lagcomp/rig that are public. Only integers and exact float operations are used, so all machines
// agree. It keeps no state, reads no clock and may be called by any goroutine.
//
// The stance follows the locomotion; the phase advances with the distance travelled; the hips turn
// towards the direction of travel, and on the spot once the view has turned away far enough; falls
// bend the knees; weights move towards their goals at fixed rates.
//
// State is private to the server, 20 bytes. Clients get Public, in the steps of the wire: 19 bits
// besides place and view and constants. A standing player changes none of them, a runner straight
// ahead only the phase. FPSSample sends 28 values of its animation.
package anim
