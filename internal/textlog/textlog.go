// Package textlog writes the records of log/slog as lines for people: time, level, message, and
// attributes as key=value. Records go in; a line each comes out.
package textlog

import (
	"context"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// Stack is the key of an attribute whose value is written as it is, on lines of its own.
const Stack = "stack"

// Handler is a slog.Handler. Any goroutine may use it.
type Handler struct {
	out    *output
	layout string // of the time; "": neither time nor level
	attrs  string // of all records, as they are written
	groups string // prefix of keys
}

// output is what the handlers derived from one share.
type output struct {
	mu sync.Mutex
	w  io.Writer
}

// New returns a handler that writes to w. layout is that of times, as package time has it; with ""
// lines have neither time nor level.
func New(w io.Writer, layout string) *Handler { return &Handler{out: &output{w: w}, layout: layout} }

// Enabled is of slog.Handler.
func (h *Handler) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelInfo }

// Handle is of slog.Handler. It writes a record by one call of Write.
func (h *Handler) Handle(_ context.Context, r slog.Record) error {
	var line []byte
	if h.layout != "" {
		if !r.Time.IsZero() {
			line = append(r.Time.AppendFormat(line, h.layout), ' ')
		}
		line = append(line, (r.Level.String() + "  ")[:max(6, len(r.Level.String())+1)]...)
	}
	line = append(line, plain(r.Message)...)
	line = append(line, h.attrs...)
	stack := ""
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == Stack {
			stack = a.Value.String()
		} else {
			line = append(line, h.format(a)...)
		}
		return true
	})
	line = append(line, '\n')
	if stack != "" {
		line = append(line, strings.TrimRight(stack, "\n")+"\n"...)
	}
	h.out.mu.Lock()
	defer h.out.mu.Unlock()
	_, err := h.out.w.Write(line)
	return err
}

// WithAttrs is of slog.Handler.
func (h *Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	more := *h
	for _, a := range attrs {
		more.attrs += h.format(a)
	}
	return &more
}

// WithGroup is of slog.Handler.
func (h *Handler) WithGroup(name string) slog.Handler {
	more := *h
	if name != "" {
		more.groups += name + "."
	}
	return &more
}

// format is an attribute as it is written after a message.
func (h *Handler) format(a slog.Attr) string {
	value := a.Value.Resolve()
	if a.Equal(slog.Attr{}) {
		return ""
	}
	if value.Kind() == slog.KindGroup {
		inner, text := *h, ""
		if a.Key != "" {
			inner.groups += a.Key + "."
		}
		for _, part := range value.Group() {
			text += inner.format(part)
		}
		return text
	}
	text := value.String()
	if text == "" || strings.ContainsAny(text, " =\"") {
		text = strconv.Quote(text)
	}
	return " " + h.groups + a.Key + "=" + plain(text)
}

// plain is text that stays on its line: quoted if it has control characters.
func plain(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(text)
	}
	return text
}
