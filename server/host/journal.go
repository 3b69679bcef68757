package host

import "errors"

// maxJournal is the size of the largest journal, in bytes. A larger file is no journal.
const maxJournal = 1 << 30

var (
	errJournalShared = errors.New("another server is using it; give each its own with --journal")
	errJournalForm   = errors.New("this is not a journal: expected a file of 32-byte records")
)
