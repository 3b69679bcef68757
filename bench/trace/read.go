package trace

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Limits of a file. The longest line of the recordings has 130 bytes, the largest file 84,360 rows.
const (
	maxLine   = 4096
	maxRows   = 1 << 23
	maxTracks = 4096
)

// Open reads a trace file, gzip or plain. Errors name the file and, where there is one, the line,
// the column, what stands there and what was expected.
func Open(path string) (*Trace, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err) // names the path
	}
	defer file.Close()
	return Read(file, path)
}

// Read reads a trace from r; path stands for the file in errors, and its last element names the
// trace.
func Read(r io.Reader, path string) (*Trace, error) {
	buffered := bufio.NewReaderSize(r, 1<<16)
	if magic, _ := buffered.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		unzipped, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, fmt.Errorf("trace %s: not readable as gzip: %w", path, err)
		}
		buffered = bufio.NewReaderSize(unzipped, 1<<16)
	}
	source := filepath.Base(path)
	lines := bufio.NewScanner(buffered)
	lines.Buffer(make([]byte, 0, maxLine), maxLine)
	tracks, line, err := readTracks(lines, source)
	if err != nil {
		return nil, fmt.Errorf("trace %s:%d: %w", path, line, err)
	}
	t := &Trace{Name: source}
	for _, track := range tracks {
		if track.finish(); len(track.Runs) > 0 {
			t.Tracks = append(t.Tracks, *track.Track)
		}
	}
	if len(t.Tracks) == 0 {
		return nil, fmt.Errorf("trace %s: nobody moves in it: expected at least one run of two live samples",
			path)
	}
	return t, nil
}

// readTracks returns the tracks in the order in which their players first appear, and the number of
// the last line.
func readTracks(lines *bufio.Scanner, source string) (tracks []*builder, line int, err error) {
	next := func() bool {
		if lines.Scan() {
			line++
			return true
		}
		return false
	}
	if !next() {
		return nil, 1, scanError(lines, errors.New("the file is empty: expected a header line"))
	}
	f, where, err := detect(strings.Split(trimEnd(lines.Text()), ","))
	if err != nil {
		return nil, line, err
	}
	r := row{format: f, where: where}
	byPlayer := map[int]*builder{}
	for next() {
		text := trimEnd(lines.Text())
		if text == "" {
			continue
		}
		if line > maxRows {
			return nil, line, fmt.Errorf("more than %d rows", maxRows)
		}
		r.split(text)
		player, sample := int(r.whole(colPlayer, 0, 1<<31-1)), f.read(&r)
		if r.err != nil {
			return nil, line, scanError(lines, r.err) // a damaged file also cuts its last line
		}
		b := byPlayer[player]
		if b == nil {
			if len(tracks) == maxTracks {
				return nil, line, fmt.Errorf("more than %d players", maxTracks)
			}
			b = &builder{Track: &Track{Source: source, Player: player}, format: f}
			byPlayer[player], tracks = b, append(tracks, b)
		}
		if err := b.add(sample); err != nil {
			return nil, line, fmt.Errorf("column %q: %w", f.columns[colTime], err)
		}
	}
	return tracks, line + 1, scanError(lines, nil)
}

func scanError(lines *bufio.Scanner, otherwise error) error {
	switch err := lines.Err(); {
	case err == nil:
		return otherwise
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("the line is longer than %d bytes", maxLine)
	default:
		return fmt.Errorf("the file ends early or is damaged: %w", err)
	}
}

func trimEnd(line string) string { return strings.TrimSuffix(line, "\r") }

// row is one line, cut into fields. The first thing wrong with it stays in err.
type row struct {
	format *format
	where  []int // index of a field by index into format.columns
	fields []string
	err    error
}

func (r *row) split(text string) {
	r.fields, r.err = r.fields[:0], nil
	for more := true; more; {
		var field string
		field, text, more = strings.Cut(text, ",")
		r.fields = append(r.fields, field)
	}
}

// number reads a column, a value of unit in [lo, hi]; the comparison also turns NaN away.
func (r *row) number(column int, lo, hi float64, unit string) float64 {
	if r.err != nil {
		return 0
	}
	name := r.format.columns[column]
	if r.where[column] >= len(r.fields) {
		r.err = fmt.Errorf("column %q (number %d) is missing: the line has %d",
			name, r.where[column]+1, len(r.fields))
		return 0
	}
	text := r.fields[r.where[column]]
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x >= lo && x <= hi) {
		r.err = fmt.Errorf("column %q is %q, expected %s from %.0f to %.0f", name, text, unit, lo, hi)
		return 0
	}
	return x
}

// whole reads a column that holds a whole number in [lo, hi].
func (r *row) whole(column int, lo, hi int64) int64 {
	x := r.number(column, float64(lo), float64(hi), "a whole number")
	if r.err == nil && x != float64(int64(x)) {
		r.err = fmt.Errorf("column %q is %q, expected a whole number from %d to %d",
			r.format.columns[column], r.fields[r.where[column]], lo, hi)
	}
	return int64(x)
}

func millis(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
