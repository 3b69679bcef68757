package main

import (
	"fmt"
	"io"

	"github.com/tickrate/tickrate/bench/capacity"
)

// printRepeats says what measuring the knee several times gave.
func printRepeats(w io.Writer, r *capacity.Repeats) {
	if r == nil {
		return
	}
	fmt.Fprintf(w, "  measured %d times, held %d: p99 tick %.2f ± %.2f ms CPU, %.2f ± %.2f cores, %.1f ± %.1f kbit/s a client (95 %%)\n", r.Steps, r.Held,
		r.TickMillis.Mean, r.TickMillis.Half, r.Cores.Mean, r.Cores.Half, r.KbpsDown.Mean, r.KbpsDown.Half)
	if doubt := r.Doubt(); doubt != "" {
		fmt.Fprintf(w, "  %s\n", doubt)
	}
}
