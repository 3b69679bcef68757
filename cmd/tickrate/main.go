// Command tickrate is the server, the load generator and the planner in one binary.
//
// Exit codes: 0 success, 1 the command failed, 2 the command line or a file named on it is wrong,
// 3 a limit is exceeded (bench compare found a regression, the service level of plan failed), 4 the
// figures of swarm or plan are void, 5 plan was interrupted, 6 plan ran out of time.
//
// Each file holds one command: its flags, their checks and its output. The work is done by packages
// in cmd/internal, which several commands share, and in bench, server and client.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tickrate/tickrate/cmd/internal/usage"
)

// version is the build's version, which the linker sets.
var version = "dev"

// Exit codes beside 0.
const (
	exitFailed    = 1
	exitUsage     = 2 // the command line, or a file named on it, is wrong
	exitMissed    = 3 // bench compare, plan
	exitVoid      = 4 // swarm, plan
	exitStopped   = 5 // plan: by a signal
	exitOutOfTime = 6 // plan
)

// helpColumns is the width that help wraps the text of flags at.
const helpColumns = 80

// main runs the command line and exits with its status.
func main() { os.Exit(run(os.Args[1:])) }

// run executes one command line and returns the exit code. Interrupt, SIGTERM and SIGHUP end the
// context of the command, which then stops in order; the second signal ends the process. Output that
// cannot be written ends the command, too, and fails it.
func run(args []string) int {
	survivePipes()
	ctx, stop := untilSignal(context.Background())
	defer stop()
	ctx, fail := context.WithCancel(ctx)
	defer fail()
	out := &resultWriter{w: os.Stdout, fail: fail}
	root := newRoot()
	root.SetOut(out.writer())
	root.SetArgs(args)
	err := outputError(root.ExecuteContext(ctx), out.lost())
	if err == nil {
		return 0
	}
	if !errors.Is(err, syscall.EPIPE) {
		fmt.Fprintln(os.Stderr, "tickrate:", plainError(err))
	}
	return exitCode(err)
}

// exitCode is the exit code of a command that ended with err.
func exitCode(err error) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errRegressed):
		return exitMissed
	case errors.Is(err, errMissed):
		return exitMissed
	case errors.Is(err, errVoid):
		return exitVoid
	case errors.Is(err, errInterrupted):
		return exitStopped
	case errors.Is(err, errOutOfTime):
		return exitOutOfTime
	case usage.Is(err):
		return exitUsage
	}
	return exitFailed
}

// flagError says in this program's form what was expected of a flag of a usual type. Errors of other
// flags are returned as they are.
func flagError(err error) error {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return err
	}
	expected := ""
	switch kind := invalid.GetFlag().Value.Type(); {
	case kind == "intSlice":
		expected = "whole numbers, such as 200,400"
	case strings.HasPrefix(kind, "int"):
		expected = "a whole number"
	case strings.HasPrefix(kind, "uint"):
		expected = "a whole number from 0 up"
	case strings.HasPrefix(kind, "float"):
		expected = "a number"
	case kind == "bool":
		expected = "true or false"
	case kind == "duration":
		expected = "a time with its unit, such as 30s or 5m"
	default:
		return err
	}
	return fmt.Errorf("--%s %q: expected %s", invalid.GetFlag().Name, invalid.GetValue(), expected)
}

// newRoot returns the command tickrate with all its subcommands.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use: "tickrate",
		Short: "An authoritative FPS lobby server, its netcode, and the bench that tells how many " +
			"players a machine carries",
		Long: `tickrate runs authoritative first-person-shooter lobbies, drives them with
headless players over real UDP, and measures how many players this machine
carries and why.

  tickrate plan --quick      find out, within a minute; then open report/index.html
  tickrate completion bash   lines for your shell that complete commands, flags and scenarios
  tickrate serve             run a lobby
  tickrate client            join it with one headless player
  tickrate swarm             send many players to it
  tickrate sim preview       a lobby and its players in this process, in virtual time
  tickrate sim dst           lobbies with attackers and faults, checked after every tick
  tickrate fleet director    find places for players in the lobbies of many servers
  tickrate query ADDR        ask a server what is played there; --local lists those of this machine
  tickrate watch HOST:PORT   its score board, live in the terminal
  tickrate token             make the token that lets one player in`,
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          usage.NoArgs,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	// Subcommands inherit the template. FlagUsages alone never breaks a line.
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages ",
		fmt.Sprintf(".FlagUsagesWrapped %d ", helpColumns)))
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usage.Errorf("%w; see %s --help", flagError(err), c.CommandPath())
	})
	defer completeWords(root) // after all subcommands are there
	root.AddCommand(newServe(), newClient(), newSwarm(), newPlan(), newSim(), newToken(),
		newQuery(), newWatch(), newCodec(), newMap(), newImpair(), newBench(), newInspect(), newReplay(), newFleet(),
		newAgones())
	refuseUnknownHelp(root)
	return root
}

// refuseUnknownHelp makes help an error for a command that is not there, with the nearest names.
func refuseUnknownHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	help, _, err := root.Find([]string{"help"})
	if err != nil {
		panic("tickrate: " + err.Error())
	}
	help.Run = nil
	help.RunE = func(_ *cobra.Command, args []string) error {
		c, rest, err := root.Find(args)
		if err != nil || len(rest) > 0 {
			if c == nil || len(rest) == 0 {
				c, rest = root, args
			}
			return usage.NoArgs(c, rest)
		}
		return c.Help()
	}
}
