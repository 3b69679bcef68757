// Package gate compares two builds on one machine. Rounds of fixed lobbies in virtual time, and of a
// server on sockets where one is asked for, go in; both builds record them in turn. Changes by quantity
// (whole tick, bytes, stages) come out, each with the chance that equal builds differ as much. A change
// fails the gate if it is significant and large enough.
package gate
