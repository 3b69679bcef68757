package swarm

import (
	"errors"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/packet"
)

// refusal is why a server has refused player i before it was in; nil: it has not.
func (s *Swarm) refusal(i int) error {
	c := s.players[i].client
	state, why := c.State()
	byServer := why != packet.ReasonTimeout && c.Stats().Snapshots == 0
	if state != client.Denied && (state != client.Lost || !byServer) {
		return nil
	}
	if err := c.Err(); err != nil {
		return err
	}
	return errors.New(why.String())
}

// Settled counts the players that have joined and those that were refused. It tells Config.Refused
// of each of these once.
func (s *Swarm) Settled() (joined, refused int) {
	for i := range s.players {
		p := &s.players[i]
		state, _ := p.client.State()
		switch {
		case state == client.Joined:
			joined++
		case s.cfg.Refused == nil || state <= client.Joined:
		case s.refusal(i) != nil:
			refused++
			if !p.refused {
				p.refused = true
				s.cfg.Refused(s.cfg.First+i, s.refusal(i))
				if i < s.Figures.Sampled {
					s.Figures.SampledRefused++
				}
			}
		}
	}
	return joined, refused
}

// WhyRefused is why the first of the refused players was refused; nil if none was.
func (s *Swarm) WhyRefused() error {
	for i := range s.players {
		if s.players[i].refused {
			return s.refusal(i)
		}
	}
	return nil
}

// Refused reports whether player i was refused, as far as Settled has seen it.
func (s *Swarm) Refused(i int) bool { return s.players[i].refused }

// ServerRate is the highest tick rate of the servers of players that have joined; 0 if none has.
func (s *Swarm) ServerRate() (rate tick.Rate) {
	for i := range s.players {
		rate = max(rate, s.players[i].client.Stats().TickRate)
	}
	return rate
}

// SetRate makes a rate that of the schedule. To be called between runs.
func (s *Swarm) SetRate(rate tick.Rate) {
	if rate > 0 {
		s.cfg.Rate = rate
	}
}
