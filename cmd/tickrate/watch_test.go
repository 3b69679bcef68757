package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tickrate/tickrate/server/dash"
)

// fullBoard is a frame with long and hostile names.
func fullBoard() *dash.Frame {
	return &dash.Frame{Arena: "arena-16", Score: [2]int{3, 12}, Players: []dash.Player{
		{Slot: 0, Name: "spectator", Spectator: true, Connected: true, RTT: 9},
		{Slot: 1, Name: "low", Team: 1, Kills: 1, Connected: true, RTT: 30},
		{Slot: 2, Name: "top", Team: 1, Kills: 65535, Deaths: 65535, Connected: true, RTT: 99999.9, LossDown: 100},
		{Slot: 3, Name: strings.Repeat("é", 40), Connected: true, RTT: 12.34, LossDown: 1, LossUp: 2.5},
		{Slot: 4, Name: "gone\x1b[2J"},
	}}
}

func TestRow72BoardFitsATerminal(t *testing.T) {
	rows := board(&dash.About{Name: strings.Repeat("name", 20), Mode: "deathmatch"}, fullBoard())
	order := []string{": deathmatch on arena-16, 3 to 12", "player", "éé", "gone?[2J", "top", "low", "spectator"}
	if len(rows) != len(order) {
		t.Fatalf("rows %q, want %d", rows, len(order))
	}
	for i, row := range rows {
		if n := utf8.RuneCountInString(row); n > 80 || !strings.Contains(row, order[i]) {
			t.Errorf("row %q of %d columns, want %q in at most 80", row, n, order[i])
		}
	}
	if f := strings.Fields(rows[2]); f[len(f)-2] != "12.3" || f[len(f)-1] != "2.5" {
		t.Errorf("row %q, want a ping of 12.3 and a loss of 2.5", rows[2])
	}
	if f := strings.Fields(rows[3]); f[len(f)-2] != "away" {
		t.Errorf("row %q, want away", rows[3])
	}
}

func TestRow72LiveBoardIsCutToTheTerminal(t *testing.T) {
	var out bytes.Buffer
	n := 0
	frames := func(_ context.Context, each func(*dash.About, *dash.Frame) bool) error {
		for n < 3 && each(&dash.About{}, fullBoard()) {
			n++
		}
		return context.Canceled
	}
	if err := watch(t.Context(), &out, func() int { return 5 }, true, frames); err != nil {
		t.Error(err)
	}
	if got := strings.Count(out.String(), "and 4 more"); n != 3 || got != 3 ||
		strings.Count(out.String(), "\n") != 3*4 {
		t.Errorf("%d frames, want three of four rows, the last one a count:\n%s", n, &out)
	}
}

// Where output is no terminal, watch prints one plain table; its errors name what is wrong.
func TestRow72WatchPrintsOneTable(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/dash/events" || r.URL.Query().Get("lobby") != "3" ||
			r.Header.Get("Authorization") != "Bearer abc" {
			http.Error(w, "a secret is missing", http.StatusUnauthorized)
			return
		}
		text, _ := json.Marshal(fullBoard())
		fmt.Fprintf(w, "event: about\ndata: {\"name\":\"here\"}\n\n:\n\nevent: frame\ndata: %s\n\n", text)
	}))
	defer server.Close()
	at := strings.TrimPrefix(server.URL, "http://")
	code, out, errs := result(t, "watch", "--http-token", "abc", "--lobby", "3", at)
	if code != 0 || strings.Contains(out, "\x1b") || strings.Count(out, "\n") != 7 {
		t.Errorf("%d %q %q, want a plain table of seven rows", code, out, errs)
	}
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"watch", at}, 1, "a secret is missing"},
		{[]string{"watch"}, 2, "expected one address"},
		{[]string{"watch", "::"}, 2, "expected host:port"},
	} {
		code, out, errs := result(t, tt.args...)
		if code != tt.code || !strings.Contains(errs, tt.want) {
			t.Errorf("%v: %d %q %q, want %d and %q", tt.args, code, out, errs, tt.code, tt.want)
		}
	}
}
