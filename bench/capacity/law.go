package capacity

import (
	"fmt"
	"math"
	"math/bits"
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

// mostParts bounds the search over subsets of features.
const mostParts = 10

// fitLaw fits y to the features by weighted least squares. Errors weigh relative to y, or to floor where that is more. Of all subsets of the
// features that need no negative coefficient, it takes the one that explains most for its number of parts (BIC).
func fitLaw(name, unit string, facts []Facts, y []float64, floor float64, features []feature) Law {
	if len(features) > mostParts {
		panic("capacity: more features than subsets of them can be tried")
	}
	best, bestScore := Law{Name: name, Unit: unit}, math.Inf(1)
	for set := uint(1); set < 1<<len(features); set++ {
		k := bits.OnesCount(set)
		if k >= len(y) && k > 1 {
			continue
		}
		law, score, ok := solveLaw(set, facts, y, floor, features)
		if ok && score < bestScore {
			law.Name, law.Unit = name, unit
			best, bestScore = law, score
		}
	}
	for i, f := range facts {
		if y[i] > floor {
			best.Worst = max(best.Worst, math.Abs(best.at(f, features)/y[i]-1))
		}
	}
	return best
}

func solveLaw(set uint, facts []Facts, y []float64, floor float64, features []feature) (law Law, score float64, ok bool) {
	k, n := bits.OnesCount(set), len(y)
	if n < k {
		return law, 0, false
	}
	design, target, scale := mat.NewDense(n, k, nil), mat.NewVecDense(n, nil), make([]float64, k)
	column := 0
	for i, x := range features {
		if set>>i&1 == 0 {
			continue
		}
		for row, f := range facts {
			v := x.of(f) / max(y[row], floor)
			design.Set(row, column, v)
			scale[column] = max(scale[column], math.Abs(v))
		}
		if scale[column] == 0 {
			return law, 0, false // it says nothing of any of them
		}
		for row := range n {
			design.Set(row, column, design.At(row, column)/scale[column])
		}
		column++
	}
	for row := range n {
		target.SetVec(row, y[row]/max(y[row], floor))
	}
	var qr mat.QR
	qr.Factorize(design)
	var solution mat.VecDense
	if qr.Cond() > 1e6 || qr.SolveVecTo(&solution, false, target) != nil {
		return law, 0, false
	}
	column = 0
	for i, x := range features {
		if set>>i&1 == 0 {
			continue
		}
		c := solution.AtVec(column) / scale[column]
		if !(c > 0) {
			return law, 0, false
		}
		law.Parts = append(law.Parts, Part{x.name, c})
		column++
	}
	sum := 0.0
	for row, f := range facts {
		sum += sq((law.at(f, features) - y[row]) / max(y[row], floor))
	}
	return law, float64(n)*math.Log(sum/float64(n)+sq(noiseFloor)) + float64(k)*math.Log(float64(n)), true
}
