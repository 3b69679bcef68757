package host

import (
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tickrate/tickrate/bench/lobbysim/simtest"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim/replay"
)

// TestThreat36DiskFull: a full disk ends the recording with one log line and one count, and the
// match goes on. Later chunks are dropped without waiting. /dev/full is such a disk.
func TestThreat36DiskFull(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full here")
	}
	defer full.Close()
	if _, err := (recordingFile{full}).WriteAt([]byte("x"), 0); !errors.Is(err, replay.ErrDiskFull) {
		t.Fatalf("a full disk says %v", err)
	}
	log, cut := new(strings.Builder), new(atomic.Uint64)
	a, err := newRecorder(t.TempDir(), "", logTo(log))
	if err != nil {
		t.Fatal(err)
	}
	files := 0
	a.file.Create = func(tick.Tick) (replay.File, string, error) {
		files++
		return recordingFile{full}, "F", nil
	}
	a.run(func() { cut.Add(1) })
	s := simtest.New(t, server.Config{Record: a.take}, 1)
	simtest.Steps(t, s, 600)
	s.Lobby.FinishRecording()
	a.close()
	if text := log.String(); text != "recording: replay F stopped at tick 0: no space left\n" ||
		cut.Load() != 1 || files != 1 {
		t.Errorf("%d cut, %d files, said %q", cut.Load(), files, text)
	}
	if now := s.Lobby.Match().Tick(); now < 600 {
		t.Errorf("the match is at tick %d", now)
	}
}
