//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package host

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/tickrate/tickrate/netio/netcode"
)

// HasJournal says whether this system can keep a journal of used tokens.
const HasJournal = true

// journal is a file of records in memory. What is written there is the kernel's at once: it
// survives the end of the process, however sudden, and is lost only with the machine.
type journal struct {
	bytes []byte // netcode.JournalRecord bytes a record; a record of zeros is free
	file  *os.File
}

// openJournal opens a journal of at least so many records and keeps every other process from doing
// the same. It makes the file, readable by its owner alone, if there is none.
func openJournal(path string, records int) (*journal, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("journal of used tokens: %w", err)
	}
	j := &journal{file: f}
	if err := j.open(records * netcode.JournalRecord); err != nil {
		_ = f.Close() // the first error is the one to tell
		return nil, fmt.Errorf("journal of used tokens %s: %w", path, err)
	}
	return j, nil
}

func (j *journal) open(size int) error {
	fd := int(j.file.Fd())
	err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errJournalShared
	}
	if err != nil {
		return fmt.Errorf("lock it: %w", err)
	}
	info, err := j.file.Stat()
	if err != nil {
		return err
	}
	have := info.Size()
	if !info.Mode().IsRegular() || have%netcode.JournalRecord != 0 || have > maxJournal {
		return errJournalForm
	}
	if err := j.grow(have, int64(size)); err != nil {
		return err
	}
	j.bytes, err = unix.Mmap(fd, 0, int(max(have, int64(size))), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("map it into memory: %w", err)
	}
	return nil
}

// grow writes zeros up to the wanted size. A hole would do, until the disk is full: then writing to
// it ends the process.
func (j *journal) grow(have, want int64) error {
	var zeros [1 << 16]byte
	for at := have; at < want; {
		n, err := j.file.WriteAt(zeros[:min(want-at, int64(len(zeros)))], at)
		if err != nil {
			return errors.Join(err, j.file.Truncate(have))
		}
		at += int64(n)
	}
	return nil
}

// close lets others have the journal. Its bytes are gone then.
func (j *journal) close() error {
	if j == nil {
		return nil
	}
	err := unix.Munmap(j.bytes)
	j.bytes = nil
	return errors.Join(err, j.file.Close())
}
