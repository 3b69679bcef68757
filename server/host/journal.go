package host

import "errors"

// maxJournal is the largest journal, in bytes: a larger file is something else.
const maxJournal = 1 << 30

var (
	errJournalShared = errors.New("another server is using it; give each its own with --journal")
	errJournalForm   = errors.New("this is not a journal: expected a file of 32-byte records")
)
