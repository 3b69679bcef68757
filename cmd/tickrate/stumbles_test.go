package main

import (
	"strings"
	"testing"
)

// What a new user mistypes ends with an error that says what to write instead.
func TestMistypedCommandsSayWhatWasMeant(t *testing.T) {
	for _, tt := range []struct {
		line string
		want string
	}{
		{"help nope", `unknown command "nope"`},
		{"help serv", "did you mean serve?"},
		{"help map chek", "did you mean check?"},
		{"serv", "did you mean serve?"},
		{"query http://127.0.0.1:7915/", "is a URL: expected host:port, as 127.0.0.1:7915"},
		{"swarm --server http://127.0.0.1:7913", "is a URL: expected host:port, as 127.0.0.1:7913"},
		{"impair --to http://127.0.0.1:7913", "is a URL: expected host:port, as 127.0.0.1:7913"},
	} {
		if code, _, errs := result(t, strings.Fields(tt.line)...); code != 2 || !strings.Contains(errs, tt.want) {
			t.Errorf("tickrate %s: %d %q, want 2 and %q", tt.line, code, errs, tt.want)
		}
	}
	if code, out, _ := result(t, "help", "map", "check"); code != 0 || !strings.Contains(out, "flood fill") {
		t.Errorf("tickrate help map check: %d %q, want its help", code, out)
	}
}
