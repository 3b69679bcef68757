// Package dst simulates a lobby that everything goes wrong for: honest clients, attackers with and without a session, links that lose,
// repeat and damage, clocks that drift, machines that stop and a server that is killed, all in one goroutine and from one seed. What
// must be true is looked at after every tick; for the last fifth of a run nothing goes wrong any more, and then everybody must play.
//
// A Case goes in: a seed, and what is left out of what it draws. A Breach comes out, or nil. The same case gives the same run to the
// bit, so a breach is one line that anybody can play again:
//
//	tickrate dst --seed 12 --until 31.4s --without 0-5,7 --clients 3
//
// The invariants have the numbers of the document on threats, see Invariant.
package dst
