// Package gate compares two builds on one machine. Rounds of fixed lobbies in virtual time,
// recorded by each build alternately, go in; changes by quantity (whole tick, bytes, stages) come
// out, each with the chance that equal builds differ as much. A change fails the gate if it is
// significant and large enough.
package gate
