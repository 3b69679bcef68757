package client

import (
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/protocol"
)

// Spectate is the viewpoint of a spectator, which a token makes of a client. Snapshots then have
// what the watched player may see, and nothing of its owner row.
type Spectate struct {
	conn   *conn
	active bool
	target netid.ID
}

// Target is the player whose viewpoint the client has, 0 for a free camera. active is false for a
// player.
func (s *Spectate) Target() (id netid.ID, active bool) { return s.target, s.active }

// Next asks for the viewpoint of the next player. The server's answer is in Target.
func (s *Spectate) Next() error { return s.ask(protocol.Spectate{Mode: protocol.SpectateNext}) }

// Previous asks for the viewpoint of the previous player.
func (s *Spectate) Previous() error { return s.ask(protocol.Spectate{Mode: protocol.SpectatePrevious}) }

// Player asks for the viewpoint of a player; 0 is a free camera, which few servers allow.
func (s *Spectate) Player(id netid.ID) error {
	if id == 0 {
		return s.ask(protocol.Spectate{})
	}
	return s.ask(protocol.Spectate{Mode: protocol.SpectatePlayer, Player: uint32(id)})
}

func (s *Spectate) ask(w protocol.Spectate) error {
	var message [protocol.SpectateSize]byte
	return s.conn.request(w.Append(message[:0], protocol.MessageSpectate))
}

// message takes a message about the viewpoint and reports whether it is one.
func (s *Spectate) message(raw []byte) bool {
	w, err := protocol.ParseSpectate(raw, protocol.MessageViewpoint)
	if err != nil {
		return false
	}
	s.active, s.target = true, netid.ID(w.Player)
	return true
}

// reset forgets the target for a change of the map.
func (s *Spectate) reset() { s.target = 0 }
