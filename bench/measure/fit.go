package measure

import (
	"math"
	"math/bits"
	"sort"
)

// Cost is the CPU time of a tick: a curve for each stage and one for the whole.
type Cost struct {
	Stages []Curve `json:"stages"`
	Total  Curve   `json:"total"`
}

// Curve is A + B*N + C*N*V, for N players that see V others each; no term is negative. In a plan
// all players see all, so V = N.
//
// Few or close sizes cannot separate the terms: at most max(1, sizes-1) are fitted. The curve with
// the best Bayesian information criterion is taken.
type Curve struct {
	Name string  `json:"name"`
	A    float64 `json:"a_ms"`
	B    float64 `json:"b_ms_per_player"`
	C    float64 `json:"c_ms_per_pair"`
	// Fraction of the variance between steps that the curve explains; nil where the curve has as many
	// parts as there are sizes, and so passes through all of them whatever they are.
	R2        *float64   `json:"r2"`
	Parts     int        `json:"parts"` // number of A, B, C that were fitted; 0: no data
	Residuals []Residual `json:"residuals"`
}

// Residual is one measured point beside the curve, ms a tick.
type Residual struct {
	Players  int     `json:"players"`
	Measured float64 `json:"measured_ms"`
	Fitted   float64 `json:"fitted_ms"`
}

// At is the curve for n players that see visible others each, ms a tick.
func (c Curve) At(n, visible int) float64 {
	return c.A + c.B*float64(n) + c.C*float64(n)*float64(visible)
}

// Marginal is the time that one more player adds to a tick of n players that all see each other,
// ms.
func (c Curve) Marginal(n int) float64 { return c.At(n+1, n+1) - c.At(n, n) }

// Fit fits all steps that are not void. Stages keep their order. The total is fitted to the mean
// CPU time of whole ticks.
func Fit(steps []Step) Cost {
	var names []string
	points := map[string][]Residual{}
	var total []Residual
	for _, s := range steps {
		if s = s.Finite(); s.Void || s.Players <= 0 {
			continue
		}
		for _, stage := range s.StageCPUMillis {
			if _, known := points[stage.Name]; !known {
				names = append(names, stage.Name)
			}
			points[stage.Name] = append(points[stage.Name], Residual{Players: s.Players,
				Measured: stage.Mean})
		}
		total = append(total, Residual{Players: s.Players, Measured: s.TickCPUMillis.Mean})
	}
	cost := Cost{Total: fitCurve("tick", total)}
	for _, name := range names {
		cost.Stages = append(cost.Stages, fitCurve(name, points[name]))
	}
	return cost
}

// Errors of CPU times grow with the times, so the weight of a point is the inverse of its time.
// smallestWeighed bounds the weights: smaller times, as shares of the largest, weigh as this.
const smallestWeighed = 0.01

// noiseFloor is a relative error that is noise: a smaller one justifies no further term.
const noiseFloor = 1e-3

// worstCondition bounds the collinearity of a curve's columns over the measured sizes. If less than
// 1/worstCondition of a column is independent of the others, the sizes are too close to separate
// the terms.
const worstCondition = 1e3

func fitCurve(name string, points []Residual) Curve {
	points = append([]Residual(nil), points...)
	sort.SliceStable(points, func(i, j int) bool { return points[i].Players < points[j].Players })
	best, bestScore := Curve{Name: name, Residuals: []Residual{}}, math.Inf(1)
	if len(points) == 0 {
		return best
	}
	most := max(1, distinct(points)-1)
	for parts := uint(1); parts < 8; parts++ { // bit 0: A, bit 1: B, bit 2: C
		k := bits.OnesCount(parts)
		if k > most || (most == 1 && parts == 1) {
			continue // one or two sizes: no constant alone, so the cost scales with players
		}
		c, ok := solve(points, parts)
		if !ok {
			continue
		}
		if s := score(points, c, k); s < bestScore {
			c.Name, c.Parts = name, k
			best, bestScore = c, s
		}
	}
	var r2 float64
	if best.Residuals, r2 = residuals(points, best); distinct(points) > best.Parts {
		best.R2 = &r2
	}
	return best
}

// solve fits the chosen terms by weighted least squares, columns scaled to the largest size. It
// refuses a curve that has a negative term, and terms that the sizes cannot separate. The best of
// all subsets that remain is exactly the non-negative least squares solution.
func solve(points []Residual, parts uint) (Curve, bool) {
	if len(points) < bits.OnesCount(parts) {
		return Curve{}, false
	}
	top, scale := largest(points), float64(points[len(points)-1].Players)
	columns, target := make([][]float64, bits.OnesCount(parts)), make([]float64, len(points))
	for i, p := range points {
		w := weight(p.Measured, top)
		x := float64(p.Players) / scale
		column := 0
		for part, power := range [3]float64{1, x, x * x} {
			if parts>>part&1 == 1 {
				columns[column] = append(columns[column], w*power)
				column++
			}
		}
		target[i] = w * p.Measured
	}
	solution, ok := leastSquares(columns, target)
	if !ok {
		return Curve{}, false
	}
	var c Curve
	column := 0
	for part, to := range [3]*float64{&c.A, &c.B, &c.C} {
		if parts>>part&1 == 1 {
			*to = solution[column] / math.Pow(scale, float64(part))
			column++
		}
	}
	return c, c.A >= 0 && c.B >= 0 && c.C >= 0
}

// leastSquares solves columns*x = target by modified Gram-Schmidt, which overwrites both. It
// refuses columns that are linearly dependent but for a part of 1/worstCondition.
func leastSquares(columns [][]float64, target []float64) (x []float64, ok bool) {
	k := len(columns)
	r, x := make([][]float64, k), make([]float64, k)
	for i, q := range columns {
		before := math.Sqrt(dot(q, q))
		r[i] = make([]float64, k)
		for j := range i {
			r[j][i] = project(q, columns[j])
		}
		length := math.Sqrt(dot(q, q))
		if !(length > before/worstCondition) {
			return nil, false
		}
		for n := range q {
			q[n] /= length
		}
		r[i][i], x[i] = length, project(target, q)
	}
	for i := k - 1; i >= 0; i-- {
		for j := i + 1; j < k; j++ {
			x[i] -= r[i][j] * x[j]
		}
		x[i] /= r[i][i]
	}
	return x, true
}

// project takes the part of v along the unit vector q out of v and returns its length.
func project(v, q []float64) float64 {
	along := dot(v, q)
	for n := range v {
		v[n] -= along * q[n]
	}
	return along
}

func dot(a, b []float64) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// score is the Bayesian information criterion over relative errors: lower is better.
func score(points []Residual, c Curve, parts int) float64 {
	n, top, sum := float64(len(points)), largest(points), 0.0
	for _, p := range points {
		e := weight(p.Measured, top) * (c.At(p.Players, p.Players) - p.Measured)
		sum += e * e
	}
	return n*math.Log(sum/n+noiseFloor*noiseFloor) + float64(parts)*math.Log(n)
}

func residuals(points []Residual, c Curve) ([]Residual, float64) {
	var mean, left, all float64
	for _, p := range points {
		mean += p.Measured / float64(len(points))
	}
	for i := range points {
		points[i].Fitted = c.At(points[i].Players, points[i].Players)
		left += sq(points[i].Measured - points[i].Fitted)
		all += sq(points[i].Measured - mean)
	}
	if left <= 1e-12*(all+sq(mean)) {
		return points, 1
	}
	if all == 0 {
		return points, 0
	}
	return points, 1 - left/all
}

func weight(y, top float64) float64 {
	if top <= 0 {
		return 1
	}
	return 1 / max(math.Abs(y), smallestWeighed*top)
}

func largest(points []Residual) float64 {
	top := 0.0
	for _, p := range points {
		top = max(top, math.Abs(p.Measured))
	}
	return top
}

// distinct counts sizes; points are sorted.
func distinct(points []Residual) int {
	n := 0
	for i, p := range points {
		if i == 0 || p.Players != points[i-1].Players {
			n++
		}
	}
	return n
}

func sq(x float64) float64 { return x * x }
