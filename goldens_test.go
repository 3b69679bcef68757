package tickrate_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// fmtError is how package fmt writes a value that its verb does not take, or that has no verb.
var fmtError = regexp.MustCompile(`%!([a-zA-Z]|[^\x00-\x7f])?\(`)

// No golden and no document holds an error of package fmt: a golden that was written anew pins it.
func TestGoldensHoldNoFmtError(t *testing.T) {
	for text, want := range map[string]bool{"%!f(*float64=0xc000)": true, "%!(EXTRA int=1)": true,
		"%!d(MISSING)": true, "100 %!": false, "5 % (of 7)": false} {
		if got := fmtError.MatchString(text); got != want {
			t.Errorf("%q: an error %v, want %v", text, got, want)
		}
	}
	read := 0
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		golden := strings.Contains(file, "testdata"+string(filepath.Separator))
		if err != nil || d.IsDir() || !golden && filepath.Ext(file) != ".md" {
			return err
		}
		text, err := os.ReadFile(file)
		read++
		// Data that is no text has such bytes by chance.
		if at := fmtError.FindIndex(text); at != nil && utf8.Valid(text) {
			t.Errorf("%s: %.60q", file, text[at[0]:])
		}
		return err
	})
	if err != nil || read < 50 {
		t.Errorf("%d files read, %v", read, err)
	}
}
