package predict

import "time"

// Report schedules the unreliable messages that tell the server the number of mispredictions: two
// after each change, since one may be lost, and at most one a second.
type Report struct {
	Count uint64        // that is told
	due   int           // messages still to be sent
	at    time.Duration // of the last
}

const (
	reportEvery = time.Second
	reportTimes = 2
)

// Due takes the number of mispredictions so far and reports whether to send Count now.
func (r *Report) Due(now time.Duration, count uint64) bool {
	if count != r.Count {
		r.Count, r.due = count, reportTimes
	}
	if r.due == 0 || r.at != 0 && now-r.at < reportEvery {
		return false
	}
	r.due--
	r.at = now
	return true
}
