package textlog

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/slogtest"
	"time"
)

// A record is a line: time, level, message, attributes. No value leaves its line but a stack.
func TestLines(t *testing.T) {
	var out strings.Builder
	l := slog.New(New(&out, "2006")).With("host", "a b")
	l.Info("ready", "udp", ":7913", "group", slog.GroupValue(slog.Int("n", 3)))
	l.WithGroup("of").Warn("odd\nline", "err", errors.New("no\nsuch"))
	l.Debug("not written")
	l.Error("fault", Stack, "one\ntwo\n", "lobby", 7, "empty", "")
	year := time.Now().Format("2006")
	want := strings.ReplaceAll(`Y INFO  ready host="a b" udp=:7913 group.n=3
Y WARN  "odd\nline" host="a b" of.err="no\nsuch"
Y ERROR fault host="a b" lobby=7 empty=""
one
two
`, "Y", year)
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
	out.Reset()
	slog.New(New(&out, "")).Error("bare", "n", 1)
	if out.String() != "bare n=1\n" {
		t.Errorf("without a layout: %q", out.String())
	}
}

// The handler keeps the rules of package slog.
func TestHandlerKeepsTheRules(t *testing.T) {
	var out strings.Builder
	err := slogtest.TestHandler(New(&out, time.RFC3339), func() (all []map[string]any) {
		for line := range strings.Lines(out.String()) {
			fields := strings.Fields(line)
			record := map[string]any{}
			if _, err := time.Parse(time.RFC3339, fields[0]); err == nil {
				record[slog.TimeKey], fields = fields[0], fields[1:]
			}
			record[slog.LevelKey], record[slog.MessageKey] = fields[0], fields[1]
			for _, f := range fields[2:] {
				key, value, _ := strings.Cut(f, "=")
				at := record
				path := strings.Split(key, ".")
				for _, group := range path[:len(path)-1] {
					if at[group] == nil {
						at[group] = map[string]any{}
					}
					at = at[group].(map[string]any)
				}
				at[path[len(path)-1]] = value
			}
			all = append(all, record)
		}
		return all
	})
	if err != nil {
		t.Error(err)
	}
}
