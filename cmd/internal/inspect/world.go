package inspect

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/tickrate/tickrate/cmd/internal/playback"
	"github.com/tickrate/tickrate/cmd/internal/preview"
	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/object"
	"github.com/tickrate/tickrate/sim/replay"
)

// WorldOptions are the settings of World: which match to show, and when.
type WorldOptions struct {
	Tick    uint32 // of a recording; 0: its last
	Entity  string // to describe: a net id, or on a server a name or slot:N; empty for the table of kinds
	Secret  string // of a server's HTTP port
	Map     string // file of a recording's map
	Preview preview.Options
}

// World writes the kinds of entities of a match with their columns, rows and bytes, and the
// components that come and go; or one entity with its components, and what each client was sent of
// it. The source is the file of a recording, "preview" for a match in virtual time, or the URL of a
// running server's HTTP port, which lists its entities.
func World(ctx context.Context, out io.Writer, source string, o WorldOptions) error {
	if strings.Contains(source, "://") {
		return o.live(ctx, out, source)
	}
	m, lobby, err := o.match(ctx, source)
	switch {
	case err != nil:
		return err
	case o.Entity != "":
		return o.describe(out, m, lobby)
	}
	return writeKinds(out, m)
}

// match plays the match of a source up to the tick to show. A recording has no lobby.
func (o *WorldOptions) match(ctx context.Context, source string) (*sim.Match, *server.Lobby, error) {
	if source != "preview" {
		m, err := o.replay(ctx, source)
		return m, nil, err
	}
	if err := o.Preview.Check(); err != nil {
		return nil, nil, usage.Error(err)
	}
	b, err := o.Preview.Open()
	if err != nil {
		return nil, nil, err
	}
	for b.Now() < o.Preview.Duration && ctx.Err() == nil {
		if err := b.Step(); err != nil {
			return nil, nil, err
		}
	}
	return b.Lobby.Match(), b.Lobby, ctx.Err()
}

// replay plays a recording up to o.Tick or its end. A recording that ends before its first tick is
// an error, and so is a tick that it does not have.
func (o *WorldOptions) replay(ctx context.Context, path string) (*sim.Match, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, usage.Errorf("recording: %w", err)
	}
	defer file.Close()
	r, err := replay.NewReader(bufio.NewReaderSize(file, 1<<16))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	defer r.Close()
	p, err := (&playback.Options{Map: o.Map, Content: o.Preview.Content}).Player(&r.Head)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for ctx.Err() == nil {
		chunk, err := r.Next()
		if err == io.EOF {
			if p.Match == nil {
				return nil, fmt.Errorf("%s: no ticks are recorded", path)
			}
			if now := uint32(p.Match.Tick()); now < o.Tick {
				return nil, usage.Errorf("--tick %d: %s ends with tick %d", o.Tick, path, now)
			}
			return p.Match, nil
		}
		if err == nil {
			err = p.Load(chunk)
		}
		for err == nil && !p.Done() && ctx.Err() == nil {
			switch now := uint32(p.Match.Tick()); {
			case o.Tick == 0 || now < o.Tick:
			case now == o.Tick:
				return p.Match, nil
			default:
				return nil, usage.Errorf("--tick %d: the recording %s has no state of it, the next is of tick %d",
					o.Tick, path, now)
			}
			err = p.Step()
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil, ctx.Err()
}

// worldFoot explains the columns of the table.
const worldFoot = `
of       most rows at a time; refused counts entities that found no room
B/row    bytes of a row: all columns, and 4 of the entity's id
use      state: saved and hashed; given, measured: saved; map: from the map
+        a component that comes and goes
`

// writeMovers lists the movers of the map, which have no rows, as they are in the tick.
func writeMovers(b *strings.Builder, s *object.Scene) {
	if s.Arena.Moves() {
		b.WriteString("\nmovers of the map, without rows: where they are follows from the tick\n")
	}
	for i := range s.Arena.Movers {
		m := &s.Arena.Movers[i]
		at := m.At(s.Moment())
		fmt.Fprintf(b, "movers[%d]  %.5g %.5g %.5g to %.5g %.5g %.5g, %.2g m/s\n", i, at.Min.X, at.Min.Y,
			at.Min.Z, at.Max.X, at.Max.Y, at.Max.Z, m.Displacement(s.Moment()).Len()*float32(s.Rate))
	}
}

// writeKinds writes the table: a line for each kind, then one for each column. Bytes are of rows
// in use.
func writeKinds(out io.Writer, m *sim.Match) error {
	kinds, width := m.Kinds(), 0
	for i := range kinds {
		k := &kinds[i]
		if k.Sparse {
			k.Name = "+ " + k.Name
		}
		width = max(width, len(k.Name))
		for _, c := range k.Columns {
			width = max(width, len("  "+c.Type))
		}
	}
	var b strings.Builder
	write := func(cells ...any) {
		line := fmt.Sprintf("%-*s %-8v %6v %6v %5v %8v %8v %7v", append([]any{width}, cells...)...)
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	write("kind, columns", "use", "rows", "of", "B/row", "bytes", "first id", "refused")
	rows, bytes := 0, 0
	for _, k := range kinds {
		// A component has no identifiers of its own: its rows belong to entities of other kinds.
		first := fmt.Sprint(k.First)
		if k.Sparse {
			first = "-"
		}
		write(k.Name, "", k.Rows, k.Capacity, k.RowBytes, k.Rows*k.RowBytes, first, k.Refused)
		for _, c := range k.Columns {
			write("  "+c.Type, c.Use, "", "", c.Bytes, k.Rows*c.Bytes, "", "")
		}
		rows, bytes = rows+k.Rows, bytes+k.Rows*k.RowBytes
	}
	fmt.Fprintf(&b, "\ntick %d: %d rows, %d bytes\n%s", m.Tick(), rows, bytes, worldFoot)
	writeMovers(&b, m.Scene())
	_, err := io.WriteString(out, b.String())
	return err
}
