//go:build unix

package main

import (
	"os/signal"
	"syscall"
)

// readInBackground ignores SIGTTIN: a server that was started with & keeps serving when it reads
// the terminal of another job, and the read fails instead.
func readInBackground() { signal.Ignore(syscall.SIGTTIN) }
