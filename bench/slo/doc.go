// Package slo judges measured lobbies by a service level. A level (rates and an expression) goes
// in; an Objective comes out, compiled once, which says of each measured step whether it passes and
// which terms it misses. The package is arithmetic only: it opens no file, starts no goroutine and
// reads no clock.
package slo
