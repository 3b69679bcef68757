package move

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

// TestNothingFuses reads the source: the sum of a bare product could be computed in one rounding on
// some processors, and a client there would predict other bits than its server. Every such product
// must be converted first.
func TestNothingFuses(t *testing.T) {
	sums := 0
	for _, dir := range []string{".", "../arena"} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") ||
				e.Name() == "generate.go" {
				continue // the generator reckons in integers
			}
			files := token.NewFileSet()
			f, err := parser.ParseFile(files, dir+"/"+e.Name(), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				var terms []ast.Expr
				switch n := n.(type) {
				case *ast.BinaryExpr:
					if n.Op == token.ADD || n.Op == token.SUB {
						terms = []ast.Expr{n.X, n.Y}
					}
				case *ast.AssignStmt:
					if n.Tok == token.ADD_ASSIGN || n.Tok == token.SUB_ASSIGN {
						terms = n.Rhs
					}
				}
				sums += len(terms)
				for _, x := range terms {
					for {
						p, ok := x.(*ast.ParenExpr)
						if !ok {
							break
						}
						x = p.X
					}
					if b, ok := x.(*ast.BinaryExpr); ok && b.Op == token.MUL && !constant(b) && !index(b) {
						t.Errorf("%v: a bare product in a sum", files.Position(b.Pos()))
					}
				}
				return true
			})
		}
	}
	if sums < 100 {
		t.Errorf("only %d terms seen", sums)
	}
}

// constant reports whether a product is of literals and this package's constants: computed by the
// compiler.
func constant(b *ast.BinaryExpr) bool {
	plain := func(x ast.Expr) bool {
		switch x := x.(type) {
		case *ast.BasicLit:
			return true
		case *ast.Ident:
			return x.Name == "radius" || x.Name == "skin"
		case *ast.BinaryExpr:
			return constant(x)
		}
		return false
	}
	return plain(b.X) && plain(b.Y)
}

// index reports whether a product reckons the index of a cell: integers.
func index(b *ast.BinaryExpr) bool {
	for _, x := range []ast.Expr{b.X, b.Y} {
		if s, ok := x.(*ast.SelectorExpr); ok && s.Sel.Name == "nx" {
			return true
		}
	}
	return false
}
