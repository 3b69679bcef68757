package quake3

import (
	"bytes"
	"testing"
)

func FuzzCompress(f *testing.F) {
	f.Add([]byte(`"\name\bot\rate\99999"`))
	f.Fuzz(func(t *testing.T, src []byte) {
		src = src[:min(len(src), 4096)]
		if got, err := Decompress(Compress(src)); err != nil || !bytes.Equal(got, src) {
			t.Fatalf("%q came back as %q, %v", src, got, err)
		}
		_, _ = Decompress(src)
	})
}

// The order of an adaptive tree has rising weights, siblings side by side and sums in its nodes.
func TestAdaptiveOrder(t *testing.T) {
	tree := newAdaptive()
	for i := range 3000 {
		tree.count(i * i % 251 % (1 + i%97))
		for r, n := range tree.order {
			if r > 0 && tree.order[r-1].weight > n.weight {
				t.Fatalf("after %d: weight falls at %d", i, r)
			}
			if n.parent != nil && n.parent.rank < r {
				t.Fatalf("after %d: node %d stands behind its parent", i, r)
			}
			if n.rank != r {
				t.Fatalf("after %d: node %d has rank %d", i, r, n.rank)
			}
			if n.zero != nil && n.zero.weight+n.one.weight != n.weight {
				t.Fatalf("after %d: weight %d is not the sum of %d and %d", i, n.weight, n.zero.weight, n.one.weight)
			}
		}
	}
}

func TestFixedCodeIsComplete(t *testing.T) {
	sum := 0.0
	for _, bits := range fixed().bits {
		p := 1.0
		for range bits {
			p /= 2
		}
		sum += p
	}
	if sum > 1 || sum < 0.99 {
		t.Errorf("the code's lengths add up to %v of one", sum)
	}
}
