package main

import (
	"fmt"
	"strings"
)

// several is a number of things, by the word for one of them.
func several(n int, one string) string { return fmt.Sprintf("%d %s", n, noun(n == 1, one)) }

// noun is the word for one thing, or for more: a regular one.
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
