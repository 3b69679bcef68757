package inspect

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tickrate/tickrate/client/predict"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
)

// correction is a predict.Correction in words and numbers: a line of the JSON.
type correction struct {
	Type     string          `json:"type"` // correction
	Player   string          `json:"player"`
	Tick     tick.Tick       `json:"tick"`
	Since    tick.Tick       `json:"since_tick"` // of the last row on which both agreed; 0: unknown
	Cause    string          `json:"cause"`
	About    string          `json:"about"`
	Lost     []tick.Tick     `json:"lost_commands"` // ticks, proven by playing them again
	Starved  int             `json:"starved_ticks"`
	Replayed int             `json:"replayed_ticks"`
	Moved    float32         `json:"moved_m"`
	Fields   []predict.Field `json:"fields"`
	Commands []ledCommand    `json:"commands"`
}

// ledCommand is a command that led to a difference.
type ledCommand struct {
	Tick   tick.Tick `json:"tick"`
	Yaw    float64   `json:"yaw_degrees"`
	Pitch  float64   `json:"pitch_degrees"`
	Move   int       `json:"move_percent"`
	Way    float32   `json:"move_degrees"` // clockwise from Yaw
	Keys   []string  `json:"keys"`
	Server string    `json:"server"` // own, none, skipped by the client's clock, or "?"
}

// describe puts a correction into words.
func describe(id netid.ID, c *predict.Correction, kit *sim.CompiledGame, a *arena.Arena) *correction {
	lost, proven := c.Lost(kit, a)
	out := &correction{
		Type: "correction", Player: id.String(), Tick: c.Tick, Since: c.Since, Cause: c.Cause.String(),
		About: about(c, lost, proven), Lost: lost, Starved: c.Starved, Replayed: int(c.Newest - c.Tick),
		Moved: c.Moved.Len(), Fields: c.Fields(kit),
	}
	for _, l := range c.All() {
		if l.Tick <= c.Since {
			continue
		}
		server := "own"
		switch {
		case slices.Contains(lost, l.Tick):
			server = "none"
		case !l.Issued:
			server = "skipped"
		case c.Starved > 0 && !proven:
			server = "?"
		}
		out.Commands = append(out.Commands, ledCommand{
			Tick: l.Tick, Yaw: l.Yaw.Degrees(), Pitch: l.Pitch.Degrees(),
			Move: int(l.MoveMag) * 100 / 255, Way: float32(l.MoveYaw) * 360 / 256, Keys: l.Buttons.Names(),
			Server: server,
		})
	}
	return out
}

// about says in a sentence why the server's state is another.
func about(c *predict.Correction, lost []tick.Tick, proven bool) string {
	switch {
	case c.Cause == predict.Push:
		if n := c.Server.Pushes - c.Predicted.Pushes; n != 1 {
			return fmt.Sprintf("the server pushed or teleported the player, or filled its clips, %d times", n)
		}
		return "the server pushed or teleported the player, or filled its clips"
	case c.Cause == predict.Life && c.Server.Dead:
		return "the player died"
	case c.Cause == predict.Life:
		return "the player respawned"
	case proven && len(lost) == 1:
		return fmt.Sprintf("the server had no command for tick %d in time", lost[0])
	case proven:
		return fmt.Sprintf("the server had no commands for ticks %s in time", ticks(lost))
	case c.Since == 0:
		return "the rows before were lost: what the server had is unknown"
	case c.Starved > 0:
		return fmt.Sprintf("the server played %d ticks without the player's command", c.Starved)
	}
	return "the server had every command, and they led elsewhere"
}

// ticks lists ticks.
func ticks(all []tick.Tick) string {
	words := make([]string, len(all))
	for i, t := range all {
		words[i] = fmt.Sprint(t)
	}
	return strings.Join(words, ", ")
}

// write writes a correction as text of at most 80 columns.
func (c *correction) write(w io.Writer, all bool) error {
	var b strings.Builder
	fmt.Fprintf(&b, "player %s, tick %d, %s:\n  %s\n", c.Player, c.Tick, c.Cause, c.About)
	if len(c.Lost) > 0 {
		b.WriteString("  proven: the same commands without them lead to the server's state, to the bit\n")
	}
	fmt.Fprintf(&b, "\n  %-26s %22s %22s\n", "field", "predicted", "server")
	for _, f := range c.Fields {
		if all || f.Differs() {
			mark := ' '
			if all && f.Differs() {
				mark = '*'
			}
			fmt.Fprintf(&b, "%c %-26s %22s %22s\n", mark, f.Name, value(f.Predicted), value(f.Server))
		}
	}
	if c.Since != 0 {
		fmt.Fprintf(&b, "\n  commands since tick %d, where both agreed:\n", c.Since)
	} else {
		b.WriteString("\n  the newest commands:\n")
	}
	fmt.Fprintf(&b, "  %10s %7s %7s %5s %5s  %-8s %s\n", "tick", "yaw", "pitch", "move", "way", "server", "keys")
	for _, l := range c.Commands {
		keys := strings.Join(l.Keys, " ")
		line := fmt.Sprintf("  %10d %7.1f %7.1f %4d%% %5.0f  %-8s %s", l.Tick, l.Yaw, l.Pitch, l.Move, l.Way,
			l.Server, keys[:min(len(keys), 30)])
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	fmt.Fprintf(&b, "  %d later ticks were played again; the player moved by %.3f m\n\n", c.Replayed, c.Moved)
	_, err := io.WriteString(w, b.String())
	return err
}

// value formats the value of a field, in at most 22 columns.
func value(v any) string {
	if f, ok := v.(float32); ok {
		return fmt.Sprintf("%.6f", f)
	}
	text := fmt.Sprint(v)
	return text[:min(len(text), 22)]
}

// writeLine writes v as a line of JSON.
func writeLine(w io.Writer, v any) error { return json.NewEncoder(w).Encode(v) }
