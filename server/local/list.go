package local

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Limits of Read.
const (
	maxEntries = 1000    // entries of a folder; Read ignores the rest
	maxContent = 1 << 20 // bytes of a content file, enough for thousands of lobbies
)

// List is the result of Read: the servers that have an entry in a folder.
type List struct {
	Servers []Server // running servers, sorted by address
	Left    int      // stale entries: their servers ended without Close; Read removes them
	Wrong   []error  // one error for each entry that Read cannot read or remove
}

// Read reads the entries of a folder. A missing folder gives an empty List.
func Read(dir string) (l List, err error) {
	if err := checkFolder(dir); errors.Is(err, fs.ErrNotExist) {
		return l, nil
	} else if err != nil {
		return l, err
	}
	paths, err := filepath.Glob(filepath.Join(escaped(dir), "*"+lockSuffix))
	if err != nil {
		return l, err
	}
	for _, path := range paths[:min(len(paths), maxEntries)] {
		l.add(strings.TrimSuffix(path, lockSuffix))
	}
	slices.SortFunc(l.Servers, func(a, b Server) int {
		return cmp.Or(cmp.Compare(a.UDP, b.UDP), cmp.Compare(a.PID, b.PID))
	})
	return l, nil
}

// escaped returns the path of a folder with the wildcards of filepath.Glob escaped.
func escaped(dir string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(dir)
}

// add adds an entry to the list, or removes it if its server has ended.
func (l *List) add(path string) {
	ended, err := abandoned(path + lockSuffix)
	switch {
	case errors.Is(err, fs.ErrNotExist): // the server has just removed its entry
		return
	case err == nil && ended:
		l.Left++
		err = remove(path)
	case err == nil:
		var s Server
		if s, err = readContent(path + contentSuffix); err == nil {
			l.Servers = append(l.Servers, s)
		} else if errors.Is(err, fs.ErrNotExist) { // not written yet, or just removed
			return
		}
	}
	if err != nil {
		l.Wrong = append(l.Wrong, err)
	}
}

// abandoned reports whether a lock file is free: the server of the entry has ended.
func abandoned(path string) (bool, error) {
	f, err := openRegular(path)
	if err != nil {
		return false, err
	}
	defer f.Close() // releases the lock
	return hasLocks && tryLock(f), nil
}

// openRegular opens a regular file for reading. Links, pipes and folders are errors.
func openRegular(path string) (*os.File, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: expected a regular file", path)
	}
	return os.Open(path)
}

func readContent(path string) (s Server, err error) {
	f, err := openRegular(path)
	if err != nil {
		return s, err
	}
	defer f.Close() // read only: an error of Close loses nothing
	text, err := io.ReadAll(io.LimitReader(f, maxContent+1))
	if err != nil {
		return s, err
	}
	if len(text) > maxContent {
		return s, fmt.Errorf("%s: expected at most %d bytes", path, maxContent)
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("%s: %w", path, err)
	}
	if s.Version != Version {
		return s, fmt.Errorf("%s: version %d: expected %d", path, s.Version, Version)
	}
	return s, nil
}
