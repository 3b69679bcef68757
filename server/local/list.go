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

// Bounds of what a reader takes.
const (
	maxEntries = 1000
	maxContent = 1 << 20 // bytes of an entry: some thousands of lobbies
)

// List is the entries of a folder.
type List struct {
	Servers []Server // that run, by address
	Left    int      // entries of servers that have ended without removing them; removed by now
	Wrong   []error  // entries that cannot be read
}

// Read reads the entries of a folder. A folder that is missing has none.
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

// escaped is a folder as a part of a pattern.
func escaped(dir string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(dir)
}

// add adds an entry to the list, or removes it if its server has ended.
func (l *List) add(path string) {
	ended, err := abandoned(path + lockSuffix)
	switch {
	case errors.Is(err, fs.ErrNotExist): // it ended just now
		return
	case err == nil && ended:
		l.Left++
		err = remove(path)
	case err == nil:
		var s Server
		if s, err = readContent(path + contentSuffix); err == nil {
			l.Servers = append(l.Servers, s)
		} else if errors.Is(err, fs.ErrNotExist) { // it starts or ends just now
			return
		}
	}
	if err != nil {
		l.Wrong = append(l.Wrong, err)
	}
}

// abandoned reports whether no process holds a lock.
func abandoned(path string) (bool, error) {
	f, err := openRegular(path)
	if err != nil {
		return false, err
	}
	defer f.Close() // gives the lock back
	return tryLock(f), nil
}

// openRegular opens a file for reading that is no link, no pipe and no folder.
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
	defer f.Close() // nothing was written
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
