//go:build unix

package runner

import (
	"os/exec"
	"syscall"
)

// ownGroup gives a command a process group of its own: an interrupt from the terminal goes to the
// whole group, and the runner ends the server itself.
func ownGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
