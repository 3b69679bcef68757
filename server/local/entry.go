package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Version is the version of the JSON of Server.
const Version = 1

// Server is what a server says of itself.
type Server struct {
	Version int       `json:"version"`
	PID     int       `json:"pid"`
	Started time.Time `json:"started"`
	Updated time.Time `json:"updated"`
	Name    string    `json:"name"`
	UDP     string    `json:"udp"`             // address of its game socket
	HTTP    string    `json:"http,omitempty"`  // address of its HTTP port
	Query   string    `json:"query,omitempty"` // address of its query port
	Lobbies []Lobby   `json:"lobbies"`
}

// Lobby is a lobby of a server.
type Lobby struct {
	ID      uint32 `json:"id"`
	Map     string `json:"map"`
	Mode    string `json:"mode"`
	Players int    `json:"players"`
	Slots   int    `json:"slots"`
}

// The files of an entry: its content, and its lock.
const (
	contentSuffix = ".json"
	lockSuffix    = ".lock"
)

// Folder is where the servers of this user have their entries: below XDG_RUNTIME_DIR, or else below
// the folder of temporary files.
func Folder() string {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		return filepath.Join(dir, "tickrate")
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("tickrate-%d", os.Getuid()))
}

// Entry is the entry of a server of this process.
type Entry struct {
	path string // without a suffix
	lock *os.File
}

// Open makes the entry of a server, by a name that no other server has, such as its process and port.
// It makes the folder, and refuses one that others may write to.
func Open(dir, name string) (*Entry, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := checkFolder(dir); err != nil {
		return nil, err
	}
	e := &Entry{path: filepath.Join(dir, name)}
	for range openTries {
		lock, err := os.OpenFile(e.path+lockSuffix, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, err
		}
		if tryLock(lock) && isAt(lock, e.path+lockSuffix) {
			e.lock = lock
			return e, nil
		}
		if err := lock.Close(); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%s: another server has this entry", e.path)
}

// openTries is how often Open tries to get a lock: a reader has it for an instant, and removes the
// file if that was before Open had it.
const openTries = 10

// isAt reports whether a file is the one at a path.
func isAt(f *os.File, path string) bool {
	own, err := f.Stat()
	at, errAt := os.Lstat(path)
	return err == nil && errAt == nil && os.SameFile(own, at)
}

// checkFolder refuses a folder that is not this user's alone.
func checkFolder(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() || !ownedAlone(info) {
		return fmt.Errorf("%s: expected a folder of this user that no other may use", dir)
	}
	return nil
}

// Write replaces the content of the entry.
func (e *Entry) Write(s Server) error {
	s.Version = Version
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	next := e.path + ".next"
	if err := os.WriteFile(next, text, 0o600); err != nil {
		return err
	}
	return os.Rename(next, e.path+contentSuffix)
}

// Close removes the entry.
func (e *Entry) Close() error {
	err := remove(e.path)
	return errors.Join(err, e.lock.Close())
}

// remove removes the files of an entry. What is not there is no error.
func remove(path string) (err error) {
	for _, suffix := range []string{contentSuffix, ".next", lockSuffix} {
		if bad := os.Remove(path + suffix); bad != nil && !errors.Is(bad, fs.ErrNotExist) {
			err = errors.Join(err, bad)
		}
	}
	return err
}
