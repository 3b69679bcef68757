//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// ownGroup gives a command a process group of its own: an interrupt of the terminal goes to the whole group, and the server's end is
// ours to order.
func ownGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
