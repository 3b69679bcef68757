package host

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/console"
	"github.com/tickrate/tickrate/server/httpapi"
)

// terminal brings console lines and requests of other goroutines to the goroutine of the lobbies.
type terminal struct {
	typed chan string   // lines of the operator
	calls chan call     // requests
	ended chan struct{} // closed when the lobby has ended
	quit  bool          // the operator ended the server
	out   []string

	selected uint32    // the lobby that the lines of the operator are for
	stepping []*hosted // lobbies that run files of lines
}

// call is a function that waits to run between two ticks.
type call struct {
	run  func(now time.Duration)
	done chan struct{}
}

// maxCallsPerTick bounds lines and calls between two ticks: as many as a person can type.
const maxCallsPerTick = 4

func newTerminal() terminal {
	return terminal{typed: make(chan string, 16), calls: make(chan call), ended: make(chan struct{})}
}

// do runs f between two ticks, and returns when it has run.
func (t *terminal) do(ctx context.Context, f func(now time.Duration)) error {
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

// Do runs f between two ticks on the goroutine of the lobbies, and returns when it has run. It is
// for the lobby that the host began with. Any goroutine but that of Run may call it. Errors are
// httpapi.ErrBusy and httpapi.ErrEnded.
func (h *Host) Do(ctx context.Context, f func(now time.Duration, l *server.Lobby)) error {
	x := h.initial()
	if x == nil {
		return httpapi.ErrEnded
	}
	return h.doFor(x)(ctx, f)
}

// doFor returns httpapi.Source.Do of a lobby.
func (h *Host) doFor(x *hosted) func(context.Context, func(time.Duration, *server.Lobby)) error {
	return func(ctx context.Context, f func(time.Duration, *server.Lobby)) error {
		ran := false
		err := h.console.do(ctx, func(now time.Duration) {
			ran = h.with(now, x, func() { f(now, x.lobby) })
		})
		if err == nil && !ran {
			return httpapi.ErrEnded
		}
		return err
	}
}

// with runs f, which does something with a lobby. ok is false if the lobby has ended, by f perhaps.
func (h *Host) with(now time.Duration, x *hosted, f func()) (ok bool) {
	if h.port != nil && h.find(x.id()) != x {
		return false
	}
	return h.contained(now, x, func() {
		f()
		if h.port != nil && x.lobby.Console().Pending() > 0 && !slices.Contains(h.console.stepping, x) {
			h.console.stepping = append(h.console.stepping, x)
		}
	})
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

// addQuit adds the command quit to the console of a lobby.
func (x *hosted) addQuit(t *terminal) {
	x.lobby.Console().AddCommand(console.Command{
		Entry: console.Entry{Name: "quit", Help: "disconnect all players and end the server"},
		Run:   func(*console.Call) error { t.quit = true; return nil },
	})
}

// openConsole runs the files of cfg.Exec in each lobby, and reads cfg.Input. The goroutine that
// reads ends with the reader, or with the first line after the lobbies have ended.
func (h *Host) openConsole(cfg *ConsoleConfig) error {
	for _, x := range h.loop.lobbies {
		if err := h.execFiles(0, x); err != nil {
			return err
		}
		if x.lobby.Console().Pending() > 0 {
			h.console.stepping = append(h.console.stepping, x)
		}
	}
	if cfg.Input != nil {
		go h.readLines(cfg.Input)
	}
	return nil
}

// execFiles runs the files of lines that each lobby begins with.
func (h *Host) execFiles(now time.Duration, x *hosted) error {
	for _, file := range h.cfg.Console.Exec {
		out, err := x.lobby.Execute(now, nil, "exec "+console.Quote(file), operator)
		if err != nil {
			return err
		}
		h.show(out, nil)
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
			h.runLine(now, line)
			continue
		case c := <-t.calls:
			c.run(now)
			close(c.done)
			continue
		default:
		}
		break
	}
	if h.port == nil {
		if h.first.lobby.Console().Pending() > 0 {
			h.show(h.first.lobby.StepConsole(now, t.out[:0]), nil)
		}
		return
	}
	stepping := t.stepping
	t.stepping = nil
	for _, x := range stepping { // with keeps those that have more lines
		h.with(now, x, func() { h.show(x.lobby.StepConsole(now, t.out[:0]), nil) })
	}
}

// runLine runs a line of the operator. With several lobbies, "lobbies" lists them, "lobby N" chooses
// the one that lines are for, and "lobby N LINE" runs a line in one.
func (h *Host) runLine(now time.Duration, line string) {
	t, id := &h.console, h.console.selected
	if h.port != nil {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "lobbies":
			h.listLobbies()
			return
		case "lobby":
			name, command, _ := strings.Cut(strings.TrimSpace(rest), " ")
			n, err := strconv.ParseUint(name, 10, 32)
			if err != nil || h.find(uint32(n)) == nil {
				h.show(t.out[:0], fmt.Errorf("lobby %.20q: %w", name, httpapi.ErrNoLobby))
				return
			}
			if id, line = uint32(n), command; line == "" {
				t.selected = id
				return
			}
		case "quit":
			t.quit = true
			return
		}
	}
	x := h.find(id)
	if x == nil {
		h.show(t.out[:0], fmt.Errorf("lobby %d: %w; choose one with lobby N", id, httpapi.ErrNoLobby))
		return
	}
	h.with(now, x, func() { h.show(x.lobby.Execute(now, t.out[:0], line, operator)) })
}

// listLobbies shows the lobbies to the operator.
func (h *Host) listLobbies() {
	for _, x := range h.loop.lobbies {
		s, census := x.status.Load(), x.lobby.Summary().Census
		fmt.Fprintf(h.log, "lobby %s: %d of %d players, %s on %s, %v\n", x.name(), census.Players,
			census.PlayerSlots, s.Mode, s.Map, s.Phase)
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
