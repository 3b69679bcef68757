// The captures of serve: their flags, and the recorder that writes them.

package main

import (
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/tickrate/tickrate/bench/slo"
	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/internal/meter"
	"github.com/tickrate/tickrate/server/host"
	"github.com/tickrate/tickrate/server/host/capture"
)

// captureSettings are the settings of captures of ticks that miss their deadlines.
type captureSettings struct {
	captureFlags
	from bool // nothing is captured before a reset of the figures of all lobbies
	// finds the maps of the lobbies again; serveSettings.config sets it
	maps *mapResolver
}

// register adds the flags of these settings to fl.
func (s *captureSettings) register(fl *pflag.FlagSet) {
	s.captureFlags.register(fl, "misses its deadline, at most one a minute: its trace, stages and cause; includes "+
		"--hiccup", "such as 'tick>0.9*period'; it can name "+
		strings.ReplaceAll(strings.TrimSuffix(slo.TickHelp, "."), "\n", " "))
}

// start starts the recorder of captures; a nil one if there are to be none.
func (s *captureSettings) start(log *slog.Logger) (*capture.Recorder, error) {
	if s.dir == "" || s.most == 0 {
		return nil, nil
	}
	when, err := s.check()
	if err != nil {
		return nil, err
	}
	r, err := capture.New(capture.Config{Dir: s.dir, When: when, Most: s.most, Log: log, Await: s.from,
		ReplayFlags: s.maps.replayFlags})
	if err != nil {
		return nil, err
	}
	return r, r.Start()
}

// observe adds to a configuration what observes the ticks from outside: the recorder of captures, and
// the meter of hiccups. stop ends them; call it after the host has ended.
func (s *serveSettings) observe(cfg *host.Config) (stop func(), err error) {
	if cfg.Capture, err = s.capture.start(cfg.Log); err != nil {
		return nil, err
	}
	if !s.tick.hiccup && cfg.Capture == nil {
		return func() {}, nil
	}
	late, stopMeter := hiccups(cfg.Capture)
	cfg.Hiccup = late
	if s.tick.hiccup {
		cfg.Slowdown = meter.NewHistogram(0, meter.Fine)
	}
	return func() {
		stopMeter()
		cfg.Capture.Close()
	}, nil
}

// hiccups starts a thread that measures its own wake-up delays, which are what the machine adds to
// any thread. late has them, in nanoseconds, and captures too. stop ends the thread.
func hiccups(captures *capture.Recorder) (late *meter.Histogram, stop func()) {
	late = meter.NewHistogram(0, meter.Fine)
	return late, clock.NewHiccup(nil, func(d time.Duration) {
		late.Record(int64(d))
		captures.Hiccup(d)
	}).Stop
}
