package gen

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/ecs/schema"
)

// generate runs the generator over the sources of dir as if they were the package in home.
func generate(t *testing.T, dir, home string) []byte {
	t.Helper()
	fset := token.NewFileSet()
	files, err := Parse(fset, dir, DefaultOut)
	if err != nil {
		t.Fatal(err)
	}
	imp, err := Importer(fset, home, files)
	if err != nil {
		t.Fatal(err)
	}
	text, err := Generate(fset, files, "example.org/"+files[0].Name.Name, imp, nil, Command)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// homes are the packages of this module that have generated code.
var homes = []string{"sample", "../../../sim/netstate"}

// Generated files are those that go generate would write now, whether they are there already or
// not.
func TestGeneratedFilesAreCurrent(t *testing.T) {
	for _, dir := range homes {
		want := generate(t, dir, dir)
		got, err := os.ReadFile(filepath.Join(dir, DefaultOut))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %s is not up to date (%v): run go generate there", dir, DefaultOut, err)
		}
		for range 3 {
			if again := generate(t, dir, dir); !bytes.Equal(again, want) {
				t.Fatalf("%s: two runs differ", dir)
			}
		}
	}
}

// Run writes what is there already, and leaves a file alone that is up to date.
func TestRun(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out_gen.go")
	c := Config{Dir: "sample", Types: []string{"Edges", "Character"}, Out: out}
	if err := Run(c); err == nil || !strings.Contains(err.Error(), "has a method of this one") {
		t.Errorf("beside the code that is there: %v", err)
	}
	c.Dir = t.TempDir()
	if err := Run(c); err == nil || !strings.Contains(err.Error(), "no Go files") {
		t.Errorf("an empty directory: %v", err)
	}
	if err := Run(Config{Dir: "nowhere"}); err == nil {
		t.Error("no directory: no error")
	}
	if err := Run(Config{Dir: "sample"}); err != nil {
		t.Error(err)
	}
}

// TestRow62ChangingAComponentIsEditingOneStruct is row 62 of docs/features.md: a copy of a
// real component gets another grid, a new field and one less; the code is generated anew, built
// with this module, and a program that imports it sends the component through a row and back.
func TestRow62ChangingAComponentIsEditingOneStruct(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	home, err := filepath.Abs("../../../sim/netstate")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	text, err := os.ReadFile(filepath.Join(home, "public.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, edit := range [][2]string{
		{"quant=128,min=-2048", "quant=256,min=-2048"},
		{"`net:\",wrap=256,often=15\"`", "`net:\",wrap=64,often=15\"`"},
		{"\tKills ", "\tHeat float32 `net:\",quant=10,min=0,max=40,interp=linear\"` // new\n\tKills "},
		{"Phase   uint8 `net:\",wrap=32,predict=best,often=60\"`", "Phase   uint8 `net:\"-\"`"},
	} {
		changed := bytes.Replace(text, []byte(edit[0]), []byte(edit[1]), 1)
		if bytes.Equal(changed, text) {
			t.Fatalf("public.go has no %q", edit[0])
		}
		text = changed
	}
	sources, err := filepath.Glob(filepath.Join(home, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range sources {
		if base := filepath.Base(name); base != "public.go" && base != DefaultOut && !strings.HasSuffix(base, "_test.go") {
			copied, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			place(t, filepath.Join(dir, base), copied)
		}
	}
	place(t, filepath.Join(dir, "public.go"), text)
	place(t, filepath.Join(dir, DefaultOut), generate(t, dir, home))
	place(t, filepath.Join(dir, "main.go"), []byte(roundTrip))

	// The go command sees the changed files in the places of those that are there.
	replace := map[string]string{
		filepath.Join(home, "public.go"):            filepath.Join(dir, "public.go"),
		filepath.Join(home, DefaultOut):             filepath.Join(dir, DefaultOut),
		filepath.Join(home, "roundtrip", "main.go"): filepath.Join(dir, "main.go"),
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	place(t, filepath.Join(dir, "overlay.json"), overlay)
	cmd := exec.Command("go", "run", "-overlay", filepath.Join(dir, "overlay.json"), "./roundtrip")
	cmd.Dir = home
	out, err := cmd.CombinedOutput()
	if want := "[257 -512 0 4095 -1 3 100 63 125 9 0 0] 1.0039062 12.5 9 player.x: -524288..524288 predict best\n"; err != nil || string(out) != want {
		t.Errorf("%v: %q, want %q", err, out, want)
	}
}

// roundTrip is a program that knows only the struct and the names that its code must have.
const roundTrip = `package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/sim/netstate"
)

func main() {
	p := netstate.PlayerState{Pos: geom.Vec3{X: 1.00390625, Y: -2}, Yaw: 65520, Pitch: 0xFFF0, Flags: 3, Health: 100, Shots: 63, Heat: 12.5, Kills: 9, Phase: 7}
	var row [netstate.PlayerStateFields]int32
	p.Row(row[:])
	var q netstate.PlayerState
	q.Restore(row[:])
	if p.Phase = 0; p != q {
		fmt.Println("came back as", q)
	}
	twin, err := schema.Reflect[netstate.PlayerState]()
	if err != nil || twin.Schemas[schema.Everyone].Hash() != netstate.PlayerStateHash || netstate.PlayerStateHash != netstate.Public.Hash() {
		fmt.Println("the twin differs", err)
		os.Exit(1)
	}
	line := strings.Split(netstate.Public.Describe(), "\n")[1]
	fmt.Println(row, q.Pos.X, q.Heat, q.Kills, "player."+strings.Replace(strings.TrimPrefix(line, "field "), " ", ": ", 1))
}
`

func place(t *testing.T, name string, text []byte) {
	t.Helper()
	if err := os.WriteFile(name, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// Every error names the struct and the field, and says what was expected.
func TestErrors(t *testing.T) {
	for i, c := range []struct{ src, want string }{
		{"type A struct { X int8 }", "no struct has a net tag on a field called _"},
		{"type A struct { _ int `net:\"\"`; X int8 }", `A.X: no net tag`},
		{"type A struct { _ int `net:\"\"`; X Nowhere `net:\"\"` }", "A.X: type invalid type: expected float32, an integer, a bool, or structs and arrays of them (p.go:2:35: undefined: Nowhere)"},
		{"type A struct { _ int `net:\"\"`; X float64 `net:\",quant=1\"` }", "A.X: type float64: expected"},
		{"type A struct { _ int `net:\"\"`; X int8 `net:\"\"`; Y int8 `net:\",derive=Z\"` }", "A.Y: option derive=Z: expected a method Z() int8 of A"},
		{"type A struct { _ int `net:\"\"`; X int8 `net:\"\"`; Y int8 `net:\",derive=Z\"` }\nfunc (A) Z(int) int8 { return 0 }", "A.Y: option derive=Z: expected"},
		{"type A struct { _ int `net:\"\"`; X int8 `net:\"\"`; Y int8 `net:\",derive=Z\"` }\nfunc (A) Z() int8 { return 0 }", ""},
		{"type A struct { _ int `net:\"\"`; Row int8 `net:\"\"` }", "A.Row: expected another name, the generated code has a method of this one"},
		{"type A struct { _ int `net:\"\"`; X int8 `net:\"\"` }\nfunc (*A) Lerp() {}", "A.Lerp: expected another name"},
		{"type A struct { _ int `net:\"\"`; Fields int8 `net:\"\"` }", "A: field fields: expected another name: generated code is called AFields in Go too"},
		{"type A struct { _ int `net:\"\"`; X int8 `net:\"b.c\"`; Y int8 `net:\"bC\"` }", "A: field bC: expected another name: field b.c is called ABC in Go too"},
		{"type A struct { _ int `net:\"\"`; X int8 `net:\"owner.x\"`; Y int8 `net:\"x,owner\"` }", "field x: expected another name: field owner.x of A is called AOwnerX in Go too"},
	} {
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, "p.go", "package p\n"+c.src, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		text, err := Generate(fset, []*ast.File{f}, "p", nil, nil, Command)
		switch {
		case c.want == "" && err == nil:
			if _, err := parser.ParseFile(fset, "gen.go", text, 0); err != nil || !bytes.Contains(text, []byte("v.Y = v.Z()")) {
				t.Errorf("case %d: %v\n%s", i, err, text)
			}
		case err == nil || !strings.Contains(err.Error(), c.want):
			t.Errorf("case %d: %v, want %q", i, err, c.want)
		case i > 0 && !errors.Is(err, schema.ErrSchema):
			t.Errorf("case %d: %v does not wrap ErrSchema", i, err)
		}
	}
	if _, err := Generate(token.NewFileSet(), nil, "p", nil, nil, Command); err == nil {
		t.Error("no files: no error")
	}
}
