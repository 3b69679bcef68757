package content

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// Limits of a file. A pack may come from an untrusted sender.
const (
	maxFileBytes = 256 << 10
	maxDepth     = 8 // of keys and values in each other
)

// place is a line of a file.
type place struct {
	file string
	line int
}

// document is all files of a pack: their keys and where each stands.
type document struct {
	root   map[string]any
	places map[string]place // by key: "hero[0].body.radius_m"
	rows   map[string]int   // by top-level key: how many tables of its array there are so far
}

// newDocument returns a document without files.
func newDocument() *document {
	return &document{root: map[string]any{}, places: map[string]place{}, rows: map[string]int{}}
}

// at is where a key stands, or else the nearest one round it.
func (d *document) at(key string) place {
	for {
		if p, ok := d.places[key]; ok {
			return p
		}
		cut := strings.LastIndexAny(key, ".[")
		if cut < 0 {
			return place{file: manifest}
		}
		key = key[:cut]
	}
}

// fail returns an *Error that names the file and line of a key.
func (d *document) fail(key, format string, args ...any) error {
	p := d.at(key)
	return &Error{File: p.file, Line: p.line, Key: short(key), Problem: fmt.Sprintf(format, args...)}
}

// short is a key for an error: keys of an untrusted file may be long.
func short(key string) string {
	if len(key) > 120 {
		return strings.ToValidUTF8(key[:120], "") + "..."
	}
	return key
}

// add parses a file and appends it. Values come from the library's decoder, which also knows what
// TOML forbids; lines come from its parser.
func (d *document) add(file string, text []byte) error {
	whole := func(format string, args ...any) error {
		return &Error{File: file, Problem: fmt.Sprintf(format, args...)}
	}
	if len(text) > maxFileBytes {
		return whole("more than %d KiB", maxFileBytes>>10)
	}
	if !utf8.Valid(text) {
		return whole("not UTF-8")
	}
	l := &lines{d: d, file: file, counts: map[string]int{}}
	if err := l.read(text); err != nil {
		return err
	}
	values := map[string]any{}
	if err := toml.Unmarshal(text, &values); err != nil {
		return syntaxError(file, err)
	}
	for _, k := range slices.Sorted(maps.Keys(values)) {
		v := values[k]
		if rows, ok := v.([]any); ok {
			if have, ok := d.root[k].([]any); ok || d.root[k] == nil {
				d.root[k] = append(have, rows...)
				d.rows[k] += len(rows)
				continue
			}
		}
		if d.root[k] != nil {
			return d.fail(unquoted(k), "in more than one file")
		}
		d.root[k] = v
	}
	return nil
}

// syntaxError converts a TOML error, with its line and key if it has them.
func syntaxError(file string, err error) error {
	e := &Error{File: file, Problem: oneLine(strings.TrimPrefix(err.Error(), "toml: "))}
	if at := (*toml.DecodeError)(nil); errors.As(err, &at) {
		e.Line, _ = at.Position()
		e.Key = short(strings.Join(at.Key(), "."))
	}
	return e
}

// oneLine is an outside error message, in a line of at most 200 bytes.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 200 {
		s = s[:200] + "..."
	}
	return strings.ToValidUTF8(s, "?")
}

// lines is a walk through one file that notes where keys stand.
type lines struct {
	d      *document
	file   string
	starts []int          // where lines begin
	counts map[string]int // by key of an array: tables so far
	table  string         // that is open, with a dot
}

// read walks through the text of a file. It returns its syntax error, or an *Error for keys nested
// too deep.
func (l *lines) read(text []byte) error {
	for i, c := range text {
		if c == '\n' {
			l.starts = append(l.starts, i+1)
		}
	}
	var p unstable.Parser
	p.Reset(text)
	for p.NextExpression() {
		e := p.Expression()
		keys := e.Key()
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			l.table = ""
			key, err := l.path(&keys, e.Kind)
			if err != nil {
				return err
			}
			l.table = key + "."
		case unstable.KeyValue:
			key, err := l.path(&keys, unstable.KeyValue)
			if err != nil {
				return err
			}
			if err := l.value(key, e.Value()); err != nil {
				return err
			}
		}
	}
	if p.Error() == nil {
		return nil
	}
	var ignored map[string]any
	if err := toml.Unmarshal(text, &ignored); err != nil { // the same error, with its place
		return syntaxError(l.file, err)
	}
	return syntaxError(l.file, p.Error())
}

// path joins a dotted key to the table that is open and notes its line, and those of the keys
// before it.
func (l *lines) path(keys *unstable.Iterator, kind unstable.Kind) (string, error) {
	path := strings.TrimSuffix(l.table, ".")
	for keys.Next() {
		n := keys.Node()
		line := l.line(int(n.Raw.Offset))
		if path != "" {
			path += "."
		}
		path += unquoted(string(n.Data))
		if strings.Count(path, ".") >= maxDepth {
			return "", &Error{File: l.file, Line: line, Key: short(path),
				Problem: fmt.Sprintf("deeper than %d keys", maxDepth)}
		}
		switch count := l.counts[path]; {
		case kind == unstable.ArrayTable && keys.IsLast():
			l.note(path, line)
			l.counts[path] = count + 1
			path = l.row(path, count)
		case count > 0: // of the newest table of an array
			path = l.row(path, count-1)
			continue
		}
		l.note(path, line)
	}
	return path, nil
}

// row names a table of an array; those of the files before count.
func (l *lines) row(path string, n int) string {
	return path + "[" + strconv.Itoa(l.d.rows[path]+n) + "]"
}

// note keeps the first place of a key.
func (l *lines) note(path string, line int) {
	if _, ok := l.d.places[path]; !ok {
		l.d.places[path] = place{l.file, line}
	}
}

// value notes what stands in inline tables and arrays.
func (l *lines) value(path string, v *unstable.Node) error {
	if strings.Count(path, ".")+strings.Count(path, "[") >= 2*maxDepth {
		p := l.d.at(path)
		return &Error{File: p.file, Line: p.line, Problem: fmt.Sprintf("deeper than %d values", maxDepth)}
	}
	i := 0
	for it := v.Children(); it.Next(); {
		n := it.Node()
		switch {
		case v.Kind == unstable.InlineTable:
			keys := n.Key()
			was := l.table
			l.table = path + "."
			key, err := l.path(&keys, unstable.KeyValue)
			l.table = was
			if err != nil {
				return err
			}
			if err := l.value(key, n.Value()); err != nil {
				return err
			}
		case v.Kind == unstable.Array && (n.Kind == unstable.Array || n.Kind == unstable.InlineTable):
			if err := l.value(l.row(path, i), n); err != nil {
				return err
			}
		}
		i++
	}
	return nil
}

// line is the number of the line, from 1, that a byte offset lies in.
func (l *lines) line(offset int) int {
	return 1 + sort.Search(len(l.starts), func(i int) bool { return l.starts[i] > offset })
}

// plain are the keys that TOML writes without quotes.
var plain = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// unquoted is a part of a key as it is written.
func unquoted(key string) string {
	if plain.MatchString(key) {
		return key
	}
	return strconv.Quote(key)
}
