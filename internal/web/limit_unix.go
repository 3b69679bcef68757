//go:build unix

package web

import "syscall"

// maxConns is the most connections of a port: a quarter of the files that the process may open, as it
// has sockets and files besides.
func maxConns() int {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return mostConns
	}
	return connsOf(uint64(files.Cur))
}
