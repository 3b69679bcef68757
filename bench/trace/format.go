package trace

import (
	"fmt"
	"strings"

	"github.com/tickrate/tickrate/ecs/geom"
)

// format is one kind of file: which columns it must have and what its numbers mean.
type format struct {
	name    string
	mark    [2]string // columns that only this kind has
	columns []string  // those that are read
	metre   float64   // units a metre
	feet    float64   // height of the recorded origin above the feet, units
	read    func(*row) Sample
}

// The player's column comes first, then time, position and view in this order in both kinds.
var (
	quakeWorld = format{
		name: "QuakeWorld", mark: [2]string{"tick", "alive"},
		columns: []string{"player", "t_ms", "x", "y", "z", "pitch", "yaw", "alive", "fire"},
		metre:   32, feet: 24, // a body of 56 units, 1.75 m
		read: func(r *row) Sample {
			s := r.common()
			s.Alive, s.Fire = r.whole(7, 0, 1) == 1, r.whole(8, 0, 3) != 0
			return s
		},
	}
	counterStrike = format{
		name: "Counter-Strike 1.6", mark: [2]string{"session", "buttons"},
		columns: []string{"session", "t_ms", "x", "y", "z", "pitch", "yaw", "buttons", "health"},
		// GoldSrc units are inches: a body of 72 units, 1.83 m; a run of 250, 6.35 m/s.
		metre: 39.37, feet: 36,
		read: func(r *row) Sample {
			const attack, jump = 1, 2
			s := r.common()
			buttons := r.whole(7, 0, 1<<32-1)
			s.Fire, s.Jump = buttons&attack != 0, buttons&jump != 0
			s.Alive = r.number(8, -1e6, 1e6, "points") > 0
			return s
		},
	}
	formats = []*format{&quakeWorld, &counterStrike}
)

// Columns that both kinds have, as indexes into format.columns.
const (
	colPlayer = iota
	colTime
	colX
	colY
	colZ
	colPitch
	colYaw
)

// detect finds the format of a header and where its columns stand.
func detect(header []string) (*format, []int, error) {
	at := map[string]int{}
	for i, name := range header {
		if _, twice := at[name]; twice {
			return nil, nil, fmt.Errorf("column %q stands twice in the header", name)
		}
		at[name] = i
	}
	for _, f := range formats {
		_, one := at[f.mark[0]]
		_, two := at[f.mark[1]]
		if !one || !two {
			continue
		}
		where := make([]int, len(f.columns))
		for i, name := range f.columns {
			column, ok := at[name]
			if !ok {
				return nil, nil, fmt.Errorf("header of a %s trace lacks column %q; expected %s",
					f.name, name, strings.Join(f.columns, ", "))
			}
			where[i] = column
		}
		return f, where, nil
	}
	return nil, nil, fmt.Errorf("not a trace: expected a header with %s and %s (%s) or %s and %s (%s)",
		quakeWorld.mark[0], quakeWorld.mark[1], quakeWorld.name,
		counterStrike.mark[0], counterStrike.mark[1], counterStrike.name)
}

// common reads what both kinds have, in our units.
func (r *row) common() Sample {
	const furthest, oldest = 1 << 17, 1e9
	scale := 1 / r.format.metre
	x, y := r.number(colX, -furthest, furthest, "units"), r.number(colY, -furthest, furthest, "units")
	z := r.number(colZ, -furthest, furthest, "units") - r.format.feet
	pitch, yaw := r.number(colPitch, -360, 360, "degrees"), r.number(colYaw, -360, 360, "degrees")
	return Sample{
		T:     millis(r.number(colTime, 0, oldest, "ms")),
		Pos:   geom.Vec3{X: float32(x * scale), Y: float32(z * scale), Z: float32(y * scale)},
		Yaw:   geom.Degrees(90 - yaw),
		Pitch: geom.Degrees(-pitch),
	}
}
