package dst

import "slices"

// Shrink looks for a smaller case that violates the same invariant as b: fewer faults, then fewer
// clients, and no longer than until the violation. It plays at most budget runs and returns the
// smallest violation found, b at worst.
func Shrink(b *Violation, budget int) *Violation {
	best := b
	try := func(c Case) bool {
		if budget <= 0 {
			return false
		}
		budget--
		got, err := Run(c)
		if err != nil || got.Violation == nil || got.Violation.Invariant != b.Invariant {
			return false
		}
		best = got.Violation
		return true
	}
	best = dropFaults(best, try, &best)
	for c := best.Case; c.Lobbies > 1; c = best.Case {
		if c.Lobbies = min(c.Lobbies, len(c.Draw().Lobbies)) - 1; c.Lobbies < 1 || !try(c) {
			break
		}
	}
	for plan := b.Case.Draw(); ; {
		c := best.Case
		if n := c.Clients; n == 0 {
			c.Clients = (plan.Clients + 1) / 2
		} else {
			c.Clients = n - max(1, n/4)
		}
		if c.Clients < 1 || !try(c) {
			return best
		}
	}
}

// dropFaults leaves out faults, many at once and then one by one (Zeller's ddmin without its
// complements).
func dropFaults(b *Violation, try func(Case) bool, best **Violation) *Violation {
	left := func() []int {
		var all []int
		for i := range b.Case.Draw().Faults {
			if !slices.Contains((*best).Case.Without, i) {
				all = append(all, i)
			}
		}
		return all
	}
	for size := max(1, len(left())/2); size > 0; size /= 2 {
		for at := 0; ; {
			all := left()
			if at >= len(all) {
				break
			}
			c := (*best).Case
			c.Without = slices.Concat(c.Without, all[at:min(at+size, len(all))])
			slices.Sort(c.Without)
			if !try(c) {
				at += size
			}
		}
	}
	return *best
}
