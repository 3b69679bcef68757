package host

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/tickrate/tickrate/internal/wholefile"
	"github.com/tickrate/tickrate/server/console"
	"github.com/tickrate/tickrate/server/httpapi"
)

// terminal is the console of the operator. It belongs to the goroutine that reads the lines.
type terminal struct {
	selected uint32 // the lobby that lines are for
}

// filesIn gives a console the files below dir; "" gives it none.
func filesIn(dir string) console.Config {
	if dir == "" {
		return console.Config{}
	}
	return console.Config{
		Files: os.DirFS(dir),
		Write: func(name string, text []byte) error { return wholefile.Replace(filepath.Join(dir, name), 0o600, text) },
	}
}

// operator is the caller of lines that the owner of the process types.
var operator = console.Caller{Name: "operator", Rank: console.Operator}

// addCommands adds the commands that are about the host to the console of a lobby.
func (h *Host) addCommands(x *hosted) {
	x.lobby.Console().AddCommand(console.Command{
		Entry: console.Entry{Name: "quit", Help: "disconnect all players and end the server"},
		Run:   func(*console.Call) error { h.stop(); return nil },
	})
	if h.alone() {
		return
	}
	x.lobby.Console().AddCommand(console.Command{
		Entry: console.Entry{Name: "lobbies", Help: "list the lobbies of this server", Flags: console.Remote},
		Run: func(c *console.Call) error {
			for _, line := range h.lobbyLines() {
				c.Say("%s", line)
			}
			return nil
		},
	})
	// On the terminal runLine serves it.
	x.lobby.Console().AddCommand(console.Command{
		Entry: console.Entry{Name: "lobby", Help: "send the lines that follow, or one line, to a lobby",
			Flags: console.Remote},
		Usage: "N [LINE]", MinArgs: 1, MaxArgs: console.MaxWords - 1,
		Run: func(c *console.Call) error {
			return fmt.Errorf("for the terminal; over HTTP, POST the line to /v1/console?lobby=%s", c.Args[0])
		},
	})
}

// openConsole runs the files of cfg.Exec in each lobby, and reads cfg.Input. The goroutine that
// reads ends with the reader, or with the first line after the lobbies have ended.
func (h *Host) openConsole(cfg *ConsoleConfig) error {
	for _, x := range *h.list.Load() {
		if err := h.execFiles(0, x); err != nil {
			return err
		}
		if r := &x.worker.Load().requests; x.lobby.Console().Pending() > 0 {
			r.stepping = append(r.stepping, x)
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
		h.show(x, out, nil)
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
		if errors.Is(h.runLine(text), errHostEnded) {
			return
		}
	}
}

// errHostEnded is the answer to a line that came too late.
var errHostEnded = errors.New("the server has ended")

// runLine runs a line of the operator, and returns when it has run. With several lobbies, "lobbies"
// lists them, "lobby N" chooses the one that lines are for, and "lobby N LINE" runs a line in one.
func (h *Host) runLine(line string) error {
	t, id := &h.console, h.console.selected
	if !h.alone() {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "lobbies":
			h.show(nil, h.lobbyLines(), nil)
			return nil
		case "lobby":
			name, command, _ := strings.Cut(strings.TrimSpace(rest), " ")
			n, err := strconv.ParseUint(name, 10, 32)
			if err != nil || h.find(uint32(n)) == nil {
				h.show(nil, nil, fmt.Errorf("lobby %.20q: %w; lobbies lists them", name, httpapi.ErrNoLobby))
				return nil
			}
			if id, line = uint32(n), command; line == "" {
				t.selected = id
				h.show(nil, []string{fmt.Sprintf("lines go to lobby %d", id)}, nil)
				return nil
			}
		case "quit":
			h.stop()
			return nil
		}
	}
	x := h.find(id)
	if x == nil {
		h.show(nil, nil, fmt.Errorf("lobby %d: %w; choose one with lobby N", id, httpapi.ErrNoLobby))
		return nil
	}
	err := h.on(context.Background(), x, func(_ *worker, now time.Duration) {
		out, err := x.lobby.Execute(now, nil, line, operator)
		h.show(nil, out, err)
	})
	select {
	case <-h.ended:
		return errHostEnded
	default:
		return err
	}
}

// lobbyLines lists the lobbies.
func (h *Host) lobbyLines() (lines []string) {
	for _, x := range *h.list.Load() {
		s, census := x.status.Load(), x.lobby.Summary().Census
		line := fmt.Sprintf("lobby %s: %d of %d players, %s on %s, %v", x.name(), census.Players,
			census.PlayerSlots, s.Mode, s.Map, s.Phase)
		if len(h.workers) > 1 {
			line += fmt.Sprintf(", worker %d", x.worker.Load().index)
		}
		lines = append(lines, line)
	}
	return lines
}

// show writes answers of the console. Those of lines that nobody has typed go to the log, with their
// lobby x; others, with x nil, to the operator that waits for them.
func (h *Host) show(x *hosted, out []string, err error) {
	if w := h.cfg.Console.Output; x == nil && w != nil {
		if err != nil {
			out = append(out, err.Error())
		}
		for _, line := range out {
			fmt.Fprintln(w, line)
		}
		return
	}
	log := h.log.Logger
	if x != nil {
		log = h.logOf(x)
	}
	for _, line := range out {
		log.Info(line)
	}
	if err != nil {
		log.Error(err.Error())
	}
}
