package trace

import (
	"time"

	"github.com/tickrate/tickrate/ecs/geom"
)

// Trace is what one or more files hold, track by track.
type Trace struct {
	Name   string // base name of the file; joined with ", " where there are several
	Tracks []Track
}

// Track is one person's recording: samples in order of time, at least one millisecond apart, and
// the stretches of them that are continuous. It has at least one run.
type Track struct {
	Source  string // base name of the file
	Player  int    // slot (QuakeWorld) or session (Counter-Strike) in that file
	Samples []Sample
	Runs    []Run
}

// Run is a stretch of a track, Samples[From:To], without death, teleport or gap: at least two
// samples, all alive.
type Run struct{ From, To int }

// Sample is the position, view and buttons of a player at an instant.
type Sample struct {
	T   time.Duration // since the start of the recording
	Pos geom.Vec3     // feet, metres
	// Metres a second, from neighbouring samples of the same run; zero outside runs.
	Vel        geom.Vec3
	Yaw, Pitch geom.Angle
	Alive      bool
	Fire       bool // trigger held
	// Jump held; inferred from the path in QuakeWorld recordings, which lack buttons.
	Jump bool
	// Which continuous stretch this is; positions of two stretches have nothing to do with each
	// other.
	Run uint32
}

// Length is the time a run covers.
func (t *Track) Length(r Run) time.Duration { return t.Samples[r.To-1].T - t.Samples[r.From].T }

// TotalLength is the time all runs of the track cover together.
func (t *Track) TotalLength() time.Duration {
	var sum time.Duration
	for _, r := range t.Runs {
		sum += t.Length(r)
	}
	return sum
}

// Join puts the tracks of several traces into one, in the order given. The tracks are shared, not
// copied.
func Join(traces ...*Trace) *Trace {
	all := &Trace{}
	for i, t := range traces {
		if i > 0 {
			all.Name += ", "
		}
		all.Name += t.Name
		all.Tracks = append(all.Tracks, t.Tracks...)
	}
	return all
}
