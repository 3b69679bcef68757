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

// otherProcesses returns the part of a run delay that other processes certainly caused. Other
// threads of this process ran for the time ours meanwhile; all of it may have been on this
// processor. Both are in nanoseconds.
func otherProcesses(delay, ours int64) time.Duration {
	return time.Duration(max(delay-max(ours, 0), 0))
}
