//go:build !unix

package local

import (
	"io/fs"
	"os"
)

// hasLocks is false: an entry whose server was killed stays, and is listed as silent.
const hasLocks = false

// tryLock locks nothing on this system.
func tryLock(*os.File) bool { return true }

// ownedAlone leaves it to the system: folders of temporary files are the user's own there.
func ownedAlone(fs.FileInfo) bool { return true }
