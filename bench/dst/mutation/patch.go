package mutation

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// patch is a unified diff. It puts all deliberate bugs, the mutations, into the code of this module.
//
//go:embed mutations.patch
var patch string

// Apply returns the mutated text of each file that the patch names, by its path in the module. A
// hunk is found by its lines, not by their numbers: they must occur exactly once in the file, after
// the hunks before.
func Apply(module fs.FS) (map[string]string, error) {
	mutated := map[string]string{}
	for _, part := range strings.Split(patch, "\n--- a/")[1:] {
		name, rest, _ := strings.Cut(part, "\n")
		text, err := fs.ReadFile(module, name)
		if err != nil {
			return nil, err
		}
		code := string(text)
		for n, hunk := range strings.Split(rest, "\n@@ ")[1:] {
			before, after := sides(hunk)
			if found := strings.Count(code, before); found != 1 {
				return nil, fmt.Errorf("mutations.patch: hunk %d of %s matches %d places, expected 1; if the code "+
					"has changed, change the patch:\n%s", n+1, name, found, before)
			}
			code = strings.Replace(code, before, after, 1)
		}
		mutated[name] = code
	}
	return mutated, nil
}

// sides returns the text that a hunk expects and the text that it leaves. Other lines than those of the
// hunk, such as the header of the next file, are skipped.
func sides(hunk string) (before, after string) {
	_, body, _ := strings.Cut(hunk, "\n")
	for line := range strings.Lines(body + "\n") {
		switch line[0] {
		case '-':
			before += line[1:]
		case '+':
			after += line[1:]
		case ' ':
			before += line[1:]
			after += line[1:]
		}
	}
	return before, after
}

// WriteOverlay writes the mutated files and overlay.json into dir, which exists, and returns the path of
// overlay.json, for go build -overlay. module is the module's root folder.
func WriteOverlay(module, dir string) (string, error) {
	root, err := filepath.Abs(module)
	if err != nil {
		return "", err
	}
	mutated, err := Apply(os.DirFS(root))
	if err != nil {
		return "", err
	}
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for name, code := range mutated {
		file := filepath.Join(dir, strings.ReplaceAll(name, "/", "_"))
		if err := os.WriteFile(file, []byte(code), 0o644); err != nil {
			return "", err
		}
		overlay.Replace[filepath.Join(root, filepath.FromSlash(name))] = file
	}
	text, err := json.MarshalIndent(overlay, "", "\t")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, text, 0o644)
}
