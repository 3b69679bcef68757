package clock

import "time"

// runDelay parses a thread's schedstat, which is three numbers: nanoseconds run, nanoseconds
// runnable but not running, and times run.
func runDelay(text []byte) (delay int64, ok bool) {
	column := 0
	for _, c := range text {
		switch {
		case c == ' ':
			column++
		case c < '0' || c > '9':
			return delay, column == 2 && c == '\n'
		case column == 1:
			delay = delay*10 + int64(c-'0')
		}
	}
	return 0, false
}

// strangersShare is what strangers took of a run delay while other threads of the process ran for
// the time ours: those may have run on this processor, and so may be all that was waited for.
func strangersShare(delay, ours int64) time.Duration {
	return time.Duration(max(delay-max(ours, 0), 0))
}
