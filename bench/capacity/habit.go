package capacity

import (
	"fmt"
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
	facing(0), metres(0), facing(1), metres(1), facing(2), metres(2),
	{"ln Hz", func(f Facts) float64 { return math.Log(float64(f.TickHz) / 60) }},
	{"ln bursts", func(f Facts) float64 { return math.Log((f.Bursts + 0.3) / 0.45) }}, // who is in sight of an enemy fires without any
	{"ln throws", func(f Facts) float64 { return math.Log((f.Throws + 0.3) / 0.8) }},  // and throws keep from firing for no longer than they take
	{"crowd", func(f Facts) float64 { return f.Crowd }},
	houses,
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

var houses = feature{"houses", func(f Facts) float64 {
	if f.Walls {
		return 1
	}
	return 0
}}

// facing and metres are terms of how players meet at one instant of Meets, against an ordinary map's.
func facing(i int) feature {
	return feature{fmt.Sprintf("ln odds of facing, %d s", 2*i), func(f Facts) float64 {
		x := min(f.Meets[i].Facing, 0.999)
		if x <= 0 {
			return 0
		}
		return math.Log(x/(1-x)) - 1.5
	}}
}

func metres(i int) feature {
	return feature{fmt.Sprintf("ln metres, %d s", 2*i), func(f Facts) float64 {
		if f.Meets[i].Metres <= 0 {
			return 0
		}
		return math.Log(f.Meets[i].Metres) - 2
	}}
}

// sightTerms are those of which enemies one is told of, where that is not everybody: where it is a matter of reach, and where houses hide.
var sightTerms = []feature{habitFeatures[0], houses, reached(1, false), reached(2, false), reached(1, true), {"ln N, houses", func(f Facts) float64 {
	return houses.of(f) * math.Log(float64(f.PerLobby)/50)
}}}

// reached is a term of whom clients would be told of at one instant of Meets, if nobody died, on maps with houses or without.
func reached(i int, walls bool) feature {
	return feature{fmt.Sprintf("ln odds of told, %d s, houses %v", 2*i, walls), func(f Facts) float64 {
		x := min(f.Meets[i].Told, 0.999)
		if x <= 0 || walls != f.Walls {
			return 0
		}
		return math.Log(x / (1 - x))
	}}
}

// enemies is the share of them whom a player sees: his own team he sees always. visible is the other way round.
func enemies(f Facts) float64 {
	n := float64(f.PerLobby)
	return (f.Visible - (n/2 - 1)) / (n / 2)
}

func visible(f Facts, enemies float64) float64 {
	n := float64(f.PerLobby)
	return max(n/2-1, 0) + enemies*min(n/2, n-1)
}

// How a habit is learned: terms are held to 0 by as much as if each had been found to be 0 with an error of habitPrior; matches of one
// scenario differ, and what many of them leave unsure of a habit is habitUnsure times what they leave unsure of the bytes; of what becomes of flights,
// flightUnsure times.
const (
	habitPrior   = 2
	habitSpread  = 0.08
	habitUnsure  = 2.5
	flightUnsure = 1
	habitLeast   = 0.02 // nothing is surer than that
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
