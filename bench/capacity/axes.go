package capacity

import (
	"fmt"
	"math"
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
}

// axes are ways to cut measurements: what is alike has the same text.
var axes = []struct {
	name string
	of   func(Facts) string
}{
	{"players", func(f Facts) string { return fmt.Sprintf("%d to %d", below2(f.PerLobby), 2*below2(f.PerLobby)-1) }},
	{"Hz", func(f Facts) string { return fmt.Sprint(f.TickHz) }},
	{"snapshots a second", func(f Facts) string { return fmt.Sprintf("%.0f", 1/interval(f)) }},
	{"room for a player, m²", func(f Facts) string {
		return fmt.Sprintf("%.0f or more", math.Exp2(math.Floor(math.Log2(sq(f.Side)/float64(f.PerLobby)))))
	}},
	{"bursts a second", func(f Facts) string { return fmt.Sprint(f.Bursts) }},
	{"throws a second", func(f Facts) string { return fmt.Sprint(f.Throws) }},
	{"share in the hot spot", func(f Facts) string { return fmt.Sprint(f.Crowd) }},
	{"metres of sight", func(f Facts) string { return fmt.Sprint(f.Far) }},
	{"houses", func(f Facts) string { return fmt.Sprint(f.Walls) }},
	{"lost datagrams", func(f Facts) string { return fmt.Sprint(f.Loss) }},
	{"s of delay", func(f Facts) string { return fmt.Sprint(f.Delay) }},
	{"codec", func(f Facts) string { return f.Codec }},
	{"leaves a minute", func(f Facts) string { return fmt.Sprint(f.Leaves) }},
	{"spectators", func(f Facts) string { return fmt.Sprint(f.Spectators) }},
}

// below2 is the largest power of two that is not more than n, which is positive.
func below2(n int) int {
	p := 1
	for 2*p <= n {
		p *= 2
	}
	return p
}

// Axes are the mean errors of what was held out, or of what was not, along everything in which scenarios differ. all are JudgeAll's of ms.
func Axes(ms Measurements, all []Verdict, heldOut bool) (out []Axis) {
	for _, a := range axes {
		axis := Axis{Name: a.name}
		for i, v := range all {
			if v.HeldOut != heldOut {
				continue
			}
			at, k := a.of(*ms.Steps[i].Facts), 0
			for k < len(axis.Places) && axis.Places[k].At != at {
				k++
			}
			if k == len(axis.Places) {
				axis.Places = append(axis.Places, Off{At: at})
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
		out = append(out, axis)
	}
	return out
}
