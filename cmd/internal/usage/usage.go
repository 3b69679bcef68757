// Package usage marks the errors of a wrong command line, which exit with another code than those
// of the machine. An error goes in; the same error, marked, comes out. Commands call it.
package usage

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// wrong is an error of the person who typed the command.
type wrong struct{ error }

func (w wrong) Unwrap() error { return w.error }

// Error marks err as an error of use. It returns nil for nil.
func Error(err error) error {
	if err == nil {
		return nil
	}
	return wrong{err}
}

// Errorf formats an error of use.
func Errorf(format string, args ...any) error { return wrong{fmt.Errorf(format, args...)} }

// Is reports whether an error of use is in err's chain.
func Is(err error) bool {
	var w wrong
	return errors.As(err, &w)
}

// NoArgs refuses arguments that no flag takes. Where there are subcommands it suggests the nearest.
func NoArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		if c.HasAvailableSubCommands() {
			c.SuggestionsMinimumDistance = 2
			if near := c.SuggestionsFor(args[0]); len(near) > 0 {
				return Errorf("unknown command %q; did you mean %s?", args[0], strings.Join(near, " or "))
			}
		}
		if !c.HasParent() {
			return Errorf("unknown command %q; see %s --help", args[0], c.CommandPath())
		}
		return Errorf("unexpected argument %q; see %s --help", args[0], c.CommandPath())
	}
	return nil
}

// AtMostOneArg returns a check that the command has no argument or one; what says what they are,
// such as "files".
func AtMostOneArg(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > 1 {
			return Errorf("%d %s: expected at most one; see %s --help", len(args), what, c.CommandPath())
		}
		return nil
	}
}

// OneArg returns a check that the command has exactly one argument; what says what it is, such as
// "one recording".
func OneArg(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != 1 {
			return Errorf("%d arguments: expected %s; see %s --help", len(args), what, c.CommandPath())
		}
		return nil
	}
}
