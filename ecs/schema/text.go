package schema

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Set is all that two ends must agree on before rows mean anything: the schemas, and the hash of
// the models that code them. Hashes tell that two ends differ; the set's text tells them where.
type Set struct {
	Schemas []Schema // 1 to MaxSchemas, each of its own name
	Model   uint64
}

// Limits of a text, so that whoever reads one from the network knows what to expect.
const (
	MaxSchemas = 8
	MaxText    = MaxSchemas*(MaxSingleFields+1)*maxLine + maxLine
	maxLine    = 80
)

// ErrText says that bytes are no text of a Set. The error that wraps it names the line.
var ErrText = errors.New("schema: not a text of schemas")

// AppendText writes the canonical text, at most MaxText bytes of ASCII: a line for each schema,
// below it one for each field, in the order of the row, and one for the models:
//
//	schema player
//	field x -262144..262144
//	field yaw wrap 4096
//	field any predict linear
//	schema owner single
//	field pos.x -8388608..8388608
//	model 00c0ffee00c0ffee
//
// Hints are left out, as they decide nothing. Errors wrap ErrSchema: one of the schemas fails
// Check.
func (s Set) AppendText(dst []byte) ([]byte, error) {
	if err := s.check(); err != nil {
		return dst, err
	}
	for _, c := range s.Schemas {
		dst = c.appendText(dst)
	}
	return fmt.Appendf(dst, "model %016x\n", s.Model), nil
}

func (s Set) check() error {
	if len(s.Schemas) == 0 || len(s.Schemas) > MaxSchemas {
		return fmt.Errorf("%w: %d schemas, want 1 to %d", ErrSchema, len(s.Schemas), MaxSchemas)
	}
	for i, c := range s.Schemas {
		if err := c.Check(); err != nil {
			return err
		}
		for _, other := range s.Schemas[:i] {
			if other.Name == c.Name {
				return fmt.Errorf("%w: two schemas are called %s", ErrSchema, c.Name)
			}
		}
	}
	return nil
}

// Describe returns the schema's part of a Set's text. Schemas with the same text have the same
// hash, and the other way round.
func (s Schema) Describe() string { return string(s.appendText(nil)) }

func (s Schema) appendText(dst []byte) []byte {
	dst = fmt.Appendf(dst, "schema %s", s.Name)
	if s.Single {
		dst = append(dst, " single"...)
	}
	for _, f := range s.Fields {
		dst = fmt.Appendf(dst, "\nfield %s", f.Name)
		if m := f.measure(); m != "" {
			dst = append(append(dst, ' '), m...)
		}
		if f.Predict != Hold {
			dst = fmt.Appendf(dst, " predict %v", f.Predict)
		}
		if f.Spawn != SpawnZero {
			dst = fmt.Appendf(dst, " spawn %v", f.Spawn)
		}
	}
	return append(dst, '\n')
}

// measure is the range as text; nothing if every number is in it.
func (f Field) measure() string {
	lo, hi := f.Range()
	switch {
	case f.Wrap != 0:
		return fmt.Sprintf("wrap %d", f.Wrap)
	case lo == math.MinInt32 && hi == math.MaxInt32:
		return ""
	default:
		return fmt.Sprintf("%d..%d", lo, hi)
	}
}

// ParseSet reads a text of AppendText, exactly one. Whatever the bytes, it reads at most MaxText of
// them. Errors wrap ErrText and say which line and what was expected.
func ParseSet(src []byte) (s Set, err error) {
	if len(src) > MaxText {
		return Set{}, fmt.Errorf("%w: %d bytes, at most %d", ErrText, len(src), MaxText)
	}
	if n := bytes.Count(src, []byte("\n")); n > MaxSchemas*(MaxSingleFields+1)+1 {
		return Set{}, fmt.Errorf("%w: %d lines", ErrText, n)
	}
	lines := bytes.Split(src, []byte("\n"))
	if n := len(lines) - 1; len(lines[n]) != 0 {
		return Set{}, fmt.Errorf("%w: line %d is not ended", ErrText, n+1)
	}
	lines = lines[:len(lines)-1]
	for i, line := range lines {
		if err := s.line(string(line), i == len(lines)-1); err != nil {
			return Set{}, fmt.Errorf("%w: line %d: %w", ErrText, i+1, err)
		}
	}
	again, err := s.AppendText(nil)
	if err != nil {
		return Set{}, fmt.Errorf("%w: %w", ErrText, err)
	}
	if !bytes.Equal(again, src) { // 007, -0, blanks: one text for one meaning
		return Set{}, fmt.Errorf("%w: not written as AppendText does", ErrText)
	}
	return s, nil
}

// line adds one line to the set.
func (s *Set) line(line string, last bool) (err error) {
	if len(line) > maxLine {
		return fmt.Errorf("%d bytes, at most %d", len(line), maxLine)
	}
	words := strings.Split(line, " ")
	switch {
	case last:
		if len(words) != 2 || words[0] != "model" {
			return errors.New("expected model and its hash")
		}
		if s.Model, err = strconv.ParseUint(words[1], 16, 64); err != nil {
			return errors.New("expected a hash of 16 digits")
		}
	case words[0] == "schema" && (len(words) == 2 || len(words) == 3 && words[2] == "single"):
		if len(s.Schemas) == MaxSchemas {
			return fmt.Errorf("more than %d schemas", MaxSchemas)
		}
		s.Schemas = append(s.Schemas, Schema{Name: words[1], Single: len(words) == 3})
	case words[0] == "field" && len(words) >= 2 && len(s.Schemas) > 0:
		c := &s.Schemas[len(s.Schemas)-1]
		if len(c.Fields) == MaxSingleFields {
			return fmt.Errorf("more than %d fields", MaxSingleFields)
		}
		f, err := parseField(words[1:])
		if err != nil {
			return err
		}
		c.Fields = append(c.Fields, f)
	default:
		return errors.New("expected schema, field or model")
	}
	return nil
}

// parseField reads a field's words: name, measure, predictor, value of new rows.
func parseField(words []string) (f Field, err error) {
	f.Name, words = words[0], words[1:]
	if n := len(words); n >= 2 && words[n-2] == "spawn" {
		p, err := word(words[n-1], spawnNames[:])
		if err != nil {
			return f, err
		}
		f.Spawn, words = Spawn(p), words[:n-2]
	}
	if n := len(words); n >= 2 && words[n-2] == "predict" {
		p, err := word(words[n-1], predictorNames[:])
		if err != nil {
			return f, err
		}
		f.Predict, words = Predictor(p), words[:n-2]
	}
	switch {
	case len(words) == 0:
		return f, nil
	case len(words) == 2 && words[0] == "wrap":
		f.Wrap, err = number(words[1])
		return f, err
	case len(words) == 1:
		lo, hi, _ := strings.Cut(words[0], "..")
		if f.Min, err = number(lo); err == nil {
			f.Max, err = number(hi)
		}
		return f, err
	}
	return f, errors.New("expected least..greatest, or wrap and a number")
}

func number(s string) (int32, error) {
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil {
		return 0, errors.New("expected a number of 32 bits")
	}
	return int32(n), nil
}
