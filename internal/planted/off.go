//go:build !planted

package planted

// Built says whether bugs are in this binary at all.
const Built = false

// On reports whether a bug is in force: never.
func On(Bug) bool { return false }

// Set puts a bug in force and returns the one that was: without the build tag it does nothing.
func Set(Bug) (was Bug) { return None }
