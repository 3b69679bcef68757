package capture

import (
	"fmt"
	"strings"
)

// readme is the text of README.txt.
func (e *evidence) readme(r *Report, flags []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Lobby %s, tick %d, %s: %s.\n\n%s\n\n", r.Lobby, r.Tick, r.At.Format("2006-01-02 15:04:05 MST"),
		r.Why, r.Cause.Text)
	if c := r.Cause.Conn; c != nil {
		fmt.Fprintf(&b, "The snapshot of slot %d, %q, took %.2f ms of it", c.Slot, c.Name, c.Micros/1e3)
		for _, with := range c.With {
			fmt.Fprintf(&b, ", with that of slot %d, %q", with.Slot, with.Name)
		}
		b.WriteString(".\n\n")
	}
	b.WriteString("tick.json       times of the stages beside their medians, queues, traffic, the cause\n" +
		"trace.out       execution trace: go tool trace trace.out; stages are regions of the lobby's goroutine\n" +
		"trace.pftrace   the ticks of the thread, for https://ui.perfetto.dev\n")
	switch {
	case e.about.Recording == nil:
		b.WriteString("\nThe lobby records nothing: serve --record DIR adds the match around the tick.\n")
	case r.Recording != "":
		fmt.Fprintf(&b, "\nThe match around the tick is missing: %s.\n", r.Recording)
	default:
		fmt.Fprintf(&b, "match.tkr       the match around the tick; in this folder, this plays the tick 200 times and\n"+
			"                profiles it:\n\n%s\n\nStages of the network are not in a recording.\n",
			replayLine(r.Tick, flags))
	}
	return b.String()
}

// replayLine is the command line that plays a tick again in the folder of its capture.
func replayLine(tick uint32, flags []string) string {
	line := fmt.Sprintf("tickrate replay %s --at %d --profile tick.pprof", matchFile, tick)
	for _, word := range flags {
		line += " " + quoted(word)
	}
	return line
}

// quoted is a word of a command line for a shell.
func quoted(word string) string {
	plain := func(c rune) bool {
		return c < 128 && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
			strings.ContainsRune("/._-:=,+", c))
	}
	if word != "" && strings.IndexFunc(word, func(c rune) bool { return !plain(c) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
