package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tickrate/tickrate/internal/wholefile"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/pvs"
)

// cachedPVS returns pvs.Build with a cache in dir: a table is read from the file of its map and
// grid, or built and written there. A file that holds anything else is replaced. dir "" is no
// cache.
func cachedPVS(dir string) server.BuildPVS {
	if dir == "" {
		return nil
	}
	return func(a *arena.Arena, grid pvs.Config) (*pvs.Table, error) {
		hash := a.Hash()
		file := filepath.Join(dir, fmt.Sprintf("%x-%gm.sight", hash[:8], grid.Cell))
		data, err := os.ReadFile(file)
		if err == nil {
			if t, err := pvs.Load(data, hash, 0); err == nil && t.Fits(grid) {
				return t, nil
			}
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		t, err := pvs.Build(a, grid)
		if err != nil {
			return nil, err
		}
		if data, err = t.AppendBinary(nil); err != nil {
			return nil, err
		}
		return t, wholefile.Replace(file, 0o600, data)
	}
}
