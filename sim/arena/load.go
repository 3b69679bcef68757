package arena

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"reflect"
	"strconv"

	"github.com/tickrate/tickrate/ecs/geom"
)

// A map file is JSON, one row a line, lengths in metres:
//
//	{"format": "tickrate arena", "version": 1,
//	"bounds": [x0, y0, z0, x1, y1, z1],
//	"boxes": [[x0, y0, z0, x1, y1, z1], ...],
//	"ramps": [[x0, y0, z0, x1, y1, z1, rises], ...],   rises: 1 towards +x, 2 -x, 3 +z, 4 -z
//	"spawns": [[x, y, z, team, yaw], ...],             yaw in 1/65536 turn, 0 looks along +z
//	"areas": [[x0, y0, z0, x1, y1, z1, team], ...],     stops the other team's bodies; optional
//	"movers": [[x0, y0, z0, x1, y1, z1, dx, dy, dz, travel, dwell, phase], ...]}   optional; the box at
//	                                                   its first end, the way to the second, and ms
const (
	fileFormat  = "tickrate arena"
	fileVersion = 1
	maxFile     = 16 << 20
)

// file is the JSON of a map; rows are checked by arena.
type file struct {
	Format  string      `json:"format"`
	Version int         `json:"version"`
	Bounds  []float64   `json:"bounds"`
	Boxes   [][]float64 `json:"boxes"`
	Ramps   [][]float64 `json:"ramps"`
	Spawns  [][]float64 `json:"spawns"`
	Areas   [][]float64 `json:"areas"`
	Movers  [][]float64 `json:"movers"`
}

// Load reads a map file. The error is one line that names the field and what was expected of it.
func Load(r io.Reader) (*Arena, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxFile {
		return nil, fmt.Errorf("file: larger than %d MiB", maxFile>>20)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	var f file
	if err := d.Decode(&f); err != nil {
		return nil, jsonError(err, len(text))
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("file: something follows the closing brace, at byte %d", d.InputOffset())
	}
	return f.arena()
}

// jsonError words an error of encoding/json by field and byte. size is the length of the file.
func jsonError(err error, size int) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("file: not JSON at byte %d of %d: %w", syntax.Offset, size, err)
	case errors.As(err, &kind):
		want := "text"
		if k := kind.Type.Kind(); k == reflect.Slice {
			want = "a list"
		} else if k != reflect.String {
			want = "a number"
		}
		return fmt.Errorf("%s: %s at byte %d, want %s", kind.Field, kind.Value, kind.Offset, want)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("file: ends at byte %d within the map, want a whole JSON object", size)
	}
	return fmt.Errorf("file: %w", err)
}

// arena checks the number of columns of each row and converts whole numbers; New checks the rest.
func (f *file) arena() (*Arena, error) {
	if f.Format != fileFormat {
		return nil, fmt.Errorf("format: %q, want %q", f.Format, fileFormat)
	}
	if f.Version != fileVersion {
		return nil, fmt.Errorf("version: %d, want %d", f.Version, fileVersion)
	}
	if len(f.Bounds) != 6 {
		return nil, fmt.Errorf("bounds: %d numbers, want 6: x0 y0 z0 x1 y1 z1", len(f.Bounds))
	}
	if n := len(f.Boxes) + len(f.Ramps) + len(f.Areas); n > MaxSolids {
		return nil, fmt.Errorf("boxes, ramps and areas: %d rows, want at most %d", n, MaxSolids)
	}
	bounds := geom.AABB{Min: vec3(f.Bounds), Max: vec3(f.Bounds[3:])}
	solids := make([]Solid, 0, len(f.Boxes)+len(f.Ramps)+len(f.Areas))
	for i, row := range f.Boxes {
		if len(row) != 6 {
			return nil, fmt.Errorf("boxes[%d]: %d numbers, want 6: x0 y0 z0 x1 y1 z1", i, len(row))
		}
		solids = append(solids, Solid{Min: vec3(row), Max: vec3(row[3:])})
	}
	for i, row := range f.Ramps {
		if len(row) != 7 {
			return nil, fmt.Errorf("ramps[%d]: %d numbers, want 7: x0 y0 z0 x1 y1 z1 rises", i, len(row))
		}
		rises, ok := wholeNumber(row[6], float64(RampPosX), float64(RampNegZ))
		if !ok {
			return nil, fmt.Errorf("ramps[%d]: rises %v, want 1 (+x), 2 (-x), 3 (+z) or 4 (-z)", i, row[6])
		}
		solids = append(solids, Solid{Min: vec3(row), Max: vec3(row[3:]), Shape: Shape(rises)})
	}
	for i, row := range f.Areas {
		if len(row) != 7 {
			return nil, fmt.Errorf("areas[%d]: %d numbers, want 7: x0 y0 z0 x1 y1 z1 team", i, len(row))
		}
		team, ok := wholeNumber(row[6], 0, Teams-1)
		if !ok {
			return nil, fmt.Errorf("areas[%d]: team %v, want 0 or 1", i, row[6])
		}
		solids = append(solids, NewArea(uint8(team), vec3(row), vec3(row[3:])))
	}
	spawns := make([]Spawn, 0, len(f.Spawns))
	for i, row := range f.Spawns {
		if len(row) != 5 {
			return nil, fmt.Errorf("spawns[%d]: %d numbers, want 5: x y z team yaw", i, len(row))
		}
		team, ok := wholeNumber(row[3], 0, Teams-1)
		if !ok {
			return nil, fmt.Errorf("spawns[%d]: team %v, want 0 or 1", i, row[3])
		}
		yaw, ok := wholeNumber(row[4], 0, geom.Turn-1)
		if !ok {
			return nil, fmt.Errorf("spawns[%d]: yaw %v, want a whole number from 0 to 65535", i, row[4])
		}
		spawns = append(spawns, Spawn{Pos: vec3(row), Team: uint8(team), Yaw: geom.Angle(yaw)})
	}
	movers, err := f.movers()
	if err != nil {
		return nil, err
	}
	return New("", bounds, solids, spawns, movers...)
}

// movers converts the rows of movers.
func (f *file) movers() (all []Mover, err error) {
	if n := len(f.Movers); n > MaxMovers {
		return nil, fmt.Errorf("movers: %d rows, want at most %d", n, MaxMovers)
	}
	for i, row := range f.Movers {
		if len(row) != 12 {
			return nil, fmt.Errorf("movers[%d]: %d numbers, want 12: x0 y0 z0 x1 y1 z1 dx dy dz travel dwell phase",
				i, len(row))
		}
		m := Mover{Min: vec3(row), Max: vec3(row[3:]), Travel: vec3(row[6:])}
		for k, at := range [...]*int32{&m.TravelMillis, &m.DwellMillis, &m.PhaseMillis} {
			v, ok := wholeNumber(row[9+k], 0, math.MaxInt32)
			if !ok {
				return nil, fmt.Errorf("movers[%d]: %s %v, want whole milliseconds from 0", i,
					[...]string{"travel", "dwell", "phase"}[k], row[9+k])
			}
			*at = int32(v)
		}
		all = append(all, m)
	}
	return all, nil
}

// vec3 converts the first three numbers of a row to metres.
func vec3(row []float64) geom.Vec3 {
	return geom.Vec3{X: exact(row[0]), Y: exact(row[1]), Z: exact(row[2])}
}

// exact converts v to float32. A number that only float32's rounding makes a multiple of 1/64 comes
// out as none, so that New refuses it.
func exact(v float64) float32 {
	f := float32(v)
	if float64(f) != v && f*(1/Unit) == float32(int32(f*(1/Unit))) {
		return f + Unit/4
	}
	return f
}

// wholeNumber converts v if it is an integer in [lo, hi].
func wholeNumber(v, lo, hi float64) (int, bool) {
	if !(v >= lo && v <= hi) || v != float64(int(v)) {
		return 0, false
	}
	return int(v), true
}

// Save writes a map file that Load reads back to an equal arena, byte for byte the same for equal
// arenas.
func (a *Arena) Save(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "{\"format\": %q, \"version\": %d,\n\"bounds\": ", fileFormat, fileVersion)
	row(b, corners(a.Bounds.Min, a.Bounds.Max)...)
	boxes, ramps, spawns, areas := "", "", "", ""
	b.WriteString(",\n\"boxes\": [")
	for _, s := range a.Solids {
		if s.class() == 0 {
			b.WriteString(boxes + "\n")
			row(b, corners(s.Min, s.Max)...)
			boxes = ","
		}
	}
	b.WriteString("],\n\"ramps\": [")
	for _, s := range a.Solids {
		if s.class() == 1 {
			b.WriteString(ramps + "\n")
			row(b, append(corners(s.Min, s.Max), float32(s.Shape))...)
			ramps = ","
		}
	}
	b.WriteString("],\n\"spawns\": [")
	for _, s := range a.Spawns {
		b.WriteString(spawns + "\n")
		row(b, s.Pos.X, s.Pos.Y, s.Pos.Z, float32(s.Team), float32(s.Yaw))
		spawns = ","
	}
	for _, s := range a.Solids {
		if s.class() == 2 {
			if areas == "" {
				b.WriteString("],\n\"areas\": [")
			}
			b.WriteString(areas + "\n")
			row(b, append(corners(s.Min, s.Max), float32(bits.TrailingZeros8(s.Pass)))...)
			areas = ","
		}
	}
	for i := range a.Movers {
		b.WriteString([]string{"],\n\"movers\": [", ","}[min(i, 1)] + "\n")
		m := &a.Movers[i]
		row(b, append(append(corners(m.Min, m.Max), m.Travel.X, m.Travel.Y, m.Travel.Z),
			float32(m.TravelMillis), float32(m.DwellMillis), float32(m.PhaseMillis))...)
	}
	b.WriteString("]}\n")
	return b.Flush()
}

// corners lists a box as map files do: x0 y0 z0 x1 y1 z1.
func corners(lo, hi geom.Vec3) []float32 { return []float32{lo.X, lo.Y, lo.Z, hi.X, hi.Y, hi.Z} }

// row writes numbers as a JSON array in their shortest form. Adding 0 turns -0 into 0.
func row(b *bufio.Writer, numbers ...float32) {
	b.WriteByte('[')
	for i, v := range numbers {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.FormatFloat(float64(v)+0, 'f', -1, 32))
	}
	b.WriteByte(']')
}
