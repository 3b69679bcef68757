// The command codec show: a file of models goes in, a table of code lengths comes out.

package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/cmd/internal/assets"
	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/ecs/schema"
)

// newCodecShow returns the command that prints what the Huffman codes of a model cost, field by
// field, in bits.
func newCodecShow() *cobra.Command {
	return &cobra.Command{
		Use:   "show [FILE]",
		Short: "Show the Huffman codes of a model, field by field",
		Long: `show lists the models in a file of codec train, or those of this build without a
file: the fields that choose a row's context, and for each field its width and,
for each of its code tables, the bits of a change of 1, 10 and 100 steps.`,
		Args: usage.AtMostOneArg("files"),
		RunE: func(c *cobra.Command, args []string) error {
			models, err := assets.Models(strings.Join(args, ""))
			if err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "models %016x\n", models.Hash())
			for _, m := range []*schema.Model{models.Public, models.Owner, models.Objects} {
				if err := showModel(c.OutOrStdout(), m); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// showModel prints one model as a table: a line for each field, and in it the code lengths of each
// of its tables.
func showModel(w io.Writer, m *schema.Model) error {
	s := m.Schema()
	fmt.Fprintf(w, "\n%s: %d fields, row masks in %d tables", s.Name, len(s.Fields), len(m.Masks()))
	for i, f := range m.ContextFields() {
		fmt.Fprintf(w, "%s%s", []string{", context by ", " "}[min(i, 1)], s.Fields[f].Name)
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "field\tbits without a baseline\t"+
		"bits of a change of 1, 10, 100 steps, by table\twith range by")
	for i := range s.Fields {
		c := &m.Coders()[i]
		// A field has a table for each class of its context, at least one.
		var tables []string
		for class := uint8(0); class < schema.MaxClasses && c.Table(class) != nil; class++ {
			tables = append(tables, changeBits(c, s.Fields[i], class))
		}
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\n", s.Fields[i].Name, c.Width(),
			strings.Join(tables, " | "), rangeContext(m, i))
	}
	return t.Flush()
}

// rangeContext says what chooses the probabilities of a field in a range coder; nothing for an
// owner's row, which has none.
func rangeContext(m *schema.Model, f int) string {
	if m.Decisions() == nil {
		return ""
	}
	d := &m.Decisions().Fields[f]
	out := fmt.Sprintf("%d leaves", d.Leaves())
	for _, of := range d.Features {
		switch {
		case of < schema.MaxFields:
			out += ", change of " + m.Schema().Fields[of].Name
		case of < schema.NoFeature:
			out += ", level of " + m.Schema().Fields[of-schema.MaxFields].Name
		}
	}
	return out
}

// changeBits lists what changes of 1, 10 and 100 steps cost in one table, as far as the field's
// range allows them.
func changeBits(c *schema.Coder, f schema.Field, class uint8) string {
	lo, hi := f.Range()
	var out []string
	for _, step := range []int32{1, 10, 100} {
		if int64(hi)-int64(lo) < int64(step) {
			break
		}
		_, n := c.Bits(lo+step, lo, uint32(class)<<1)
		out = append(out, fmt.Sprint(n))
	}
	return strings.Join(out, " ")
}
