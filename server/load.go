package server

import (
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/overload"
)

// SetLoadLevel sets what the lobby leaves out from its next tick on.
func (l *Lobby) SetLoadLevel(level overload.Level) {
	was := l.replication.loadLevel
	l.replication.loadLevel = level
	switch {
	case l.port.alone == nil: // see join.noSlot
	case level >= overload.NoNewPlayers:
		l.port.netcode.PauseAccepting()
	default:
		l.port.netcode.ResumeAccepting()
	}
	if level.Timescale() != was.Timescale() {
		l.broadcast(protocol.AppendTimescale(l.message[:0], level.Timescale()))
	}
}
