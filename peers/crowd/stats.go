package crowd

// Stats counts what a client received.
type Stats struct {
	Snapshots  int
	Deltas     int // of these, coded against one that the client acknowledged
	Players    int // sum over snapshots of the other players in each
	PlayerBits int // bits that the rows of these players took before a code over whole packets
	Bytes      int // of UDP payloads
	Errors     int // messages that could not be read
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
	if s.LastError == nil {
		s.LastError = o.LastError
	}
	return s
}
