package host

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/tickrate/tickrate/server/host/capture"
)

// A stall of the whole process, which another process stops and continues, is the machine's.
func TestMachineStallIsNamed(t *testing.T) {
	cfg := hostConfig("mmsg")
	cfg.Lobby.SleepWhenEmpty = false
	dir, closeRecorder := capturing(t, &cfg)
	h, stop := running(t, cfg)
	x := (*h.list.Load())[0]
	eventually(t, "some ticks", func() bool { return x.schedule.Wall.Count() > 100 })
	_, r := captureWith(t, dir, func() {
		pid := os.Getpid()
		script := fmt.Sprintf("kill -STOP %d; sleep 0.3; kill -CONT %d; sleep 0.2", pid, pid)
		if out, err := exec.Command("sh", "-c", script).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}, func(r *capture.Report) bool { return r.Times.Late+r.Times.Elapsed > 200 })
	stop()
	closeRecorder()
	if r.Cause.Owner != "machine" || r.Cause.Parts.Machine < 200 {
		t.Errorf("times %+v, cause %+v, want the machine", r.Times, r.Cause)
	}
}
