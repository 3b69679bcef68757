// Package wholefile publishes files and folders whole or not at all. Content goes in, is written
// under another name beside the final one and synced; only what had no error gets the final name.
package wholefile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Replace makes data the content of the file at path, with permissions mode: readers see the old
// file or the new one. On an error the old file stays, and nothing else.
func Replace(path string, mode fs.FileMode, data []byte) error {
	return Publish(path, mode, os.Rename, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// Publish calls write with a new file beside path and syncs it; place (os.Rename, or os.Link to
// refuse a file that exists) gives it its name if nothing failed. On an error the new file is removed.
func Publish(path string, mode fs.FileMode, place func(from, to string) error,
	write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // 0600, and O_EXCL
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // after a rename there is nothing to remove
	err = errors.Join(f.Chmod(mode), write(f), f.Sync())
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return place(f.Name(), path)
}

// Folder makes the folder at path: fill writes into an empty one beside it, whose name begins with a
// dot, and the folder has its name once fill returns no error. Else nothing is left of it.
func Folder(path string, fill func(dir string) error) error {
	dir, err := os.MkdirTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := errors.Join(fill(dir), os.Chmod(dir, 0o755)); err != nil {
		return err
	}
	return os.Rename(dir, path)
}
