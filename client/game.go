package client

import "github.com/tickrate/tickrate/sim"

// Game is what is played, with all that stands on the arena; nil before we are in. It is not to be written. Where capture points follow
// from the arena they are worked out at each call: ask once.
func (c *Client) Game() *sim.Game {
	if c.state != Joined {
		return nil
	}
	g := c.cfg.Rules.Game
	if on, err := g.OnArena(c.predict.arena); err == nil {
		return on
	}
	return g
}
