package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// processFlags are flags of serve about the process, which are no settings.
var processFlags = []string{"capture-from-reset", "config", "exit-on-stdin-eof", "help", "local-list", "ready"}

// serveFlags returns the flags of a fresh serve.
func serveFlags() *pflag.FlagSet {
	c := newServe()
	c.InitDefaultHelpFlag()
	return c.Flags()
}

// Every flag of serve has a key in the TOML file, and every key has a flag; there are at most 60
// settings.
func TestServeSettingsHaveFlagsAndKeys(t *testing.T) {
	fl := serveFlags()
	var keyed, keys []string
	for _, s := range settingKeys {
		if fl.Lookup(s.flag) == nil {
			t.Errorf("%s: no flag --%s", s.key, s.flag)
		}
		if strings.Count(s.key, ".") != 1 || slices.Contains(keys, s.key) || slices.Contains(keyed, s.flag) {
			t.Errorf("%s: expected TABLE.NAME, and one key for a flag", s.key)
		}
		keyed, keys = append(keyed, s.flag), append(keys, s.key)
	}
	fl.VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(keyed, f.Name) && !slices.Contains(processFlags, f.Name) {
			t.Errorf("--%s has no key", f.Name)
		}
	})
	if len(settingKeys) > 62 {
		t.Errorf("%d settings: expected at most 62", len(settingKeys))
	}
}

// The output of serve config is a file that sets the same values, with a comment above each
// setting.
func TestServeConfigRoundTrip(t *testing.T) {
	given := strings.Fields("--map town:16:7 --players 7 --rotate arena-16 --rotate arena-64=assault " +
		"--idle-warn 90s --view-distance 40.5 --prefault=false --protocol-id 0x10 --http-token secret")
	print := func(args ...string) string {
		t.Helper()
		c := newServeConfig()
		var out bytes.Buffer
		c.SetOut(&out)
		c.SetArgs(args)
		if err := c.Execute(); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	first := print(given...)
	for _, want := range []string{"[match]\n", "map = \"town:16:7\"",
		"rotate = [\"arena-16\", \"arena-64=assault\"]", "idle_warn = \"1m30s\"", "prefault = false"} {
		if !strings.Contains(first, want) {
			t.Errorf("no %s in\n%s", want, first)
		}
	}
	if strings.Contains(first, "\"secret\"") {
		t.Error("the secret is printed")
	}
	file := filepath.Join(t.TempDir(), "server.toml")
	if err := os.WriteFile(file, []byte(first), 0o600); err != nil {
		t.Fatal(err)
	}
	if again := print("--config", file); again != first {
		t.Errorf("loaded and printed again:\n%s\nwant\n%s", again, first)
	}
	if over := print("--config", file, "--players", "9"); !strings.Contains(over, "players = 9\n") ||
		!strings.Contains(over, "map = \"town:16:7\"") {
		t.Errorf("a flag over the file:\n%s", over)
	}
	lines := strings.Split(first, "\n")
	for i, line := range lines {
		if strings.Contains(line, " = ") && !strings.HasPrefix(line, "#") &&
			!strings.HasPrefix(lines[i-1], "# ") {
			t.Errorf("%s has no comment", line)
		}
	}
}

// A file with an unknown key or a wrong value is refused by an error that names the key.
func TestServeConfigErrors(t *testing.T) {
	for text, want := range map[string]string{
		"[match]\nplayer = 3\n":              `unknown key "match.player"`,
		"[mach]\nplayers = 3\n":              `unknown key "mach.players"`,
		"players = 3\n":                      `unknown key "players"`,
		"[match]\nplayers = \"many\"\n":      "match.players: ",
		"[match]\nidle_warn = \"soon\"\n":    "match.idle_warn: ",
		"[network]\npublic_addr = \"a:1\"\n": "network.public_addr: expected a list of strings",
		"[match\n":                           "--config ",
	} {
		file := filepath.Join(t.TempDir(), "server.toml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, c := range []*cobra.Command{newServe(), newServeConfig()} {
			c.SilenceErrors, c.SilenceUsage = true, true
			c.SetArgs([]string{"--config", file})
			if err := c.Execute(); err == nil || !strings.Contains(err.Error(), want) ||
				strings.Contains(err.Error(), "\n") && text != "[match\n" {
				t.Errorf("%q: %v, want %q", text, err, want)
			} else if at := fmt.Sprintf("server.toml:%d: ", strings.Count(text, "\n")); !strings.Contains(err.Error(), at) {
				t.Errorf("%q: %v, expected the line, %s", text, err, at) // of the last line
			}
		}
	}
}
