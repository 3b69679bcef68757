package tickrate_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

const module = "github.com/tickrate/tickrate"

// source is one parsed Go file.
type source struct {
	name string // path below the root
	fset *token.FileSet
	file *ast.File
}

func (s source) dir() string  { return path.Dir(s.name) }
func (s source) isTest() bool { return strings.HasSuffix(s.name, "_test.go") }

// at says where and what, in the form editors jump to.
func (s source) at(pos token.Pos, format string, args ...any) string {
	return fmt.Sprintf("%s:%d: %s", s.name, s.fset.Position(pos).Line, fmt.Sprintf(format, args...))
}

// scan parses every Go file of the module and of modules nested in it by their path (e2e), whatever
// its build tags, so that no platform's file escapes. Directories that the go command ignores are left
// out, and so are other nested modules and programs that only go run starts (//go:build ignore).
func scan(tree fs.FS) ([]source, error) {
	var all []source
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != "." && (strings.ContainsRune("._", rune(d.Name()[0])) ||
				d.Name() == "testdata" || nested(tree, name)) {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" || strings.ContainsRune("._", rune(d.Name()[0])) {
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if !ignored(f) {
			all = append(all, source{name, fset, f})
		}
		return nil
	})
	return all, err
}

// nested reports whether a directory is a module of another name.
func nested(tree fs.FS, dir string) bool {
	mod, err := fs.ReadFile(tree, path.Join(dir, "go.mod"))
	return err == nil && !strings.HasPrefix(string(mod), "module "+module+"/"+dir+"\n")
}

func ignored(f *ast.File) bool {
	for _, group := range f.Comments {
		if group.Pos() > f.Package {
			return false
		}
		for _, c := range group.List {
			if c.Text == "//go:build ignore" {
				return true
			}
		}
	}
	return false
}

// check returns everything in tree that the table does not allow, one line each.
func check(tree []source, table []layer) []string {
	var bad []string
	seen := map[string]bool{}
	for _, s := range tree {
		i := slices.IndexFunc(table, func(l layer) bool { return l.pkg == s.dir() })
		if !seen[s.dir()] {
			seen[s.dir()] = true
			bad = append(bad, checkName(s)...)
			if i < 0 {
				bad = append(bad, s.at(s.file.Package, "package %s has no row in layers_test.go", s.dir()))
			}
		}
		if i >= 0 {
			bad = append(bad, checkImports(s, table, i)...)
			bad = append(bad, checkPure(s, table[i])...)
		}
	}
	for _, l := range table {
		if !seen[l.pkg] {
			bad = append(bad, fmt.Sprintf("layers_test.go: the row of %s names no package", l.pkg))
		}
	}
	return bad
}

// checkName refuses drawers and a package clause that differs from its directory.
func checkName(s source) []string {
	var bad []string
	for name := range strings.SplitSeq(s.dir(), "/") {
		if slices.Contains(drawers, name) {
			bad = append(bad,
				s.at(s.file.Package, "%s is a drawer: name the package for what it holds", name))
		}
	}
	want := path.Base(s.dir())
	if want == "." {
		want = path.Base(module)
	}
	if got := strings.TrimSuffix(s.file.Name.Name, "_test"); got != want && got != "main" {
		bad = append(bad, s.at(s.file.Package, "package %s in directory %s", got, want))
	}
	return bad
}

// checkImports holds the file's imports to row i of the table.
func checkImports(s source, table []layer, i int) []string {
	var bad []string
	for _, spec := range s.file.Imports {
		imp, _ := strconv.Unquote(spec.Path.Value)
		name, foreign := shortName(imp)
		switch {
		case name == "":
			if foreign {
				bad = append(bad, s.at(spec.Pos(), "%s is of no module that layers_test.go knows", imp))
			}
		case s.isTest() && allowedInTest(table, i, name):
		case !s.isTest() && allows(table, i, table[i].may, name):
		default:
			bad = append(bad, s.at(spec.Pos(), "%s may not import %s", s.dir(), name))
		}
	}
	return bad
}

func allowedInTest(table []layer, i int, name string) bool {
	return name == table[i].pkg || slices.Contains(testTools, name) ||
		allows(table, i, table[i].may, name) || allows(table, i, table[i].tests, name)
}

func allows(table []layer, i int, list, name string) bool {
	names := strings.Fields(list)
	return slices.Contains(names, name) ||
		slices.Contains(names, above) && slices.ContainsFunc(table[:i], func(l layer) bool {
			return l.pkg == name
		})
}

// shortName returns the name that the table has for an import path: a directory of this module or
// the short name of an outside module; "" for the standard library (foreign is false) and for
// modules unknown to the table.
func shortName(imp string) (name string, foreign bool) {
	if imp == module {
		return ".", false
	}
	if dir, ok := strings.CutPrefix(imp, module+"/"); ok {
		return dir, false
	}
	first, _, _ := strings.Cut(imp, "/")
	if !strings.Contains(first, ".") {
		return "", false
	}
	for short, mod := range outside {
		if imp == mod || strings.HasPrefix(imp, mod+"/") {
			return short, true
		}
	}
	return "", true
}

// impure lists, by import path, what a sans-I/O package may not use: "*" = the import itself. Where
// a package is harmless but for some functions, those are listed; a name after "!" is the other way
// round, the only ones allowed.
var impure = map[string]string{
	"crypto/rand":              "*",
	"log":                      "*",
	"log/slog":                 "*",
	"math/rand":                "*",
	"math/rand/v2":             "! New NewPCG NewChaCha8 NewZipf Rand Source PCG ChaCha8 Zipf",
	"net":                      "*",
	"net/http":                 "*",
	"os/exec":                  "*",
	"os/signal":                "*",
	"syscall":                  "*",
	module + "/internal/clock": "*", // the machine's clocks
	"time":                     "Now Since Until Sleep After AfterFunc Tick NewTimer NewTicker",
}

// checkPure holds a file to the rule of the core: time, randomness and datagrams are arguments.
// Tests and shells are exempt.
func checkPure(s source, l layer) []string {
	if s.isTest() || matchesAny(l.shell, path.Base(s.name)) {
		return nil
	}
	var bad []string
	local := map[string]string{} // name in this file -> import path
	for _, spec := range s.file.Imports {
		imp, _ := strconv.Unquote(spec.Path.Value)
		rule := impure[imp]
		name := path.Base(strings.TrimSuffix(imp, "/v2"))
		if spec.Name != nil {
			name = spec.Name.Name
		}
		if rule == "*" || rule != "" && name == "." {
			bad = append(bad, s.at(spec.Pos(), "%s is sans-I/O and may not import %s", s.dir(), imp))
		} else if rule != "" {
			local[name] = imp
		}
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			bad = append(bad, s.at(n.Pos(), "%s is sans-I/O and may not start a goroutine", s.dir()))
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && local[x.Name] != "" &&
				!pure(impure[local[x.Name]], n.Sel.Name) {
				bad = append(bad,
					s.at(n.Pos(), "%s is sans-I/O and may not use %s.%s", s.dir(), local[x.Name], n.Sel.Name))
			}
		}
		return true
	})
	return bad
}

func pure(rule, name string) bool {
	only, inverted := strings.CutPrefix(rule, "!")
	return slices.Contains(strings.Fields(only), name) == inverted
}

func matchesAny(patterns, name string) bool {
	return slices.ContainsFunc(strings.Fields(patterns), func(p string) bool {
		ok, _ := path.Match(p, name)
		return ok
	})
}
