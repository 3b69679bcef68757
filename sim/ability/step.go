package ability

import (
	"math/bits"

	"github.com/tickrate/tickrate/ecs/tick"
)

// Step takes a player's abilities through one tick. out is overwritten. Any state and input are
// safe.
func Step(s *State, in Input, h *Hero, out *Actions) {
	out.Count, out.Began, out.Ended, out.Reload, out.Loaded, out.Sprint = 0, 0, 0, 0, 0, false
	if !in.Alive {
		in.Buttons, in.MoveMag = 0, 0
	}
	whenIdle := s.request(&in, h)
	s.control(whenIdle, h, out)
	for m := h.guns; m != 0; m &= m - 1 {
		i := bits.TrailingZeros8(m)
		if w := &s.Slots[i]; s.On>>i&1 != 0 || w.Heat != 0 || w.Cool != 0 {
			s.updateGun(i, &in, h, out)
		}
	}
	for m := s.Cooling; m != 0; m &= m - 1 {
		i := bits.TrailingZeros8(m)
		w := &s.Slots[i]
		if w.Cool--; w.Cool <= 0 {
			w.Cool = 0
			s.Cooling &^= 1 << i
		}
	}
	for m := s.On & s.Active & h.work; m != 0; m &= m - 1 {
		s.update(bits.TrailingZeros8(m), &in, h, out)
	}
	if in.Alive {
		s.Active &^= h.dead
	}
	s.Active &^= s.Asked & h.movement
	out.Sprint = h.sprints(s)
	out.Move = s.On&h.movement == h.movement
}

// sprints reports whether the player sprints: the ability is active and its stop delay has not
// begun.
func (h *Hero) sprints(s *State) bool {
	return s.Active&h.sprint != 0 && s.Slots[bits.TrailingZeros8(h.sprint)&(MaxSlots-1)].Cool == 0
}

// request is the first part of a tick. whenIdle is the requests that are served only if no other
// ability is active.
func (s *State) request(in *Input, h *Hero) (whenIdle uint8) {
	if !in.Alive {
		s.Request = h.dead &^ s.Active
		return 0
	}
	var want uint8
	for k := in.Buttons & h.keys; k != 0; k &= k - 1 {
		want |= h.wants[bits.TrailingZeros16(k)&15]
	}
	if in.moves() {
		want |= h.movement
		want &^= h.emote
	}
	if !in.forward() {
		want &^= h.sprint
	}
	if !in.Grounded {
		want &^= h.rockets
	}
	reload := in.Buttons&ReloadKey != 0
	for m := h.guns; m != 0; m &= m - 1 {
		i := bits.TrailingZeros8(m)
		load := s.Slots[i].Load
		if load == 0 {
			whenIdle |= 1 << i
		}
		if reload && load < h.slots[i].clip {
			want |= 1 << i
		}
	}
	if want&h.guns != 0 {
		want &^= h.sprint // it would be asked to end at once
	}
	whenIdle &^= want
	s.Request = (want | whenIdle | s.Request&h.sticky) &^ (s.Active | s.Cooling)
	return whenIdle
}

// control is the second part of a tick.
func (s *State) control(whenIdle uint8, h *Hero, out *Actions) {
	over := s.On &^ s.Active
	last := over&s.Asked | whenIdle // an ability that made room comes after those it made room for
	out.Ended = over
	s.On &= s.Active
	s.Asked &= s.On
	if s.Request != 0 {
		s.activate(s.Request&^last, whenIdle, h, out)
		s.activate(s.Request&last, whenIdle, h, out)
	}
}

// activate serves requests in the order of the list.
func (s *State) activate(requests, whenIdle uint8, h *Hero, out *Actions) {
	for m := requests; m != 0; m &= m - 1 {
		i := bits.TrailingZeros8(m)
		bit, c := uint8(1)<<i, &h.slots[i]
		if against := s.On &^ c.runsWith; against != 0 {
			if whenIdle&bit != 0 {
				continue
			}
			if off := against & c.interrupts; off != 0 {
				s.interrupt(off, h)
				out.Ended |= off
			}
			if wait := against &^ c.interrupts; wait != 0 {
				s.Asked |= wait
				continue
			}
		}
		s.On |= bit
		s.Active |= bit
		s.Request &^= bit
		out.Began |= bit
		if h.timed&bit != 0 {
			s.Slots[i].Cool = c.period
		} else if h.guns&bit == 0 {
			s.Slots[i].Cool = 0
		}
	}
}

// interrupt switches abilities off at once. Guns lose an unfinished reload, and are ready no
// sooner than after a shot; timed abilities cool down.
func (s *State) interrupt(off uint8, h *Hero) {
	s.On &^= off
	s.Active &^= off
	s.Asked &^= off
	for m := off & s.Reloading; m != 0; m &= m - 1 {
		i := bits.TrailingZeros8(m)
		s.Slots[i].Cool = int16(h.slots[i].perShot)
	}
	s.Reloading &^= off
	for m := off & h.timed; m != 0; m &= m - 1 {
		if i := bits.TrailingZeros8(m); s.Slots[i].Cool > 0 {
			s.Cooling |= 1 << i
		}
	}
}

// update is the third part of a tick, for slot i, which is active and not a gun.
func (s *State) update(i int, in *Input, h *Hero, out *Actions) {
	bit, c, w := uint8(1)<<i, &h.slots[i], &s.Slots[i]
	switch c.kind {
	case Sprint:
		s.updateSprint(i, in, h)
	case Emote:
		if out.Began&bit != 0 {
			first := in.Buttons & c.keys & -(in.Buttons & c.keys)
			w.Load = 1 + uint8(bits.OnesCount16(c.keys&(first-1)))
			w.Count++
			out.add(&c.action).Type = w.Load
		}
		if s.Asked&bit != 0 || in.moves() {
			s.Active &^= bit
		}
	default: // timed
		since := c.period - w.Cool
		if since == c.impact {
			w.Count++
			out.add(&c.action)
		}
		w.Cool--
		if since+1 >= c.active {
			s.Active &^= bit
			if w.Cool > 0 {
				s.Cooling |= bit
			}
		}
	}
}

// updateSprint updates a sprint. Cool is 0 while it sprints, then counts the stop delay down.
func (s *State) updateSprint(i int, in *Input, h *Hero) {
	bit, c, w := uint8(1)<<i, &h.slots[i], &s.Slots[i]
	if w.Cool == 0 {
		if s.Asked&bit == 0 && in.Buttons&c.keys != 0 && in.forward() {
			return
		}
		w.Cool = c.stop
	}
	if w.Cool--; w.Cool <= 0 {
		w.Cool = 0
		s.Active &^= bit
	}
}

// updateGun updates a gun, which cools down also while it is inactive.
func (s *State) updateGun(i int, in *Input, h *Hero, out *Actions) {
	bit, c, w := uint8(1)<<i, &h.slots[i], &s.Slots[i]
	on := s.On&bit != 0
	pulled := on && in.Buttons&c.keys != 0
	if c.spin != 0 && pulled && w.Load > 0 && s.Reloading&bit == 0 {
		w.Heat = min(w.Heat+c.heatStep(in.Tick, h), c.spin)
	} else if w.Heat > 0 && (c.spin != 0 || w.Cool <= 0 ||
		s.Reloading&bit != 0) { // a cone not between two shots
		w.Heat -= min(w.Heat, c.heatStep(in.Tick, h))
	}
	if s.Reloading&bit != 0 {
		if w.Cool--; w.Cool > 0 {
			return
		}
		s.Reloading &^= bit
		w.Cool, w.Load = 0, c.clip
		out.Loaded |= bit
	} else if w.Cool > 0 {
		w.Cool -= int16(c.perTick)
		if c.spin != 0 {
			w.Cool -= int16(w.Heat)
		}
	}
	switch {
	case !on:
		w.Cool = max(w.Cool, 0)
	case s.Asked&bit != 0:
		if w.Cool <= 0 {
			w.Cool = 0
			s.Active &^= bit
		}
	case w.Load == 0, in.Buttons&ReloadKey != 0 && w.Load < c.clip:
		s.Reloading |= bit
		w.Cool = max(c.reload, 1)
		out.Reload |= bit
	case !pulled:
		if w.Cool <= 0 {
			w.Cool = 0
			s.Active &^= bit
		}
	case w.Cool <= 0:
		s.fire(c, w, out)
	}
}

// fire fires one shot. The next is due one shot interval after this one was due, not after it was
// fired, so that the rate is exact where it is not a whole number of ticks.
func (s *State) fire(c *compiledSlot, w *Slot, out *Actions) {
	a := out.add(&c.action)
	w.Load--
	w.Count++
	w.Cool += int16(c.perShot)
	if a.Kind == ActionShot {
		a.Shot = 0
		for i := range out.Count - 1 {
			if out.List[i].Kind == ActionShot {
				a.Shot++
			}
		}
	}
	if c.spin == 0 {
		a.Cone = w.Heat / 2
		w.Heat = min(w.Heat+c.cone, c.coneMax)
	}
}

// heatStep is how much tick t may change a gun's heat.
func (c *compiledSlot) heatStep(t tick.Tick, h *Hero) uint16 {
	return c.heat[uint32(t)%h.rate%heatSteps]
}
