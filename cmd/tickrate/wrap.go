// Lines of at most 80 columns, for all that plan and swarm print.

package main

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"
)

// wrapper is a writer that breaks lines longer than helpColumns at spaces. Later parts of a line are
// indented. A word that is longer stays whole, as do escape sequences of a terminal.
type wrapper struct {
	w    io.Writer
	line []byte // begun and not written
}

// Write writes the lines that p ends, and keeps the rest for the next Write.
func (w *wrapper) Write(p []byte) (int, error) {
	w.line = append(w.line, p...)
	end := bytes.LastIndexByte(w.line, '\n') + 1
	if end == 0 {
		return len(p), nil
	}
	var out strings.Builder
	for line := range strings.Lines(string(w.line[:end])) {
		wrapInto(&out, strings.TrimSuffix(line, "\n"))
	}
	w.line = append(w.line[:0], w.line[end:]...)
	_, err := io.WriteString(w.w, out.String())
	return len(p), err
}

// wrapInto writes a line in lines of at most helpColumns.
func wrapInto(out *strings.Builder, text string) {
	const indent = "    "
	for utf8.RuneCountInString(text) > helpColumns {
		at := strings.LastIndex(string([]rune(text)[:helpColumns+1]), " ")
		if at <= len(indent) { // one word: up to its end
			at = strings.IndexByte(strings.TrimLeft(text, " "), ' ')
			if at < 0 {
				break
			}
			at += len(text) - len(strings.TrimLeft(text, " "))
		}
		out.WriteString(strings.TrimRight(text[:at], " ") + "\n")
		text = indent + strings.TrimLeft(text[at:], " ")
	}
	out.WriteString(text + "\n")
}

// printWrapped prints text in lines of at most helpColumns.
func printWrapped(w io.Writer, text string) {
	var out strings.Builder
	wrapInto(&out, text)
	_, _ = io.WriteString(w, out.String())
}
