package server

// Phase is what a lobby does as a whole.
type Phase uint8

// The phases.
const (
	PhaseIdle    Phase = iota // the lobby is empty
	PhaseLoading              // the server or a client loads a map
	PhaseActive               // the map is played
)

// String names the phase.
func (p Phase) String() string { return [...]string{"idle", "loading", "active"}[min(p, PhaseActive)] }

// Phase returns the phase that the lobby is in.
//
//	Idle     no session and no player. With Config.SleepWhenEmpty the match stands still
//	Loading  the server loads a map while the old one is played, or a client that was on
//	         the old one has not said Ready for the new one
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

// Asleep reports whether the next ticks would do nothing, as the lobby is empty and may sleep: no
// session, no player, no map that is being loaded, and no line of the console that waits. Its owner
// may leave out ticks until a client or an operator comes; see Port.Woken. The match stands still
// meanwhile. Call it between ticks.
func (l *Lobby) Asleep() bool {
	return l.cfg.SleepWhenEmpty && !l.join.awaiting.on && l.join.empty() && l.maps.pending.poll == nil && !l.console.waits()
}
