package rows

import "math/bits"

// cuts is a tree laid out for batches, by feature instead of by path: for each of a feature's
// values a set of the leaves that the forks which ask it leave open. The leaf is what all features
// leave open; nothing depends on a branch. (After QuickScorer: Lucchese et al. 2015.)
type cuts []featureCut

type featureCut struct {
	ask  feature
	open [states]uint32 // by value, bit l: leaf l stays open; so a tree has at most 32
}

// cutsOf lays a tree out.
func cutsOf(forks []fork) cuts {
	var c cuts
	var below func(at int16) uint32
	below = func(at int16) uint32 { // leaves below a fork or a leaf
		if at < 0 {
			return 1 << ^at
		}
		return below(forks[at].next[0]) | below(forks[at].next[1])
	}
	for _, f := range forks {
		k := 0
		for k < len(c) && !c[k].ask.equals(f.ask) {
			k++
		}
		if k == len(c) {
			c = append(c, featureCut{ask: f.ask})
			for v := range c[k].open {
				c[k].open[v] = 1<<32 - 1
			}
		}
		for v := range c[k].open {
			c[k].open[v] &^= below(f.next[^f.ones>>v&1])
		}
	}
	return c
}

// equals reports whether two features ask the same.
func (x feature) equals(y feature) bool {
	return x.op == y.op && x.a == y.a && x.b == y.b && x.c == y.c
}

// leaves finds the leaf of each listed row of a batch: tree.find is its slow twin. leaf is as long
// as list.
func (c cuts) leaves(b *batch, mods []int32, target int, list, leaf []uint8) {
	if len(c) == 0 {
		clear(leaf)
		return
	}
	var open [lanes]uint32
	for i := range open[:len(list)] {
		open[i] = 1<<32 - 1
	}
	for k := range c {
		c[k].close(b, mods, target, list, open[:len(list)])
	}
	for i, set := range open[:len(list)] {
		leaf[i] = uint8(bits.TrailingZeros32(set))
	}
}

// close closes the leaves of each listed row that its value of the feature rules out: feature.value
// tells what that is.
func (c *featureCut) close(b *batch, mods []int32, target int, list []uint8, open []uint32) {
	x, table := &c.ask, &c.open
	a := int(x.a)
	open = open[:len(list)]
	switch x.op {
	case featStill:
		p, q, r, s, t := b.was(0, a), b.was(1, a), b.was(2, a), b.was(3, a), b.was(4, a)
		for k, i := range list {
			i &= lanes - 1
			n := differ(p[i], q[i]) | differ(q[i], r[i])<<1 | differ(r[i], s[i])<<2 | differ(s[i], t[i])<<3
			open[k] &= table[n&15]
		}
	case featTrend, featTrendSize:
		p, q, mod := b.was(int(x.b), a), b.was(int(x.c), a), mods[a]
		if x.op == featTrend {
			for k, i := range list {
				i &= lanes - 1
				open[k] &= table[signed(away(p[i], q[i], mod))&15]
			}
			return
		}
		for k, i := range list {
			i &= lanes - 1
			open[k] &= table[size(away(p[i], q[i], mod))&15]
		}
	case featBend, featBendSign:
		o, p, q, mod := b.was(0, a), b.was(int(x.b), a), b.was(int(x.c), a), mods[a]
		for k, i := range list {
			i &= lanes - 1
			d := away(away(o[i], p[i], mod), away(p[i], q[i], mod), mod)
			if x.op == featBend {
				open[k] &= table[size(d)&15]
			} else {
				open[k] &= table[signed(d)&15]
			}
		}
	case featStep:
		signedCut(&b.step[max(target, 0)], table, list, open)
	case featStepSize:
		sizeCut(&b.step[max(target, 0)], table, list, open)
	case featWrong:
		signedCut(&b.wrong[a], table, list, open)
	case featWrongSize:
		sizeCut(&b.wrong[a], table, list, open)
	case featMoved:
		signedCut(&b.moved[a], table, list, open)
	case featSize:
		signedCut(b.was(0, a), table, list, open)
	case featFresh:
		smallCut(&b.fresh[a], table, list, open)
	case featHeld:
		smallCut(b.was(0, a), table, list, open)
	case featAge:
		p := &b.fresh[a]
		for k, i := range list {
			open[k] &= table[since(b.now-p[i&(lanes-1)])&15]
		}
	case featHeldAge:
		p := b.was(0, a)
		for k, i := range list {
			open[k] &= table[since(b.now-p[i&(lanes-1)])&15]
		}
	case featEntry:
		for k, i := range list {
			open[k] &= table[b.entry[i&(lanes-1)]>>(a&31)&15]
		}
	default: // what neighbours do is nothing in a batch
		for k := range open {
			open[k] &= table[0]
		}
	}
}

func differ(a, b int32) uint32 {
	x := uint32(a ^ b)
	return (x | -x) >> 31
}

func signedCut(col *column, table *[states]uint32, list []uint8, open []uint32) {
	for k, i := range list {
		open[k] &= table[signed(col[i&(lanes-1)])&15]
	}
}

func sizeCut(col *column, table *[states]uint32, list []uint8, open []uint32) {
	for k, i := range list {
		open[k] &= table[size(col[i&(lanes-1)])&15]
	}
}

func smallCut(col *column, table *[states]uint32, list []uint8, open []uint32) {
	for k, i := range list {
		open[k] &= table[min(uint32(col[i&(lanes-1)]), states-1)]
	}
}
