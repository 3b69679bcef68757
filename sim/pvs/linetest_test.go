package pvs

import (
	"math/rand/v2"
	"testing"
)

// wall.blocks agrees with a test of each line between the corners of two boxes, and wall.intersects
// with linePart.clip alone.
func TestBlocksIsAllLines(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	draw := func(low, high float64) float64 { // on a grid, so that edges fall together
		return low + float64(r.IntN(int(4*(high-low))+1))/4
	}
	box := func(low, high, long float64) box {
		p := point{draw(low, high), draw(-2, 3), draw(low, high)}
		return box{p, point{p.x + draw(0.25, long), p.y + draw(0.25, 5), p.z + draw(0.25, long)}}
	}
	blocked, met := 0, 0
	for range 200_000 {
		w := wall{box: box(-6, 4, 9)}
		if r.IntN(2) == 0 {
			w.erode()
		}
		if r.IntN(8) == 0 { // thinner than nothing
			w.lo.x, w.hi.x = w.hi.x, w.lo.x
		}
		eye, body := box(-9, -7, 2), box(-9, 7, 2)
		want := w.blocksAt(&eye, &body, eye.hi.y, body.hi.y)
		if w.lo.y > eye.lo.y || w.lo.y > body.lo.y {
			want = want && w.blocksAt(&eye, &body, eye.hi.y, body.lo.y) && w.blocksAt(&eye, &body, eye.lo.y,
				body.hi.y) && w.blocksAt(&eye, &body, eye.lo.y, body.lo.y)
		}
		if got := w.blocks(&eye, &body); got != want {
			t.Fatalf("%+v between %+v and %+v: %v, want %v", w, eye, body, got, want)
		}
		if want {
			blocked++
		}
		p, d := middle(&eye, &body)
		part := linePart{0, 1}
		want = part.clip(interval{w.lo.x, w.hi.x}, p.x, d.x) &&
			part.clip(interval{w.lo.z, w.hi.z}, p.z, d.z) &&
			part.clip(interval{w.lo.y, w.hi.y}, p.y, d.y)
		if w.intersects(&p, &d) != want {
			t.Fatalf("%+v is met from %v by %v: %v, want %v", w, p, d, !want, want)
		}
		if want {
			met++
		}
	}
	if blocked < 1000 || met < 1000 {
		t.Errorf("%d walls block, and %d are met: too few to tell", blocked, met)
	}
}

// tryRecent, which tests parts of other nodes, never contradicts the search through all parts.
func TestGuessesAreRight(t *testing.T) {
	for i, a := range scenes(t)[3:] {
		b, err := newBuilder(a, Fit(a, 4))
		if err != nil {
			t.Fatal(err)
		}
		r, guessed := rand.New(rand.NewPCG(uint64(i), 5)), 0
		for range 3000 {
			x, y := r.IntN(len(b.nodes)), r.IntN(len(b.nodes))
			from, to := b.nodeParts(x), b.nodeParts(y)
			if from[0].empty() || to[0].empty() {
				continue
			}
			if b.tryRecent(from, to) {
				if b.effortLeft = b.c.Effort; b.allHidden(from, to, 0, 0) {
					t.Fatalf("%s: node %d sees %d by a guess, and not if it is looked through", a.Name, x, y)
				}
				guessed++
			}
			b.computeVisible(x, y)
		}
		if guessed == 0 {
			t.Errorf("%s: nothing was guessed", a.Name)
		}
	}
}
