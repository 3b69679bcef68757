// Standard output and standard error of all commands: results that are lost fail the command, lines
// of a log that are lost do not.

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"golang.org/x/term"
)

// survivePipes makes a write to a pipe without a reader an error, on standard output and standard
// error, too, where it otherwise ends the process. Programs that this one starts keep the default.
func survivePipes() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// resultWriter is standard output. It keeps the first error of a write, and nothing is written after it.
// Any goroutine may write.
type resultWriter struct {
	mu   sync.Mutex
	w    io.Writer
	err  error
	fail context.CancelFunc // ends the command, whose results nobody gets
}

// Write is of io.Writer.
func (o *resultWriter) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.w.Write(b)
	if err != nil {
		o.err = err
		o.fail()
	}
	return n, err
}

// lost is the first error of a write, nil if there was none.
func (o *resultWriter) lost() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// writer is what commands write to: a terminal itself, whose size they ask for.
func (o *resultWriter) writer() io.Writer {
	if f, ok := o.w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return f
	}
	return o
}

// logWriter writes the lines of a log. A line that cannot be written is dropped and counted; the
// count follows the next line that can be.
type logWriter struct {
	mu      sync.Mutex
	w       io.Writer
	dropped int // lines since the last one written
}

// Write writes one line. It never fails, since nothing may end for the reader of its log.
func (l *logWriter) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.w.Write(line); err != nil {
		l.dropped++
		return len(line), nil
	}
	if l.dropped > 0 {
		if _, err := fmt.Fprintf(l.w, "log: %d lines before the last one could not be written\n", l.dropped); err == nil {
			l.dropped = 0
		}
	}
	return len(line), nil
}

// outputError is the error of a command that ended with err and whose output failed with lost. A
// reader that has gone needs no message; the exit code tells.
func outputError(err, lost error) error {
	if lost == nil {
		return err
	}
	lost = fmt.Errorf("write standard output: %w", lost)
	if err == nil || errors.Is(err, context.Canceled) {
		return lost
	}
	return errors.Join(err, lost)
}
