//go:build !linux

package netio

import (
	"errors"
	"syscall"
)

var errReusePort = errors.New("Config.ReusePort: only Linux spreads datagrams over sockets of one port")

// setReusePort makes a socket of package net share its port.
func setReusePort(_, _ string, _ syscall.RawConn) error { return errReusePort }
