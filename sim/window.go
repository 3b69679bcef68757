package sim

// OfferWindow is Offer for each command of a window, the last first, which is the oldest where ParseCommands wrote it. Nearly all of them
// have come before, and that takes a glance.
func (b *CommandBuffer) OfferWindow(window []Command) {
	for i := len(window) - 1; i >= 0; i-- {
		c := &window[i]
		switch at := &b.ring[c.Tick%bufferTicks]; {
		case c.Tick <= b.taken:
			b.newest = max(b.newest, c.Tick)
			b.Count.Stale++
		case *at == *c: // and clean, as what is here is
			b.Count.Duplicate++
		default:
			b.Offer(*c)
		}
	}
}
