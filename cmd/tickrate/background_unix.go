//go:build unix

package main

import (
	"os/signal"
	"syscall"
)

// readInBackground makes a read of a terminal that another job has fail, instead of stopping us: a
// server that was started with & shall serve.
func readInBackground() { signal.Ignore(syscall.SIGTTIN) }
