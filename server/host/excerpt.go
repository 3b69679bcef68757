package host

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim/replay"
)

// excerptWait is how long a capture waits for the chunk of its tick: a chunk has a second, and may wait
// for the disk.
const excerptWait = 10 * time.Second

var errNotRecorded = errors.New("the tick is not recorded")

// excerpts cuts short recordings out of what a recorder writes: from the last saved state to the chunk
// of a tick. It belongs to the goroutine of the recorder, but for wanted.
type excerpts struct {
	keep   bool // some may be wanted; constant
	wanted chan excerpt
	since  []server.RecordingChunk // since the last with a state, without gaps
	open   []excerpt               // whose chunk has not come yet
}

// excerpt is a short recording that is wanted.
type excerpt struct {
	at   tick.Tick
	path string
	done chan error // has room for the answer
}

// excerpt writes the recording around a tick into a file. It waits for the chunk of the tick; any
// goroutine but that of the recorder may call it.
func (r *recorder) excerpt(at tick.Tick, path string) error {
	e := excerpt{at, path, make(chan error, 1)}
	timer := time.NewTimer(excerptWait)
	defer timer.Stop()
	select {
	case r.excerpts.wanted <- e:
	case <-r.done:
		return errNotRecorded
	case <-timer.C:
		return errNotRecorded
	}
	select {
	case err := <-e.done:
		return err
	case <-timer.C:
		return errNotRecorded
	}
}

// add takes a chunk and writes the excerpts that end with it.
func (x *excerpts) add(f server.RecordingChunk) {
	if !x.keep {
		return
	}
	n := len(x.since)
	follows := n > 0 && x.since[n-1].Head == f.Head && x.since[n-1].Chunk.Last()+1 == f.Chunk.First
	switch {
	case len(f.Chunk.Key) > 0:
		clear(x.since) // they keep no chunk
		x.since = append(x.since[:0], f)
	case follows:
		x.since = append(x.since, f)
	default: // of no use without a state
		clear(x.since)
		x.since = x.since[:0]
	}
	left := x.open[:0]
	for _, e := range x.open {
		if !x.answer(e) {
			left = append(left, e)
		}
	}
	x.open = left
}

// want takes an excerpt that is wanted.
func (x *excerpts) want(e excerpt) {
	if !x.answer(e) {
		x.open = append(x.open, e)
	}
}

// answer writes an excerpt unless its last chunk has not come yet.
func (x *excerpts) answer(e excerpt) bool {
	n := len(x.since)
	if n == 0 || x.since[n-1].Chunk.Last() < e.at {
		return false
	}
	e.done <- x.write(e)
	return true
}

// end answers what is left over when the recording ends.
func (x *excerpts) end() {
	for _, e := range x.open {
		e.done <- errNotRecorded
	}
}

// write writes the chunks since the last state.
func (x *excerpts) write(e excerpt) error {
	if e.at < x.since[0].Chunk.First {
		return fmt.Errorf("%w: the newest state is of a later tick", errNotRecorded)
	}
	var chunks []*replay.Chunk
	for _, f := range x.since {
		chunks = append(chunks, f.Chunk)
	}
	return writeChunks(e.path, x.since[0].Head, chunks)
}

// writeChunks writes a recording of some chunks.
func writeChunks(path string, head *replay.Head, chunks []*replay.Chunk) (err error) {
	file := replay.FileWriter{Pack: replay.NewPacker(),
		Create: func(tick.Tick) (replay.File, string, error) {
			file, err := os.Create(path)
			return recordingFile{file}, path, err
		},
		Report: func(text string) { err = errors.Join(err, errors.New(text)) }}
	for i, c := range chunks {
		if i == 0 {
			file.WriteFirst(head, c)
			continue
		}
		file.Write(head, c)
	}
	file.Close()
	return err
}
