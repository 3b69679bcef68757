package inspect

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/tickrate/tickrate/cmd/internal/playback"
	"github.com/tickrate/tickrate/cmd/internal/preview"
	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/replay"
)

// WorldOptions are the settings of World: which match to show, and when.
type WorldOptions struct {
	Tick    uint32 // of a recording; 0: its last
	Map     string // file of a recording's map
	Preview preview.Options
}

// World writes the kinds of entities of a match with their columns, rows and bytes, and the
// components that come and go. The source is the file of a recording, or "preview" for a match in
// virtual time.
func World(ctx context.Context, out io.Writer, source string, o WorldOptions) error {
	m, err := o.match(ctx, source)
	if err != nil {
		return err
	}
	return writeKinds(out, m)
}

// match plays the match of a source up to the tick to show.
func (o *WorldOptions) match(ctx context.Context, source string) (*sim.Match, error) {
	if source != "preview" {
		return o.replay(ctx, source)
	}
	if err := o.Preview.Check(); err != nil {
		return nil, usage.Error(err)
	}
	b, err := o.Preview.Open()
	if err != nil {
		return nil, err
	}
	for b.Now() < o.Preview.Duration && ctx.Err() == nil {
		if err := b.Step(); err != nil {
			return nil, err
		}
	}
	return b.Lobby.Match(), ctx.Err()
}

// replay plays a recording.
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
			return p.Match, nil
		}
		if err == nil {
			err = p.Load(chunk)
		}
		for err == nil && !p.Done() && ctx.Err() == nil {
			if o.Tick != 0 && uint32(p.Match.Tick()) >= o.Tick {
				return p.Match, nil
			}
			err = p.Step()
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil, ctx.Err()
}

// writeKinds writes the table.
func writeKinds(out io.Writer, m *sim.Match) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "kind\tcolumn\tuse\trows\tof\tB/row\tbytes\tfirst id\trefused")
	rows, bytes := 0, 0
	for _, k := range m.Kinds() {
		// A component has no identifiers of its own: its rows belong to entities of other kinds.
		name, first := k.Name, fmt.Sprint(k.First)
		if k.Sparse {
			name, first = "+ "+name, "-"
		}
		fmt.Fprintf(w, "%s\t\t\t%d\t%d\t%d\t%d\t%s\t%d\n", name,
			k.Rows, k.Capacity, k.RowBytes, k.Rows*k.RowBytes, first, k.Refused)
		for _, c := range k.Columns {
			fmt.Fprintf(w, "\t%s\t%s\t\t\t%d\t%d\t\t\n", c.Type, c.Use, c.Bytes, k.Rows*c.Bytes)
		}
		rows, bytes = rows+k.Rows, bytes+k.Rows*k.RowBytes
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "\ntick %d: %d rows, %d bytes; + is a component that comes and goes\n",
		m.Tick(), rows, bytes)
	return err
}
