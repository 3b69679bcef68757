package httpapi

import (
	"bytes"
	"io"
	"net/http"
	"time"

	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/console"
)

// ConsoleReply is the answer to a POST of one console line to /v1/console.
type ConsoleReply struct {
	Version int      `json:"version"`
	Output  []string `json:"output"`          // lines without line ends
	Error   string   `json:"error,omitempty"` // why the line failed; then nothing has changed
}

// serveConsole runs the line in the body with the rank of an admin. It answers 200 if the line
// succeeds, else 400.
func (a *api) serveConsole(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, console.MaxLine+2))
	if err != nil {
		http.Error(w, console.ErrLineLong.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	reply, line := ConsoleReply{Version: Version, Output: []string{}}, string(bytes.TrimRight(body, "\r\n"))
	var failed error
	if !a.do(w, r, func(now time.Duration, l *server.Lobby) {
		reply.Output, failed = l.Execute(now, reply.Output, line, console.Caller{Name: "http",
			Rank: console.Admin})
	}) {
		return
	}
	if failed != nil {
		reply.Error = failed.Error()
		writeJSONStatus(w, http.StatusBadRequest, reply)
		return
	}
	writeJSON(w, reply)
}
