package capture

import (
	"fmt"
	"strings"
)

// readme is the text of README.txt.
func (e *evidence) readme(r *Report) string {
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
		fmt.Fprintf(&b, "match.tkr       the match around the tick; this plays the tick 200 times and profiles it:\n\n"+
			"tickrate replay match.tkr --at %d --profile tick.pprof\n\n"+
			"A match on a map or of a content pack that is a file needs --map or --content, too. Stages of the\n"+
			"network are not in a recording.\n", r.Tick)
	}
	return b.String()
}
