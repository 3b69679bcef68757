package gen

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// TestDirectiveOfTheGuideWorks: in a module that only requires this one, the line of the guide writes
// code that compiles.
func TestDirectiveOfTheGuideWorks(t *testing.T) {
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	read := func(name string) []byte {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	directive := regexp.MustCompile(`(?m)//go:generate .*$`).Find(read("docs/guide/library.md"))
	if directive == nil {
		t.Fatal("docs/guide/library.md has no line for go generate")
	}
	// The lists of versions, so that nothing is looked up.
	mod := regexp.MustCompile(`(?m)^(module .*|tool .*)$`).ReplaceAll(read("go.mod"), nil)
	mod = append([]byte("module example.com/game\n"), mod...)
	mod = append(mod, "\nrequire github.com/tickrate/tickrate v0.0.0\nreplace github.com/tickrate/tickrate => "+root+"\n"...)
	dir := t.TempDir()
	for name, text := range map[string][]byte{
		"go.mod": mod, "go.sum": read("go.sum"),
		"tank.go": []byte("package game\n\n" + string(directive) + "\n\ntype Tank struct {\n" +
			"\t_ struct{} `net:\"tank\"`\n\n\tX float32 `net:\",quant=64,min=-100,max=100\"`\n}\n\n" +
			"var row = func(t *Tank) (row [TankFields]int32) { t.Row(row[:]); return row }\n"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"generate", "./..."}, {"build", "./..."}} {
		cmd := exec.Command("go", args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go %v: %v\n%s", args, err, out)
		}
	}
}
