package netio

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// setReusePort makes a socket of package net share its port.
func setReusePort(_, _ string, c syscall.RawConn) (err error) {
	return errors.Join(c.Control(func(fd uintptr) {
		err = os.NewSyscallError("setsockopt SO_REUSEPORT",
			unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1))
	}), err)
}
