package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A swarm that is refused says why in words at once: by the HTTP port, by the host, and by a host
// without a free slot.
func TestSwarmSaysWhyRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("processes")
	}
	cmd, r := readyServer(t, keyless(t, nil, "serve", "--ready", "--lobbies", "2", "--players", "1",
		"--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--private-key-hex", secretKey,
		"--journal", filepath.Join(t.TempDir(), "a.tokens")))
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed
	}()
	for _, c := range []struct{ args, want string }{
		{"--lobby 9 --http " + r.HTTP, "no such lobby"},
		{"--players 1 --lobby 9 --private-key-hex " + secretKey + " --server " + r.UDP, "lobby does not exist any more"},
		{"--lobby 1 --players 2 --http " + r.HTTP, "was refused: client: the server ended the session: server full or closing"},
		{"--players 3 --http " + r.HTTP, "server full or closing"},
	} {
		watch := startWatch()
		code, _, errs := result(t, append([]string{"swarm", "--duration", "1s", "--warmup", "0s"},
			strings.Fields(c.args)...)...)
		if took := watch.took(); code != 1 && code != exitVoid || !strings.Contains(errs, c.want) || took > 5*time.Second {
			t.Errorf("%s: code %d after %v, %q", c.args, code, took, errs)
		}
	}
}
