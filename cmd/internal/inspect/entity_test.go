package inspect

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/tickrate/tickrate/cmd/internal/preview"
)

// An entity of a played match has its components field by field, and a line for each client.
func TestWorldDescribesAnEntity(t *testing.T) {
	o := WorldOptions{Preview: preview.Options{Map: "arena-16", Mode: "assault", Players: 6, Rate: 30,
		Duration: 4 * time.Second, Seed: 3}}
	for id, wants := range map[string][]string{
		"1.1":       {"player 1.1 bot ", "sim.Vital (state,", "Health", "bot 5", "sent"},
		"3145728.1": {"barrel 3145728.1", "object.Barrel (state,", "Health", "bot 5"},
		"9437184.1": {"spawn point", "No client is sent it: it follows from the map."},
	} {
		var out bytes.Buffer
		if o.Entity = id; World(t.Context(), &out, "preview", o) != nil {
			t.Fatalf("%s: %s", id, &out)
		}
		for _, want := range wants {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: no %q in\n%s", id, want, &out)
			}
		}
		for line := range strings.Lines(out.String()) {
			if utf8.RuneCountInString(line)-1 > columns {
				t.Errorf("%s is wider than %d: %s", id, columns, line)
			}
		}
	}
	for id, want := range map[string]string{"x": "--entity", "999.1": "there is no such entity"} {
		o.Entity = id
		err := World(t.Context(), new(bytes.Buffer), "preview", o)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", id, err)
		}
	}
}
