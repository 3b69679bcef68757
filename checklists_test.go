package tickrate_test

import (
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var updateChecklists = flag.Bool("update", false,
	"rewrite the packages in docs/features.md and docs/threats.md")

// Each line of docs/features.md and docs/threats.md names the packages that have its tests, and
// each number in the name of a test is a line.
func TestChecklists(t *testing.T) {
	for _, list := range []struct{ file, word string }{{"docs/features.md", "Row"},
		{"docs/threats.md", "Threat"}} {
		tests, err := numberedTests(os.DirFS("."), list.word)
		if err != nil {
			t.Fatal(err)
		}
		was, err := os.ReadFile(list.file)
		if err != nil {
			t.Fatal(err)
		}
		text, missing := fillChecklist(string(was), tests)
		for _, m := range missing {
			t.Errorf("%s: %s", list.file, m)
		}
		if text == string(was) {
			continue
		}
		if !*updateChecklists {
			t.Errorf("%s: its last column is out of date: go test . -run Checklists -update", list.file)
		} else if err := os.WriteFile(list.file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// numberedTests finds the packages of each number that follows word in the name of a test.
func numberedTests(tree fs.FS, word string) (map[string][]string, error) {
	name := regexp.MustCompile(`(?m)^func (?:Test|Fuzz|Example)\w*?` + word + `([0-9]{2})`)
	found := map[string][]string{}
	err := fs.WalkDir(tree, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, "_test.go") {
			return err
		}
		text, err := fs.ReadFile(tree, file)
		for _, m := range name.FindAllSubmatch(text, -1) {
			n := string(m[1])
			if pkg := path.Dir(file); !slices.Contains(found[n], pkg) {
				found[n] = append(found[n], pkg)
			}
		}
		return err
	})
	return found, err
}

// fillChecklist writes the packages into the last column of a table whose first column is a number
// of two digits. missing has a line for each number without a test, and for each tested number
// without a line.
func fillChecklist(text string, tests map[string][]string) (filled string, missing []string) {
	left := maps.Clone(tests)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		cells := strings.Split(line, "|")
		if len(cells) != 6 || len(strings.TrimSpace(cells[1])) != 2 {
			continue
		}
		n := strings.TrimSpace(cells[1])
		if n[0] < '0' || n[0] > '9' {
			continue
		}
		pkgs := tests[n]
		slices.Sort(pkgs)
		if len(pkgs) == 0 {
			missing = append(missing, fmt.Sprintf("line %s has no test", n))
		}
		delete(left, n)
		cells[4] = " " + strings.Join(pkgs, " ") + " "
		lines[i] = strings.Join(cells, "|")
	}
	for _, n := range slices.Sorted(maps.Keys(left)) {
		missing = append(missing, fmt.Sprintf("tests of number %s in %v have no line", n, left[n]))
	}
	return strings.Join(lines, "\n"), missing
}
