// Package geom is the vocabulary of places and directions: vectors, angles, rays and the shapes
// they may hit. Numbers go in, numbers come out; nothing here allocates, keeps state or reads a
// clock.
//
// Units are metres and turns. The axes are left-handed with y up, as in FPSSample: yaw 0 looks
// along +z and grows clockwise seen from above (towards +x); pitch 0 is level and grows upwards.
//
// Everything is float32 and every product that is added to something is converted first
// (float32(a*b) + c), because the Go specification lets a compiler fuse x*y + z unless an explicit
// conversion stands between: with it, every processor computes the same bits, which prediction and
// replay rest upon.
package geom
