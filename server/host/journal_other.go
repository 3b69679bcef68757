//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package host

import "errors"

// HasJournal reports whether this system can keep a journal of used tokens.
const HasJournal = false

// journal is not available on this system.
type journal struct{ bytes []byte }

func openJournal(path string, _ int) (*journal, error) {
	return nil, errors.New("journal of used tokens " + path + ": files cannot be mapped into memory on " +
		"this system; use --journal none")
}

func (j *journal) close() error { return nil }
