//go:build !unix

package web

// maxConns is the most connections of a port.
func maxConns() int { return mostConns }
