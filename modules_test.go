package tickrate_test

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// libraries are packages that others' programs import, with the outside modules that come with each:
// what the go command downloads and builds for it. docs/guide/library.md has the same lists.
var libraries = []struct{ pkg, modules string }{
	{"netio/netcode", "crypto sys"},
	{"netio/packet", ""},
	{"netio/session", "crypto gnet sys"},
	{"netio/impair", "gnet sys"},
	{"ecs/schema", "klauspost"},
	{"ecs/snapshot", "klauspost"},
	{"ecs/interest", ""},
	{"lagcomp", "sys"},
	{"compress/huffman", ""},
	{"compress/rangecoder", ""},
	{"compress/dict", "klauspost"},
	{"client", "arche crypto klauspost sys toml vek"},
	{"server", "arche confusables crypto gnet klauspost sys toml vek"},
}

// alsoOf is what the modules of outside bring along.
var alsoOf = map[string]string{
	"arche":       "github.com/mlange-42/",
	"confusables": "golang.org/x/text",
	"gnet":        "github.com/panjf2000/ github.com/valyala/bytebufferpool go.uber.org/ gopkg.in/natefinch/ golang.org/x/sync",
	"vek":         "github.com/viterin/ github.com/chewxy/math32 golang.org/x/exp",
}

// An import of a package brings the modules of the table and no others: no browser driver, no
// metrics and no message bus, except where the package is about these.
func TestModulesOfLibraries(t *testing.T) {
	for _, l := range libraries {
		var allowed []string
		for name := range strings.FieldsSeq(l.modules) {
			allowed = append(append(allowed, outside[name]), strings.Fields(alsoOf[name])...)
		}
		used := map[string]bool{}
		deps := output(t, "go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", "./"+l.pkg)
		for dep := range strings.FieldsSeq(string(deps)) {
			if i := slices.IndexFunc(allowed, func(a string) bool { return strings.HasPrefix(dep, a) }); i >= 0 {
				used[allowed[i]] = true
			} else if dep != module {
				t.Errorf("%s brings %s, expected of outside modules %q alone", l.pkg, dep, l.modules)
			}
		}
		for name := range strings.FieldsSeq(l.modules) {
			if !used[outside[name]] {
				t.Errorf("%s does not bring %s any more: take it out of the table", l.pkg, outside[name])
			}
		}
	}
}

// TestBrowserIsAnotherModule: the driver of the pages' tests is in the go.mod of e2e, not in that of the
// library, and no go.work joins the two for users.
func TestBrowserIsAnotherModule(t *testing.T) {
	for _, c := range []struct {
		file string
		has  bool
	}{{"go.mod", false}, {"go.sum", false}, {"e2e/go.mod", true}, {"e2e/go.sum", true}} {
		text, err := os.ReadFile(c.file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), outside["chromedp"]) != c.has {
			t.Errorf("%s: has %s is %v, want %v", c.file, outside["chromedp"], !c.has, c.has)
		}
	}
	if _, err := os.Stat("go.work"); err == nil {
		t.Error("go.work: expected none, as it replaces what users of the library resolve")
	}
}
