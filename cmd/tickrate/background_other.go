//go:build !unix

package main

// readInBackground does nothing: only Unix stops background jobs that read the terminal.
func readInBackground() {}
