package host

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tickrate/tickrate/server/httpapi"
)

// logBuffer is a log with several writers and one reader.
type logBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// until waits for a text in the log.
func (b *logBuffer) until(t *testing.T, text string) {
	t.Helper()
	for end := time.Now().Add(waitLimit); !strings.Contains(b.String(),
		text); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("no %q in\n%s", text, b)
		}
	}
}

// post sends a line over HTTP.
func post(t *testing.T, h *Host, line string, header ...string) (status int,
	r httpapi.ConsoleReply, body string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, "http://"+h.HTTPAddr()+"/v1/console",
		strings.NewReader(line))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	defer http.DefaultClient.CloseIdleConnections()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	_ = json.Unmarshal(raw, &r) // refusals before the console are plain text
	return res.StatusCode, r, strings.TrimSpace(string(raw))
}

// Lines over HTTP run between ticks with the rank of an admin. A request from another address, or
// without the secret, runs none.
func TestConsoleOverHTTP(t *testing.T) {
	t.Parallel() // it waits
	cfg := hostConfig("mmsg")
	cfg.Name, cfg.HTTP.Secret, cfg.Query.Listen = "here", "sesame", "127.0.0.1:0"
	h, stop := running(t, cfg)
	key := []string{"Authorization", "Bearer sesame"}
	for i, c := range []struct {
		line   string
		header []string
		status int
		want   string // in the body
	}{
		0:  {"server.name", key, 200, `server.name here`},
		1:  {"server.name 'x", key, 200, `"output":[]`},
		2:  {"game.respawndelay 4s\n", key, 200, `"output":[]`},
		3:  {"game.respawndelay", key, 200, `4s (default 10s)`},
		4:  {"game.respawndelay 1ms", key, 400, `expected a time, 400ms to 1m0s`},
		5:  {"quit", key, 400, `quit: not for remote callers`},
		6:  {"exec x", key, 400, `exec: not for remote callers`},
		7:  {"nonsense", key, 400, `expected a variable or command`},
		8:  {strings.Repeat("x", 2000), key, 413, `line too long`},
		9:  {"two\nlines", key, 400, `printable`},
		10: {"server.name evil", nil, 401, `Bearer`},
		11: {"server.name evil", []string{"Authorization", "Bearer open"}, 401, `Bearer`},
		12: {"server.name evil", append([]string{"Origin", "http://evil.example"}, key...),
			403, `other sites`},
	} {
		status, _, body := post(t, h, c.line, c.header...)
		if status != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%d: %d %s, want %d and %q", i, status, body, c.status, c.want)
		}
	}
	if _, r, _ := post(t, h, "server.name", key...); len(r.Output) != 1 ||
		r.Output[0] != `server.name 'x (default here)` {
		t.Errorf("%q", r.Output)
	}
	eventually(t, "server browsers get the new name", func() bool {
		r, _ := queried(t, h.QueryAddr())
		return r.Info.Name == "'x"
	})
	stop()
}

// Lines of standard input run with all rights: files run before the first tick, are saved whole,
// and quit ends the server.
func TestConsoleIsTyped(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "start.cfg"),
		[]byte("game.respawndelay 7s // a comment\nwait 3\nnonsense\nset net.kbps 640\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	cfg, log := hostConfig("mmsg"), &logBuffer{}
	in, typing := io.Pipe()
	cfg.Console.Input, cfg.Console.Exec, cfg.Console.Dir, cfg.Log, cfg.HTTP.Listen = in,
		[]string{"start.cfg"}, dir, logTo(log), ""
	h, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- h.Run(context.Background()) }()
	write := func(line string) {
		t.Helper()
		if _, err := io.WriteString(typing, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	log.until(t, `start.cfg:3: "nonsense": expected a variable or command; see help`)
	write("vars -c")
	log.until(t, `game.respawndelay 7s (default 10s)`)
	log.until(t, `net.kbps 640 (default 0)`)
	write(strings.Repeat("x", 5000))
	log.until(t, "line too long")
	write("saveconfig")
	log.until(t, "wrote user.cfg")
	write("saveconfig ../user.cfg")
	log.until(t, "expected a name like user.cfg")
	write("reset net.kbps")
	write("loadconfig")
	log.until(t, "set 2 variables from user.cfg")
	write("exec ../../etc/passwd")
	log.until(t, "expected a path within")
	write("quit")
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(waitLimit):
		t.Fatal("still there after quit")
	}
	typing.Close()
	text, err := os.ReadFile(filepath.Join(dir, "user.cfg"))
	if err != nil || !strings.HasSuffix(string(text), "\ngame.respawndelay 7s\nnet.kbps 640\n") {
		t.Errorf("%v\n%s", err, text)
	}
	if names, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(names) != 2 {
		t.Errorf("left over: %q, %v", names, err)
	}
}

// A file that cannot be run is an error before anything starts, and nothing stays open.
func TestBadFileEndsAHost(t *testing.T) {
	for file, want := range map[string]string{"none.cfg": "no such file", "../x": "expected a path within"} {
		cfg := hostConfig("mmsg")
		cfg.Console.Exec, cfg.Console.Dir = []string{file}, t.TempDir()
		if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", file, err)
		}
	}
}
