package replay

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/tickrate/tickrate/ecs/tick"
)

// Ending is how a recording ends.
type Ending uint8

// The endings. A recording that ends Unfinished has lost its recorder, which was killed.
const (
	NoFooter    Ending = iota // it was cut, or belongs to a killcam
	Unfinished                // more was to come
	Complete                  // the recorder was closed
	DiskFull                  // there was no space left
	WriteFailed               // it could not be written for another reason
	numEndings
)

// String describes the ending.
func (e Ending) String() string {
	return [...]string{"without an end", "unfinished", "complete", "no space left",
		"could not be written", "?"}[min(e, numEndings)]
}

// A recording file ends with a footer at all times: each chunk is written over the last footer,
// with a new one after it.
//
//	4   "tend"
//	4   last       tick that the last chunk plays
//	1   ending     1 open, 2 over, 3 full, 4 failed
//	4   CRC-32C of all before
const (
	footerMagic = "tend"
	footerSize  = 4 + 4 + 1 + 4
)

// appendFooter appends a footer after the chunk that ends with tick last.
func appendFooter(dst []byte, last tick.Tick, how Ending) []byte {
	start := len(dst)
	dst = append(dst, footerMagic...)
	dst = append(binary.LittleEndian.AppendUint32(dst, uint32(last)), byte(how))
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
}

// footer reads a footer after the chunk whose last tick is last.
func footer(b []byte, last tick.Tick) (Ending, error) {
	le := binary.LittleEndian
	if sum, got := le.Uint32(b[footerSize-4:]), crc32.Checksum(b[:footerSize-4], castagnoli); sum != got {
		return 0, fmt.Errorf("checksum %08x, expected %08x", sum, got)
	}
	how := Ending(b[8])
	if t := tick.Tick(le.Uint32(b[4:])); t != last || how < Unfinished || how >= numEndings {
		return 0, fmt.Errorf("tick %d and ending %d behind tick %d", t, how, last)
	}
	return how, nil
}

// ErrDiskFull is wrapped by a File's error if there is no space left.
var ErrDiskFull = errors.New("no space left")

// File is the destination of a recording: an *os.File, with errors translated, or a simulated
// disk.
type File interface {
	WriteAt(b []byte, at int64) (n int, err error)
	Truncate(size int64) error
	Close() error
}

// FileWriter writes chunks into files; each file is a recording with a footer after every call. A
// file that fails is ended at its last whole chunk, and writing resumes with the next WriteFirst.
// It opens nothing itself, and belongs to one goroutine.
type FileWriter struct {
	Pack *Packer // nil: chunks are stored as they are
	// makes the file of a recording that begins with a tick
	Create func(first tick.Tick) (f File, name string, err error)
	// receives each failure of a file; nil: not reported
	Report func(text string)
	// is called for each recording that ends too early; nil: not called
	Truncated func()

	file File
	name string
	end  int64     // of the last whole chunk, where the footer is
	last tick.Tick // of that chunk
	buf  []byte
}

// Write appends a chunk to the file in hand; after a failure it does nothing.
func (t *FileWriter) Write(h *Head, c *Chunk) {
	if t.file == nil {
		return // since something went wrong
	}
	t.buf = t.buf[:0]
	if t.end == 0 {
		t.buf = h.Append(t.buf)
	}
	t.buf = t.Pack.Append(t.buf, c)
	size := len(t.buf)
	t.buf = appendFooter(t.buf, c.Last(), Unfinished)
	if n, err := t.file.WriteAt(t.buf, t.end); err != nil || n != len(t.buf) {
		t.truncate(err)
		return
	}
	t.end, t.last = t.end+int64(size), c.Last()
}

// WriteFirst ends the file in hand and writes a chunk as the first of another.
func (t *FileWriter) WriteFirst(h *Head, c *Chunk) {
	t.Close()
	t.begin(c.First)
	t.Write(h, c)
}

// begin creates a file. On an error the writer stays without one and reports it.
func (t *FileWriter) begin(first tick.Tick) {
	file, name, err := t.Create(first)
	if err != nil {
		t.failed(fmt.Sprintf("a replay from tick %d could not be begun: %v", first, err))
		return
	}
	t.file, t.name, t.end, t.last = file, name, 0, first-1
}

// truncate ends the file at its last whole chunk. The footer has room in place of the old one.
func (t *FileWriter) truncate(err error) {
	how, why := WriteFailed, "short write"
	switch {
	case errors.Is(err, ErrDiskFull):
		how, why = DiskFull, ErrDiskFull.Error()
	case err != nil:
		why = err.Error()
	}
	t.failed(fmt.Sprintf("replay %s stopped at tick %d: %s", t.name, t.last, why))
	t.finish(how)
}

// failed reports a failure and tells the owner that the recording ended early.
func (t *FileWriter) failed(what string) {
	if t.Report != nil {
		t.Report(what)
	}
	if t.Truncated != nil {
		t.Truncated()
	}
}

// finish writes the footer and closes the file. A file without a chunk stays empty.
func (t *FileWriter) finish(how Ending) {
	size := t.end
	if t.end > 0 {
		t.buf = appendFooter(t.buf[:0], t.last, how)
		if _, err := t.file.WriteAt(t.buf, t.end); err == nil {
			size += footerSize
		}
	}
	_ = t.file.Truncate(size) // best effort
	_ = t.file.Close()
	t.file = nil
}

// Close ends the recording, if there is one. The writer may go on with another.
func (t *FileWriter) Close() {
	if t.file != nil {
		t.finish(Complete)
	}
}
