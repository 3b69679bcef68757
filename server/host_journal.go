package server

import "errors"

const (
	journalRecord = 32      // bytes of a used token
	maxJournal    = 1 << 30 // bytes; whatever is larger is another file
)

var (
	errJournalShared = errors.New("another server is using it; give each its own with --journal")
	errJournalForm   = errors.New("this is not a journal: expected a file of 32-byte records")
)
