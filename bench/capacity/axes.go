package capacity

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Axis is one thing in which scenarios differ, and how far predictions are off along it: a law that misses something shows a slope there.
type Axis struct {
	Name   string `json:"name"`
	Places []Off  `json:"places"`
}

// Off is the mean error of what was measured at one place of an axis, relative and with its sign.
type Off struct {
	At    string  `json:"at"`
	Steps int     `json:"steps"`
	Bytes float64 `json:"bytes"`
	CPU   float64 `json:"cpu"` // of those that were timed
	timed int
	low   float64 // what places are sorted by
}

// axes are ways to cut measurements: what is alike has the same text. Places of an axis stand in the order of low, then of their text.
var axes = []struct {
	name string
	of   func(Facts) (at string, low float64)
}{
	{"players", func(f Facts) (string, float64) { return counted(f.PerLobby) }},
	{"Hz", func(f Facts) (string, float64) { return fmt.Sprint(f.TickHz), float64(f.TickHz) }},
	{"snapshots a second", func(f Facts) (string, float64) { return doubling(1 / interval(f)) }},
	{"room for a player, m²", func(f Facts) (string, float64) { return doubling(sq(f.Side) / float64(f.PerLobby)) }},
	{"bursts a second", func(f Facts) (string, float64) { return doubling(f.Bursts) }},
	{"throws a second", func(f Facts) (string, float64) { return doubling(f.Throws) }},
	{"share in the hot spot", func(f Facts) (string, float64) { return thirds(f.Crowd) }},
	{"metres of sight", func(f Facts) (string, float64) {
		if f.Far == 0 {
			return "no limit", math.Inf(1)
		}
		return doubling(f.Far)
	}},
	{"houses", func(f Facts) (string, float64) { return fmt.Sprint(f.Walls), 0 }},
	{"lost datagrams, %", func(f Facts) (string, float64) { return doubling(100 * f.Loss) }},
	{"ms of delay", func(f Facts) (string, float64) { return doubling(1000 * f.Delay) }},
	{"ms of jitter", func(f Facts) (string, float64) { return doubling(1000 * f.Jitter) }},
	{"codec", func(f Facts) (string, float64) { return f.Codec, 0 }},
	{"leaves a minute", func(f Facts) (string, float64) { return doubling(f.Leaves) }},
	{"long run", func(f Facts) (string, float64) { return fmt.Sprint(f.LongRun), 0 }},
	{"spectators", func(f Facts) (string, float64) { return counted(f.Spectators) }},
}

// counted is where a number of people is between powers of two, both ends included.
func counted(n int) (at string, low float64) {
	if n < 2 {
		return fmt.Sprint(n), float64(n)
	}
	p := below2(n)
	return fmt.Sprintf("%d to %d", p, 2*p-1), float64(p)
}

// doubling is where an amount is between powers of two: from the lower one on, under the upper one.
func doubling(x float64) (at string, low float64) {
	if x <= 0 {
		return "0", 0
	}
	low = math.Exp2(math.Floor(math.Log2(x * (1 + 1e-9)))) // 1000 times a decimal is not quite whole
	return fmt.Sprintf("%.4g to under %.4g", low, 2*low), low
}

// thirds is in which third a share is; who has none of it is by himself.
func thirds(x float64) (at string, low float64) {
	switch {
	case x <= 0:
		return "0", 0
	case x < 1./3:
		return "under 1/3", 0.1
	case x < 2./3:
		return "1/3 to under 2/3", 1. / 3
	}
	return "2/3 to 1", 2. / 3
}

// below2 is the largest power of two that is not more than n, which is positive.
func below2(n int) int {
	p := 1
	for 2*p <= n {
		p *= 2
	}
	return p
}

// Axes are the mean errors of what was held out, or of what was not, along everything in which scenarios differ, places
// in ascending order. all are JudgeAll's of ms.
func Axes(ms Measurements, all []Verdict, heldOut bool) (out []Axis) {
	for _, a := range axes {
		axis := Axis{Name: a.name}
		for i, v := range all {
			if v.HeldOut != heldOut {
				continue
			}
			at, low := a.of(*ms.Steps[i].Facts)
			k := slices.IndexFunc(axis.Places, func(o Off) bool { return o.At == at })
			if k < 0 {
				k = len(axis.Places)
				axis.Places = append(axis.Places, Off{At: at, low: low})
			}
			o := &axis.Places[k]
			o.Steps++
			o.Bytes += v.BytesError()
			if v.CPU > 0 {
				o.CPU += v.CPUError()
				o.timed++
			}
		}
		for k := range axis.Places {
			o := &axis.Places[k]
			o.Bytes /= float64(o.Steps)
			o.CPU /= float64(max(o.timed, 1))
		}
		slices.SortFunc(axis.Places, func(x, y Off) int { return cmp.Or(cmp.Compare(x.low, y.low), cmp.Compare(x.At, y.At)) })
		out = append(out, axis)
	}
	return out
}
