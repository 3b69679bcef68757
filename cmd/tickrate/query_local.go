// The list of servers of this machine, query --local: the entries that serve keeps.

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/tickrate/tickrate/server/local"
)

// silentAfter is the age from which an entry is silent: its server runs and does not write.
const silentAfter = 5 * localEvery

// localServers is the output of query --local --json.
type localServers struct {
	Version int           `json:"version"`
	Folder  string        `json:"folder"`
	Servers []localServer `json:"servers"`
	Left    int           `json:"left_over"` // entries of servers that were killed; they are removed
}

// localServer is a server that runs.
type localServer struct {
	local.Server
	Age    float64 `json:"age_s"`  // of the entry
	Silent bool    `json:"silent"` // the server hangs, or is stopped
}

// queryLocal lists the servers of this machine and user.
func queryLocal(w, errs io.Writer, asJSON bool) error {
	dir := local.Folder()
	l, err := local.Read(dir)
	if err != nil {
		return fmt.Errorf("list of servers: %w", err)
	}
	for _, err := range l.Wrong {
		fmt.Fprintf(errs, "list of servers: %v\n", err)
	}
	out, now := localServers{Version: local.Version, Folder: dir, Servers: []localServer{}, Left: l.Left}, time.Now()
	for _, s := range l.Servers {
		age := max(0, now.Sub(s.Updated))
		out.Servers = append(out.Servers, localServer{s, age.Seconds(), age > silentAfter})
	}
	if asJSON {
		return json.NewEncoder(w).Encode(out)
	}
	return out.print(w)
}

// print writes a table: a row for each lobby.
func (o *localServers) print(w io.Writer) error {
	if len(o.Servers) == 0 {
		fmt.Fprintf(w, "no server of this user runs here (%s)\n", o.Folder)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if len(o.Servers) > 0 {
		fmt.Fprintln(t, "ADDRESS\tNAME\tMAP\tMODE\tPLAYERS\tHTTP\tQUERY\tPID")
	}
	for _, s := range o.Servers {
		pid := fmt.Sprint(s.PID)
		if s.Silent {
			pid += fmt.Sprintf(" silent for %.0f s", s.Age)
		}
		row := func(l local.Lobby, name string) {
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d of %d\t%s\t%s\t%s\n", plainText(s.UDP), plainText(name), plainText(l.Map),
				plainText(l.Mode), l.Players, l.Slots, orDash(s.HTTP), orDash(s.Query), pid)
		}
		for _, l := range s.Lobbies {
			name := s.Name
			if len(s.Lobbies) > 1 || l.ID != 0 {
				name = fmt.Sprintf("%s, lobby %d", s.Name, l.ID)
			}
			row(l, name)
		}
		if len(s.Lobbies) == 0 {
			row(local.Lobby{Map: "-", Mode: "-"}, s.Name)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if o.Left > 0 {
		fmt.Fprintf(w, "%s of killed servers removed\n", several(o.Left, "entry"))
	}
	return nil
}

// orDash is text from a file, or a dash for none.
func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return plainText(s)
}
