package tickrate_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// deadcodeTool is the pinned tool that finds unreachable functions.
const deadcodeTool = "golang.org/x/tools/cmd/deadcode@v0.52.0"

// TestDeadcode holds the functions that no command of this module reaches against the list
// deadcode.txt. A function that is missing there is deleted or gets a line with its reason; a line
// that matches nothing goes.
func TestDeadcode(t *testing.T) {
	if os.Getenv("TICKRATE_DEADCODE") == "" {
		t.Skip("make deadcode runs it: it needs a tool from the network and 15 seconds of CPU")
	}
	allowed := readDeadcodeList(t)
	used := map[string]bool{}
	for _, f := range deadFunctions(t) {
		entry := ""
		for _, name := range []string{f.name, f.file} {
			if allowed[name] != "" {
				entry = name
			}
		}
		if entry == "" {
			t.Errorf("%s (%s) is never reached: delete it, or give its reason in deadcode.txt",
				f.name, f.file)
		}
		used[entry] = true
	}
	for name := range allowed {
		if !used[name] {
			t.Errorf("deadcode.txt: %s is reached by now, or gone: delete the line", name)
		}
	}
}

// readDeadcodeList reads deadcode.txt: the reasons by name. A name is package.Func,
// package.Type.Method, or a file.
func readDeadcodeList(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("deadcode.txt")
	if err != nil {
		t.Fatal(err)
	}
	allowed := map[string]string{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, reason, _ := strings.Cut(line, " ")
		if reason = strings.TrimSpace(reason); reason == "" || allowed[name] != "" {
			t.Errorf("deadcode.txt: %q: expected a name, once, and its reason", line)
		}
		allowed[name] = reason
	}
	return allowed
}

// deadFunction is an unreachable function: its name as deadcode.txt has it, and its file.
type deadFunction struct{ name, file string }

func deadFunctions(t *testing.T) (all []deadFunction) {
	t.Helper()
	args := append([]string{"run", deadcodeTool, "-json"}, commands(t)...)
	var found []struct {
		Path  string
		Funcs []struct {
			Name     string
			Position struct{ File string }
		}
	}
	if err := json.Unmarshal(output(t, "go", args...), &found); err != nil {
		t.Fatal(err)
	}
	const module = "github.com/tickrate/tickrate/"
	for _, pkg := range found {
		dir := strings.TrimPrefix(pkg.Path, module)
		for _, f := range pkg.Funcs {
			file := path.Join(dir, filepath.Base(f.Position.File))
			all = append(all, deadFunction{dir + "." + f.Name, file})
		}
	}
	return all
}

// commands lists the main packages of this module but the examples: tickrate, and the tools that
// make and go generate run.
func commands(t *testing.T) []string {
	t.Helper()
	out := output(t, "go", "list", "-f", `{{if eq .Name "main"}}{{.ImportPath}}{{end}}`, "./...")
	all := strings.Fields(string(out))
	return slices.DeleteFunc(all, func(p string) bool { return strings.Contains(p, "/examples/") })
}

func output(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(name, args...)
	var fault bytes.Buffer
	cmd.Stderr = &fault
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v: %s", name, strings.Join(args, " "), err, fault.Bytes())
	}
	return out
}
