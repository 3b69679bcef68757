package inspect

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/tickrate/tickrate/cmd/internal/preview"
)

// The table fits a terminal, says what each owner is, and adds up.
func TestMemory(t *testing.T) {
	var out bytes.Buffer
	o := MemoryOptions{SendInterval: 2, Preview: preview.Options{Map: "arena-16", Mode: "deathmatch",
		Players: 4, Rate: 30, Duration: time.Second, Seed: 3}}
	if err := Memory(context.Background(), &out, o); err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(out.String(), "\n") {
		if len(line) > columns {
			t.Errorf("%q is wider than %d", line, columns)
		}
	}
	for _, want := range []string{"match.history", "conns.session.peer", "of its own", "shared"} {
		if !strings.Contains(out.String(), "\n"+want+" ") {
			t.Errorf("no line of %s", want)
		}
	}
	if t.Failed() {
		t.Log("\n" + out.String())
	}
	if o.SendInterval = 99; Memory(context.Background(), &out, o) == nil {
		t.Error("99 ticks a snapshot were taken")
	}
}
