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
	kind  *kind
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
		if !f.reached() {
			return 0
		}
		return math.Log(max(f.Side/f.Far, 1))
	}},
}

var houses = feature{"houses", func(f Facts) float64 { return indicator(f.Walls) }}

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

// kind is a habit: what it is of what came of a scenario, and what it follows from. The dead do nothing, and what flies has set out: so habits are those of
// the living, and of flights.
type kind struct {
	name     string
	share    bool       // of 1: 0 to 1
	unsure   float64    // what matches leave unsure of it is so many times what they leave unsure of the bytes
	away     [2]float64 // what was learned is off by beside what neighbours tell: in the open, and where houses hide
	of       func(Facts) float64
	features []feature
}

// The habits, by their place among habits.
const (
	habitAlive = iota
	habitLaunches
	habitShots
	habitKills
	habitFlights
	habitTurns
	habitSight
	numHabits
)

var habits = [numHabits]kind{
	{"alive", true, habitUnsure, [2]float64{0.05, 0.2}, func(f Facts) float64 { return f.Alive }, habitFeatures},
	{"launches", false, habitUnsure, [2]float64{0.045, 0.2}, func(f Facts) float64 { return f.Launches / alive(f) }, habitFeatures},                    // a second
	{"shots", false, habitUnsure, [2]float64{habitAway, 0.08}, func(f Facts) float64 { return f.Shots * float64(f.TickHz) / alive(f) }, habitFeatures}, // a second
	{"kills", false, habitUnsure, [2]float64{0.04, 0.2}, func(f Facts) float64 { return f.Kills / alive(f) }, habitFeatures},                           // a second
	{"flights", false, flightUnsure, [2]float64{habitAway, habitAway}, func(f Facts) float64 { return f.Flights / f.Launches }, habitFeatures},         // s that one lasts
	{"turns", false, flightUnsure, [2]float64{habitAway, habitAway}, func(f Facts) float64 { return f.Turns / f.Launches }, habitFeatures},
	{"sight", true, 0, [2]float64{0.4, 0.4}, func(f Facts) float64 { // share of enemies, where not everybody is seen
		if !f.hides() || f.PerLobby < 2 {
			return 0
		}
		return min(enemies(f), 0.999)
	}, sightTerms},
}

// log is the logarithm of a habit, of its odds if it is a share; false where nothing is known of it.
func (k *kind) log(f Facts) (float64, bool) {
	y := k.of(f)
	if !(y > 0) || math.IsInf(y, 0) || k.share && y >= 1 {
		return 0, false
	}
	if k.share {
		return math.Log(y / (1 - y)), true
	}
	return math.Log(y), true
}

// How a habit is learned: terms are held to 0 by as much as if each had been found to be 0 with an error of habitPrior; matches of one
// scenario differ, and what many of them leave unsure of a habit is habitUnsure times what they leave unsure of the bytes; of what becomes of flights,
// flightUnsure times.
const (
	habitPrior   = 2
	habitSpread  = 0.08
	habitUnsure  = 2.5
	flightUnsure = 1
	habitLeast   = 0.02 // no measurement is surer than that
	playedLeast  = 0.005
)

// newHabit learns one from scenarios, of each of which what was measured and what was played are the same twice. Values of 0 and less, and shares of all,
// say nothing.
func newHabit(k *kind, all lot) Habit {
	h := Habit{Name: k.name, Share: k.share, kind: k}
	var of []Facts
	var logs, noise []float64
	for _, s := range all {
		f := *s.Facts
		y, ok := k.log(f)
		if !ok {
			continue
		}
		e := max(k.unsure*f.Unsure, habitLeast)
		if p, pe, ok := h.played(f); ok {
			w := sq(e) / (sq(e) + sq(pe))
			y, e = y+w*(p-y), e*pe/math.Hypot(e, pe)
		}
		of, logs, noise = append(of, f), append(logs, y), append(noise, e)
	}
	if len(of) == 0 {
		return h
	}
	// Ridge regression: rows weigh by how sure they are.
	n := len(k.features)
	gram, right := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
	for row, f := range of {
		w := 1 / (sq(noise[row]) + sq(habitSpread))
		for i, x := range k.features {
			right.SetVec(i, right.AtVec(i)+w*x.of(f)*logs[row])
			for j := i; j < n; j++ {
				gram.SetSym(i, j, gram.At(i, j)+w*x.of(f)*k.features[j].of(f))
			}
		}
	}
	for i := range n {
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
	for i, x := range k.features {
		h.Terms = append(h.Terms, Part{x.name, c.AtVec(i)})
	}
	var off []offset
	for i, f := range of {
		off = append(off, offset{f, logs[i] - h.sum(f), noise[i]})
	}
	h.near = newNearby(ground, habitSpread, off)
	return h
}

func (h *Habit) sum(f Facts) (sum float64) {
	for i, t := range h.Terms {
		sum += t.Coefficient * h.kind.features[i].of(f)
	}
	return sum
}

// played is the logarithm of the habit in the matches that were played of a scenario, and its standard error; false if there is none.
func (h *Habit) played(f Facts) (y, unsure float64, ok bool) {
	p := &f.Played
	if p.Matches == 0 || !(p.Unsure[h.place()] > 0) {
		return 0, 0, false
	}
	y, ok = h.kind.log(p.facts(f))
	return y, max(p.Unsure[h.place()], playedLeast), ok
}

func (h *Habit) place() int {
	for i := range habits {
		if h.kind == &habits[i] {
			return i
		}
	}
	panic("capacity: a habit of no kind")
}

// at is the habit in a scenario: 0 if it was never measured. What was learned elsewhere and what was played weigh by how sure they are; what is learned is of first
// seconds, so that in the long run it is what was played.
func (h *Habit) at(f Facts) float64 {
	if len(h.Terms) == 0 {
		return 0
	}
	x := h.sum(f) + h.near.off(f)
	if y, unsure, ok := h.played(f); ok && f.LongRun {
		x = y
	} else if ok {
		here := sq(h.near.unsure(f)) + sq(h.kind.off(f))
		x += here / (here + sq(unsure)) * (y - x)
	}
	if h.Share {
		return 1 / (1 + math.Exp(-x))
	}
	return math.Exp(x)
}

// habitAway is what terms are off by beside what neighbours tell, at least: lessons were left out one by one to know by how much. In towns it is many times as
// much for who is alive, dies and throws, as no term knows how houses stand, and for who is seen where a reach spans nearly all of the map.
const habitAway = 0.03

// off is that of a scenario.
func (k *kind) off(f Facts) float64 {
	if f.Walls {
		return k.away[1]
	}
	return k.away[0]
}
