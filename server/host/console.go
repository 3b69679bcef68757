package host

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/console"
	"github.com/tickrate/tickrate/server/httpapi"
)

// terminal brings console lines and requests of other goroutines to the goroutine of the lobby.
type terminal struct {
	typed chan string   // lines of the operator
	calls chan call     // requests
	ended chan struct{} // closed when the lobby has ended
	quit  bool          // the operator ended the server
	out   []string
}

// call is a function that waits to run between two ticks.
type call struct {
	run  func(now time.Duration, l *server.Lobby)
	done chan struct{}
}

// maxCallsPerTick bounds lines and calls between two ticks: as many as a person can type.
const maxCallsPerTick = 4

func newTerminal() terminal {
	return terminal{typed: make(chan string, 16), calls: make(chan call), ended: make(chan struct{})}
}

// do is httpapi.Source.Do.
func (t *terminal) do(ctx context.Context, f func(now time.Duration, l *server.Lobby)) error {
	c := call{f, make(chan struct{})}
	select {
	case t.calls <- c:
	case <-ctx.Done():
		return httpapi.ErrBusy
	case <-t.ended:
		return httpapi.ErrEnded
	}
	select {
	case <-c.done:
		return nil
	case <-t.ended: // by a fault of f
		return httpapi.ErrEnded
	}
}

// Do runs f between two ticks on the goroutine of the lobby, and returns when it has run. Any
// goroutine but that of Run may call it. Errors are httpapi.ErrBusy and httpapi.ErrEnded.
func (h *Host) Do(ctx context.Context, f func(now time.Duration, l *server.Lobby)) error {
	return h.console.do(ctx, f)
}

// filesIn gives a console the files below dir; "" gives it none.
func filesIn(dir string) console.Config {
	if dir == "" {
		return console.Config{}
	}
	return console.Config{
		Files: os.DirFS(dir),
		Write: func(name string, text []byte) error { return replaceFile(filepath.Join(dir, name), text) },
	}
}

// replaceFile writes a file whole or not at all: under another name first, then renamed.
func replaceFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// operator is the caller of lines that the owner of the process types.
var operator = console.Caller{Name: "operator", Rank: console.Operator}

// openConsole adds the command quit, runs the files of cfg.Exec, and reads cfg.Input. The goroutine
// that reads ends with the reader, or with the first line after the lobby has ended.
func (h *Host) openConsole(cfg *ConsoleConfig) error {
	h.lobby.Console().AddCommand(console.Command{
		Entry: console.Entry{Name: "quit", Help: "disconnect all players and end the server"},
		Run:   func(*console.Call) error { h.console.quit = true; return nil },
	})
	for _, file := range cfg.Exec {
		out, err := h.lobby.Execute(0, nil, "exec "+console.Quote(file), operator)
		if err != nil {
			return err
		}
		h.show(out, nil)
	}
	if cfg.Input != nil {
		go h.readLines(cfg.Input)
	}
	return nil
}

// readLines passes on what is typed, line by line.
func (h *Host) readLines(input io.Reader) {
	r := bufio.NewReaderSize(input, 2*console.MaxLine)
	for {
		line, long, err := r.ReadLine()
		if err != nil {
			return
		}
		text := string(line)
		for long && err == nil { // the rest of a line that will be refused for its length
			_, long, err = r.ReadLine()
		}
		select {
		case h.console.typed <- text:
		case <-h.console.ended:
			return
		}
	}
}

// runConsole runs some of the lines and calls that wait, and steps files of lines. It runs between
// two ticks.
func (h *Host) runConsole(now time.Duration) {
	t := &h.console
	for range maxCallsPerTick {
		select {
		case line := <-t.typed:
			h.show(h.lobby.Execute(now, t.out[:0], line, operator))
		case c := <-t.calls:
			c.run(now, h.lobby)
			close(c.done)
		default:
			if h.lobby.Console().Pending() > 0 {
				h.show(h.lobby.StepConsole(now, t.out[:0]), nil)
			}
			return
		}
	}
}

// show writes answers of the console to the log.
func (h *Host) show(out []string, err error) {
	for _, line := range out {
		fmt.Fprintln(h.log, line)
	}
	if err != nil {
		fmt.Fprintln(h.log, err)
	}
	h.console.out = out
}
