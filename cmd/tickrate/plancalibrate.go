package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/bench/capacity"
	"github.com/tickrate/tickrate/bench/report"
	"github.com/tickrate/tickrate/bench/scenario"
)

// calibration is how plan calibrate measures.
type calibration struct {
	out, only string
	plays     int
	matches   int     // most that are timed of each lesson
	seconds   float64 // virtual ones of each match
	sure      float64 // percent: the standard error of what is held out; of what is fitted, where many lessons share a law, twice as much
	held      bool    // measure what is held out alone
	lesson    string  // measure those alone whose names have that in them
	times     int     // timings that each lesson has at least

	drift *capacity.Drift // of the machine since what the file has was timed; nil: not known yet
}

// newCalibrate is plan's subcommand that measures what a model is fitted to.
func newCalibrate() *cobra.Command {
	var f calibration
	c := &cobra.Command{
		Use:   "calibrate",
		Short: "Measure what predictions rest on: lobbies of many kinds in virtual time",
		Long: `calibrate plays lobbies of different sizes, rates, spreads, fire, sight, links and codecs in virtual time, and writes what they cost to
a file for plan --predict. Bytes do not depend on the machine nor on what else it does: so many matches are played, on all processors, that
their mean is known. CPU time is measured behind that, one match at a time, by stage: the least of several plays of each tick, which are
the same work. That wants a machine with nothing else to do, and may be done by itself with --only cpu. Machines change their pace by several
percent within the hour: so one lobby that is always the same is played in turn with each other, whose times are written as if it had always
taken what it took first. Where the file has times of another day, plain lobbies of several sizes are timed anew first, and each stage's times are
taken back by what they have changed.

Nearly one in four are held out: no model is fitted to those, and its error there is what the model's is. Interrupted, it writes what it has; called again
with the same file, it goes on; called with a smaller --unsure, it adds matches to those that are there, and times those again whose CPU times are less sure than twice that.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return calibrate(c, f) },
	}
	c.Flags().StringVar(&f.out, "out", "measured.json", "`file` to write")
	c.Flags().StringVar(&f.only, "only", "", "measure `bytes` or cpu alone, and keep what the file has of the other; default both")
	c.Flags().IntVar(&f.plays, "plays", timedPlays, "`times` that each tick is played for its CPU time, 1 to 100")
	c.Flags().IntVar(&f.matches, "matches", timedLongest, "most `matches` of each kind that are played for their CPU time, 2 to 100")
	c.Flags().Float64Var(&f.seconds, "seconds", matchSeconds, "virtual `seconds` to measure of each match, 0.5 to 60")
	c.Flags().BoolVar(&f.held, "held", false, "measure what is held out alone")
	c.Flags().StringVar(&f.lesson, "lesson", "", "measure those lessons alone whose names have this `text` in them, such as map=town; default all")
	c.Flags().IntVar(&f.times, "times", 1, "`timings` that each lesson has at least, 1 to 10, each of other matches: their mean counts")
	c.Flags().Float64Var(&f.sure, "unsure", 0.8, "`percent` of standard error that bytes may have, 0.1 to 10")
	return c
}

// check says what cannot be.
func (f *calibration) check() error {
	switch {
	case f.plays < 1 || f.plays > 100 || !(f.seconds >= 0.5 && f.seconds <= 60):
		return fmt.Errorf("%d plays of %g s: expected 1 to 100 of 0.5 to 60", f.plays, f.seconds)
	case f.matches < 2 || f.matches > 100:
		return fmt.Errorf("--matches %d: expected 2 to 100", f.matches)
	case !(f.sure >= 0.1 && f.sure <= 10):
		return fmt.Errorf("--unsure %g: expected 0.1 to 10 percent", f.sure)
	case f.times < 1 || f.times > 10:
		return fmt.Errorf("--times %d: expected 1 to 10", f.times)
	case f.only != "" && f.only != "bytes" && f.only != "cpu":
		return fmt.Errorf("--only %q: expected bytes or cpu", f.only)
	}
	return nil
}

// matchSeconds are measured of each match, and verifySure is the standard error of the bytes that a prediction is verified with.
const (
	matchSeconds = 4
	verifySure   = 0.008
	timedMost    = 12
	timedPlays   = 5  // of each tick, of which the least counts
	timedLongest = 40 // and of a recording
)

// timings is how many matches are to be played for their CPU time, of which known has some: as many as it takes for twice the standard error that bytes
// may have, as far as those tell; 0: there are enough.
func (f *calibration) timings(known *capacity.Facts, s scenario.Scenario) int {
	if known == nil {
		return f.first(s)
	}
	want := math.Ceil(float64(known.Matches) * math.Pow(known.TimeUnsure/(2*f.sure/100), 2))
	if known.Matches >= f.matches || want <= float64(known.Matches) {
		return 0
	}
	return int(min(want, float64(f.matches)))
}

// first is how many are played at first, and whenever a lesson is timed again: houses stand otherwise in each town, and what hides is a good part of what a tick costs there.
func (f *calibration) first(s scenario.Scenario) int {
	matches := timedMatches(s, f.matches)
	if s.Lobby.Map == "town" {
		matches = min(townTimes*matches, f.matches)
	}
	return matches
}

// townTimes as many matches are timed in towns.
const townTimes = 2

// timedMatches is how many matches of so many players are played for their CPU time: those of few players differ more and take less.
func timedMatches(s scenario.Scenario, most int) int {
	return min(windowOf(s).share(600/s.Lobby.Players), most)
}

// mostMatches bounds how many are played for their bytes, in players, and by the seeds that a lesson has: matches in towns differ by a fifth.
func mostMatches(s scenario.Scenario) int {
	return min(windowOf(s).share(max(100_000/s.Lobby.Players, 16)), lessonSeeds)
}

func calibrate(c *cobra.Command, f calibration) error {
	if err := f.check(); err != nil {
		return badUse(err)
	}
	m, err := knownRounds(f.out) // an interrupted calibration goes on
	if err != nil {
		return err
	}
	known := map[string]int{}
	for i, s := range m.Steps {
		known[s.Facts.Scenario] = i
	}
	pace := pacer{plays: f.plays, usual: m.Pace}
	for _, pass := range []string{"bytes", "cpu"} {
		if f.only != "" && f.only != pass {
			continue
		}
		for i, l := range lessons() {
			s := l.scenario(f.seconds)
			if f.held && !l.held || !strings.Contains(s.Name, f.lesson) {
				continue
			}
			at, there := known[s.Name]
			if !there {
				at = len(m.Steps)
				known[s.Name] = at
				m.Steps = append(m.Steps, capacity.Measurement{HeldOut: l.held, Step: capacity.Step{Players: l.players}})
			}
			for one, left := &m.Steps[at], true; left; left = pass == "cpu" && f.again(one) {
				fresh, err := false, error(nil)
				if pass == "cpu" && f.drift == nil && f.left(one, s) > 0 {
					err = f.look(c.Context(), m, &pace, c.OutOrStdout())
				}
				if err == nil {
					fresh, err = f.measure(c.Context(), one, s, pass, &pace)
				}
				m.Pace = pace.usual
				if err != nil {
					if one.Facts == nil {
						m.Steps = m.Steps[:at]
					}
					return calibrated(c.Context(), f.out, m, err)
				}
				if fresh {
					fmt.Fprintf(c.OutOrStdout(), "%s %2d of %d: %s\n", pass, i+1, len(lessons()), lessonLine(one, pass))
					if err := calibrated(c.Context(), f.out, m, nil); err != nil {
						return err
					}
				}
			}
		}
	}
	return calibrated(c.Context(), f.out, m, nil)
}

// measure does what a pass does for one lesson. It reports whether there was anything left to do.
func (f *calibration) measure(ctx context.Context, one *capacity.Measurement, s scenario.Scenario, pass string, pace *pacer) (fresh bool, err error) {
	if pass == "bytes" {
		sure, most := f.sure/100, mostMatches(s)
		if k := one.Facts; k != nil && k.Matches > 0 && (k.Unsure <= sure && k.Matches >= leastPlayed || k.Matches >= most) {
			if now := meetsOf(s); k.Meets != now { // recorded before that was known, or was what it is
				k.Meets, fresh = now, true
			}
			if unplayed(k, s) {
				p, err := playedOf(ctx, s, played(s))
				if err != nil {
					return fresh, err
				}
				k.Played, fresh = p, true
			}
			return fresh, nil
		}
		step, err := tell(ctx, s, one.Facts, sure, most)
		if err != nil {
			return false, err
		}
		if one.Facts != nil && one.Facts.Matches > 0 {
			step.KbpsUpPerClient = one.KbpsUpPerClient // of more matches than the ones that came now
		}
		if unplayed(step.Facts, s) {
			if step.Facts.Played, err = playedOf(ctx, s, played(s)); err != nil {
				return false, err
			}
		}
		step.TickCPUMillis, step.StageCPUMicros = one.TickCPUMillis, one.StageCPUMicros
		one.Step = step
		return true, nil
	}
	matches, again := f.left(one, s), f.again(one)
	if matches == 0 {
		return false, nil
	}
	if again {
		s.Play.Seed += uint64(one.Timed.Matches)
	}
	step, err := pace.timed(ctx, s, matches)
	if err != nil {
		return false, err
	}
	step = f.drift.Undone(step)
	if one.Facts != nil {
		one.Facts.Memory = step.Facts.Memory // of this build
	}
	if again {
		*one = one.Again(step)
		return true, nil
	}
	if one.Facts == nil { // bytes come later: these must do until then, and say so
		one.Step = step
		facts := *step.Facts
		facts.Matches = 0
		one.Facts = &facts
	}
	one.TickCPUMillis, one.StageCPUMicros, one.Timed, one.Times = step.TickCPUMillis, step.StageCPUMicros, step.Facts, 1
	return true, nil
}

// again is whether a lesson that was timed is to be timed once more.
func (f *calibration) again(one *capacity.Measurement) bool {
	return one.Timed != nil && max(one.Times, 1) < f.times
}

// left is how many matches of a lesson are to be timed.
func (f *calibration) left(one *capacity.Measurement, s scenario.Scenario) int {
	if f.again(one) {
		return f.first(s)
	}
	return f.timings(one.Timed, s)
}

// look finds out how the machine is beside what the file has.
func (f *calibration) look(ctx context.Context, m capacity.Measurements, pace *pacer, w io.Writer) error {
	d, err := driftSince(m, func(l lesson) (capacity.Step, error) {
		s := l.scenario(f.seconds)
		return pace.timed(ctx, s, f.first(s))
	}, w)
	f.drift = &d
	return err
}

// played is the window in which a lesson's play is to be known.
func played(s scenario.Scenario) window {
	if w := windowOf(s); w == longRun {
		return w
	}
	return opening
}

// unplayed is whether nothing was played of a scenario on its own maps.
func unplayed(f *capacity.Facts, s scenario.Scenario) bool {
	hides := s.Lobby.FarMetres > 0 || s.Lobby.Map == "town"
	return f.Played.Matches == 0 || f.Played.Ground != s.Play.Seed || hides && f.Played.Glances.Flights == 0
}

// lessonLine says what a pass has found.
func lessonLine(one *capacity.Measurement, pass string) string {
	if pass == "cpu" {
		return fmt.Sprintf("%-34s %8.1f ± %.1f %% µs a tick, %d matches", one.Facts.Scenario, 1000*one.TickCPUMillis.Mean, 100*one.Timed.TimeUnsure, one.Timed.Matches)
	}
	f := one.Facts
	return fmt.Sprintf("%-34s %7.0f ± %.1f %% B/s a client, sees %.1f, %.0f %% alive, %.1f in flight, %d matches", f.Scenario, f.Bytes, 100*f.Unsure, f.Visible,
		100*f.Alive, f.Flights, f.Matches)
}

// calibrated writes what there is.
func calibrated(ctx context.Context, out string, m capacity.Measurements, err error) error {
	if ctx.Err() != nil {
		err = nil
	}
	if err != nil || len(m.Steps) == 0 {
		return err
	}
	raw, err := m.Encode()
	if err != nil {
		return err
	}
	return report.Replace(out, raw)
}

// readMeasurements reads a file of calibrate, or a plan.json.
func readMeasurements(path string) (capacity.Measurements, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return capacity.Measurements{}, badUse(fmt.Errorf("measurements: %w; make some with tickrate plan calibrate", err))
	}
	m, err := capacity.ParseMeasurements(path, raw)
	return m, badUse(err)
}
