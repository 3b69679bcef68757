package swarm

// crowded is by how much more than its part of all players a slot may have to send, in eighths. Players who hear of the same ticks want to
// send at the same instants; a slot that let them all would be late, and make the next ones late.
const crowded = 10

// sweep is play for thousands: whoever is due decides and sends, one after the other round all of them, as many as fit into a slot. The
// others do so in the next one.
func (s *Swarm) sweep() {
	due := s.now - s.cfg.Rate.Period()/20 // a clock may run slower by so much than was expected
	left := len(s.bots)*crowded/8/slots + 1
	for range s.bots {
		i := s.next
		if s.next++; s.next == len(s.bots) {
			s.next = 0
		}
		if due < s.due[i] {
			continue
		}
		s.step(i, s.now-s.due[i])
		if left--; left == 0 {
			return
		}
	}
}
