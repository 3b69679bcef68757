package swarm

import (
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/tick"
)

// vision is what the players see. The first full player of each lobby sees for all of its players.
type vision struct {
	visible [][]VisiblePlayer // by lobby and slot
	turn    int               // calls of lookAround
	field   FlowField
}

// looksPerSecond is the least number of times in a second that a player looks around. Bots need it
// less often than each tick of a fast server.
const looksPerSecond = 32

// next is called once a tick and returns which lobbies look around in it: the first, and how many
// lobbies lie between two.
func (v *vision) next(rate tick.Rate) (first, every int) {
	v.turn++
	every = max(int(rate)/looksPerSecond, 1)
	return v.turn % every, every
}

// lookAround renews what the first full player of some lobbies sees. It is called once a tick.
func (s *Swarm) lookAround() {
	first, every := s.vision.next(s.cfg.Rate)
	for lobby := first; lobby < min(len(s.vision.visible), len(s.players)); lobby += every {
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
