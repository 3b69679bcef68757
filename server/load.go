package server

import (
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/overload"
)

// SetLoadLevel sets what the lobby leaves out from its next tick on.
func (l *Lobby) SetLoadLevel(level overload.Level) {
	was := l.replication.loadLevel
	l.replication.loadLevel = level
	if level >= overload.NoNewPlayers {
		l.netcode.PauseAccepting()
	} else {
		l.netcode.ResumeAccepting()
	}
	if level.Timescale() != was.Timescale() {
		l.broadcast(protocol.AppendTimescale(l.message[:0], level.Timescale()))
	}
}
