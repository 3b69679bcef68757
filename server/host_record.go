package server

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/tickrate/tickrate/sim/replay"
)

// recordQueue is how many chunks may wait for the disk: half a minute.
const recordQueue = 8

// archive writes a lobby's recording into files of a folder, one a round, from a goroutine of its own. The tick hands chunks over and never
// waits: what finds the queue full is left out, said loudly, and the recording goes on in another file, since every chunk can be the first.
type archive struct {
	dir   string
	log   io.Writer
	queue chan Film
	ended chan struct{}
	gap   bool // the tick's: the last chunk was left out
}

// newArchive makes the folder if need be, and begins to wait for chunks.
func newArchive(dir string, log io.Writer) (*archive, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	if log == nil {
		log = io.Discard
	}
	a := &archive{dir: dir, log: log, queue: make(chan Film, recordQueue), ended: make(chan struct{})}
	return a, nil
}

// take is Config.Record: it belongs to the tick.
func (a *archive) take(f Film) {
	f.First = f.First || a.gap
	a.gap = false
	select {
	case a.queue <- f:
	default:
		a.gap = true
		fmt.Fprintf(a.log, "RECORDING: the disk is too slow: ticks %d to %d are not recorded\n", f.Chunk.First, f.Chunk.Last())
	}
}

// write writes what comes until close. Each chunk is one write: a server that is killed leaves a file that can be read up to its last chunk.
func (a *archive) write() {
	defer close(a.ended)
	pack := replay.NewPacker()
	var file *os.File
	var buf []byte
	for f := range a.queue {
		buf = buf[:0]
		if f.First || file == nil {
			err := closeFile(file)
			var bad error
			if file, bad = a.create(&f); errors.Join(err, bad) != nil {
				fmt.Fprintf(a.log, "RECORDING: %v: ticks %d to %d are not recorded\n", errors.Join(err, bad), f.Chunk.First, f.Chunk.Last())
				if file == nil {
					continue
				}
			}
			buf = f.Head.Append(buf)
		}
		buf = pack.Append(buf, f.Chunk)
		if _, err := file.Write(buf); err != nil {
			fmt.Fprintf(a.log, "RECORDING: %v: ticks %d to %d are not recorded\n", err, f.Chunk.First, f.Chunk.Last())
			_ = file.Close()
			file = nil // the next chunk begins another
		}
	}
	if err := closeFile(file); err != nil {
		fmt.Fprintf(a.log, "RECORDING: %v\n", err)
	}
}

func closeFile(f *os.File) error {
	if f == nil {
		return nil
	}
	return f.Close()
}

// create makes the file of a round, with a name that says when and from which tick.
func (a *archive) create(f *Film) (*os.File, error) {
	name := fmt.Sprintf("%s-%d-tick%d.tkr", time.Now().UTC().Format("20060102-150405"), os.Getpid(), f.Chunk.First)
	file, err := os.OpenFile(filepath.Join(a.dir, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	return file, nil
}

// close waits until all is written. nil is no archive.
func (a *archive) close() {
	if a == nil {
		return
	}
	close(a.queue)
	<-a.ended
}
