// Package trace plays recorded human movement back. CSV files of two kinds go in (QuakeWorld server
// recordings and Counter-Strike 1.6 client commands, told apart by their header, gzip or plain);
// tracks in this project's units come out, and samplers that turn one track into many differing
// players. Only Open touches the file system; nothing here reads a clock, and a sampler is a
// function of its trace, copy index, seed and time.
//
// Conversions, done once on reading:
//
//	position   their x, y, z (right-handed, z up) become our x, z, y (left-handed, y up). Swapping
//	           two axes changes the handedness, so seen from above a path keeps its shape: left
//	           turns stay left turns.
//	           The point is moved from the middle of the body to the feet, and units become metres.
//	yaw        theirs grows counter-clockwise from +x, ours clockwise from +z: ours = 90 - theirs.
//	pitch      theirs is positive downwards, ours upwards: the sign changes.
//	buttons    a press lasts 50 ms at least, so that a lobby of 20 Hz cannot sleep through it.
package trace
