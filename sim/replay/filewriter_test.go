package replay

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/ecs/tick"
)

// sheet is a File in memory on a disk with so much space left.
type sheet struct {
	data   []byte
	left   int
	err    error // instead of all
	closed bool
}

func (s *sheet) WriteAt(b []byte, at int64) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n := len(b)
	var err error
	if more := int(at) + n - len(s.data); more > s.left {
		n, err = n-(more-s.left), ErrDiskFull
	}
	if end := int(at) + n; end > len(s.data) {
		s.left -= end - len(s.data)
		s.data = append(s.data, make([]byte, end-len(s.data))...)
	}
	copy(s.data[at:], b[:n])
	return n, err
}

func (s *sheet) Truncate(size int64) error {
	s.left += len(s.data) - int(size)
	s.data = s.data[:size]
	return nil
}

func (s *sheet) Close() error { s.closed = true; return nil }

// bound is a FileWriter and the files that it made.
type bound struct {
	FileWriter
	sheets []*sheet
	said   []string
	cut    int
}

func newBound(space int) *bound {
	b := &bound{}
	b.Create = func(first tick.Tick) (File, string, error) {
		s := &sheet{left: space}
		b.sheets = append(b.sheets, s)
		return s, "F", nil
	}
	b.Report = func(text string) { b.said = append(b.said, text) }
	b.Truncated = func() { b.cut++ }
	return b
}

// pieces are chunks of a match, a second each; every fourth has a state.
func pieces(t testing.TB, n int) (h Head, all []*Chunk) {
	p := newPlay(t, 4, 1)
	h = HeadOf(p.m, "arena-16", 60)
	rec, err := NewRecorder(p.m, 60, KeyEvery)
	if err != nil {
		t.Fatal(err)
	}
	for len(all) < n {
		p.step()
		if c := rec.Tick(); c != nil {
			all = append(all, c.Encode())
		}
	}
	return h, all
}

// whole reads a file and says up to which tick it goes and how it ends.
func whole(t *testing.T, data []byte) (tick.Tick, Ending) {
	t.Helper()
	r, err := NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	last := tick.Tick(0)
	for {
		c, err := r.Next()
		if err == io.EOF {
			return last, r.End
		}
		if err != nil {
			t.Fatal(err)
		}
		last = c.Last()
	}
}

// After every chunk a file has a footer, and plays again; a closed one says that it is over.
func TestFileIsWholeAfterEveryChunk(t *testing.T) {
	h, all := pieces(t, 9)
	for i, c := range all {
		if (len(c.Key) > 0) != (i%KeyEvery == 0) {
			t.Errorf("chunk %d has a state of %d bytes", i, len(c.Key))
		}
	}
	b := newBound(1 << 30)
	b.Pack = NewPacker()
	for i, c := range all {
		if i == 0 {
			b.WriteFirst(&h, c)
		} else {
			b.Write(&h, c)
		}
		if last, end := whole(t, b.sheets[0].data); last != c.Last() || end != Unfinished {
			t.Fatalf("after chunk %d: tick %d, %v", i, last, end)
		}
	}
	b.Close()
	if last, end := whole(t, b.sheets[0].data); last != all[8].Last() || end != Complete ||
		!b.sheets[0].closed {
		t.Errorf("closed: tick %d, %v", last, end)
	}
	if got, player, err := again(t, b.sheets[0].data); err != nil || len(got) != 9*60 ||
		player.Compared < 18 {
		t.Errorf("%d ticks, %v", len(got), err)
	}
	if len(b.said) != 0 || b.cut != 0 {
		t.Errorf("said %q", b.said)
	}
}

// TestThreat36DiskFull: wherever the space ends, the file has a footer at the last whole chunk, one
// line says so with the tick, one is counted, nothing is written any more until the next recording
// begins, and that is whole again.
func TestThreat36DiskFull(t *testing.T) {
	h, all := pieces(t, 6)
	ref := newBound(1 << 30)
	var ends []int
	for i, c := range all {
		if i == 0 {
			ref.WriteFirst(&h, c)
		} else {
			ref.Write(&h, c)
		}
		ends = append(ends, len(ref.sheets[0].data))
	}
	for space := ends[0]; space < ends[5]; space += 97 {
		want := 0
		for want+1 < len(ends) && ends[want+1] <= space {
			want++
		}
		b := newBound(space)
		for i, c := range all {
			if i == 0 {
				b.WriteFirst(&h, c)
			} else {
				b.Write(&h, c)
			}
		}
		last, end := whole(t, b.sheets[0].data)
		if last != all[want].Last() || end != DiskFull || b.cut != 1 || len(b.sheets) != 1 ||
			!b.sheets[0].closed {
			t.Fatalf("%d bytes: tick %d, %v, expected tick %d; %d cut, %d files", space, last, end,
				all[want].Last(), b.cut, len(b.sheets))
		}
		if line := "replay F stopped at tick "; len(b.said) != 1 || !strings.HasPrefix(b.said[0], line) ||
			!strings.HasSuffix(b.said[0], ": no space left") {
			t.Fatalf("%d bytes: said %q", space, b.said)
		}
		b.WriteFirst(&h, all[4])
		if len(b.sheets) != 2 {
			t.Fatalf("%d files", len(b.sheets))
		}
		if data := b.sheets[1].data; len(data) == 0 {
			continue // the match has grown
		} else if last, end := whole(t, data); last != all[4].Last() || end != Unfinished {
			t.Fatalf("another: tick %d, %v", last, end)
		}
	}
	b := newBound(10) // not even a chunk
	b.WriteFirst(&h, all[0])
	if len(b.sheets[0].data) != 0 || b.cut != 1 {
		t.Errorf("%d bytes of nothing", len(b.sheets[0].data))
	}
}

// A disk that fails, and a file that cannot be made, end a recording likewise.
func TestThreat36DiskFails(t *testing.T) {
	h, all := pieces(t, 2)
	b := newBound(1 << 30)
	b.WriteFirst(&h, all[0])
	b.sheets[0].err = io.ErrClosedPipe
	b.Write(&h, all[1])
	if len(b.said) != 1 || !strings.HasSuffix(b.said[0],
		"stopped at tick 60: io: read/write on closed pipe") || b.cut != 1 {
		t.Errorf("said %q", b.said)
	}
	b.Create = func(tick.Tick) (File, string, error) { return nil, "", errors.New("read-only") }
	b.WriteFirst(&h, all[0])
	b.Write(&h, all[1])
	if len(b.said) != 2 || b.said[1] != "a replay from tick 1 could not be begun: read-only" || b.cut != 2 {
		t.Errorf("said %q", b.said)
	}
}

// What is behind a chunk is a chunk, a footer of that chunk, or an error with its place.
func TestFooterRefused(t *testing.T) {
	h, all := pieces(t, 1)
	b := newBound(1 << 30)
	b.WriteFirst(&h, all[0])
	good := b.sheets[0].data
	for i := range footerSize {
		bad := bytes.Clone(good)
		bad[len(bad)-1-i] ^= 1
		if _, _, err := again(t, bad); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(),
			"at byte ") {
			t.Errorf("byte %d from the end: %v", i, err)
		}
	}
	other := appendFooter(bytes.Clone(good[:len(good)-footerSize]), 61, Complete)
	if _, _, err := again(t, other); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "tick 61") {
		t.Errorf("of another tick: %v", err)
	}
	if _, _, err := again(t, append(bytes.Clone(good), "more than a footer is long"...)); !errors.Is(err,
		ErrFormat) {
		t.Errorf("data behind the footer: %v", err)
	}
}
