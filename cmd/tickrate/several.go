package main

import (
	"fmt"
	"strings"
)

// several formats a number of things: several(2, "lobby") is "2 lobbies".
func several(n int, one string) string { return fmt.Sprintf("%d %s", n, noun(n == 1, one)) }

// noun returns the singular or the plural of a regular English noun.
func noun(single bool, one string) string {
	stem, y := strings.CutSuffix(one, "y")
	switch {
	case single:
		return one
	case y:
		return stem + "ies"
	case strings.HasSuffix(one, "ch"):
		return one + "es"
	}
	return one + "s"
}
