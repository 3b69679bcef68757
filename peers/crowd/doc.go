// Package crowd runs headless clients of a game over UDP on loopback, each on a socket of its own.
// Clients go in; what they received in a window of time comes out.
package crowd
