package client

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim/arena"
)

// Movers appends where the map's movers are in the picture of p, in the order of the map: at the
// predicted instant, as the own player's body meets them, and its shots.
func (c *Client) Movers(p *Presented, dst []geom.AABB) []geom.AABB {
	now := c.moment(p.Tick)
	next := arena.Moment{Tick: now.Tick + 1, Rate: now.Rate}
	for i := range c.arena.Movers {
		m := &c.arena.Movers[i]
		box, by := m.At(now), m.Displacement(next).Scale(p.Frac)
		dst = append(dst, geom.AABB{Min: box.Min.Add(by), Max: box.Max.Add(by)})
	}
	return dst
}
