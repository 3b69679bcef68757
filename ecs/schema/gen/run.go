package gen

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Config says what to generate.
type Config struct {
	Dir   string   // of the package; default "."
	Types []string // structs; default those with a net tag on a field called _
	Out   string   // file, below Dir unless absolute; default DefaultOut
}

// DefaultOut is where code goes unless told otherwise.
const DefaultOut = "net_gen.go"

// Command names the generator in the files that it writes.
const Command = "structgen"

// Run generates code for a package on disk. It needs the go command, and that the packages which
// this one imports compile; the package itself need not. A file that is up to date is not written.
func Run(c Config) error {
	dir := c.Dir
	if dir == "" {
		dir = "."
	}
	out := c.Out
	if out == "" {
		out = DefaultOut
	}
	if !filepath.IsAbs(out) {
		out = filepath.Join(dir, out)
	}
	fset := token.NewFileSet()
	files, err := Parse(fset, dir, filepath.Base(out))
	if err != nil {
		return err
	}
	path, err := list(dir, "-find", "-e", "-f", "{{.ImportPath}}", ".")
	if err != nil {
		return err
	}
	imp, err := Importer(fset, dir, files)
	if err != nil {
		return err
	}
	text, err := Generate(fset, files, strings.TrimSpace(path), imp, c.Types, Command)
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	if old, err := os.ReadFile(out); err == nil && bytes.Equal(old, text) {
		return nil
	}
	if err := os.WriteFile(out, text, 0o644); err != nil {
		return fmt.Errorf("write generated code: %w", err)
	}
	return nil
}

// Parse reads the Go files of a directory that belong to a build here, without tests and without
// the file called out. They come sorted by name, whatever the file system. An error of the parser
// has the position of the fault.
func Parse(fset *token.FileSet, dir, out string) (files []*ast.File, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read the package: %w", err)
	}
	for _, e := range entries {
		name := e.Name()
		if filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || name == out {
			continue
		}
		if ok, err := build.Default.MatchFile(dir, name); err != nil || !ok {
			// A file that cannot be read at all is not in the build either; the compiler will say
			// so.
			continue
		}
		f, err := parser.ParseFile(fset, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("parse the package: %w", err)
		}
		files = append(files, f)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: no Go files: expected a package", dir)
	}
	return files, nil
}

// Importer knows what files import, from the export data that the go command has compiled. dir is a
// directory of the module that builds them. An import that does not compile is an error with the
// compiler's message.
func Importer(fset *token.FileSet, dir string, files []*ast.File) (types.Importer, error) {
	var paths []string
	for _, f := range files {
		for _, spec := range f.Imports {
			if path, err := strconv.Unquote(spec.Path.Value); err == nil && path != "unsafe" {
				paths = append(paths, path)
			}
		}
	}
	slices.Sort(paths)
	export := map[string]string{}
	if paths = slices.Compact(paths); len(paths) > 0 {
		args := []string{"-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}"}
		text, err := list(dir, append(args, paths...)...)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(text) {
			path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
			export[path] = file
		}
	}
	return importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		if export[path] == "" {
			return nil, fmt.Errorf("no export data of %s", path)
		}
		return os.Open(export[path])
	}), nil
}

// list runs go list in dir and returns its output. The error has what the command wrote to stderr.
func list(dir string, args ...string) (string, error) {
	cmd := exec.Command("go", append([]string{"list"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return "", fmt.Errorf("go list: %s", bytes.TrimSpace(exit.Stderr))
	}
	if err != nil {
		return "", fmt.Errorf("go list: %w", err)
	}
	return string(out), nil
}
