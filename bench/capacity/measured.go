package capacity

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Measurements are steps with facts, which a model is fitted to. A plan.json is read as such, too.
type Measurements struct {
	Version int           `json:"version"`
	Machine Machine       `json:"machine"`
	Commit  string        `json:"commit"`
	Started time.Time     `json:"started"`
	Pace    float64       `json:"pace_us,omitempty"` // of a tick of the lobby that is timed between all others, whose times are as if it had always taken that; 0: they are as they were
	Steps   []Measurement `json:"steps"`
}

// Measurement is one of them. What is held out is for judging a model, not for fitting one.
type Measurement struct {
	Step
	Timed   *Facts `json:"timed,omitempty"` // what the CPU times are of, where they are of other matches than Facts: fewer; nil: of the same
	Times   int    `json:"times,omitempty"` // how many timings they are the mean of; 0: one
	HeldOut bool   `json:"held_out,omitempty"`
}

// FileError says where a file of measurements or a baseline is wrong, and what was expected.
type FileError struct {
	File string
	Line int // 0: of no line
	Want string
}

func (e *FileError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: expected %s", e.File, e.Want)
	}
	return fmt.Sprintf("%s:%d: expected %s", e.File, e.Line, e.Want)
}

// ParseMeasurements reads a file; its errors are *FileError. Void steps and those without facts are left out.
func ParseMeasurements(file string, raw []byte) (Measurements, error) {
	var m Measurements
	if err := json.Unmarshal(raw, &m); err != nil {
		return m, fileError(file, raw, err)
	}
	if m.Version != Version {
		return m, &FileError{file, lineOf(raw, int64(bytes.Index(raw, []byte(`"version"`)))+1), fmt.Sprintf("version %d, as this build writes it; got %d", Version, m.Version)}
	}
	if len(m.Steps) == 0 {
		return m, &FileError{file, 0, "steps with facts: nothing was measured yet"}
	}
	kept := m.Steps[:0]
	for _, s := range m.Steps {
		if f := s.Facts; !s.Void && f != nil && f.PerLobby > 0 && f.TickHz > 0 && f.SendEvery > 0 && f.Lobbies > 0 {
			s.Step = s.Finite()
			kept = append(kept, s)
		}
	}
	if m.Steps = kept; len(kept) == 0 {
		return m, &FileError{file, 0, "steps with facts: there is none that is not void"}
	}
	return m, nil
}

// fileError finds the line of an error of package json.
func fileError(file string, raw []byte, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return &FileError{file, lineOf(raw, syntax.Offset), "JSON: " + syntax.Error()}
	case errors.As(err, &kind) && kind.Field == "":
		return &FileError{file, lineOf(raw, kind.Offset), "an object of measurements, got " + kind.Value}
	case errors.As(err, &kind):
		return &FileError{file, lineOf(raw, kind.Offset), fmt.Sprintf("%s to be of type %s, got %s", kind.Field, kind.Type, kind.Value)}
	}
	return &FileError{file, 0, "JSON: " + err.Error()}
}

func lineOf(raw []byte, offset int64) int {
	return 1 + bytes.Count(raw[:min(max(int(offset)-1, 0), len(raw))], []byte("\n"))
}

// Encode is the file, whose numbers are finite.
func (m Measurements) Encode() ([]byte, error) {
	m.Version = Version
	m.Steps = append([]Measurement{}, m.Steps...)
	for i := range m.Steps {
		m.Steps[i].Step = m.Steps[i].Finite()
		m.Steps[i].Failed = append([]string{}, m.Steps[i].Failed...)
	}
	raw, err := json.MarshalIndent(m, "", " ")
	return append(raw, '\n'), err
}
