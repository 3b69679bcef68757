package sim

// OfferWindow is Offer for each command of a window, from the last to the first, which is from the
// oldest on as ParseCommands orders them. It skips the commands that arrived before, which are
// nearly all, without a copy.
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
