package host

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim/replay"
)

// recorderQueue is the number of chunks that may wait for the disk: half a minute.
const recorderQueue = 32

// recorder writes a lobby's recording into files of a folder, one a round, on a goroutine of its
// own. The background hands chunks over and never waits. A chunk that finds the queue full is left
// out and logged; the recording goes on in another file with the next chunk that can begin one.
type recorder struct {
	dir   string
	name  string // of its lobby, for file names; "" for a lobby alone
	log   *slog.Logger
	queue chan server.RecordingChunk
	done  chan struct{}
	file  replay.FileWriter
	gap   bool // a chunk was left out since the last that can begin a file; belongs to take

	excerpts excerpts               // for captures
	newest   atomic.Pointer[string] // path of the file that was created last
}

// newRecorder makes the folder if need be.
func newRecorder(dir, name string, log *slog.Logger) (*recorder, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	r := &recorder{dir: dir, name: name, log: log, queue: make(chan server.RecordingChunk, recorderQueue),
		done: make(chan struct{}), excerpts: excerpts{wanted: make(chan excerpt)}}
	r.file = replay.FileWriter{Create: r.create, Report: func(text string) {
		r.report("%s", text)
	}}
	return r, nil
}

// run writes chunks on a goroutine until close; truncated counts files that end early. A server
// that is killed leaves a file that is readable up to its last chunk.
func (r *recorder) run(truncated func()) {
	r.file.Truncated = truncated
	go func() {
		defer close(r.done)
		defer r.contain(truncated)
		defer r.excerpts.end()
		r.file.Pack = replay.NewPacker()
		for r.writeNext() {
		}
		r.file.Close()
	}()
}

// writeNext writes the next chunk, or the excerpt that is wanted next. It reports false once the queue
// is closed and empty.
func (r *recorder) writeNext() bool {
	select {
	case f, ok := <-r.queue:
		if !ok {
			return false
		}
		if f.First {
			r.file.WriteFirst(f.Head, f.Chunk)
		} else {
			r.file.Write(f.Head, f.Chunk)
		}
		r.excerpts.add(f)
	case e := <-r.excerpts.wanted:
		r.excerpts.want(e)
	}
	return true
}

// contain ends a recording that has panicked, and not the server. It is to be deferred.
func (r *recorder) contain(truncated func()) {
	if fault := recover(); fault != nil {
		r.report("ends early: %v\n%s", fault, debug.Stack())
		truncated()
		for range r.queue { // until close: what it was to write is lost
		}
	}
}

// take is server.Config.Record: the lobby's background calls it.
func (r *recorder) take(f server.RecordingChunk) {
	if r.gap && len(f.Chunk.Key) == 0 {
		return
	}
	f.First = f.First || r.gap
	select {
	case r.queue <- f:
		if r.gap {
			r.report("from tick %d on again", f.Chunk.First)
		}
		r.gap = false
	default:
		if !r.gap {
			r.report("the disk is too slow: from tick %d on nothing is recorded", f.Chunk.First)
		}
		r.gap = true
	}
}

// report logs what the recording of its lobby lacks.
func (r *recorder) report(format string, args ...any) {
	log := r.log
	if lobby, several := strings.CutPrefix(r.name, "-lobby"); several {
		log = log.With("lobby", lobby)
	}
	log.Error("recording: " + fmt.Sprintf(format, args...))
}

// create makes the file of a round; its name has the time and the first tick.
func (r *recorder) create(first tick.Tick) (replay.File, string, error) {
	name := fmt.Sprintf("%s-%d%s-tick%d.tkr", time.Now().UTC().Format("20060102-150405"), os.Getpid(),
		r.name, first)
	path := filepath.Join(r.dir, name)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, name, err
	}
	r.newest.Store(&path)
	return recordingFile{file}, name, nil
}

// path names the file in hand, or the pattern of a file that is not made yet; "" for a nil recorder.
func (r *recorder) path() string {
	if r == nil {
		return ""
	}
	if path := r.newest.Load(); path != nil {
		return *path
	}
	return filepath.Join(r.dir, fmt.Sprintf("*-%d%s-tick*.tkr", os.Getpid(), r.name))
}

// recordingFile is a file with errors that tell a full disk from others.
type recordingFile struct{ *os.File }

// WriteAt writes b at an offset. Its error wraps replay.ErrDiskFull if the disk or the quota is
// full.
func (f recordingFile) WriteAt(b []byte, at int64) (int, error) {
	n, err := f.File.WriteAt(b, at)
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		err = fmt.Errorf("%w: %w", replay.ErrDiskFull, err)
	}
	return n, err
}

// Close closes the file. One without a chunk, whose first write has failed, is removed.
func (f recordingFile) Close() error {
	info, err := f.Stat()
	err = errors.Join(err, f.File.Close())
	if err == nil && info.Mode().IsRegular() && info.Size() == 0 {
		err = os.Remove(f.Name())
	}
	return err
}

// close waits until all chunks are written. A nil recorder has none.
func (r *recorder) close() {
	if r == nil {
		return
	}
	close(r.queue)
	<-r.done
}

// waiting is the number of chunks that wait for the disk.
func (r *recorder) waiting() int {
	if r == nil {
		return 0
	}
	return len(r.queue)
}
