// The command query: asks a server for its public state over UDP, as server browsers do. The
// protocol is in server/query.

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/server/query"
)

// answer is the output of query --json, without the chunks that the server lacks.
type answer struct {
	Server    string                   `json:"server"`            // as given on the command line
	RTTMillis float64                  `json:"rtt_ms"`            // mean of the two round trips
	Info      *query.Info              `json:"info,omitempty"`    // name, map, players and port
	Rules     map[string]query.Value   `json:"rules,omitempty"`   // by name
	Players   []map[string]query.Value `json:"players,omitempty"` // by the names of the fields
	Teams     []map[string]query.Value `json:"teams,omitempty"`   // likewise
}

// newQuery returns the command that asks a server for its public state and prints it as text or
// JSON.
func newQuery() *cobra.Command {
	var asJSON, here bool
	timeout := query.Timeout
	c := &cobra.Command{
		Use:   "query ADDR | query --local",
		Short: "Ask a server what is played there",
		Long: `query asks a server over UDP for its name, map, rules, players and teams, in the
Server Query Protocol (SQP) that hosters and server browsers speak. ADDR is
host:port, the one that serve has after --query.

With --local it lists the servers that this user runs on this machine, with map,
mode and players, from the entries that they keep in a folder (serve
--local-list). An entry of a server that was killed is recognised and removed; a
server that runs and does not write is marked silent.`,
		Args: func(c *cobra.Command, args []string) error {
			if here {
				return usage.NoArgs(c, args)
			}
			return usage.OneArg("one address, or --local")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if here {
				return queryLocal(c.OutOrStdout(), c.ErrOrStderr(), asJSON)
			}
			if timeout <= 0 || timeout > time.Minute {
				return usage.Errorf("--timeout %v: expected more than 0s, at most 1m", timeout)
			}
			at, err := resolveUDP(args[0])
			if err != nil {
				return usage.Errorf("query %s: %w", args[0], err)
			}
			report, rtt, err := queryServer(c.Context(), at, timeout)
			if err != nil {
				return fmt.Errorf("query %s: %w", args[0], err)
			}
			if asJSON {
				return json.NewEncoder(c.OutOrStdout()).Encode(answerOf(args[0], rtt, report))
			}
			return printReport(c.OutOrStdout(), rtt, report)
		},
	}
	c.Flags().BoolVar(&here, "local", false, "list the servers of this user on this machine")
	c.Flags().BoolVar(&asJSON, "json", false, "print one line of JSON")
	c.Flags().DurationVar(&timeout, "timeout", timeout, "how long to wait for the whole answer, as `1.5s`")
	return c
}

// queryServer asks a server for all chunks and waits for them until timeout has passed. It sends
// again whatever is lost. rtt is the mean round-trip time.
func queryServer(ctx context.Context, at *net.UDPAddr, timeout time.Duration) (r query.Report,
	rtt time.Duration, err error) {
	conn, err := net.DialUDP("udp", nil, at)
	if err != nil {
		return r, 0, err
	}
	defer conn.Close() // nothing is buffered
	// Closing the socket ends a read that waits when the context ends.
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	client, start := query.NewClient(query.AllChunks), time.Now()
	buffer := make([]byte, query.MaxPacket+1)
	for !client.Done() {
		now := time.Since(start)
		if now >= timeout {
			return r, 0, fmt.Errorf("no answer within %v; a server answers queries only when started "+
				"with --query, at that address", timeout)
		}
		// The client decides when a request is due: the challenge first, then the query, each
		// repeated until it is answered.
		if d := client.Send(now); d != nil {
			if _, err := conn.Write(d); err != nil {
				return r, 0, err
			}
		}
		// An error here is the error of the read, too.
		_ = conn.SetReadDeadline(time.Now().Add(min(timeout-now, 50*time.Millisecond)))
		n, err := conn.Read(buffer)
		switch {
		case ctx.Err() != nil:
			return r, 0, ctx.Err()
		case errors.Is(err, os.ErrDeadlineExceeded): // time to send again, perhaps
		case err != nil:
			return r, 0, err
		default:
			// Datagrams that are no answers are ignored.
			_ = client.Receive(time.Since(start), buffer[:n])
		}
	}
	r, err = client.Report()
	return r, client.RTT(), err
}

// answerOf converts a server's report to the form that is printed. rtt is its round-trip time.
func answerOf(server string, rtt time.Duration, r query.Report) answer {
	a := answer{Server: server, RTTMillis: float64(rtt) / 1e6, Players: objects(r.Players),
		Teams: objects(r.Teams)}
	if r.Chunks&query.ChunkInfo != 0 {
		a.Info = &r.Info
	}
	if len(r.Rules) > 0 {
		a.Rules = map[string]query.Value{}
	}
	for _, rule := range r.Rules {
		a.Rules[rule.Name] = rule.Value
	}
	return a
}

// objects returns the rows of a table as JSON objects, by the names of the table's fields.
func objects(t query.Table) (all []map[string]query.Value) {
	for _, row := range t.Rows {
		o := map[string]query.Value{}
		for i, v := range row {
			o[t.Fields[i].Name] = v
		}
		all = append(all, o)
	}
	return all
}

// printReport writes a report for people: values of the server, then a table of teams and one of
// players.
func printReport(out io.Writer, rtt time.Duration, r query.Report) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if r.Chunks&query.ChunkInfo != 0 {
		fmt.Fprintf(w, "name\t%s\nmap\t%s\ngame\t%s\nbuild\t%s\nplayers\t%d of %d\nport\t%d\n",
			plainText(r.Info.Name), plainText(r.Info.Map),
			plainText(r.Info.Game), plainText(r.Info.Build), r.Info.Players, r.Info.MaxPlayers, r.Info.Port)
	}
	fmt.Fprintf(w, "round trip\t%.1f ms\n", float64(rtt)/1e6)
	for _, rule := range r.Rules {
		fmt.Fprintf(w, "%s\t%s\n", plainText(rule.Name), plainText(rule.Value.String()))
	}
	printTable(w, r.Teams)
	printTable(w, r.Players)
	return w.Flush()
}

// printTable prints t in columns, below an empty line. It prints nothing for a table without rows.
func printTable(w io.Writer, t query.Table) {
	if len(t.Rows) == 0 {
		return
	}
	fmt.Fprintln(w)
	for _, f := range t.Fields {
		fmt.Fprintf(w, "%s\t", plainText(f.Name))
	}
	for _, row := range t.Rows {
		fmt.Fprintln(w)
		for _, v := range row {
			fmt.Fprintf(w, "%s\t", plainText(v.String()))
		}
	}
	fmt.Fprintln(w)
}

// plainText replaces control characters in text from the network, which could drive the terminal.
func plainText(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
}
