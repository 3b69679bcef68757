package capacity

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Habit is what players come to do where nobody tells them to: how many of them are alive, how often they fire, how much flies about, whom
// they see. Its logarithm (of the odds, where it is a share) is a sum of terms, so each term is an exponent; what neighbours differ from
// that by mends it.
type Habit struct {
	Name  string `json:"name"`
	Share bool   `json:"share"` // of 1: 0 to 1
	Terms []Part `json:"terms"`
	near  nearby
}

// room is the logarithm of how far apart players stand, against an ordinary map's 6.6 m.
func room(f Facts) float64 { return math.Log(max(f.Side, 1) / 6.6 / math.Sqrt(float64(f.PerLobby))) }

// habitFeatures are what habits follow from. Crowding is how near each other players stand; who is far from everybody meets nobody.
var habitFeatures = []feature{
	{"1", func(Facts) float64 { return 1 }},
	{"ln N", func(f Facts) float64 { return math.Log(float64(f.PerLobby) / 50) }},
	{"ln² N", func(f Facts) float64 { return sq(math.Log(float64(f.PerLobby) / 50)) }},
	{"ln room", room},
	{"ln² room", func(f Facts) float64 { return sq(room(f)) }},
	{"ln N·ln room", func(f Facts) float64 { return math.Log(float64(f.PerLobby)/50) * room(f) }},
	{"ln open", func(f Facts) float64 {
		if f.Open <= 0 || f.Walls {
			return 0
		}
		return math.Log(f.Open / 0.66)
	}},
	{"ln Hz", func(f Facts) float64 { return math.Log(float64(f.TickHz) / 60) }},
	{"bursts", func(f Facts) float64 { return f.Bursts - 0.15 }},
	{"throws", func(f Facts) float64 { return f.Throws - 0.5 }},
	{"crowd", func(f Facts) float64 { return f.Crowd }},
	{"houses", func(f Facts) float64 {
		if f.Walls {
			return 1
		}
		return 0
	}},
	{"leaves", func(f Facts) float64 { return f.Leaves }},
	{"delay", func(f Facts) float64 { return f.Delay }},
	{"loss", func(f Facts) float64 { return f.Loss }},
	{"near", func(f Facts) float64 {
		if f.Far <= 0 {
			return 0
		}
		return math.Log(max(f.Side/f.Far, 1))
	}},
}

// sightTerms are those of whom one sees, where not everybody is: fewer, as fewer scenarios tell of them.
var sightTerms = []feature{habitFeatures[0], habitFeatures[1], habitFeatures[11], {"ln odds of reach", func(f Facts) float64 {
	w := within(f.Far, f.Side)
	if w >= 1 {
		return 0
	}
	return math.Log(w / (1 - w))
}}, {"reach", ruledByReach}}

// ruledByReach is 1 where there is a reach at all, shorter than the map.
func ruledByReach(f Facts) float64 {
	if within(f.Far, f.Side) >= 1 {
		return 0
	}
	return 1
}

// within is the chance that two places in a square of the given side are nearer than far.
func within(far, side float64) float64 {
	if far <= 0 || side <= 0 || far >= side {
		return 1
	}
	r := far / side
	return min(1, math.Pi*r*r-8*r*r*r/3+r*r*r*r/2)
}

// How a habit is learned: terms are held to 0 by as much as if each had been found to be 0 with an error of habitPrior; matches of one
// scenario differ, and what many of them leave unsure of a habit is habitUnsure times what they leave unsure of the bytes.
const (
	habitPrior  = 2
	habitSpread = 0.08
	habitUnsure = 2.5
	habitLeast  = 0.02 // nothing is surer than that
)

// newHabit learns one from scenarios; unsure has the standard errors of y, relative. Values of 0 and less, and shares of all, say nothing.
func newHabit(name string, share bool, facts []Facts, y, unsure []float64, features []feature) Habit {
	h := Habit{Name: name, Share: share}
	var of []Facts
	var logs, noise []float64
	for i, f := range facts {
		if y[i] > 0 && (!share || y[i] < 1) {
			of, logs, noise = append(of, f), append(logs, h.log(y[i])), append(noise, max(unsure[i], habitLeast))
		}
	}
	if len(of) == 0 {
		return h
	}
	// Ridge regression: rows weigh by how sure they are.
	k := len(features)
	gram, right := mat.NewSymDense(k, nil), mat.NewVecDense(k, nil)
	for row, f := range of {
		w := 1 / (sq(noise[row]) + sq(habitSpread))
		for i, x := range features {
			right.SetVec(i, right.AtVec(i)+w*x.of(f)*logs[row])
			for j := i; j < k; j++ {
				gram.SetSym(i, j, gram.At(i, j)+w*x.of(f)*features[j].of(f))
			}
		}
	}
	for i := range k {
		prior := 1 / sq(habitPrior)
		if i == 0 {
			prior = 1e-6
		}
		gram.SetSym(i, i, gram.At(i, i)+prior)
	}
	var chol mat.Cholesky
	var c mat.VecDense
	if !chol.Factorize(gram) || chol.SolveVecTo(&c, right) != nil {
		return h
	}
	for i, x := range features {
		h.Terms = append(h.Terms, Part{x.name, c.AtVec(i)})
	}
	var off []offset
	for i, f := range of {
		off = append(off, offset{f, logs[i] - h.sum(f, features), noise[i]})
	}
	h.near = newNearby(ground, habitSpread, off)
	return h
}

func (h *Habit) log(y float64) float64 {
	if h.Share {
		return math.Log(y / (1 - y))
	}
	return math.Log(y)
}

func (h *Habit) sum(f Facts, features []feature) (sum float64) {
	for i, t := range h.Terms {
		sum += t.Coefficient * features[i].of(f)
	}
	return sum
}

// at is the habit in a scenario: 0 if it was never measured.
func (h *Habit) at(f Facts, features []feature) float64 {
	if len(h.Terms) == 0 {
		return 0
	}
	x := h.sum(f, features) + h.near.off(f)
	if h.Share {
		return 1 / (1 + math.Exp(-x))
	}
	return math.Exp(x)
}
