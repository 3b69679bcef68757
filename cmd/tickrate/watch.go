// The command watch: the score board of a running server, from its live page.

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/tickrate/tickrate/cmd/internal/serverapi"
	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/server/dash"
)

// newWatch returns the command that shows the score board of a server.
func newWatch() *cobra.Command {
	var once bool
	var lobby int
	var secret string
	c := &cobra.Command{
		Use:   "watch HOST:PORT",
		Short: "Show the score board of a server",
		Long: `watch draws the score board of a server, four times a second: every player's
name, team, kills, deaths, ping and loss. HOST:PORT is that of the server's HTTP
port. The server counts, so a player that joins late or is out of sight is there.
Where output is no terminal, it prints one table and ends.`,
		Args: usage.OneArg("one address"),
		RunE: func(c *cobra.Command, args []string) error {
			out := c.OutOrStdout()
			f, isFile := out.(*os.File)
			live := !once && isFile && term.IsTerminal(int(f.Fd()))
			of := ""
			if c.Flags().Changed("lobby") {
				of = fmt.Sprint(lobby)
			}
			high := func() int { return 0 }
			if live {
				high = func() int { return terminalHeight(f) }
			}
			return watch(c.Context(), out, high, live,
				func(ctx context.Context, each func(*dash.About, *dash.Frame) bool) error {
					return serverapi.Frames(ctx, args[0], of, secret, each)
				})
		},
	}
	c.Flags().BoolVar(&once, "once", false, "print one table and end")
	c.Flags().IntVar(&lobby, "lobby", 0, "`number` of the lobby of a server with several; 0 is the first")
	c.Flags().StringVar(&secret, "http-token", "", "`secret` of the server's HTTP port; default "+
		"$"+serverapi.TokenVariable)
	return c
}

// terminalHeight is the number of rows of a terminal, 24 if it does not say.
func terminalHeight(f *os.File) int {
	if _, high, err := term.GetSize(int(f.Fd())); err == nil && high > 0 {
		return high
	}
	return 24
}

// watch prints the board of each frame over the last one, or of the first frame alone if it is not
// live. high returns the rows of the terminal, 0 for no limit.
func watch(ctx context.Context, w io.Writer, high func() int, live bool,
	frames func(context.Context, func(*dash.About, *dash.Frame) bool) error) error {
	err := frames(ctx, func(about *dash.About, f *dash.Frame) bool {
		rows := board(about, f)
		if most := high(); most > 0 && len(rows) > most-1 {
			left := len(rows) - (most - 2)
			rows = append(rows[:max(most-2, 0)], fmt.Sprintf("and %d more", left))
		}
		text := strings.Join(rows, "\n") + "\n"
		if live { // over the last one, without a moment in which the screen is empty
			text = "\x1b[H" + strings.ReplaceAll(text, "\n", "\x1b[K\n") + "\x1b[J"
		}
		_, err := io.WriteString(w, text)
		return err == nil && live
	})
	if live && errors.Is(err, context.Canceled) {
		return nil // Ctrl-C is how it ends
	}
	return err
}

// Columns of a board: 80 with the longest values.
const (
	boardName = 32
	boardRow  = "%-9s %s %6s %6s %9s %7s"
)

// board is the score board as lines of at most 80 columns: by team and kills.
func board(about *dash.About, f *dash.Frame) []string {
	head := fmt.Sprintf("%s: %s on %s, %d to %d", printable(about.Name, 24), printable(about.Mode, 16),
		printable(f.Arena, 20), f.Score[0], f.Score[1])
	rows := []string{head, fmt.Sprintf(boardRow, "team", pad("player"), "kills", "deaths", "ping ms", "loss %")}
	players := slices.Clone(f.Players)
	team := func(p *dash.Player) int {
		if p.Spectator {
			return len(f.Score)
		}
		return p.Team
	}
	slices.SortFunc(players, func(x, y dash.Player) int {
		return cmp.Or(cmp.Compare(team(&x), team(&y)), cmp.Compare(y.Kills, x.Kills),
			cmp.Compare(x.Deaths, y.Deaths), cmp.Compare(x.Slot, y.Slot))
	})
	for i := range players {
		p := &players[i]
		side, kills, deaths := fmt.Sprint(p.Team+1), fmt.Sprint(p.Kills), fmt.Sprint(p.Deaths)
		if p.Spectator {
			side, kills, deaths = "spectator", "-", "-"
		}
		ping, loss := "away", "-"
		if p.Connected {
			ping, loss = fmt.Sprintf("%.1f", p.RTT), fmt.Sprintf("%.1f", max(p.LossDown, p.LossUp))
		}
		rows = append(rows, fmt.Sprintf(boardRow, side, pad(printable(p.Name, boardName)), kills, deaths, ping, loss))
	}
	return rows
}

// pad fills a name with spaces to the width of its column.
func pad(name string) string {
	return name + strings.Repeat(" ", max(0, boardName-len([]rune(name))))
}

// printable cuts text from the network to n characters, without those that a terminal acts on.
func printable(text string, n int) string {
	runes := []rune(plainText(text))
	return string(runes[:min(n, len(runes))])
}
