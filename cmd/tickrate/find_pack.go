// Content packs that lobbies of a running server ask for, beside the pack of the server.

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/tickrate/tickrate/cmd/internal/assets"
	"github.com/tickrate/tickrate/sim/content"
)

// packManifest is the file that makes a folder a pack.
const packManifest = "pack.toml"

// maxPackFiles bounds the files of a folder that are looked at: a folder with more is found by its
// name alone.
const maxPackFiles = 1000

// packFinder finds content packs by folder or by hash. It reads a pack only if a request names it, or
// to learn its hash, once for each change of its files. One goroutine at a time may use it.
type packFinder struct {
	dir   string // holds the folders of packs; "": no pack is found
	known map[string]knownPack
	reads int // packs read so far, to learn their hashes
}

// knownPack is the pack of a folder as of its last change.
type knownPack struct {
	changed packChange
	hash    string // 64 hexadecimal digits; "": the folder holds no valid pack
}

// packChange differs after any change of a folder's files.
type packChange struct {
	newest time.Time // of the files' modifications
	bytes  int64
	files  int
}

// newPackFinder finds packs beside the one in folder own. An empty folder has none beside it.
func newPackFinder(own string) *packFinder {
	p := &packFinder{known: map[string]knownPack{}}
	if own != "" {
		p.dir = filepath.Dir(filepath.Clean(own))
	}
	return p
}

// find reads the pack that has a hash, as 64 hexadecimal digits, or a name, which is that of its
// folder. The name comes from the network, so an error tells nothing of other packs.
func (p *packFinder) find(name string) (*content.Pack, error) {
	folder, err := p.folder(name)
	if err != nil {
		return nil, err
	}
	return assets.Content(folder)
}

// folder finds the folder of a pack by its hash or name.
func (p *packFinder) folder(name string) (string, error) {
	if p.dir == "" {
		return "", fmt.Errorf("content %.80q: expected none, or the hash of this server's pack: others lie "+
			"beside the folder of serve --content, which was not given", name)
	}
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		return "", fmt.Errorf("content %.80q: %w", name, err)
	}
	for _, e := range entries {
		if e.Name() == name {
			return filepath.Join(p.dir, name), nil
		}
	}
	if raw, err := hex.DecodeString(name); err == nil && len(raw) == sha256.Size {
		for _, e := range entries {
			if p.hash(e.Name()) == name {
				return filepath.Join(p.dir, e.Name()), nil
			}
		}
	}
	return "", fmt.Errorf("content %.80q: expected the folder or the hash of a pack beside the server's",
		name)
}

// hash returns the hash of the pack in a folder, "" if it holds no valid pack. It reads the pack only
// if a file has changed since the last call.
func (p *packFinder) hash(folder string) string {
	at := filepath.Join(p.dir, folder)
	if _, err := os.Stat(filepath.Join(at, packManifest)); err != nil {
		return ""
	}
	changed, ok := changeOf(os.DirFS(at))
	if !ok {
		return ""
	}
	if was, ok := p.known[folder]; ok && was.changed == changed {
		return was.hash
	}
	now := knownPack{changed: changed}
	p.reads++
	if pack, err := assets.Content(at); err == nil {
		hash := pack.Shared()
		now.hash = hex.EncodeToString(hash[:])
	}
	p.known[folder] = now
	return now.hash
}

// changeOf looks at the files of a folder. It is false for a folder with too many of them, or with
// one that cannot be looked at.
func changeOf(folder fs.FS) (c packChange, ok bool) {
	err := fs.WalkDir(folder, ".", func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if at := info.ModTime(); at.After(c.newest) {
			c.newest = at
		}
		if !e.IsDir() {
			c.bytes += info.Size()
		}
		if c.files++; c.files > maxPackFiles {
			return fs.SkipAll
		}
		return nil
	})
	return c, err == nil && c.files <= maxPackFiles
}
