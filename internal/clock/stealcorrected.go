package clock

import "time"

// StealCorrected computes the schedule that a thread would have kept without the time that the
// machine took from it, beside the schedule that it kept. Each slot of both is due at an instant,
// waits for it or for the end of the slot before, and works:
//
//	corrected begin(i) = max(due(i), corrected end(i-1)) + late wake-up(i) - time taken of that
//	corrected end(i)   = corrected begin(i) + work(i) - time taken of that
//
// This is Lindley's recursion for a queue with one server (The theory of queues with a single
// server, Proc. Camb. Phil. Soc. 48, 1952): a burst delays the following slots until the backlog
// is worked off, so removing only the burst would leave those delays in. Extra work that a thread
// does because it is late still counts. Corrected lateness is therefore never more than the
// measured one, and the same where no time was taken. Instants are of one clock. The zero value is
// a thread that has been idle since the clock's beginning.
type StealCorrected struct {
	due       time.Duration // of the slot at hand
	real      time.Duration // the last instant reported
	corrected time.Duration // the same in the corrected schedule; never later
	cost      time.Duration // corrected work of the slot at hand so far
}

// Begin reports that the slot due at an instant began at the instant now, and the time taken since
// the last report. Time taken before the slot could have begun delayed nothing, and is ignored.
func (o *StealCorrected) Begin(due, now, taken time.Duration) {
	ready := max(due, o.real)
	now = max(now, ready)
	o.corrected = max(due, o.corrected) + now - ready - between(taken, now-ready)
	o.due, o.real, o.cost = due, now, 0
}

// Work reports that the slot worked until the instant now, and the time taken since the last
// report.
func (o *StealCorrected) Work(now, taken time.Duration) {
	now = max(now, o.real)
	work := now - o.real - between(taken, now-o.real)
	o.real, o.corrected, o.cost = now, o.corrected+work, o.cost+work
}

// Skip reports that the slot due at an instant was skipped. It is charged the work of the slot
// before, and ends no later than it was skipped.
func (o *StealCorrected) Skip(due time.Duration) {
	o.due = due
	o.corrected = min(max(due, o.corrected)+o.cost, o.real)
}

// Now is the instant that the corrected schedule has reached: at most the last one reported.
func (o *StealCorrected) Now() time.Duration { return o.corrected }

// Late is how late the slot at hand is in the corrected schedule.
func (o *StealCorrected) Late() time.Duration { return max(o.corrected-o.due, 0) }

// between is d, but in [0, most].
func between(d, most time.Duration) time.Duration { return max(0, min(d, most)) }
