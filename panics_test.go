package tickrate_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Packages that other programs import for a part of this one: their panics are a caller's mistakes.
var panicRoots = []string{"client", "compress", "ecs", "lagcomp", "netio", "protocol"}

// Panics that no caller causes, by a part of their text: the program's own tables, tested.
var ownPanics = []string{"dict: ", "netcode: ", "netcode server: "}

// TestPanicsSayWhatWasExpected: a panic of a library names what was given and what was expected, or
// passes on an error, which does.
func TestPanicsSayWhatWasExpected(t *testing.T) {
	expects := regexp.MustCompile(`\b(want|expected)\b`)
	found := 0
	for _, root := range panicRoots {
		err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() && (d.Name() == "internal" || d.Name()[0] == '_') {
				return fs.SkipDir
			}
			if filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
				return nil
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, filepath.Join(root, name), nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || !isPanic(call) {
					return true
				}
				found++
				text, passesOn := "", false
				ast.Inspect(call.Args[0], func(n ast.Node) bool {
					switch x := n.(type) {
					case *ast.BasicLit:
						text += x.Value
					case *ast.Ident:
						passesOn = passesOn || x.Name == "err" || x.Name == "fault" // of another goroutine
					}
					return true
				})
				own := slices.ContainsFunc(ownPanics, func(s string) bool { return strings.Contains(text, s) })
				if !passesOn && !own && !expects.MatchString(text) {
					t.Errorf("%v: panic(%s), expected a text that says what was wanted", set.Position(call.Pos()), text)
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found < 40 {
		t.Errorf("%d panics found in %v, expected 40 or more", found, panicRoots)
	}
}

// isPanic reports whether a call is one of panic.
func isPanic(call *ast.CallExpr) bool {
	id, ok := call.Fun.(*ast.Ident)
	return ok && id.Name == "panic"
}
