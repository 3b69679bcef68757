package capacity

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/mat"
)

// Law is a sum of parts, each a coefficient times something known of a scenario. No coefficient is negative: no work takes time back.
type Law struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit"`
	Parts []Part  `json:"parts"` // those that are not 0; none: nothing was measured, or it was 0
	Worst float64 `json:"worst"` // relative error of the worst of the points that it was fitted to
}

// Part is one of them, per what Of names.
type Part struct {
	Of          string  `json:"of"`
	Coefficient float64 `json:"coefficient"`
}

// String writes the law as a sum.
func (l Law) String() string {
	var all []string
	for _, p := range l.Parts {
		if p.Of == "1" {
			all = append(all, fmt.Sprintf("%.4g", p.Coefficient))
		} else {
			all = append(all, fmt.Sprintf("%.4g·%s", p.Coefficient, p.Of))
		}
	}
	if len(all) == 0 {
		return "0"
	}
	return strings.Join(all, " + ")
}

// feature is something known of a scenario.
type feature struct {
	name string
	of   func(Facts) float64
}

// at works out the law for a scenario.
func (l Law) at(f Facts, features []feature) (sum float64) {
	for _, p := range l.Parts {
		for _, x := range features {
			if x.name == p.Of {
				sum += p.Coefficient * x.of(f)
			}
		}
	}
	return sum
}

// fitLaw fits y to the features by non-negative least squares. Errors weigh relative to y, or to floor where that is more. Then parts are
// taken away one by one, as long as what remains explains more for its number of parts (BIC).
func fitLaw(name, unit string, facts []Facts, y []float64, floor float64, features []feature) Law {
	return fitWeighed(name, unit, facts, y, nil, floor, features)
}

// fitWeighed is fitLaw where errors of some points count for less: weights are 1 or less, nil all 1.
func fitWeighed(name, unit string, facts []Facts, y, weights []float64, floor float64, features []feature) Law {
	law := Law{Name: name, Unit: unit}
	s := newSquares(facts, y, weights, floor, features)
	best := s.fit(s.all())
	for {
		next := best
		for i := range features {
			if best.coefficient[i] > 0 && s.usable[i] {
				without := best.in
				without[i] = false
				if c := s.fit(without); c.score < next.score {
					next = c
				}
			}
		}
		if next.score >= best.score {
			break
		}
		best = next
	}
	for i, x := range features {
		if c := best.coefficient[i] / s.scale[i]; c > 0 {
			law.Parts = append(law.Parts, Part{x.name, c})
		}
	}
	for i, f := range facts {
		if y[i] > floor {
			law.Worst = max(law.Worst, math.Abs(law.at(f, features)/y[i]-1))
		}
	}
	return law
}

// mostFeatures bounds how many features there may be.
const mostFeatures = 24

// squares is a weighted least squares problem: the normal equations of columns that are scaled to 1.
type squares struct {
	n      int // points
	k      int // features
	gram   [mostFeatures][mostFeatures]float64
	right  [mostFeatures]float64
	left   float64 // sum of squares of the points themselves
	scale  [mostFeatures]float64
	usable [mostFeatures]bool // the feature says something of some point
}

func newSquares(facts []Facts, y, weights []float64, floor float64, features []feature) *squares {
	if len(features) > mostFeatures {
		panic("capacity: more features than a law may have")
	}
	s := &squares{n: len(y), k: len(features)}
	rows := make([][mostFeatures]float64, len(y))
	per := make([]float64, len(y)) // what a point's terms count for
	for row, f := range facts {
		per[row] = 1 / max(y[row], floor)
		if weights != nil {
			per[row] *= weights[row]
		}
		for i, x := range features {
			v := x.of(f) * per[row]
			rows[row][i] = v
			s.scale[i] = max(s.scale[i], math.Abs(v))
		}
	}
	for i := range features {
		if s.usable[i] = s.scale[i] > 0; !s.usable[i] {
			s.scale[i] = 1
		}
	}
	for row, r := range rows {
		target := y[row] * per[row]
		s.left += target * target
		for i := range features {
			s.right[i] += r[i] / s.scale[i] * target
			for j := range features {
				s.gram[i][j] += r[i] / s.scale[i] * r[j] / s.scale[j]
			}
		}
	}
	return s
}

// fitted is one solution.
type fitted struct {
	in          [mostFeatures]bool // features that it may have
	coefficient [mostFeatures]float64
	score       float64
}

// all are the features that can be told from 0.
func (s *squares) all() [mostFeatures]bool { return s.usable }

// fit is the non-negative least squares solution (Lawson and Hanson) with some of the features, and its score: lower is better.
func (s *squares) fit(in [mostFeatures]bool) fitted {
	f := fitted{in: in}
	var active [mostFeatures]bool
	for range 3 * mostFeatures {
		best, slope := -1, 1e-9
		for i := range s.k {
			if in[i] && !active[i] {
				g := s.right[i]
				for j := range s.k {
					g -= s.gram[i][j] * f.coefficient[j]
				}
				if g > slope {
					best, slope = i, g
				}
			}
		}
		if best < 0 {
			break
		}
		active[best] = true
		for {
			c, ok := s.solve(active)
			if !ok { // the new one is what others are already
				active[best] = false
				in[best] = false
				break
			}
			step, least := 1.0, -1
			for i := range s.k {
				if active[i] && c[i] <= 0 {
					if at := f.coefficient[i] / (f.coefficient[i] - c[i]); at < step || least < 0 {
						step, least = min(at, step), i
					}
				}
			}
			if least < 0 {
				f.coefficient = c
				break
			}
			for i := range s.k {
				if active[i] {
					f.coefficient[i] += step * (c[i] - f.coefficient[i])
				}
			}
			f.coefficient[least], active[least] = 0, false
		}
	}
	sum, parts := s.left, 0
	for i := range s.k {
		if f.coefficient[i] > 0 {
			parts++
		}
		sum -= 2 * f.coefficient[i] * s.right[i]
		for j := range s.k {
			sum += f.coefficient[i] * s.gram[i][j] * f.coefficient[j]
		}
	}
	n := float64(s.n)
	f.score = n*math.Log(max(sum, 0)/n+sq(noiseFloor)) + float64(parts)*math.Log(n)
	return f
}

// solve is the least squares solution of some columns alone. It refuses columns that are one direction measured twice.
func (s *squares) solve(active [mostFeatures]bool) (c [mostFeatures]float64, ok bool) {
	var at []int
	for i := range s.k {
		if active[i] {
			at = append(at, i)
		}
	}
	if len(at) > s.n {
		return c, false
	}
	m, right := mat.NewSymDense(len(at), nil), mat.NewVecDense(len(at), nil)
	for i, x := range at {
		right.SetVec(i, s.right[x])
		for j := i; j < len(at); j++ {
			m.SetSym(i, j, s.gram[x][at[j]])
		}
	}
	var chol mat.Cholesky
	var solution mat.VecDense
	if !chol.Factorize(m) || chol.Cond() > 1e12 || chol.SolveVecTo(&solution, right) != nil {
		return c, false
	}
	for i, x := range at {
		c[x] = solution.AtVec(i)
	}
	return c, true
}
