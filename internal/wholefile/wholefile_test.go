package wholefile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

var errFull = errors.New("no space left")

// names lists a folder.
func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// A file is replaced whole; one that fails halfway leaves the old content and nothing beside it.
func TestFileIsWholeOrOld(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "key")
	if err := Replace(path, 0o600, []byte("old")); err != nil {
		t.Fatal(err)
	}
	err := Publish(path, 0o600, os.Rename, func(w io.Writer) error {
		_, _ = io.WriteString(w, "ne")
		return errFull
	})
	if got, _ := os.ReadFile(path); !errors.Is(err, errFull) || string(got) != "old" {
		t.Errorf("%v, %q", err, got)
	}
	if err := Publish(path, 0o600, os.Link, func(io.Writer) error { return nil }); !errors.Is(err, os.ErrExist) {
		t.Errorf("a link over a file: %v", err)
	}
	if all := names(t, dir); len(all) != 1 {
		t.Errorf("left behind: %v", all)
	}
}

// A folder has its name once all is written, and else there is none.
func TestFolderIsWholeOrNone(t *testing.T) {
	dir := t.TempDir()
	for i, fail := range []error{errFull, nil} {
		err := Folder(filepath.Join(dir, "capture"), func(at string) error {
			return errors.Join(fail, os.WriteFile(filepath.Join(at, "a"), nil, 0o600))
		})
		if all := names(t, dir); !errors.Is(err, fail) || len(all) != i {
			t.Errorf("%v: %v, %v", fail, err, all)
		}
	}
}
