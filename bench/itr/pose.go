package itr

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/tickrate/tickrate/bench/trace"
)

// Pose says how recorded human play becomes a Trace of poses.
type Pose struct {
	Centimetres float64 // one step of a position, 0.01 to 1000
	// One step of an angle, 0.01 to 10; 360 is rounded to a whole number of them.
	Degrees float64
	Hz      int // snapshots a second, 1 to 1000
}

// ParsePose reads a step of position and one of angle, such as "1cm,0.1deg".
func ParsePose(s string) (Pose, error) {
	bad := fmt.Errorf("pose %q: expected steps of position and angle such as 1cm,0.1deg", s)
	cm, deg, ok := strings.Cut(s, ",")
	cm, ok1 := strings.CutSuffix(cm, "cm")
	deg, ok2 := strings.CutSuffix(deg, "deg")
	x, err1 := strconv.ParseFloat(cm, 64)
	y, err2 := strconv.ParseFloat(deg, 64)
	inRange := x >= 0.01 && x <= 1000 && y >= 0.01 && y <= 10
	if !ok || !ok1 || !ok2 || err1 != nil || err2 != nil || !inRange {
		return Pose{}, bad
	}
	return Pose{Centimetres: x, Degrees: y}, nil
}

// OpenPose reads recorded human play, in a format of package trace, as poses at even times: a row a
// player, with position, yaw and pitch. Between two samples of a continuous run the pose is
// interpolated, elsewhere the nearer sample counts. Rows of the dead and absent do not count and
// stand still.
func OpenPose(path string, p Pose) (*Trace, error) {
	if p.Hz < 1 || p.Hz > 1000 {
		return nil, fmt.Errorf("itr: %d Hz, expected 1 to 1000", p.Hz)
	}
	rec, err := trace.Open(path)
	if err != nil {
		return nil, err // names the file and the line
	}
	mod := int32(math.Round(360 / p.Degrees))
	t := &Trace{Name: path, TickRate: p.Hz, TicksPerSnapshot: 1, Entities: len(rec.Tracks), Fields: []Field{
		{Name: "pos.x"}, {Name: "pos.y"}, {Name: "pos.z"},
		{Name: "yaw", Kind: Angle, Mod: mod}, {Name: "pitch"}}}
	end := time.Duration(0)
	for i := range rec.Tracks {
		end = max(end, rec.Tracks[i].Samples[len(rec.Tracks[i].Samples)-1].T)
	}
	count := int(end.Seconds()*float64(p.Hz)) + 1
	if n := count * t.Entities * len(t.Fields); count > MaxSnapshots || n > MaxValues {
		return nil, fmt.Errorf("itr: %s: %v at %d Hz is %d snapshots, expected at most %d",
			path, end, p.Hz, count, MaxSnapshots)
	}
	cursors := make([]int, t.Entities)
	last := make([]int32, t.Entities*len(t.Fields))
	for s := range count {
		at := time.Duration(float64(s) / float64(p.Hz) * float64(time.Second))
		next, live := append([]int32(nil), last...), make([]bool, t.Entities)
		for e := range rec.Tracks {
			if now, ok := sampleAt(&rec.Tracks[e], &cursors[e], at); ok {
				live[e] = true
				p.quantise(next[e*len(t.Fields):], now, mod)
			}
		}
		t.Snapshots, t.Live = append(t.Snapshots, next), append(t.Live, live)
		last = next
	}
	return t, nil
}

// sampleAt returns where a player is at an instant later than those before; ok is false if it is
// dead or absent.
func sampleAt(k *trace.Track, cursor *int, at time.Duration) (s trace.Sample, ok bool) {
	samples := k.Samples
	for *cursor+1 < len(samples) && samples[*cursor+1].T <= at {
		*cursor++
	}
	a := samples[*cursor]
	if a.T > at || *cursor+1 == len(samples) {
		return a, a.T == at && a.Alive
	}
	b := samples[*cursor+1]
	f := float32(float64(at-a.T) / float64(b.T-a.T))
	switch {
	case a.Run == b.Run && a.Alive && b.Alive:
		a.Pos, a.Yaw, a.Pitch = a.Pos.Lerp(b.Pos, f), a.Yaw.Lerp(b.Yaw, f), a.Pitch.Lerp(b.Pitch, f)
	case f > 0.5:
		a = b
	}
	return a, a.Alive
}

func (p Pose) quantise(row []int32, s trace.Sample, mod int32) {
	axis := func(v float32) int32 { return int32(math.Round(float64(v) * 100 / p.Centimetres)) }
	row[0], row[1], row[2] = axis(s.Pos.X), axis(s.Pos.Y), axis(s.Pos.Z)
	yaw := int32(math.Round(float64(s.Yaw) / 65536 * float64(mod)))
	row[3] = (yaw%mod + mod) % mod
	row[4] = int32(math.Round(float64(s.Pitch.Signed()) / 65536 * float64(mod)))
}
