package server

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim/replay"
)

// recordQueue is how many chunks may wait for the disk: half a minute.
const recordQueue = 32

// archive writes a lobby's recording into files of a folder, one a round, from a goroutine of its own. The tick hands chunks over and never
// waits: what finds the queue full is left out, said loudly, and the recording goes on in another file with the next chunk that can be the
// first of one.
type archive struct {
	dir   string
	log   io.Writer
	queue chan RecordingChunk
	ended chan struct{}
	tape  replay.FileWriter
	gap   bool // the tick's: a chunk was left out since the last that can be a first
}

// newArchive makes the folder if need be, and begins to wait for chunks.
func newArchive(dir string, log io.Writer) (*archive, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	if log == nil {
		log = io.Discard
	}
	a := &archive{dir: dir, log: log, queue: make(chan RecordingChunk, recordQueue), ended: make(chan struct{})}
	a.tape = replay.FileWriter{Create: a.create, Report: func(text string) { fmt.Fprintf(log, "RECORDING: %s\n", text) }}
	return a, nil
}

// take is Config.Record: it belongs to the tick.
func (a *archive) take(f RecordingChunk) {
	if a.gap && len(f.Chunk.Key) == 0 {
		return
	}
	f.First = f.First || a.gap
	select {
	case a.queue <- f:
		if a.gap {
			fmt.Fprintf(a.log, "RECORDING: from tick %d on again\n", f.Chunk.First)
		}
		a.gap = false
	default:
		if !a.gap {
			fmt.Fprintf(a.log, "RECORDING: the disk is too slow: from tick %d on nothing is recorded\n", f.Chunk.First)
		}
		a.gap = true
	}
}

// appendPart writes what comes until close. A server that is killed leaves a file that can be read up to its last chunk: a second is lost.
func (a *archive) write() {
	defer close(a.ended)
	a.tape.Pack = replay.NewPacker()
	for f := range a.queue {
		if f.First {
			a.tape.WriteFirst(f.Head, f.Chunk)
		} else {
			a.tape.Write(f.Head, f.Chunk)
		}
	}
	a.tape.Close()
}

// create makes the file of a round, with a name that says when and from which tick.
func (a *archive) create(first tick.Tick) (replay.File, string, error) {
	name := fmt.Sprintf("%s-%d-tick%d.tkr", time.Now().UTC().Format("20060102-150405"), os.Getpid(), first)
	file, err := os.OpenFile(filepath.Join(a.dir, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, name, err
	}
	return reelFile{file}, name, nil
}

// reelFile is a file whose errors say where a disk is full.
type reelFile struct{ *os.File }

// WriteAt writes b at an offset. Its error wraps replay.ErrDiskFull where the disk, or what we may have of it, is full.
func (f reelFile) WriteAt(b []byte, at int64) (int, error) {
	n, err := f.File.WriteAt(b, at)
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		err = fmt.Errorf("%w: %w", replay.ErrDiskFull, err)
	}
	return n, err
}

// close waits until all is written. nil is no archive.
func (a *archive) close() {
	if a == nil {
		return
	}
	close(a.queue)
	<-a.ended
}
