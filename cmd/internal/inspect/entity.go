package inspect

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/tickrate/tickrate/cmd/internal/serverapi"
	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/httpapi"
	"github.com/tickrate/tickrate/sim"
)

// live asks a running server for its entities, or for one.
func (o *WorldOptions) live(ctx context.Context, out io.Writer, source string) error {
	source = strings.TrimSuffix(source, "/")
	if o.Entity != "" {
		var d httpapi.EntityDetail
		if err := serverapi.Get(ctx, source, "/dash/entity?id="+url.QueryEscape(o.Entity), o.Secret, &d); err != nil {
			return fmt.Errorf("%s: %w", source, err)
		}
		return writeEntity(out, &d)
	}
	var list httpapi.EntityList
	if err := serverapi.Get(ctx, source, "/dash/entities", o.Secret, &list); err != nil {
		return fmt.Errorf("%s: %w", source, err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-16s %-12s %-18s %26s\n", "kind", "net id", "name", "position, m")
	for i := range list.Entities {
		e := &list.Entities[i]
		at := ""
		if e.Pos != nil {
			at = fmt.Sprintf("%.2f %.2f %.2f", e.Pos[0], e.Pos[1], e.Pos[2])
		}
		fmt.Fprintf(&b, "%-16s %-12s %-18s %26s\n", e.Kind, e.ID, cut(e.Name, 18), at)
	}
	fmt.Fprintf(&b, "\ntick %d: %d of %d entities; --entity ID describes one\n", list.Tick, len(list.Entities),
		list.Total)
	_, err := io.WriteString(out, b.String())
	return err
}

// describe writes an entity of a match, and what the clients of its lobby were sent of it.
func (o *WorldOptions) describe(out io.Writer, m *sim.Match, lobby *server.Lobby) error {
	id, err := netid.Parse(o.Entity)
	if err != nil {
		return usage.Errorf("--entity %q: %w", o.Entity, err)
	}
	var r server.EntityReport
	ok := false
	if lobby != nil {
		r, ok = lobby.EntityReport(id, 0)
	} else {
		r.EntityInfo, r.Components, ok = m.Entity(id)
		r.Replicated = true // a recording has no clients
	}
	if !ok {
		return usage.Errorf("--entity %s: there is no such entity in tick %d", o.Entity, m.Tick())
	}
	d := httpapi.DetailOf(uint32(m.Tick()), &r)
	return writeEntity(out, &d)
}

// writeEntity writes an entity as text of at most 80 columns.
func writeEntity(out io.Writer, d *httpapi.EntityDetail) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s, tick %d\n", d.Kind, d.ID, cut(d.Name, 24), d.Tick)
	for _, c := range d.Components {
		comes := ""
		if c.Sparse {
			comes = ", comes and goes"
		}
		fmt.Fprintf(&b, "\n%s (%s, %d bytes%s)\n", c.Type, c.Use, c.Bytes, comes)
		for _, f := range c.Fields {
			fmt.Fprintf(&b, "  %-32s %44s\n", cut(f[0], 32), cut(f[1], 44))
		}
	}
	if !d.Replicated {
		b.WriteString("\nNo client is sent it: it follows from the map.\n")
	}
	if len(d.Sent) > 0 {
		fmt.Fprintf(&b, "\n%-5s %-16s %-10s %6s  %s\n", "slot", "client", "reason", "metres", "why")
	}
	for i := range d.Sent {
		x := &d.Sent[i]
		fmt.Fprintf(&b, "%-5d %-16s %-10s %6d  %s\n", x.Slot, cut(x.Name, 16), cut(x.Reason.String(), 10), x.Metres,
			cut(x.Text, 38))
	}
	if more := d.Clients - len(d.Sent); d.Replicated && more > 0 && len(d.Sent) > 0 {
		fmt.Fprintf(&b, "and %d more clients\n", more)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// cut cuts text to n characters, without those that a terminal acts on.
func cut(text string, n int) string {
	runes := []rune(strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return '?'
		}
		return r
	}, text))
	return string(runes[:min(len(runes), n)])
}
