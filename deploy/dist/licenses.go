package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// licensesFile holds the licences of all that is linked into the binaries of a release.
const licensesFile = "THIRD_PARTY_LICENSES"

// licenseName is the name of a file with a licence, or with what a licence wants passed on.
var licenseName = regexp.MustCompile(`(?i)^(.*[._-])?(licen[cs]e|copying|notice|patents)s?([._-].*)?$`)

// grants is the part of these files that allow anything; a notice alone does not.
var grants = regexp.MustCompile(`(?i)licen[cs]e|copying`)

// linked is a package of a binary.
type linked struct {
	module string // path@version; "std" of the standard library, "" of the main module
	root   string // folder of the module
	folder string // of the package
}

// texts are licences by their text: the names of the files that have it, module first.
type texts map[string]map[string]bool

// licenses returns the licence texts of all modules that the binaries of targets link, of the standard
// library, and of what the main module embeds. The same modules give the same bytes.
func licenses(targets []string) ([]byte, error) {
	all := texts{}
	for _, target := range targets {
		packages, err := linkedPackages(target)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", target, err)
		}
		if err := all.add(packages); err != nil {
			return nil, fmt.Errorf("%s: %w", target, err)
		}
	}
	return all.join(), nil
}

// linkedPackages lists the packages of the program for a target, with those of the standard library as
// one.
func linkedPackages(target string) (all []linked, err error) {
	list := goCommand(target, "list", "-deps", "-f", "{{with .Module}}{{if .Main}}\t{{else}}{{.Path}}@{{.Version}}\t{{end}}"+
		"{{.Dir}}{{else}}std\t{{.Root}}{{end}}\t{{.Dir}}", "./cmd/tickrate")
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		part := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(part) != 3 || part[1] == "" {
			return nil, fmt.Errorf("go list: expected a module and its folder, got %q", line)
		}
		all = append(all, linked{part[0], part[1], part[2]})
	}
	return all, nil
}

// add adds the licences of packages: the files in the folder of each, and in those above it up to the
// root of the module, but for the main module's own. A module without a licence is an error.
func (t texts) add(packages []linked) error {
	licensed := map[string]bool{}
	for _, p := range packages {
		for folder := p.folder; ; folder = filepath.Dir(folder) {
			if p.module == "" && folder == p.root {
				break
			}
			found, err := t.addFolder(p, folder)
			if err != nil {
				return err
			}
			licensed[p.module] = licensed[p.module] || found && folder == p.root
			if folder == p.root || len(folder) < len(p.root) {
				break
			}
		}
	}
	var missing []error
	for _, p := range packages {
		if p.module != "" && !licensed[p.module] {
			licensed[p.module] = true
			missing = append(missing, fmt.Errorf("module %s has no licence: expected a file such as LICENSE or COPYING in %s",
				p.module, p.root))
		}
	}
	return errors.Join(missing...)
}

// addFolder adds the licences in a folder of a package's module, and reports whether one grants
// something.
func (t texts) addFolder(p linked, folder string) (found bool, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || !licenseName.MatchString(e.Name()) || filepath.Ext(e.Name()) == ".go" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return false, err
		}
		in, err := filepath.Rel(p.root, filepath.Join(folder, e.Name()))
		if err != nil {
			return false, err
		}
		key := string(bytes.TrimSpace(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))))
		if t[key] == nil {
			t[key] = map[string]bool{}
		}
		t[key][strings.TrimSpace(p.module+" "+filepath.ToSlash(in))] = true
		found = found || grants.MatchString(e.Name())
	}
	return found, nil
}

// join writes each text once, below the names of its files, in the order of the first name.
func (t texts) join() []byte {
	var b bytes.Buffer
	b.WriteString("Licences of what is linked into the binaries, by module and file.\n")
	names := func(text string) []string { return slices.Sorted(maps.Keys(t[text])) }
	for _, text := range slices.SortedFunc(maps.Keys(t), func(a, b string) int {
		return slices.Compare(names(a), names(b))
	}) {
		fmt.Fprintf(&b, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), strings.Join(names(text), "\n"), text)
	}
	return b.Bytes()
}

// goCommand runs go for a target, without settings of the machine that would change the code.
func goCommand(target string, args ...string) *exec.Cmd {
	system, arch, _ := strings.Cut(target, "/")
	c := exec.Command("go", args...)
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch, "GOAMD64=v1", "GOARM64=v8.0",
		"GOFLAGS=", "GOEXPERIMENT=", "GOWORK=off")
	c.Stderr = os.Stderr
	return c
}
