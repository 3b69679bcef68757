package playback

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim/replay"
)

// DumpOptions are the settings of a playback of a dump.
type DumpOptions struct {
	Map, Content string // as in Options
	JSON         bool   // writes one line of JSON
	Inputs       int    // of how many ticks before the fault the commands are written

	enter func(p *replay.Player) func(system int) // of the player, for tests; nil: none
}

// Dumped is the outcome of a playback of a dump, and the JSON that RunDump writes.
type Dumped struct {
	Fault  string    `json:"fault"` // as the server has written it down
	From   tick.Tick `json:"from"`  // first tick that was played
	To     tick.Tick `json:"to"`    // last tick, the one that panicked included
	Ticks  int       `json:"ticks"`
	States int       `json:"states"` // saved within the dump that were equal to the match
	Same   bool      `json:"same"`   // the last tick panics with the same value
	Panic  string    `json:"panic,omitempty"`
	Stack  string    `json:"stack,omitempty"`
	Inputs []string  `json:"inputs,omitempty"` // the newest, a line for each command
}

// RunDump plays the dump of a lobby that has panicked, up to the panic. path is its text or its
// recording, beside which the other is. The error says what differs: the panic, its tick, or the match.
func RunDump(ctx context.Context, w io.Writer, path string, o DumpOptions) error {
	if o.Inputs < 0 {
		return usage.Errorf("--inputs %d: expected 0 or more", o.Inputs)
	}
	stem := strings.TrimSuffix(strings.TrimSuffix(path, ".txt"), ".tkr")
	fault, err := faultOf(stem + ".txt")
	if err != nil {
		return err
	}
	r, err := Open(stem+".tkr", &Options{Map: o.Map, Content: o.Content})
	if err != nil {
		return err
	}
	defer r.Close()
	if o.enter != nil {
		r.Player.EnterSystem = o.enter(r.Player)
	}
	out := Dumped{Fault: fault}
	err = out.judge(out.play(ctx, &o, r), r.reader)
	out.States = r.Player.Compared
	if e := out.print(w, &o); err == nil {
		err = e
	}
	return err
}

// faultOf reads the value of the panic out of the text of a dump: its first line.
func faultOf(path string) (fault string, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", usage.Errorf("text of the dump: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "fault "); ok {
			return strings.TrimSpace(rest), nil
		}
	}
	return "", usage.Errorf("%s: no dump of a lobby: expected a line that begins with fault", path)
}

// play plays all ticks and returns the first error.
func (d *Dumped) play(ctx context.Context, o *DumpOptions, r *Recording) error {
	return r.Each(ctx, func(err error) error {
		if d.To = r.Player.Inputs().Tick; d.Ticks == 0 {
			d.From = d.To
		}
		d.Ticks++
		d.note(o, r.Player)
		return err
	})
}

// note keeps the commands of the tick that was just played.
func (d *Dumped) note(o *DumpOptions, p *replay.Player) {
	if o.Inputs == 0 {
		return
	}
	in := p.Inputs()
	for _, c := range in.Commands {
		d.Inputs = append(d.Inputs, fmt.Sprintf("tick %d: %v %+v", in.Tick, c.ID, c.Command))
	}
	for len(d.Inputs) > 0 {
		var at tick.Tick
		if _, err := fmt.Sscanf(d.Inputs[0], "tick %d:", &at); err != nil || int(in.Tick-at) < o.Inputs {
			return
		}
		d.Inputs = d.Inputs[1:]
	}
}

// judge compares how the playback ended with the fault.
func (d *Dumped) judge(err error, r *replay.Reader) error {
	found := (*replay.Panic)(nil)
	if !errors.As(err, &found) {
		if err == nil {
			err = fmt.Errorf("ticks %d to %d play without a panic: the fault, %q, was between two ticks or in a "+
				"stage of the network; the text of the dump has its stack", d.From, d.To, d.Fault)
		}
		return err
	}
	d.Panic, _, _ = strings.Cut(fmt.Sprint(found.Value), "\n")
	d.Panic, d.Stack = strings.TrimSpace(d.Panic), string(found.Stack)
	if d.Same = d.Panic == d.Fault; !d.Same {
		return fmt.Errorf("tick %d panics with %q, in the server it was %q", found.Tick, d.Panic, d.Fault)
	}
	if _, err := r.Next(); err != io.EOF {
		d.Same = false
		return fmt.Errorf("tick %d panics, and the server has played more ticks", found.Tick)
	}
	return nil
}

// print writes the result as text, or as a line of JSON.
func (d *Dumped) print(w io.Writer, o *DumpOptions) error {
	if o.JSON {
		return json.NewEncoder(w).Encode(d)
	}
	for _, line := range d.Inputs {
		fmt.Fprintln(w, line)
	}
	_, err := fmt.Fprintf(w, "%d ticks, %d to %d, %d saved states compared\n", d.Ticks, d.From, d.To, d.States)
	if d.Panic != "" {
		_, err = fmt.Fprintf(w, "tick %d panics again: %s\n%s", d.To, d.Panic, d.Stack)
	}
	return err
}
