package inspect

import (
	"context"
	"fmt"
	"io"
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
configuration share what is shared.
`

// writeMemory writes a line for each owner, with those that are shared at the end.
func writeMemory(out io.Writer, parts []footprint.Part) error {
	var b strings.Builder
	line := func(owner string, bytes any, is string) {
		b.WriteString(strings.TrimRight(fmt.Sprintf("%-28s %10v  %s", owner, bytes, is), " ") + "\n")
	}
	line("owner", "bytes", "what it is")
	for _, shared := range []bool{false, true} {
		sum := uint64(0)
		for _, p := range parts {
			if p.Shared != shared {
				continue
			}
			sum += p.Bytes
			if p.Path == "" {
				p.Path = "lobby"
			}
			line(p.Path, p.Bytes, p.Is)
		}
		line(map[bool]string{false: "of its own", true: "shared"}[shared], sum, "")
	}
	b.WriteString(memoryFoot)
	_, err := io.WriteString(out, b.String())
	return err
}
