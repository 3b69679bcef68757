package client

import (
	"time"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/protocol"
)

// looking is what the server told us of looking on, and of its time.
type looking struct {
	on     bool
	target netid.ID

	tempo uint16        // 0: as fast as ours
	since time.Duration // by our clock, when that began
	began time.Duration // and by the one that runs with the server's
}

// Target is through whose eyes we look, if we only look on, as our token says: 0 for nobody's. on is false for who plays. What the
// server tells us of others is what that player may see; of what only the player itself is told we get nothing.
func (c *Client) Target() (id netid.ID, on bool) { return c.looks.target, c.looks.on }

// WatchNext asks to look through the next player's eyes, or those of the one before if back. The server's answer is in Target.
func (c *Client) WatchNext(back bool) error {
	if back {
		return c.watch(protocol.Spectate{Mode: protocol.SpectatePrevious})
	}
	return c.watch(protocol.Spectate{Mode: protocol.SpectateNext})
}

// Watch asks to look through a player's eyes; through nobody's if id is 0, which few servers allow.
func (c *Client) Watch(id netid.ID) error {
	if id == 0 {
		return c.watch(protocol.Spectate{})
	}
	return c.watch(protocol.Spectate{Mode: protocol.SpectatePlayer, Player: uint32(id)})
}

func (c *Client) watch(w protocol.Spectate) error {
	if c.state != Joined {
		return ErrNotJoined
	}
	var event [protocol.SpectateSize]byte
	return c.peer.QueueReliable(w.Append(event[:0], protocol.MessageSpectate))
}

// Tempo is how fast the server's time runs, of protocol.FullTimescale: a server that has too much to do slows it down for all.
func (c *Client) Tempo() uint16 {
	if c.looks.tempo == 0 {
		return protocol.FullTimescale
	}
	return c.looks.tempo
}

// take takes an event about looking on or the server's time; false if it is none.
func (l *looking) take(now time.Duration, raw []byte) bool {
	if w, err := protocol.ParseSpectate(raw, protocol.MessageViewpoint); err == nil {
		l.on, l.target = true, netid.ID(w.Player)
		return true
	}
	tempo, err := protocol.ParseTimescale(raw)
	if err != nil {
		return false
	}
	l.began, l.since, l.tempo = l.at(now), now, tempo
	return true
}

// at is our clock, made to run as fast as the server's: what the server's ticks are measured by.
func (l *looking) at(now time.Duration) time.Duration {
	if l.tempo == 0 {
		return now
	}
	return l.began + (now-l.since)*time.Duration(l.tempo)/protocol.FullTimescale
}
