package clock

import "time"

// StealCorrected keeps the schedule that a thread would have kept by itself, had the machine taken nothing from it, beside the one it kept. Each slot
// of both has an instant at which it is due, waits for it or for the end of the slot before, and works:
//
//	own begin(i) = max(due(i), own end(i-1)) + late wake-up(i) - what was taken of that
//	own end(i)   = own begin(i) + work(i) - what was taken of that
//
// That is Lindley's recursion for a queue with one server (The theory of queues with a single server, Proc. Camb. Phil. Soc. 48, 1952), in
// which a burst delays who comes after it until what has waited is made up for: leaving out the burst alone would leave that in. What a
// thread does more because it is late, it is still charged with. So own lateness is never more than the lateness that was, and the same
// where nothing was taken. Instants are of one clock. The zero value is a thread that is idle since the clock's beginning.
type StealCorrected struct {
	due       time.Duration // of the slot at hand
	real      time.Duration // the last instant that was told
	corrected time.Duration // the same in the own schedule; never later
	cost      time.Duration // own work of the slot at hand so far
}

// Begin tells that the slot that is due at an instant began at the instant now, and what was taken since the last instant that was told.
// What was taken before the slot could have begun made nothing late, and is passed over.
func (o *StealCorrected) Begin(due, now, taken time.Duration) {
	ready := max(due, o.real)
	now = max(now, ready)
	o.corrected = max(due, o.corrected) + now - ready - between(taken, now-ready)
	o.due, o.real, o.cost = due, now, 0
}

// Work tells that the slot worked until the instant now, and what was taken since the last instant that was told.
func (o *StealCorrected) Work(now, taken time.Duration) {
	now = max(now, o.real)
	work := now - o.real - between(taken, now-o.real)
	o.real, o.corrected, o.cost = now, o.corrected+work, o.cost+work
}

// Skip tells that the slot that is due at an instant was left out. It is taken to have the work of the slot before it, and to be done no
// later than it was left out.
func (o *StealCorrected) Skip(due time.Duration) {
	o.due = due
	o.corrected = min(max(due, o.corrected)+o.cost, o.real)
}

// Now is the instant that the own schedule has come to: at most the one that was told last.
func (o *StealCorrected) Now() time.Duration { return o.corrected }

// Late is how long after its instant the slot at hand is in the own schedule.
func (o *StealCorrected) Late() time.Duration { return max(o.corrected-o.due, 0) }

// between is d, but in [0, most].
func between(d, most time.Duration) time.Duration { return max(0, min(d, most)) }
