package quake3

import (
	"bytes"
	"encoding/hex"
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

// The code is the wire format's. Debian's server read the connect packet, and its messages in
// testdata are in the fixed code.
func TestCodes(t *testing.T) {
	const text = `"\name\bot7\rate\99999\snaps\125\model\sarge\protocol\71"`
	const want = "00394474b08b216cc7943002fbe332d82d4ee826709edb7138b72d1c2201a3c1b4614529c1a43636f73580791dcc377d605ce3512100"
	if got := hex.EncodeToString(Compress([]byte(text))); got != want {
		t.Errorf("%s is\n%s, want\n%s", text, got, want)
	}
	for symbol, want := range map[int]string{0: "01", 1: "11011", 'a': "00111100", 255: "001001"} {
		got := ""
		for _, bit := range fixed().bits[symbol] {
			got += string('0' + rune(bit))
		}
		if got != want {
			t.Errorf("code of %d: %s, want %s", symbol, got, want)
		}
	}
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
			if n.parent != nil && n.parent.number < r {
				t.Fatalf("after %d: node %d stands behind its parent", i, r)
			}
			if n.number != r {
				t.Fatalf("after %d: node %d has number %d", i, r, n.number)
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
