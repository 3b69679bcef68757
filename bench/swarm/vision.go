package swarm

import "github.com/tickrate/tickrate/client"

// vision is what the players see. The first full player of each lobby sees for all of its players.
type vision struct {
	visible [][]VisiblePlayer // by lobby and slot
	field   FlowField
}

// lookAround renews what the first full player of each lobby sees.
func (s *Swarm) lookAround() {
	for lobby := range min(len(s.vision.visible), len(s.players)) {
		c := s.players[lobby].client
		if st, _ := c.State(); st != client.Joined {
			continue
		}
		s.Figures.Observations++
		s.Figures.Seen += s.vision.renew(lobby, c)
	}
}

// renew takes the poses of a client's view and returns how many other players it sees.
func (v *vision) renew(lobby int, c *client.Client) (seen uint64) {
	if v.visible[lobby] == nil {
		v.visible[lobby] = make([]VisiblePlayer, c.Welcome().MaxPlayers)
	}
	for slot := range v.visible[lobby] {
		at := &v.visible[lobby][slot]
		*at = VisiblePlayer{}
		if p, ok := c.Pose(slot); ok {
			*at = VisiblePlayer{ID: p.ID, Team: p.Team(), Alive: p.Alive(), Pos: p.Pos}
			if p.ID != uint32(c.ID()) {
				seen++
			}
		}
	}
	return seen
}

// observe gathers what a player of a lobby decides by.
func (v *vision) observe(o *Observation, lobby int, c *client.Client) {
	visible := v.visible[lobby]
	o.Self, _ = c.Self()
	o.ID, o.Visible = uint32(c.ID()), visible
	if now, t, ok := c.Predicted(); ok {
		o.Self.Self, o.Tick = now, t+1
	}
	o.Arena = c.Arena()
	if slot := c.ID().Index(); slot < len(visible) {
		o.Team = visible[slot].Team
	}
	v.field.AddTo(o, c)
}
