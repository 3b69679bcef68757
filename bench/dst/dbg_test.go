package dst

import (
	"fmt"
	"testing"
)

func TestDbg(t *testing.T) {
	for _, s := range []uint64{132, 190} {
		p := Draw(s)
		fmt.Println(p.Relevance, p.Kbps)
	}
	c := Case{Seed: 143}
	for _, l := range Faults(c) {
		fmt.Println(l)
	}
	a, _ := newWorld(c, false)
	fmt.Println(a.run())
	b, _ := newWorld(c, true)
	fmt.Println(b.run(), differ(a.trace, b.trace))
	n := differ(a.trace, b.trace)
	c.Until = a.rate.At(1) * 0
	_ = n
}
