package content

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
)

const (
	manifest      = "pack.toml"
	maxPackBytes  = 1 << 20  // of all TOML files
	maxAssetBytes = 16 << 20 // of all assets
)

//go:embed default
var embedded embed.FS

// Default is the built-in pack with all sides: FPSSample's numbers.
func Default() *Pack { return DefaultFor(Both) }

// DefaultFor is the pack that is built in, for a side.
func DefaultFor(side Side) *Pack {
	dir, err := fs.Sub(embedded, "default")
	if err != nil {
		panic("content: " + err.Error())
	}
	p, err := LoadFor(dir, side)
	if err != nil {
		panic("content: default pack: " + err.Error())
	}
	return p
}

// Load reads the whole of a pack whose directory is the root of fsys. What is wrong with it is an
// *Error.
func Load(fsys fs.FS) (*Pack, error) { return LoadFor(fsys, Both) }

// LoadFor reads a pack for a side. Files and assets are read now; fsys is not kept.
func LoadFor(fsys fs.FS, side Side) (*Pack, error) {
	if int(side) >= len(sides) {
		return nil, &Error{File: manifest, Problem: fmt.Sprintf("side %d, want 0 to %d", side, len(sides)-1)}
	}
	d, err := readAll(fsys)
	if err != nil {
		return nil, err
	}
	r := &reader{document: d, side: side}
	p := &Pack{side: side, bytes: map[string][]byte{}}
	if err := r.table(p, packKeys, d.root, ""); err != nil {
		return nil, err
	}
	if err := r.resolve(p); err != nil {
		return nil, err
	}
	if err := r.assets(p, fsys); err != nil {
		return nil, err
	}
	for i := range p.Maps {
		if name := p.Maps[i].Arena; p.bytes[name] != nil {
			if _, err := p.arena(name); err != nil {
				return nil, r.fail(row("map", i)+".arena", "%v", err)
			}
		}
	}
	p.computeHashes()
	return p, nil
}

// readAll parses the manifest and the files that it names.
func readAll(fsys fs.FS) (*document, error) {
	d := newDocument()
	text, err := readFile(fsys, manifest, maxFileBytes)
	if err != nil {
		return nil, &Error{File: manifest, Problem: err.Error()}
	}
	if err := d.add(manifest, text); err != nil {
		return nil, err
	}
	names, ok := texts(d.root["files"])
	if d.root["files"] != nil && (!ok || len(names) > maxFiles) {
		return nil, d.fail("files", "%s, want a list of at most %d names", show(d.root["files"]), maxFiles)
	}
	left := maxPackBytes - len(text)
	for i, name := range names {
		switch {
		case !fs.ValidPath(name) || !strings.HasSuffix(name, ".toml"):
			return nil, d.fail("files", "%q, want a path that ends in .toml", name)
		case name == manifest || slices.Contains(names[:i], name):
			return nil, d.fail("files", "%q twice", name)
		}
		text, err := readFile(fsys, name, maxFileBytes)
		if err != nil {
			return nil, d.fail("files", "%q: %v", name, err)
		}
		if left -= len(text); left < 0 {
			return nil, d.fail("files", "more than %d KiB together", maxPackBytes>>10)
		}
		if err := d.add(name, text); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// readFile reads a file of at most most bytes.
func readFile(fsys fs.FS, name string, most int64) ([]byte, error) {
	f, err := fsys.Open(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errors.New("no such file")
	case err != nil:
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("more than %d KiB", most>>10)
	}
	return text, err
}

// assets reads what the side needs and compares it with its hash. It forgets the others.
func (r *reader) assets(p *Pack, fsys fs.FS) error {
	left := int64(maxAssetBytes)
	for i := range p.Assets {
		a := &p.Assets[i]
		if !r.side.needs(a.Needed) {
			continue
		}
		at := row("asset", i)
		bytes, err := readFile(fsys, a.File, left)
		if err != nil {
			return r.fail(at+".file", "asset %q: %s: %v", a.Name, a.File, err)
		}
		left -= int64(len(bytes))
		if sum := sha256.Sum256(bytes); hex.EncodeToString(sum[:]) != a.SHA256 {
			return r.fail(at+".sha256", "asset %q: %s has %x", a.Name, a.File, sum)
		}
		p.bytes[a.Name] = bytes
	}
	if p.Assets = slices.DeleteFunc(p.Assets,
		func(a Asset) bool { return !r.side.needs(a.Needed) }); len(p.Assets) == 0 {
		p.Assets = nil
	}
	return nil
}
