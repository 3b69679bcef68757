package tickrate_test

import (
	"cmp"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	testName = regexp.MustCompile(`^(Test|Fuzz|Example|Benchmark)[A-Z_]`)
	// docName is a test that a document names; with an asterisk or an ellipsis, all that begin so.
	docName = regexp.MustCompile("`((?:Test|Fuzz|Benchmark)[A-Z][A-Za-z0-9]*)([*…]?)`")
	// docRun is a command within a text, whole or from its package on, or a line of a block or of the
	// Makefile.
	docRun = regexp.MustCompile("(?m)`go test ([^`]+)`|`(\\./[^`]+ -(?:run|bench) [^`]+|-(?:run|bench) [^`]+ \\./[^`]+)`|" +
		"^[^`\\n]*(?:go|\\$\\(GO\\)) test ([^`\\n]*)$")
	argWord = regexp.MustCompile(`'[^']*'|"[^"]*"|[^\s'"]+`)
)

// Each test and benchmark that a document names, or that it or the Makefile runs, exists.
func TestDocumentsNameTests(t *testing.T) {
	tests, all := map[string][]string{}, []string(nil)
	for _, s := range parsedTests(t) {
		for _, f := range functions(s) {
			if n := f.Name.Name; testName.MatchString(n) {
				tests[s.dir()], all = append(tests[s.dir()], n), append(all, n)
			}
		}
	}
	names, runs := 0, 0
	err := fs.WalkDir(os.DirFS("."), ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (strings.HasPrefix(d.Name(), ".") && file != "." || d.Name() == "testdata") {
			return cmp.Or(err, fs.SkipDir)
		}
		if path.Ext(file) != ".md" && file != "Makefile" || file == "CHANGELOG.md" { // tells of the past
			return nil
		}
		text, err := os.ReadFile(file)
		for _, m := range docName.FindAllStringSubmatch(string(text), -1) {
			names++
			if !slices.ContainsFunc(all, func(n string) bool {
				return n == m[1] || m[2] != "" && strings.HasPrefix(n, m[1])
			}) && m[1] != "TestSphere" && m[1] != "TestCapsule" { // functions of lagcomp
				t.Errorf("%s names %s, which no package has", file, m[1])
			}
		}
		for _, m := range docRun.FindAllStringSubmatch(string(text), -1) {
			command := m[1] + m[2] + m[3]
			for _, lost := range unmatched(command, tests) {
				t.Errorf("%s runs %s of \"go test %s\", which matches nothing", file, lost, command)
			}
			runs++
		}
		return err
	})
	if err != nil || names < 50 || runs < 50 {
		t.Errorf("%d names, %d commands, expected more: %v", names, runs, err)
	}
	for _, planted := range []string{"./ecs -run RowZ", "-bench 'Flush|Nothing' ./ecs", ". -run 'Row01'"} {
		if len(unmatched(planted, tests)) != 1 {
			t.Errorf("go test %s is taken for right", planted)
		}
	}
}

// unmatched returns the patterns of a go test command that match no test, or no benchmark, of its
// packages. Of a command with -bench, it is that pattern which counts.
func unmatched(command string, tests map[string][]string) (lost []string) {
	var packages []string
	run, bench := "", ""
	words := argWord.FindAllString(strings.NewReplacer(`\|`, "|", "$$", "$").Replace(command), -1)
	for i, w := range words {
		switch value := strings.Trim(words[min(i+1, len(words)-1)], `'"`); {
		case w == "-fuzz":
			return nil // of each target in turn
		case w == "-run":
			run = value
		case w == "-bench":
			bench = value
		case w == "." || strings.HasPrefix(w, "./"):
			packages = append(packages, path.Clean(strings.TrimRight(w, ";\\")))
		}
	}
	pattern, kind := run, []string{"Test", "Fuzz", "Example"}
	if bench != "" {
		pattern, kind = bench, []string{"Benchmark"}
	}
	if pattern == "" || regexp.MustCompile(`\$[a-z(]`).MatchString(pattern) { // a variable of make
		return nil
	}
	if len(packages) == 0 {
		packages = []string{"."}
	}
	alternatives := []string{pattern}
	if !strings.Contains(pattern, "(") {
		alternatives = strings.Split(pattern, "|")
	}
	for _, a := range alternatives {
		top, _, _ := strings.Cut(a, "/")
		if !slices.ContainsFunc(packages, func(pkg string) bool {
			under, all := strings.CutSuffix(pkg, "...")
			for dir, names := range tests {
				if dir != pkg && !(all && strings.HasPrefix(dir+"/", under)) {
					continue
				}
				for _, n := range names {
					is := func(k string) bool { return strings.HasPrefix(n, k) }
					if slices.ContainsFunc(kind, is) && regexp.MustCompile(top).MatchString(n) {
						return true
					}
				}
			}
			return false
		}) {
			lost = append(lost, a)
		}
	}
	return lost
}
