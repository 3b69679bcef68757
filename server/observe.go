package server

// Observe says whether the lobby is observed, as it is from the start. While it is not, it plays and sends the very same, but nobody
// asks a clock or a profiler's labels for its stages, and no histogram, no account of what was sent and no count of commands is kept;
// counters of datagrams and of what happens go on. It is for measuring what observing costs. Call it between ticks.
func (l *Lobby) Observe(on bool) { l.unobserved = !on }
