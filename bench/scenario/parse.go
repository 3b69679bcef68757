package scenario

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// MaxBytes is the longest file that is read.
const MaxBytes = 64 << 10

// Error says where a file is wrong, and what was expected there.
type Error struct {
	File string
	Line int    // 0 if it is of no line: a key that the file leaves out
	Key  string // as the file has it, with its table: "lobby.players"
	Want string // what was expected, or what the reader says
}

func (e *Error) Error() string {
	at := e.File
	if e.Line > 0 {
		at += fmt.Sprintf(":%d", e.Line)
	}
	if e.Key != "" {
		at += ": " + e.Key
	}
	return at + ": expected " + e.Want
}

// Parse reads a scenario file; file is its name, for errors. All errors are *Error.
func Parse(file string, text []byte) (Scenario, error) {
	s := Default()
	s.Name = strings.TrimSuffix(filepath.Base(file), ".toml")
	if err := Decode(file, text, &s); err != nil {
		return Scenario{}, err
	}
	if err := s.Check(); err != nil {
		wrong := err.(*Error)
		wrong.File, wrong.Line = file, Lines(text)[wrong.Key]
		return Scenario{}, wrong
	}
	return s, nil
}

// Decode reads TOML strictly into v, a pointer to a struct: keys that it has no field for are
// refused. All errors are *Error.
func Decode(file string, text []byte, v any) error {
	if len(text) > MaxBytes {
		return &Error{File: file, Want: fmt.Sprintf("at most %d bytes", MaxBytes)}
	}
	err := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(v)
	var unknown *toml.StrictMissingError
	var wrong *toml.DecodeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &unknown) && len(unknown.Errors) > 0:
		first := &unknown.Errors[0]
		line, _ := first.Position()
		return &Error{file, line, strings.Join(first.Key(), "."), "no such key: it is unknown"}
	case errors.As(err, &wrong):
		line, _ := wrong.Position()
		return &Error{file, line, strings.Join(wrong.Key(), "."), said(wrong)}
	}
	return &Error{File: file, Want: "a TOML file: " + oneLine(err.Error())}
}

// said turns the reader's complaint into what was expected.
func said(e *toml.DecodeError) string {
	text := oneLine(strings.TrimPrefix(e.Error(), "toml: "))
	if m := mismatch.FindStringSubmatch(text); m != nil {
		return kind(m[2]) + ", got " + m[1]
	}
	if m := unfit.FindStringSubmatch(text); m != nil {
		return kind(m[2]) + ", got " + m[1]
	}
	if strings.HasSuffix(text, "is already defined") {
		return "this key once: " + text
	}
	if len(e.Key()) > 0 { // the text is TOML, and its value is not what the key is for
		return "another value (" + text + ")"
	}
	return "TOML: " + text
}

// How the reader puts it that a value is of another type than its field, and that a number has no
// place in it.
var (
	mismatch = regexp.MustCompile(`^cannot decode TOML (.+) into .* type (\S+)$`)
	unfit    = regexp.MustCompile(`integer value (-?\d+) cannot be stored in (\S+)$`)
)

// kind is what a file must have for a field of a type of Go.
func kind(of string) string {
	switch {
	case of == "string":
		return "text in quotes"
	case of == "bool":
		return "true or false"
	case of == "[]string":
		return "a list of texts"
	case strings.HasPrefix(of, "float"):
		return "a number"
	case strings.HasPrefix(of, "uint"):
		return "a whole number, 0 or more"
	case strings.HasPrefix(of, "int"):
		return "a whole number"
	}
	return "a table of keys"
}

func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	return s[:min(len(s), 200)]
}

// Lines finds the line of every key, with its table before it. Text that is no TOML ends early.
func Lines(text []byte) map[string]int {
	at := map[string]int{}
	var p unstable.Parser
	p.Reset(text)
	table := ""
	for p.NextExpression() {
		e := p.Expression()
		name, offset := "", 0
		for it := e.Key(); it.Next(); {
			n := it.Node()
			if name != "" {
				name += "."
			}
			name += string(n.Data)
			offset = int(n.Raw.Offset)
		}
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = name + "."
		case unstable.KeyValue:
			at[table+name] = 1 + bytes.Count(text[:offset], []byte("\n"))
			for it := e.Value().Children(); e.Value().Kind == unstable.InlineTable && it.Next(); {
				k := it.Node().Key()
				if k.Next() {
					at[table+name+"."+string(k.Node().Data)] = at[table+name]
				}
			}
		}
	}
	return at
}
