//go:build unix

package local

import (
	"io/fs"
	"os"
	"syscall"
)

// hasLocks says that the system ends the locks of a process with it.
const hasLocks = true

// tryLock locks a file until it is closed, or its process ends. False: another process has it locked.
func tryLock(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

// ownedAlone reports whether a folder is of this user, and closed to others.
func ownedAlone(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Getuid() && info.Mode().Perm()&0o077 == 0
}
