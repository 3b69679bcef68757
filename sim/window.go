package sim

// OfferWindow offers every command of a window, the oldest first. ParseCommands puts the newest
// first, so the window is read backwards. Most commands arrived with earlier packets: those are
// counted without a copy.
func (b *CommandBuffer) OfferWindow(window []Command) {
	for i := len(window) - 1; i >= 0; i-- {
		c := &window[i]
		switch at := &b.ring[c.Tick%bufferTicks]; {
		case c.Tick <= b.taken:
			b.newest = max(b.newest, c.Tick)
			b.Count.Stale++
		case *at == *c: // and sanitized, as the stored one is
			b.Count.Duplicate++
		default:
			b.Offer(*c)
		}
	}
}
