// Package mapcheck finds what is wrong with a map before players do. An arena, what stands in it and
// a body go in; a Report comes out: problems with their positions, the ground that players reach,
// and the share of the pairs of places that walls hide from each other. It keeps no time, draws no
// random number and starts no goroutine; equal arguments give equal reports.
//
// # Reach
//
// A flood fill walks and jumps the body over the map by move.Body.Step, the function that players
// are moved by, from the centre of one square of the ground to the next in eight directions. So
// step height, slopes, jumps and the size of the body are those of the match. A jump is taken with a
// run-up, straight on, once with all the jumps of the body. Teleporters carry the fill on. Abilities
// that move a body, blasts, and opening doors do not.
//
// Squares are half a metre wide, more on very large maps; Report.Square has the width. An opening
// that is wider than the body by less than that may count as closed.
package mapcheck
