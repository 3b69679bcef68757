package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/tickrate/tickrate/bench/measure"
)

// Captures keeps what the servers have written down of their ticks in steps that fail, or that are
// void because the machine stalled. The servers of other steps leave nothing.
type Captures struct {
	Dir  string // folder of the kept captures; made if need be
	When string // limit of a tick, as serve --capture-when has it; "" for the deadline alone
	Most int    // captures in Dir, those of earlier runs included

	step string // folder of the step in hand; "": none
}

// keptPrefix begins the names of kept captures, before the number of players.
const keptPrefix = "players-"

// begin makes the folder of a step. A nil Captures captures nothing, here and below.
func (c *Captures) begin() error {
	if c == nil {
		return nil
	}
	err := os.MkdirAll(c.Dir, 0o755)
	if err == nil {
		c.step, err = os.MkdirTemp(c.Dir, ".step-")
	}
	if err != nil {
		return fmt.Errorf("captures: %w", err)
	}
	return nil
}

// flags are those of a server process of the step: captures of one process do not delay those of
// another, and it begins to capture when the figures begin.
func (c *Captures) flags(process int) []string {
	if c == nil || c.step == "" {
		return nil
	}
	dir := filepath.Join(c.step, fmt.Sprint(process))
	flags := []string{"--capture", filepath.Join(dir, "ticks"), "--record", filepath.Join(dir, "matches"),
		"--capture-from-reset"}
	if c.When != "" {
		flags = append(flags, "--capture-when", c.When)
	}
	return flags
}

// end keeps the captures of a judged step, if it is one of those, and removes the rest. The servers
// have ended.
func (c *Captures) end(s *measure.Step) (err error) {
	if c == nil || c.step == "" {
		return nil
	}
	if failed := !s.Pass && !s.Void; failed || s.Stalled {
		err = c.keep(s)
	}
	err = errors.Join(err, os.RemoveAll(c.step))
	c.step = ""
	if err != nil {
		return fmt.Errorf("captures: %w", err)
	}
	return nil
}

// keep moves captures out of the folder of the step, until there are as many as there may be.
func (c *Captures) keep(s *measure.Step) error {
	found, err := filepath.Glob(filepath.Join(c.step, "*", "ticks", "tick-*"))
	if err != nil {
		return err
	}
	kept, err := filepath.Glob(filepath.Join(c.Dir, keptPrefix+"*"))
	if err != nil {
		return err
	}
	slices.Sort(found)
	for _, from := range found[:max(0, min(len(found), c.Most-len(kept)))] {
		name := fmt.Sprintf("%s%d-%s", keptPrefix, s.Players, filepath.Base(from))
		if err := os.Rename(from, filepath.Join(c.Dir, name)); err != nil {
			return err
		}
		s.Captures = append(s.Captures, measure.Capture{Folder: name, Cause: causeOf(filepath.Join(c.Dir, name))})
	}
	return nil
}

// causeOf is the sentence that a capture has about its cause; "" if it cannot be read.
func causeOf(folder string) string {
	var report struct {
		Cause struct {
			Text string `json:"text"`
		} `json:"cause"`
	}
	text, err := os.ReadFile(filepath.Join(folder, "tick.json"))
	if err == nil {
		err = json.Unmarshal(text, &report)
	}
	if err != nil {
		return ""
	}
	return report.Cause.Text
}
