package playback

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/pprof"
	"slices"
	"time"

	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/replay"
)

const (
	defaultTimes = 200
	maxTimes     = 1_000_000
)

// Repeated is one tick that was played many times, and the JSON that Run writes of it.
type Repeated struct {
	Tick    tick.Tick    `json:"tick"`
	Players int          `json:"players"` // bodies in the match
	Times   int          `json:"times"`
	Total   SystemTime   `json:"total"`
	Systems []SystemTime `json:"systems"` // in the order of the tick
}

// SystemTime is the elapsed time of a system in the same tick, in microseconds.
type SystemTime struct {
	Name   string  `json:"name"`
	Median float64 `json:"median_us"`
	Most   float64 `json:"max_us"`
}

// checkRepeat refuses options that contradict each other.
func (o *Options) checkRepeat() error {
	switch {
	case o.At == 0 && o.Profile != "":
		return usage.Error(errors.New("--profile: expected a tick with --at"))
	case o.At != 0 && (o.From != 0 || o.To != 0 || o.Check):
		return usage.Error(errors.New("--at plays one tick: leave out --from, --to and --check"))
	case o.Times < 0 || o.Times > maxTimes:
		return usage.Errorf("--times %d: expected 1 to %d, or 0 for %d", o.Times, maxTimes, defaultTimes)
	}
	return nil
}

// repeat plays the tick of --at many times and writes what its systems take.
func (o *Options) repeat(ctx context.Context, w io.Writer, r *replay.Reader, p *replay.Player) error {
	state, err := o.before(ctx, r, p)
	if err != nil {
		return err
	}
	if err := p.Step(); err != nil { // reads the inputs
		return err
	}
	stop, err := o.profile()
	if err != nil {
		return err
	}
	result, err := o.play(ctx, state, p)
	if err = errors.Join(err, stop()); err != nil {
		return err
	}
	if o.JSON {
		return json.NewEncoder(w).Encode(result)
	}
	return result.print(w, o.Profile)
}

// before plays up to the tick before that of --at, and returns the state of the match then.
func (o *Options) before(ctx context.Context, r *replay.Reader, p *replay.Player) ([]byte, error) {
	var since []*replay.Chunk // chunks since the last saved state
	for ctx.Err() == nil {
		chunk, err := r.Next()
		if err == io.EOF {
			return nil, usage.Errorf("--at %d: the recording ends before it", o.At)
		}
		if err != nil {
			return nil, err
		}
		if uint32(chunk.First) > o.At {
			return nil, usage.Errorf("--at %d: the recording begins at tick %d", o.At, chunk.First)
		}
		if len(chunk.Key) > 0 {
			since = since[:0]
		}
		if since = append(since, chunk); uint32(chunk.Last()) < o.At {
			continue
		}
		for _, chunk := range since {
			if err := p.Load(chunk); err != nil {
				return nil, err
			}
			for !p.Done() && uint32(p.Match.Tick())+1 < o.At {
				if err := p.Step(); err != nil {
					return nil, err
				}
			}
		}
		return p.Match.Save(nil)
	}
	return nil, ctx.Err()
}

// profile starts a CPU profile if there is to be one; stop ends it.
func (o *Options) profile() (stop func() error, err error) {
	if o.Profile == "" {
		return func() error { return nil }, nil
	}
	file, err := os.Create(o.Profile)
	if err != nil {
		return nil, usage.Errorf("--profile: %w", err)
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return file.Close()
	}, nil
}

// play plays the tick that the player has just played again and again, each time from the state before
// it. A profile has the label tick for that part alone.
func (o *Options) play(ctx context.Context, state []byte, p *replay.Player) (*Repeated, error) {
	systems := sim.Systems()
	took := make([][]time.Duration, len(systems)+1) // the last is the whole tick
	want := p.Match.Hash()
	out := &Repeated{Tick: p.Match.Tick()}
	labels := pprof.Labels("tick", fmt.Sprint(o.At))
	for range cmp.Or(o.Times, defaultTimes) {
		if ctx.Err() != nil {
			break
		}
		m, err := p.Restore(state)
		if err != nil {
			return nil, err
		}
		pprof.Do(ctx, labels, func(context.Context) { err = timeTick(m, p.Inputs(), took) })
		if err != nil {
			return nil, err
		}
		if got := m.Hash(); got != want {
			return nil, fmt.Errorf("tick %d is not the same when it is played again: hash %016x, was %016x",
				out.Tick, got, want)
		}
		out.Times++
	}
	if out.Times == 0 {
		return nil, ctx.Err()
	}
	for _, pose := range p.Match.Poses() {
		if pose.ID != 0 {
			out.Players++
		}
	}
	for i, s := range systems {
		out.Systems = append(out.Systems, systemTime(s.Name, took[i]))
	}
	out.Total = systemTime("the tick", took[len(systems)])
	return out, nil
}

// timeTick plays a tick of a match and adds the times of its systems to took.
func timeTick(m *sim.Match, inputs *sim.TickInputs, took [][]time.Duration) error {
	begun := time.Now()
	at, last := begun, -1
	err := m.ReplayTimed(inputs, func(system int) {
		now := time.Now()
		if last >= 0 {
			took[last] = append(took[last], now.Sub(at))
		}
		at, last = now, system
	})
	all := len(took) - 1
	took[all] = append(took[all], time.Since(begun))
	return err
}

func systemTime(name string, took []time.Duration) SystemTime {
	slices.Sort(took)
	micros := func(d time.Duration) float64 { return float64(d) / 1e3 }
	return SystemTime{name, micros(took[len(took)/2]), micros(took[len(took)-1])}
}

// print writes the result as text.
func (o *Repeated) print(w io.Writer, profile string) error {
	fmt.Fprintf(w, "tick %d with %d players, played %d times from the state before it, the same each time\n",
		o.Tick, o.Players, o.Times)
	fmt.Fprintf(w, "%-14s %12s %12s\n", "system", "median us", "most us")
	for _, s := range append(slices.Clone(o.Systems), o.Total) {
		fmt.Fprintf(w, "%-14s %12.1f %12.1f\n", s.Name, s.Median, s.Most)
	}
	if profile != "" {
		fmt.Fprintf(w, "go tool pprof -tagfocus tick=%d %s\n", o.Tick, profile)
	}
	return nil
}
