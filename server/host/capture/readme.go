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
		fmt.Fprintf(&b, "The snapshot of slot %d, %q, took %.1f ms of it.\n\n", c.Slot, c.Name, c.Micros/1e3)
	}
	b.WriteString("tick.json       times of the stages beside their medians, queues, traffic, the cause\n" +
		"trace.out       execution trace: go tool trace trace.out; stages are regions of the lobby's goroutine\n" +
		"trace.pftrace   the ticks of the thread, for https://ui.perfetto.dev\n")
	return b.String()
}
