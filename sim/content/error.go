package content

import "fmt"

// Error is why a pack was refused.
type Error struct {
	File    string // of the pack
	Line    int    // from 1; 0: the file as a whole
	Key     string // such as hero[0].body.radius_m; "" is the file as a whole
	Problem string // what is there and what was expected
}

// Error is "file:line: key: problem".
func (e *Error) Error() string {
	s := e.File
	if e.Line > 0 {
		s = fmt.Sprintf("%s:%d", s, e.Line)
	}
	if e.Key != "" {
		s += ": " + e.Key
	}
	return s + ": " + e.Problem
}
