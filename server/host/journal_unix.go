//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package host

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/tickrate/tickrate/netio/netcode"
)

// HasJournal reports whether this system can keep a journal of used tokens.
const HasJournal = true

// journal is a file of records, mapped into memory. Writes survive the end of the process, however
// sudden, and are lost only with the machine.
type journal struct {
	bytes []byte // netcode.JournalRecord bytes a record; a record of zeros is free
	file  *os.File
}

// openJournal opens and locks a journal of at least the given number of records. It makes a missing
// file, readable by its owner alone.
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

// grow writes zeros up to the wanted size. A sparse file would end the process by a write fault
// once the disk is full.
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

// close unmaps and unlocks the journal.
func (j *journal) close() error {
	if j == nil {
		return nil
	}
	err := unix.Munmap(j.bytes)
	j.bytes = nil
	return errors.Join(err, j.file.Close())
}
