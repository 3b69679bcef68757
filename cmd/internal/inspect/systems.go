package inspect

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/tickrate/tickrate/sim"
)

// Systems writes the systems of a tick in their order, with what each reads and writes, and the
// data that they share. It returns an error that names every conflict, such as data that is read
// before it is written.
func Systems(out io.Writer, table []sim.System) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\tsystem\tside\treads\twrites\tdoes")
	for i, s := range table {
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\n", i+1, s.Name, s.Side, names(s.Reads),
			names(s.Writes), s.Purpose)
	}
	fmt.Fprintln(w, "\n\tdatum\tsort\t\t\tis")
	for _, d := range sim.Data() {
		fmt.Fprintf(w, "\t%s\t%s\t\t\t%s\n", d.Name, d.Sort, d.Is)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	conflicts := sim.Conflicts(table)
	if len(conflicts) > 0 {
		return errors.New("conflicts: " + strings.Join(conflicts, "; "))
	}
	fmt.Fprintf(out, "\n%d systems, no conflicts\n", len(table))
	return nil
}

// names formats data as words.
func names(data []sim.Datum) string {
	words := make([]string, len(data))
	for i, d := range data {
		words[i] = string(d)
	}
	return strings.Join(words, " ")
}
