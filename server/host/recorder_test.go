package host

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/bench/lobbysim/simtest"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim/replay"
)

// readWhole returns a file as it was at one instant: it reads until two readings agree.
func readWhole(t *testing.T, name string) []byte {
	t.Helper()
	for last := []byte(nil); ; {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if last != nil && bytes.Equal(raw, last) {
			return raw
		}
		last = raw
	}
}

// recordings returns the files of a folder, oldest first, each as the first ticks of its chunks.
// The error is that of a file that was read amid a write.
func recordings(t *testing.T, dir string) (out [][]int, err error) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.tkr"))
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		raw := readWhole(t, name)
		if len(raw) == 0 {
			continue // made, and nothing written yet
		}
		r, err := replay.NewReader(bytes.NewReader(raw))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		defer r.Close()
		var ticks []int
		for {
			c, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			ticks = append(ticks, int(c.First))
		}
		out = append(out, ticks)
	}
	slices.SortFunc(out, func(a, b []int) int { return a[0] - b[0] })
	return out, nil
}

// testChunks returns n chunks of a lobby.
func testChunks(t *testing.T, n int) (out []server.RecordingChunk) {
	t.Helper()
	s := simtest.New(t, server.Config{Record: func(f server.RecordingChunk) { out = append(out, f) }}, 1)
	for len(out) < n {
		simtest.Steps(t, s, 1)
	}
	return out
}

// Chunks that a slow disk cannot take are dropped and logged, the tick never waits, and the
// recording goes on in another file.
func TestRecorderNeverBlocksTheTick(t *testing.T) {
	var log bytes.Buffer
	a, err := newRecorder(filepath.Join(t.TempDir(), "new"), "", logTo(&log))
	if err != nil {
		t.Fatal(err)
	}
	all := testChunks(t, recorderQueue+6)
	for _, f := range all[:recorderQueue+2] { // no writes finish: the disk hangs
		a.take(f)
	}
	if logged := strings.Count(log.String(), "recording: the disk is too slow"); logged != 1 {
		t.Errorf("said %d times: %s", logged, log.String())
	}
	a.run(nil)
	eventually(t, "the queue is empty", func() bool { return len(a.queue) == 0 })
	for _, f := range all[recorderQueue+2:] { // of those the third has a state
		a.take(f)
	}
	a.close()
	got, err := recordings(t, a.dir)
	if err != nil || len(got) != 2 || len(got[0]) != recorderQueue || len(got[1]) != 2 ||
		got[1][0] != int(all[recorderQueue+4].Chunk.First) {
		t.Errorf("%v, %v", got, err)
	}
	if !strings.Contains(log.String(), "on again") {
		t.Error(log.String())
	}
}

// Each round has a file, which is whole after every chunk, as after a kill.
func TestRecorderByRounds(t *testing.T) {
	a, err := newRecorder(t.TempDir(), "", logTo(io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	a.run(nil)
	for i, f := range testChunks(t, 6) {
		f.First = i == 0 || i == 4
		a.take(f)
		eventually(t, fmt.Sprintf("%d whole chunks are on disk", i+1), func() bool {
			files, err := recordings(t, a.dir)
			n := 0
			for _, file := range files {
				n += len(file)
			}
			return err == nil && n == i+1
		})
	}
	a.close()
	if got, err := recordings(t, a.dir); err != nil || len(got) != 2 || len(got[0]) != 4 || len(got[1]) != 2 {
		t.Errorf("%v, %v", got, err)
	}
}

// A server that ends in order has its recording whole: the file ends with the tick that was played
// last, and plays again.
func TestServerThatEndsLosesNothing(t *testing.T) {
	cfg := hostConfig("mmsg")
	cfg.Files.Recordings, cfg.HTTP.Listen = t.TempDir(), ""
	h, stop := running(t, cfg)
	c := greet(t, h.Addr())
	eventually(t, "80 ticks are played", func() bool { return h.initial().lobby.Stats.Tick.Count() >= 80 })
	c.Close()
	stop()
	files, err := filepath.Glob(filepath.Join(cfg.Files.Recordings, "*.tkr"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v: %v", files, err)
	}
	r, err := replay.NewReader(bytes.NewReader(readWhole(t, files[0])))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	m := h.initial().lobby.Match()
	p, err := replay.NewPlayer(&r.Head, m.Rules().Game, m.Scene().Arena)
	if err != nil {
		t.Fatal(err)
	}
	chunks := 0
	for {
		chunk, err := r.Next()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = p.Load(chunk)
		}
		for err == nil && !p.Done() {
			err = p.Step()
		}
		if err != nil {
			t.Fatal(err)
		}
		chunks++
	}
	if r.End != replay.Complete || chunks < 2 || p.Match.Tick() != m.Tick() || p.Compared < 2 {
		t.Errorf("%d chunks end %v at tick %d, the match at %d; %d checksums",
			chunks, r.End, p.Match.Tick(), m.Tick(),
			p.Compared)
	}
}

// A recording whose first write fails leaves no file.
func TestRecordingWithoutAChunkIsRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "F")
	for _, content := range []string{"", "a chunk"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := (recordingFile{file}).Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); (err == nil) != (content != "") {
			t.Errorf("%q: %v", content, err)
		}
	}
}
