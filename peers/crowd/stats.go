package crowd

import "fmt"

// Stats counts what a client received and, where a crowd returns them, what was due.
type Stats struct {
	Snapshots  int
	Deltas     int // of these, coded against one that the client acknowledged
	Players    int // sum over snapshots of the other players in each
	PlayerBits int // bits that the rows of these players took before a code over whole packets
	Bytes      int // of UDP payloads
	Errors     int // messages that could not be read
	Updates    int // that were due
	Late       int // of these, left out or late by more than half a period
	LastError  error
}

// Sub is what was added since an earlier state.
func (s Stats) Sub(before Stats) Stats {
	s.Snapshots -= before.Snapshots
	s.Deltas -= before.Deltas
	s.Players -= before.Players
	s.PlayerBits -= before.PlayerBits
	s.Bytes -= before.Bytes
	s.Errors -= before.Errors
	s.Updates -= before.Updates
	s.Late -= before.Late
	return s
}

// Add is the sum of both.
func (s Stats) Add(o Stats) Stats {
	s.Snapshots += o.Snapshots
	s.Deltas += o.Deltas
	s.Players += o.Players
	s.PlayerBits += o.PlayerBits
	s.Bytes += o.Bytes
	s.Errors += o.Errors
	s.Updates += o.Updates
	s.Late += o.Late
	if s.LastError == nil {
		s.LastError = o.LastError
	}
	return s
}

// maxLate is the share of late updates that makes figures void, as it does for the swarm.
const maxLate = 0.01

// Void says why the figures of a window are not valid, "" if they are.
func (s Stats) Void() string {
	switch {
	case s.Updates == 0:
		return "the clients sent nothing"
	case float64(s.Late) > maxLate*float64(s.Updates):
		late := 100 * float64(s.Late) / float64(s.Updates)
		return fmt.Sprintf("the clients did not keep their schedule: %.1f %% of updates were over half a period late", late)
	case s.Errors > 0:
		return fmt.Sprintf("%d messages could not be read, the last: %v", s.Errors, s.LastError)
	case s.Snapshots == 0 || s.Players == 0:
		return "no snapshot with other players arrived"
	}
	return ""
}
