// The log of servers: flag --log, and where its records go.

package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/tickrate/tickrate/internal/textlog"
)

// logFormat is the value of --log.
type logFormat string

// The formats.
const (
	logText logFormat = "text"
	logJSON logFormat = "json"
)

// String is the format's name.
func (f *logFormat) String() string { return string(*f) }

// Type is of pflag.Value.
func (f *logFormat) Type() string { return "string" }

// Set reads a format.
func (f *logFormat) Set(text string) error {
	if *f = logFormat(text); *f != logText && *f != logJSON {
		return fmt.Errorf("expected %s or %s", logText, logJSON)
	}
	return nil
}

// register adds --log to fl.
func (f *logFormat) register(fl *pflag.FlagSet) {
	*f = logText
	fl.Var(f, "log", "`format` of the log on standard error: text, or json, an object a line")
}

// Times of lines: on a terminal a person has the day at hand.
const (
	timeOfDay = "15:04:05"
	timeFull  = "2006-01-02T15:04:05.000Z07:00"
)

// logger is the log of the command, to w. Lines that w does not take are dropped.
func (f *logFormat) logger(w io.Writer) *slog.Logger {
	to := &logWriter{w: w}
	if *f == logJSON {
		return slog.New(slog.NewJSONHandler(to, nil))
	}
	if file, ok := w.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		return slog.New(textlog.New(to, timeOfDay))
	}
	return slog.New(textlog.New(to, timeFull))
}
