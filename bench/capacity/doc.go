// Package capacity says how many players a machine carries and why. Measured steps (one lobby size each) go in; the
// next size to try, the knee of a service level and a fitted cost per stage come out. It is arithmetic only: it opens
// no socket, starts no goroutine, reads no clock and imports nothing of this module, so a plan can be judged again
// from its plan.json on any machine.
//
//	Level   what counts as good enough, and which terms a step fails
//	Step    what was measured at one lobby size
//	Search  which size to measure next, and the knee so far
//	Cost    CPU per tick and stage as a + b*N + c*N*V
//	Plan    all of it together, as plan.json holds it
package capacity
