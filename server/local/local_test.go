//go:build unix

package local

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// folder returns a folder that is this user's alone.
func folder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run[1]", "tickrate")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func list(t *testing.T, dir string) List {
	t.Helper()
	l, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// An entry is listed as it was written last, until its server ends.
func TestRow61EntryIsListed(t *testing.T) {
	dir := folder(t)
	e, err := Open(dir, "7-7913")
	if err != nil {
		t.Fatal(err)
	}
	if l := list(t, dir); len(l.Servers) != 0 || l.Left != 0 || len(l.Wrong) != 0 {
		t.Errorf("an entry without content: %+v", l)
	}
	s := Server{PID: 7, Started: time.Unix(9, 0).UTC(), Updated: time.Unix(10, 0).UTC(), Name: "here", UDP: "127.0.0.1:7913",
		Lobbies: []Lobby{{ID: 1, Map: "arena-16", Mode: "deathmatch", Players: 3, Slots: 8}}}
	for _, players := range []int{3, 4} {
		s.Lobbies[0].Players = players
		if err := e.Write(s); err != nil {
			t.Fatal(err)
		}
	}
	want := s
	want.Version = Version
	if l := list(t, dir); len(l.Servers) != 1 || !reflect.DeepEqual(l.Servers[0], want) {
		t.Errorf("listed %+v, want %+v", l, want)
	}
	if _, err := Open(dir, "7-7913"); err == nil || !strings.Contains(err.Error(), "another server") {
		t.Errorf("a second entry of one name: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left over: %v", left)
	}
	if l := list(t, filepath.Join(dir, "missing")); len(l.Servers) != 0 {
		t.Errorf("a missing folder: %+v", l)
	}
}

// The entry of a process that was killed is recognised and removed, whatever process has its number
// now.
func TestEntryOfAKilledServerIsLeft(t *testing.T) {
	dir := folder(t)
	if os.Getenv("LOCAL_TEST_SERVER") != "" {
		e, err := Open(os.Getenv("LOCAL_TEST_SERVER"), "1-1")
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Write(Server{PID: os.Getppid()}); err != nil { // a process that lives on
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run", "^TestEntryOfAKilledServerIsLeft$")
	cmd.Env = append(os.Environ(), "LOCAL_TEST_SERVER="+dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); len(list(t, dir).Servers) == 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("no entry within 20 s")
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if l := list(t, dir); len(l.Servers) != 0 || l.Left != 1 {
		t.Errorf("after a kill: %+v", l)
	}
	if l := list(t, dir); l.Left != 0 {
		t.Errorf("the entry was not removed: %+v", l)
	}
}

// Entries that are no entries are told and do no harm; a folder that others may write to is refused.
func TestWrongEntries(t *testing.T) {
	dir := folder(t)
	for name, content := range map[string]string{
		"a": "{", "b": `{"version": 9}`, "c": strings.Repeat(" ", maxContent+1), "d": `{"version": 1, "lobbies": 3}`,
	} {
		e, err := Open(dir, name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { e.Close() })
		if err := os.WriteFile(filepath.Join(dir, name+contentSuffix), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "e"+lockSuffix)); err != nil {
		t.Fatal(err)
	}
	if l := list(t, dir); len(l.Servers) != 0 || len(l.Wrong) != 5 {
		t.Errorf("%+v", l)
	}
	if _, err := os.Stat("/etc/passwd"); err != nil {
		t.Error(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), "expected a folder of this user") {
		t.Errorf("a folder of everybody: %v", err)
	}
	if _, err := Open(dir, "x"); err == nil {
		t.Error("an entry in a folder of everybody")
	}
}
