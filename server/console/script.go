package console

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
)

// Bounds of files.
const (
	MaxPending = 128        // lines of files that wait to be run
	MaxFile    = 64 << 10   // bytes
	maxDepth   = 8          // files that run one another
	maxRun     = 4096       // lines that one exec leads to, all in all
	configFile = "user.cfg" // of saveconfig and loadconfig
)

// script has the lines of files that wait to be run.
type script struct {
	lines []fileLine // the next one first
	wait  int        // ticks before it
	depth int        // of the line that runs
	ran   int        // lines since there were none
}

// fileLine is a line of a file.
type fileLine struct {
	text   string
	who    Caller
	file   string
	number int // from 1
	depth  int // 1 for lines of a file that no file runs
}

// Pending returns the number of lines of files that wait to be run.
func (c *Console) Pending() int { return len(c.queue.lines) }

// Step is a tick. It runs lines of files until none is left, one is a wait, or MaxPending have run,
// and appends the lines to show. The error of a line is shown with its file and number; the next
// line runs.
func (c *Console) Step(out []string) []string {
	q := &c.queue
	if q.wait > 0 {
		q.wait--
	}
	for n := 0; n < MaxPending && q.wait == 0 && len(q.lines) > 0; n++ {
		p := q.lines[0]
		q.lines = q.lines[1:]
		var err error
		out, err = c.run(out, p.text, p.who, p.depth)
		if err != nil {
			out = append(out, fmt.Sprintf("%s:%d: %v", p.file, p.number, err))
		}
		if q.ran++; q.ran >= maxRun && len(q.lines) > 0 {
			const tooMany = "%s:%d: files have run %d lines: expected fewer; %d lines are left out"
			out = append(out, fmt.Sprintf(tooMany, p.file, p.number, q.ran, len(q.lines)))
			q.lines = nil
		}
	}
	if len(q.lines) == 0 {
		q.ran = 0
	}
	return out
}

// exec is the command exec. The lines of the file run before those that wait.
func (c *Console) exec(call *Call) error {
	args := call.Args
	silent := len(args) == 2 && args[0] == "-s"
	if silent {
		args = args[1:]
	}
	if len(args) != 1 {
		return fmt.Errorf("exec %s: expected -s, or one file", quoteWord(args[0]))
	}
	q := &c.queue
	if q.depth >= maxDepth {
		return fmt.Errorf("exec %s: files that run one another: expected at most %d",
			quoteWord(args[0]), maxDepth)
	}
	lines, err := c.read("exec", args[0])
	if silent && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if n := len(lines) + len(q.lines); n > MaxPending {
		return fmt.Errorf("exec %s: %d lines would wait: expected at most %d",
			quoteWord(args[0]), n, MaxPending)
	}
	for i := range lines {
		lines[i].who, lines[i].depth = call.Caller, q.depth+1
	}
	q.lines = append(lines, q.lines...) // before those that wait
	return nil
}

// read returns the lines of a file that have words, or the error of the first line that Split
// refuses.
func (c *Console) read(command, name string) (lines []fileLine, err error) {
	text, err := c.text(name)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", command, quoteWord(name), err)
	}
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		words, err := Split(line)
		if err != nil {
			return nil, fmt.Errorf("%s %s: line %d: %w", command, quoteWord(name), i+1, err)
		}
		if len(words) > 0 {
			lines = append(lines, fileLine{text: line, file: name, number: i + 1})
		}
	}
	return lines, nil
}

// text reads a file of the configuration's directory, at most MaxFile bytes.
func (c *Console) text(name string) (string, error) {
	if c.cfg.Files == nil {
		return "", errors.New("there are no files here")
	}
	if !fs.ValidPath(name) { // no way out of the directory
		return "", errors.New("expected a path within the configuration's directory")
	}
	f, err := c.cfg.Files.Open(name)
	if err != nil {
		return "", cause(err)
	}
	defer f.Close() // read only
	text, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err != nil {
		return "", cause(err)
	}
	if len(text) > MaxFile {
		return "", fmt.Errorf("file too long: expected at most %d bytes", MaxFile)
	}
	return string(text), nil
}

// cause removes the file's name from an error: the message has it already.
func cause(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// AppendConfig appends the saved variables that differ from their defaults, as lines for
// loadconfig.
func (c *Console) AppendConfig(dst []byte) []byte {
	dst = append(dst, "// Variables that differ from their defaults. saveconfig writes this file anew.\n"...)
	for v := range c.vars() {
		if v.flags&Save != 0 && v.Changed() {
			dst = fmt.Appendf(dst, "%s %s\n", v.name, Quote(v.String()))
		}
	}
	return dst
}

// AppendValues appends the saved variables that a function chooses, changed or not, as lines for
// SetValues.
func (c *Console) AppendValues(dst []byte, chosen func(*Var) bool) []byte {
	for v := range c.vars() {
		if v.flags&Save != 0 && chosen(v) {
			dst = fmt.Appendf(dst, "%s %s\n", v.name, Quote(v.String()))
		}
	}
	return dst
}

// SetValues sets saved variables from lines of AppendValues, of this console or of another. A line
// that this console refuses changes nothing; it returns their number.
func (c *Console) SetValues(text string) (refused int) {
	for line := range strings.Lines(text) {
		words, err := Split(strings.TrimSuffix(line, "\n"))
		if err == nil && len(words) == 0 {
			continue
		}
		var v *Var
		var x value
		if err == nil {
			v, x, err = c.assignment(words, Caller{Rank: Operator})
		}
		if err != nil {
			refused++
			continue
		}
		v.assign(x)
	}
	return refused
}

// save is the command saveconfig.
func (c *Console) save(call *Call) error {
	name := configName(call)
	if c.cfg.Write == nil {
		return fmt.Errorf("saveconfig %s: there is nowhere to write to", quoteWord(name))
	}
	if !fs.ValidPath(name) || path.Base(name) != name || path.Ext(name) != ".cfg" { // keeps to .cfg
		return fmt.Errorf("saveconfig %s: expected a name like %s, without directories",
			quoteWord(name), configFile)
	}
	if err := c.cfg.Write(name, c.AppendConfig(nil)); err != nil {
		return fmt.Errorf("saveconfig %s: %w", quoteWord(name), err)
	}
	for range c.Dirty(Save) { // told
	}
	call.Say("wrote %s", name)
	return nil
}

// load is the command loadconfig: it sets all variables of the file, or with an error none.
func (c *Console) load(call *Call) error {
	name := configName(call)
	lines, err := c.read("loadconfig", name)
	if err != nil {
		return err
	}
	vars, values := make([]*Var, len(lines)), make([]value, len(lines))
	for i, line := range lines {
		words, err := Split(line.text)
		if err == nil {
			vars[i], values[i], err = c.assignment(words, call.Caller)
		}
		if err != nil {
			return fmt.Errorf("loadconfig %s: line %d: %w; nothing was changed",
				quoteWord(name), line.number, err)
		}
	}
	for i, v := range vars {
		v.assign(values[i])
	}
	call.Say("set %d variables from %s", len(vars), name)
	return nil
}

// assignment parses a line of a saved file.
func (c *Console) assignment(words []string, who Caller) (v *Var, x value, err error) {
	v = c.Var(words[0])
	if v == nil || v.flags&Save == 0 || len(words) != 2 {
		return nil, x, fmt.Errorf("%s: expected a variable that is saved, and its value", quoteWord(words[0]))
	}
	if err := permit(who, v.name, v.flags, v.needs); err != nil {
		return nil, x, err
	}
	x, err = v.parse(words[1])
	return v, x, err
}

// configName is the file that a command names, or the default.
func configName(call *Call) string {
	if len(call.Args) > 0 {
		return call.Args[0]
	}
	return configFile
}
