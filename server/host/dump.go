package host

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/replay"
)

// The dumps of a folder: the newest maxDumps are kept, each of at most maxDumpBytes.
const (
	maxDumps     = 16
	maxDumpBytes = 256 << 10
)

// faultDump is what is known of a lobby that has panicked, for its developers.
type faultDump struct {
	lobby    string // its name
	at       time.Time
	tick     tick.Tick // in hand, or played last
	fault    any
	stack    []byte
	config   *server.Config
	match    *sim.Match // its rules and its map only: the lobby goes on to end
	status   server.Status
	recorded string          // file of the recording; "" for none
	flight   *server.Flight  // nil: nothing is known
	chunks   []*replay.Chunk // of flight
	commands []string
}

// dumpOf gathers what may change once the loop goes on.
func (x *hosted) dumpOf(fault any, stack []byte) (d *faultDump) {
	m := x.lobby.Match()
	d = &faultDump{lobby: x.name(), at: time.Now().UTC(), tick: m.Tick(), fault: fault, stack: stack,
		config: x.lobby.Config(), match: m, recorded: x.recorder.path()}
	if s := x.status.Load(); s != nil {
		d.status = *s
	}
	defer func() { _ = recover() }() // the columns of a lobby that has panicked may be torn
	d.flight = x.lobby.EndFlight()
	for slot := range m.World.Slots() {
		if id := m.World.At(slot); id != 0 {
			if b := m.CommandBuffer(id); b != nil {
				d.commands = append(d.commands, fmt.Sprintf("%v %+v", id, *b))
			}
		}
	}
	return d
}

// text is the dump as people read it.
func (d *faultDump) text() []byte {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-10s %s\n", name, fmt.Sprintf(format, args...))
	}
	c, rules := d.config, d.match.Rules()
	line("lobby", "%s, %q, pid %d, %s", d.lobby, d.status.Name, os.Getpid(), d.at.Format(time.RFC3339))
	line("fault", "%v", d.fault)
	line("tick", "%d, or the one after it", d.tick)
	line("seed", "%d", rules.Seed)
	line("rate", "%v Hz, a snapshot every %d ticks, %d slots", rules.Rate, c.SendInterval, c.Players)
	line("map", "%s, sha256 %x", d.status.Map, d.match.Scene().Arena.Hash())
	line("mode", "%s, content %x", d.status.Mode, rules.Game.Pack)
	head := replay.HeadOf(d.match, d.status.Map, 1)
	line("config", "sha256 %x, of slots, rules, content, map and schema", sha256.Sum256(head.Append(nil)))
	if d.recorded != "" {
		line("recording", "%s, up to the tick before; tickrate replay plays it", d.recorded)
	}
	line("inputs", "%s", d.inputs())
	fmt.Fprintf(&b, "\n%s\ncommands that wait, by player:\n", d.stack)
	for _, of := range d.commands {
		fmt.Fprintln(&b, of)
	}
	text := []byte(b.String())
	return text[:min(len(text), maxDumpBytes)]
}

// inputs says what the dump has of the inputs.
func (d *faultDump) inputs() string {
	if len(d.chunks) == 0 {
		return "none: the lobby had played no tick, or its state was torn"
	}
	ends := "with the last before the fault"
	if d.flight.Interrupted {
		ends = "the one of the fault, as far as it came"
	}
	return fmt.Sprintf("ticks %d to %d, %s: tickrate replay dump FILE plays them", d.chunks[0].First,
		d.chunks[len(d.chunks)-1].Last(), ends)
}

// encode encodes what the flight recorder has.
func (d *faultDump) encode() {
	defer func() { _ = recover() }() // likewise
	if d.flight != nil {
		d.chunks = d.flight.Chunks()
	}
}

// write writes the dump into a folder and returns the path of its text; the recording has the same
// name and another ending. Of older dumps there the oldest are removed.
func (d *faultDump) write(dir string) (path string, err error) {
	d.encode()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	old, err := filepath.Glob(filepath.Join(dir, "fault-*.txt"))
	if err != nil {
		return "", err
	}
	slices.Sort(old) // by time
	err = removeOldest(old)
	path = filepath.Join(dir, fmt.Sprintf("fault-%s-%d-lobby%s-tick%d.txt",
		d.at.Format("20060102-150405.000000"), os.Getpid(), d.lobby, d.tick))
	if len(d.chunks) > 0 {
		err = errors.Join(err, writeChunks(recordingOf(path), &d.flight.Head, d.chunks))
	}
	return path, errors.Join(err, os.WriteFile(path, d.text(), 0o600))
}

// recordingOf is the path of the recording that belongs to the text of a dump.
func recordingOf(path string) string { return strings.TrimSuffix(path, ".txt") + ".tkr" }

// removeOldest removes the first of some dumps until there is room for one more. Another dump that is
// written at the same time may have removed the same ones.
func removeOldest(dumps []string) (err error) {
	for len(dumps) >= maxDumps {
		for _, path := range [...]string{dumps[0], recordingOf(dumps[0])} {
			if e := os.Remove(path); !errors.Is(e, fs.ErrNotExist) {
				err = errors.Join(err, e)
			}
		}
		dumps = dumps[1:]
	}
	return err
}

// dumpFolder is where dumps go; "" for nowhere.
func (h *Host) dumpFolder() string { return cmp.Or(h.cfg.Files.Dumps, h.cfg.Files.Recordings) }

// dumpFault writes a dump beside the ticks, if there is a folder for it. Run waits for it.
func (h *Host) dumpFault(x *hosted, fault any, stack []byte) {
	dir := h.dumpFolder()
	if dir == "" {
		return
	}
	d := x.dumpOf(fault, stack)
	h.writers.Add(1)
	go func() {
		defer h.writers.Done()
		defer func() {
			if fault := recover(); fault != nil {
				fmt.Fprintf(h.log, "lobby %s: no dump: %v\n", d.lobby, fault)
			}
		}()
		path, err := d.write(dir)
		if err != nil {
			fmt.Fprintf(h.log, "lobby %s: dump: %v\n", d.lobby, err)
			return
		}
		fmt.Fprintf(h.log, "lobby %s: dump in %s\n", d.lobby, path)
	}()
}
