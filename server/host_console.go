package server

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/tickrate/tickrate/server/console"
)

// terminal is how lines for the console get to the goroutine that plays the ticks, and their answers back.
type terminal struct {
	typed  chan string // by the operator
	posted chan posted // over HTTP
	asked  chan question
	ended  chan struct{}
	quit   bool
	out    []string
}

// posted is a line that came over HTTP.
type posted struct {
	line  string
	reply chan spoken // has room for one
}

// spoken is what the console says to a line.
type spoken struct {
	out []string
	err error
}

// linesATick is how many lines run between two ticks: as many as somebody can type.
const linesATick = 4

func newTerminal() terminal {
	return terminal{typed: make(chan string, 16), posted: make(chan posted), asked: make(chan question), ended: make(chan struct{})}
}

// filesIn is where a console's files are: within a directory, written whole or not at all. "" is nowhere.
func filesIn(dir string) console.Config {
	if dir == "" {
		return console.Config{}
	}
	return console.Config{Files: os.DirFS(dir), Write: func(name string, text []byte) error { return replace(filepath.Join(dir, name), text) }}
}

// replace writes a file beside the one that it is to be, and then puts it in its place.
func replace(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// startConsole gives the console what only a host can do, begins the files that are to be run, and reads what is typed. The
// goroutine that does so ends with the reader, or with the first line after the host has.
func (h *Host) startConsole(cfg HostConfig) error {
	h.lobby.Console().AddCommand(console.Command{
		Entry: console.Entry{Name: "quit", Help: "say goodbye to all players, and end the server"},
		Run:   func(*console.Call) error { h.terminal.quit = true; return nil },
	})
	for _, file := range cfg.Exec {
		out, err := h.lobby.Execute(0, nil, "exec "+console.Quote(file), operator)
		if err != nil {
			return err
		}
		h.show(out, nil)
	}
	if cfg.Input != nil {
		go h.read(cfg.Input)
	}
	return nil
}

// operator is who owns the process.
var operator = console.Caller{Name: "operator", Rank: console.Operator}

// read passes on what is typed, line by line.
func (h *Host) read(input io.Reader) {
	r := bufio.NewReaderSize(input, 2*console.MaxLine)
	for {
		line, long, err := r.ReadLine()
		if err != nil {
			return
		}
		text := string(line)
		for long && err == nil { // what is behind it is of the same line, which is refused for its length
			_, long, err = r.ReadLine()
		}
		select {
		case h.terminal.typed <- text:
		case <-h.terminal.ended:
			return
		}
	}
}

// lines runs what has been typed and posted, and what waits of files. It is for the goroutine that plays the ticks, between two.
func (h *Host) lines(now time.Duration) {
	t := &h.terminal
	for range linesATick {
		select {
		case line := <-t.typed:
			h.show(h.lobby.Execute(now, t.out[:0], line, operator))
		case p := <-t.posted:
			out, err := h.lobby.Execute(now, nil, p.line, console.Caller{Name: "http", Rank: console.Admin})
			p.reply <- spoken{out, err}
		case q := <-t.asked:
			q.verdicts <- q.answer(h.lobby)
		default:
			if h.lobby.Console().Pending() > 0 {
				h.show(h.lobby.StepConsole(now, t.out[:0]), nil)
			}
			return
		}
	}
}

// show writes what the console says where the operator reads.
func (h *Host) show(out []string, err error) {
	for _, line := range out {
		fmt.Fprintln(h.log, line)
	}
	if err != nil {
		fmt.Fprintln(h.log, err)
	}
	h.terminal.out = out
}

// Reply is what a POST to /v1/console is answered, as JSON.
type Reply struct {
	Output []string `json:"output"`
	Error  string   `json:"error,omitempty"` // why the line was not carried out; then nothing has changed
}

// patienceHTTP is how long a line over HTTP waits for a tick.
const patienceHTTP = 5 * time.Second

// ticked hands a request to the goroutine that plays the ticks, and returns what that says. If no tick takes it in time, or the lobby
// ends, the request is answered so.
func ticked[Q, A any](w http.ResponseWriter, r *http.Request, t *terminal, to chan<- Q, q Q, reply <-chan A) (a A, ok bool) {
	ctx, cancel := context.WithTimeout(r.Context(), patienceHTTP)
	defer cancel()
	select {
	case to <- q:
		select {
		case a = <-reply: // it is being done
			return a, true
		case <-t.ended: // by a fault
		}
	case <-ctx.Done():
		http.Error(w, "no tick had time for it", http.StatusServiceUnavailable)
		return a, false
	case <-t.ended:
	}
	http.Error(w, "the lobby has ended", http.StatusServiceUnavailable)
	return a, false
}

// serveConsole runs a line, the body of the request, with the rank of an admin: 200 if it was carried out, 400 if not.
func (h *Host) serveConsole(w http.ResponseWriter, r *http.Request) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(patienceHTTP))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, console.MaxLine+2))
	if err != nil {
		http.Error(w, console.ErrLineLong.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	p := posted{string(bytes.TrimRight(body, "\r\n")), make(chan spoken, 1)}
	said, ok := ticked(w, r, &h.terminal, h.terminal.posted, p, p.reply)
	if !ok {
		return
	}
	reply := Reply{Output: said.out}
	if reply.Output == nil {
		reply.Output = []string{}
	}
	if said.err != nil {
		reply.Error = said.err.Error()
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
	}
	writeJSON(w, reply)
}
