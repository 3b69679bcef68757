package inspect

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tickrate/tickrate/cmd/internal/preview"
	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/internal/footprint"
	"github.com/tickrate/tickrate/server"
)

// MemoryOptions are the settings of Memory: the match to play, and what its lobby keeps.
type MemoryOptions struct {
	Preview      preview.Options
	SendInterval int // ticks per snapshot; 0: about 20 Hz
}

// Memory plays a match in virtual time and writes the bytes that its lobby keeps, by owner. All
// slots have their memory, as those of a server have.
func Memory(ctx context.Context, out io.Writer, o MemoryOptions) error {
	o.Preview.Lobby = func(c *server.Config) {
		c.SendInterval, c.Relevance = o.SendInterval, server.RelevanceAuto
		c.CPU, c.Clock = clock.ThreadCPU, clock.ThreadCPU
	}
	b, err := o.Preview.Open()
	if err != nil {
		return usage.Error(err)
	}
	b.Lobby.Reserve()
	for b.Now() < o.Preview.Duration && ctx.Err() == nil {
		if err := b.Step(); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return writeMemory(out, b.Lobby.Memory())
}

// memoryFoot explains the table.
const memoryFoot = `
Of a lobby alone, without its host: sockets, HTTP, journal. Lobbies of one
configuration share what is shared; those of one loop have one port.
`

// writeMemory writes a line for each owner, those of a group together.
func writeMemory(out io.Writer, parts []footprint.Part) error {
	var b strings.Builder
	line := func(owner string, bytes any, is string) {
		b.WriteString(strings.TrimRight(fmt.Sprintf("%-28s %10v  %s", owner, bytes, is), " ") + "\n")
	}
	line("owner", "bytes", "what it is")
	groups := []string{""}
	for _, p := range parts {
		if !slices.Contains(groups, p.Group) {
			groups = append(groups, p.Group)
		}
	}
	for _, group := range groups {
		sum := uint64(0)
		for _, p := range parts {
			if p.Group != group {
				continue
			}
			sum += p.Bytes
			line(cmp.Or(p.Path, "lobby"), p.Bytes, p.Is)
		}
		line(cmp.Or(group, "of its own"), sum, "")
	}
	b.WriteString(memoryFoot)
	_, err := io.WriteString(out, b.String())
	return err
}
