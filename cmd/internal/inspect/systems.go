package inspect

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/tickrate/tickrate/sim"
)

// Systems writes the systems of a tick in their order, with what each reads and writes, and the
// data that they share. It returns an error that names every conflict, such as data that is read
// before it is written.
func Systems(out io.Writer, table []sim.System) error {
	for i, s := range table {
		fmt.Fprintf(out, "%2d  %s (%s)\n", i+1, s.Name, s.Side)
		writeWords(out, "    ", strings.Fields(s.Purpose), " ")
		writeData(out, "reads", s.Reads)
		writeData(out, "writes", s.Writes)
	}
	fmt.Fprintln(out)
	const datum = "%-15s  %-10s  "
	fmt.Fprintf(out, datum+"is\n", "datum", "lifetime")
	for _, d := range sim.Data() {
		writeWords(out, fmt.Sprintf(datum, d.Name, d.Sort), strings.Fields(d.Is), " ")
	}
	fmt.Fprint(out, sorts)
	conflicts := sim.Conflicts(table)
	if len(conflicts) > 0 {
		return errors.New("conflicts: " + strings.Join(conflicts, "; "))
	}
	fmt.Fprintf(out, "\n%d systems, no conflicts\n", len(table))
	return nil
}

// sorts explains the second column of the data.
const sorts = `
external    comes from outside before the tick, and lasts
persistent  is state: the next tick begins with it
per tick    is empty when a tick begins, and dropped when it ends
output      is empty when a tick begins, and read outside when it ends
`

// writeData writes the data that a system reads or writes, if any, on a line of their own.
func writeData(out io.Writer, verb string, data []sim.Datum) {
	words := make([]string, len(data))
	for i, d := range data {
		words[i] = string(d)
	}
	if len(words) > 0 {
		writeWords(out, fmt.Sprintf("    %-6s  ", verb), words, ", ")
	}
}

// columns is the width of the terminals that the tables are made for.
const columns = 80

// writeWords writes words after head, on as many lines as they need, which begin beneath the first
// word.
func writeWords(out io.Writer, head string, words []string, sep string) {
	line := head
	for i, word := range words {
		if i < len(words)-1 {
			word += sep
		}
		if len(line) > len(head) && len(line)+len(strings.TrimRight(word, " ")) > columns {
			fmt.Fprintln(out, strings.TrimRight(line, " "))
			line = strings.Repeat(" ", len(head))
		}
		line += word
	}
	fmt.Fprintln(out, line)
}
