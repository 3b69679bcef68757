package host

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/netio/netcode"
)

// Records are in the file without a Close, another process reads them, and one process at a time
// has the journal open.
func TestJournal(t *testing.T) {
	if !HasJournal {
		t.Skip("no journal on this system")
	}
	path := filepath.Join(t.TempDir(), "a.tokens")
	j, err := openJournal(path, 10)
	if err != nil {
		t.Fatal(err)
	}
	if len(j.bytes) != 10*netcode.JournalRecord || !bytes.Equal(j.bytes, make([]byte, len(j.bytes))) {
		t.Fatalf("%d bytes, or not zeros", len(j.bytes))
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 ||
		info.Size() != 10*netcode.JournalRecord {
		t.Fatalf("%v, %v", info, err)
	}
	copy(j.bytes[netcode.JournalRecord:], "used")
	if raw, err := os.ReadFile(path); err != nil ||
		!bytes.HasPrefix(raw[netcode.JournalRecord:], []byte("used")) {
		t.Errorf("%.40q, %v: what was written is not in the file", raw, err)
	}
	if other, err := openJournal(path, 10); err == nil || other != nil ||
		!strings.Contains(err.Error(), path+": another server is using it") {
		t.Errorf("a second server: %v", err)
	}
	if err := j.close(); err != nil {
		t.Fatal(err)
	}
	// it grows, and never shrinks
	for i, c := range []struct{ records, want int }{{10, 10}, {25, 25}, {5, 25}} {
		again, err := openJournal(path, c.records)
		if err != nil {
			t.Fatal(err)
		}
		if len(again.bytes) != c.want*netcode.JournalRecord ||
			!bytes.HasPrefix(again.bytes[netcode.JournalRecord:], []byte("used")) {
			t.Errorf("%d: %d bytes, %.40q", i, len(again.bytes), again.bytes)
		}
		if err := again.close(); err != nil {
			t.Error(err)
		}
	}
}

// Files that are no journals are refused and left as they are.
func TestJournalRefuses(t *testing.T) {
	if !HasJournal {
		t.Skip("no journal on this system")
	}
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte("somebody's work"), 0o600); err != nil {
		t.Fatal(err)
	}
	large := filepath.Join(dir, "large")
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, maxJournal+netcode.JournalRecord); err != nil {
		t.Fatal(err)
	}
	for i, path := range []string{text, large, dir, filepath.Join(dir, "no", "folder")} {
		j, err := openJournal(path, 10)
		if err == nil || j != nil || !strings.Contains(err.Error(), path) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%d: %v", i, err)
		}
	}
	if raw, err := os.ReadFile(text); err != nil || string(raw) != "somebody's work" {
		t.Errorf("%q, %v", raw, err)
	}
	if err := (*journal)(nil).close(); err != nil {
		t.Error(err)
	}
}

// A host holds its journal while it runs, and releases it.
func TestHostJournal(t *testing.T) {
	if !HasJournal {
		t.Skip("no journal on this system")
	}
	cfg := hostConfig("mmsg")
	cfg.Files.Journal = filepath.Join(t.TempDir(), "host.tokens")
	for range 2 {
		_, stop := running(t, cfg)
		if h, err := New(cfg); err == nil || h != nil || !strings.Contains(err.Error(), cfg.Files.Journal) {
			t.Errorf("a second host: %v", err)
		}
		stop()
	}
	if info, err := os.Stat(cfg.Files.Journal); err != nil || info.Size() != (1<<16)*netcode.JournalRecord {
		t.Errorf("%v, %v", info, err)
	}
}
