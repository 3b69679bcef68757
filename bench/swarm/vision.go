package swarm

import (
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/tick"
)

// vision is what the players see of each other. The first full player of each lobby decodes for all of
// them; players that it does not see, behind walls or too far away, are known by what their own clients
// are sent of them. A wall between two players is each bot's own to find, by a ray.
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
		s.Figures.Seen += s.renew(lobby, c)
	}
}

// renew takes what a client sees, and the other players of its lobby by what they know of themselves.
// It returns how many other players the client sees.
func (s *Swarm) renew(lobby int, c *client.Client) (seen uint64) {
	v := &s.vision
	if v.visible[lobby] == nil {
		v.visible[lobby] = make([]VisiblePlayer, c.Welcome().MaxPlayers)
	}
	visible := v.visible[lobby]
	clear(visible)
	seen = AddSeen(visible, c)
	_, _, render := c.Clocks()
	for i := lobby; i < len(s.players); i += len(v.visible) {
		if !s.cfg.blind(i) && !s.cfg.spectates(i) {
			AddSelf(visible, s.players[i].client, s.cfg.Rate, render)
		}
	}
	return seen
}

// AddSeen adds the poses of a client's view, by slot, and returns how many other players it sees.
func AddSeen(visible []VisiblePlayer, c *client.Client) (others uint64) {
	for slot := range visible {
		if p, ok := c.Pose(slot); ok {
			visible[slot] = VisiblePlayer{ID: p.ID, Team: p.Team(), Alive: p.Alive(), Pos: p.Pos}
			if p.ID != uint32(c.ID()) {
				others++
			}
		}
	}
	return others
}

// AddSelf adds a player of which no pose was added, by what its own client was sent of it, which costs
// no decoding of other players. The position is that at the time render of a view, in a straight line:
// what is shown lies behind what was sent.
func AddSelf(visible []VisiblePlayer, c *client.Client, rate tick.Rate, render time.Duration) {
	slot := c.ID().Index()
	if slot >= len(visible) || visible[slot].ID != 0 {
		return
	}
	self, at := c.Self()
	if st, _ := c.State(); st != client.Joined || at == 0 {
		return
	}
	ago := max(0, min(time.Duration(at)*rate.Period()-render, maxShown))
	visible[slot] = VisiblePlayer{ID: uint32(c.ID()), Team: self.Team, Alive: self.RespawnTicks == 0,
		Pos: self.Motion.Pos.Sub(self.Motion.Vel.Scale(float32(ago.Seconds())))}
}

// maxShown bounds how far AddSelf goes back.
const maxShown = 200 * time.Millisecond

// observe gathers what a player of a lobby decides by.
func (v *vision) observe(o *Observation, lobby int, c *client.Client) {
	o.Self, _ = c.Self()
	o.ID, o.Visible = uint32(c.ID()), v.visible[lobby]
	if now, t, ok := c.Predicted(); ok {
		o.Self.Self, o.Tick = now, t+1
	}
	o.Arena, o.Team = c.Arena(), o.Self.Team
	v.field.AddTo(o, c)
}
