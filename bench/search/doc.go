// Package search finds the knee of a service level: the size at which a step holds it with
// probability 1/2, with an interval. Measured steps go in one at a time; the size to measure next
// comes out, and at any moment the knee so far (docs/decisions/0068). It is
// arithmetic only: it opens nothing, starts no goroutine and reads no clock, so a plan can be
// judged again from its plan.json on any machine.
package search
