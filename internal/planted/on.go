//go:build planted

package planted

import "os"

// Built says whether bugs are in this binary at all.
const Built = true

// force is the bug in force. A binary with this tag is for one test, which runs in one goroutine.
var force Bug

// Variable is that of the environment which may name the bug that is in force when a process
// begins.
const Variable = "TICKRATE_PLANTED"

func init() {
	for b := range NumBugs {
		if os.Getenv(Variable) == b.String() {
			force = b
		}
	}
}

// On reports whether a bug is in force.
func On(b Bug) bool { return force == b }

// Set puts a bug in force and returns the one that was; None for none.
func Set(b Bug) (was Bug) {
	was, force = force, b
	return was
}
