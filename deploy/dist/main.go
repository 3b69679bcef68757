// Command dist builds the release: one binary a system, a bill of materials for each, the licences of
// what they link, and checksums. The same source and Go version give the same bytes, wherever they are
// built. Make runs it.
package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
)

// targets are the systems of a release, GOOS/GOARCH.
const targets = "linux/amd64,linux/arm64,darwin/arm64,windows/amd64"

func main() {
	version := flag.String("version", "dev", "version of the build")
	out := flag.String("out", "bin/dist", "folder for the release, made anew")
	list := flag.String("targets", targets, "systems, GOOS/GOARCH with commas between")
	only := flag.String("licenses", "", "write the licences of the targets into this file, and build nothing")
	flag.Parse()
	all := strings.Split(*list, ",")
	build := func() error { return release(*version, *out, all) }
	if *only != "" {
		build = func() error { return writeLicenses(*only, all) }
	}
	if err := build(); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

// release builds all targets into a folder that is made anew.
func release(version, out string, targets []string) error {
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	var files []string
	for _, target := range targets {
		built, err := build(version, out, target)
		if err != nil {
			return fmt.Errorf("%s: %w", target, err)
		}
		files = append(files, built...)
	}
	if err := writeLicenses(filepath.Join(out, licensesFile), targets); err != nil {
		return err
	}
	own, err := os.ReadFile("LICENSE")
	if err == nil {
		err = os.WriteFile(filepath.Join(out, "LICENSE"), own, 0o644)
	}
	if err != nil {
		return err
	}
	var sums strings.Builder
	for _, name := range append(files, "LICENSE", licensesFile) {
		b, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			return err
		}
		line := fmt.Sprintf("%x  %s\n", sha256.Sum256(b), name)
		fmt.Print(line)
		sums.WriteString(line)
	}
	return os.WriteFile(filepath.Join(out, "SHA256SUMS"), []byte(sums.String()), 0o644)
}

// writeLicenses writes the licences of what the binaries of targets link.
func writeLicenses(path string, targets []string) error {
	text, err := licenses(targets)
	if err != nil {
		return fmt.Errorf("licences: %w", err)
	}
	return os.WriteFile(path, text, 0o644)
}

// build builds one target and its bill of materials, and returns their names.
func build(version, out, target string) (files []string, err error) {
	system, arch, ok := strings.Cut(target, "/")
	if !ok {
		return nil, fmt.Errorf("expected GOOS/GOARCH")
	}
	name := fmt.Sprintf("tickrate_%s_%s_%s", version, system, arch)
	binary := name
	if system == "windows" {
		binary += ".exe"
	}
	c := goCommand(target, "build", "-trimpath", "-buildvcs=false", "-ldflags",
		"-s -w -buildid= -X main.version="+version, "-o", filepath.Join(out, binary), "./cmd/tickrate")
	if err := c.Run(); err != nil {
		return nil, err
	}
	info, err := buildinfo.ReadFile(filepath.Join(out, binary))
	if err != nil {
		return nil, err
	}
	bill, err := json.MarshalIndent(materials(version, info), "", "  ")
	if err != nil {
		return nil, err
	}
	return []string{binary, name + ".cdx.json"},
		os.WriteFile(filepath.Join(out, name+".cdx.json"), append(bill, '\n'), 0o644)
}

// component is a module in a bill of materials.
type component struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl"`
}

// bill is a software bill of materials in the form of CycloneDX 1.5. It has no time, so that it is the
// same for the same binary.
type bill struct {
	Format   string `json:"bomFormat"`
	Spec     string `json:"specVersion"`
	Version  int    `json:"version"`
	Metadata struct {
		Component component `json:"component"`
	} `json:"metadata"`
	Components []component `json:"components"`
}

// materials lists the modules of a binary and the standard library that it was built with.
func materials(version string, info *debug.BuildInfo) (b bill) {
	b.Format, b.Spec, b.Version = "CycloneDX", "1.5", 1
	b.Metadata.Component = moduleOf("application", info.Main.Path, version)
	b.Components = append(b.Components, moduleOf("library", "std", strings.TrimPrefix(info.GoVersion, "go")))
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		b.Components = append(b.Components, moduleOf("library", m.Path, m.Version))
	}
	return b
}

func moduleOf(kind, path, version string) component {
	return component{kind, path, version, "pkg:golang/" + path + "@" + version}
}
