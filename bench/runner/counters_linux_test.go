package runner

import (
	"errors"
	"io"
	"os/exec"
	"testing"

	"github.com/tickrate/tickrate/internal/perfevent"
)

// The counters of a server process go from the begin of the figures to their end, over the same path
// as those of the processor: here with the kernel's own events, which every machine has.
func TestProcessIsCounted(t *testing.T) {
	p := &process{cmd: exec.CommandContext(t.Context(), "sh", "-c", "read line; i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo; read line")}
	in, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if p.counted() != nil {
		t.Error("a process without counters is counted")
	}
	c, err := countProcess(p.cmd.Process.Pid, perfevent.Software)
	if errors.Is(err, perfevent.ErrRefused) || errors.Is(err, perfevent.ErrSystem) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	p.counters.Store(c)
	if _, err := io.WriteString(in, "go\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	n := p.counted()
	if n == nil || n[perfevent.TaskClock] < 1e6 || n[perfevent.ContextSwitches] < 1 {
		t.Errorf("counted %v", n)
	}
	p.stop()
}

// Steps do without counters that the machine does not have, and say so in words.
func TestStepsWithoutCounters(t *testing.T) {
	for _, why := range []error{perfevent.ErrNone, perfevent.ErrRefused, perfevent.ErrSystem, perfevent.ErrStarved} {
		if err := uncounted(why); err != nil {
			t.Error(err)
		}
	}
	if other := io.ErrUnexpectedEOF; uncounted(other) != other || uncounted(nil) != nil {
		t.Error("another error is lost")
	}
	counts := perfevent.Counts{perfevent.Instructions: 6e6, perfevent.Cycles: 3e6, perfevent.BranchMisses: 600}
	hosts := []hostFigures{{events: &counts}, {events: &counts}}
	if e := events(hosts, 100, 60); e.Instructions != 2000 || e.Cycles != 1000 || e.BranchMisses != 0.2 {
		t.Errorf("events %+v", e)
	}
	if e := events(append(hosts, hostFigures{}), 100, 60); e != nil {
		t.Errorf("events %+v of processes that were not all counted", e)
	}
}
