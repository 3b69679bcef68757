package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// write makes files below a folder.
func write(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Licences are those of the module's root and of the folders of linked packages; a text that several
// files have is there once. Of the main module only what it embeds counts.
func TestLicensesOfPackages(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{
		"a/LICENSE": "granted to all\r\n", "a/NOTICE.txt": "by somebody", "a/license.go": "package a",
		"a/in/LICENSE-MIT": "granted inside", "a/beside/COPYING": "of what is not linked",
		"b/Licence.md": "granted to all\n", "b/licensed/x.go": "package licensed",
		"main/LICENSE": "our own", "main/web/plot.LICENSE": "the plot's",
	})
	at := func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }
	got := texts{}
	if err := got.add([]linked{{"a@v1", at("a"), at("a")}, {"a@v1", at("a"), at("a/in")},
		{"b@v2", at("b"), at("b/licensed")}, {"", at("main"), at("main/web")}, {"", at("main"), at("main")}}); err != nil {
		t.Fatal(err)
	}
	text := string(got.join())
	for _, want := range []string{"a@v1 LICENSE\nb@v2 Licence.md\n\ngranted to all\n", "a@v1 NOTICE.txt\n\nby somebody\n",
		"a@v1 in/LICENSE-MIT\n\ngranted inside\n", "web/plot.LICENSE\n\nthe plot's\n"} {
		if strings.Count(text, want) != 1 {
			t.Errorf("%q is not there once:\n%s", want, text)
		}
	}
	for _, not := range []string{"our own", "not linked", "package"} {
		if strings.Contains(text, not) {
			t.Errorf("%q is there:\n%s", not, text)
		}
	}
}

// A module with a notice alone, or with a licence below its root alone, has none.
func TestModuleWithoutLicense(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{"a/NOTICE": "by somebody", "b/in/LICENSE": "granted inside"})
	a, b := filepath.Join(root, "a"), filepath.Join(root, "b")
	err := texts{}.add([]linked{{"a@v1", a, a}, {"a@v1", a, a}, {"b@v2", b, filepath.Join(b, "in")}})
	if err == nil || strings.Count(err.Error(), "a@v1") != 1 || !strings.Contains(err.Error(), "b@v2") ||
		!strings.Contains(err.Error(), "expected a file such as LICENSE") {
		t.Errorf("error %v", err)
	}
}

// The licences of the program name its modules, the standard library and the charts' library, and are
// the same each time.
func TestLicensesOfTheProgram(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	target := []string{runtime.GOOS + "/" + runtime.GOARCH}
	first, err := licenses(target)
	if err != nil {
		t.Fatal(err)
	}
	second, err := licenses(append(target, target...))
	if err != nil || string(first) != string(second) {
		t.Errorf("two lists differ, or %v", err)
	}
	for _, want := range []string{"\nstd LICENSE\n", "github.com/nats-io/nats.go@v", "github.com/mlange-42/arche@v",
		"\ninternal/webplot/uPlot.LICENSE\n", "Copyright"} {
		if !strings.Contains(string(first), want) {
			t.Errorf("no %q", want)
		}
	}
}
