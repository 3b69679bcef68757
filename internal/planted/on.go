//go:build planted

package planted

// Built says whether bugs are in this binary at all.
const Built = true

// force is the bug in force. A binary with this tag is for one test, which runs in one goroutine.
var force Bug

// On reports whether a bug is in force.
func On(b Bug) bool { return force == b }

// Set puts a bug in force and returns the one that was; None for none.
func Set(b Bug) (was Bug) {
	was, force = force, b
	return was
}
