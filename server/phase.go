package server

// Phase is what a lobby does as a whole.
type Phase uint8

// The phases.
const (
	PhaseIdle    Phase = iota // nobody is here
	PhaseLoading              // another map is being read, or some who were here when it came are not ready on it yet
	PhaseActive               // it is played
)

// String names the phase.
func (p Phase) String() string { return [...]string{"idle", "loading", "active"}[min(p, PhaseActive)] }

// Phase returns the phase that the lobby is in.
//
//	Idle     nobody is here. With Config.SleepWhenEmpty no tick is played: time stands still in the match. Who comes wakes it
//	Loading  the old map is played until the new one is read; and the new one by those who are ready, until all are who were there
//	Active   the map is played
func (l *Lobby) Phase() Phase {
	if l.maps.pending.poll != nil {
		return PhaseLoading
	}
	for _, slot := range l.live {
		if c := &l.conns[slot]; !c.session.ready && c.session.mapEpoch != 0 {
			return PhaseLoading
		}
	}
	if l.join.empty() {
		return PhaseIdle
	}
	return PhaseActive
}
