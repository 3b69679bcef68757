package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/tickrate/tickrate/netio/netcode"
)

const (
	wellKnownKey = "606abe6ec91910ea9a6562f66f2b30e44371d62cd199272" + "66b3c60f4b715aba1"
	secretKey    = "c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00"
)

// keyless returns a command whose environment has no key but that in more.
func keyless(t testing.TB, more []string, args ...string) *exec.Cmd {
	t.Helper()
	c := command(t, args...)
	c.Env = append(c.Env, keyVariable+"=")
	c.Env = append(c.Env, more...)
	return c
}

// ended runs a command to its end.
func ended(t *testing.T, c *exec.Cmd) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	c.Stdout, c.Stderr = &o, &e
	if err := c.Run(); err != nil && c.ProcessState == nil {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), o.String(), e.String()
}

// Row 38: the well-known key and malformed keys are refused in one line that names the source and
// quotes nothing of the key.
func TestThreat38Keys(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	zeros := strings.Repeat("0", 64)
	for i, c := range []struct {
		args []string
		env  string
		want []string
	}{
		0: {[]string{"--private-key-hex", wellKnownKey}, "",
			[]string{"--private-key-hex", "refusing the well-known test key"}},
		1: {[]string{"--private-key-hex", zeros}, "",
			[]string{"--private-key-hex", "refusing the well-known test key"}},
		2: {nil, wellKnownKey, []string{keyVariable, "refusing the well-known test key"}},
		3: {nil, strings.ToUpper(wellKnownKey), []string{keyVariable, "refusing the well-known test key"}},
		4: {[]string{"--key-file", file("known", wellKnownKey+"\n")}, "",
			[]string{"known", "refusing the well-known test key"}},
		5: {[]string{"--key-file", file("zeros", zeros)}, "",
			[]string{"zeros", "refusing the well-known test key"}},
		6: {[]string{"--private-key-hex", "x" + secretKey[1:]}, "",
			[]string{"--private-key-hex", "64 hexadecimal digits"}},
		7: {[]string{"--private-key-hex", ""}, "", []string{"--private-key-hex", "64 hexadecimal digits"}},
		8: {nil, secretKey + "0", []string{keyVariable, "64 hexadecimal digits"}},
		9: {[]string{"--key-file", file("short", secretKey[1:])}, "",
			[]string{"short", "64 hexadecimal digits"}},
		10: {[]string{"--key-file", file("long", strings.Repeat(secretKey, 100))},
			"", []string{"long", "64 hexadecimal digits"}},
		11: {[]string{"--key-file", file("empty", "")}, "", []string{"empty", "64 hexadecimal digits"}},
		12: {[]string{"--key-file", dir}, "", []string{dir}},
		13: {[]string{"--key-file", file("good", secretKey), "--private-key-hex", secretKey},
			"", []string{"--key-file", "--private-key-hex", "one of them"}},
	} {
		for _, cmd := range [][]string{{"serve", "--listen", "127.0.0.1:0", "--http="},
			{"serve", "--echo", "--listen", "127.0.0.1:0", "--http="}, {"token"}} {
			code, out, errs :=
				ended(t, keyless(t, []string{keyVariable + "=" + c.env}, append(cmd, c.args...)...))
			line := strings.TrimSuffix(errs, "\n")
			if code != 2 || out != "" || strings.Contains(line, "\n") {
				t.Errorf("%d %v: code %d, %q, %q", i, cmd, code, out, errs)
			}
			for _, want := range c.want {
				if !strings.Contains(line, want) {
					t.Errorf("%d %v: %q without %q", i, cmd, line, want)
				}
			}
			for _, key := range []string{wellKnownKey, secretKey, strings.ToUpper(wellKnownKey), zeros} {
				if strings.Contains(line, key[8:24]) {
					t.Errorf("%d %v: %q quotes the key", i, cmd, line)
				}
			}
		}
	}
	for i, args := range [][]string{{"--private-key-hex", wellKnownKey}, {"--private-key-hex", zeros}} {
		if code, out, errs := ended(t, keyless(t, nil,
			append([]string{"token", "--insecure-test-key"}, args...)...)); code != 0 || out == "" {
			t.Errorf("%d: --insecure-test-key: code %d, %s", i, code, errs)
		}
	}
}

// Row 38: neither output nor HTTP responses of a running server contain the key.
func TestThreat38NeverShown(t *testing.T) {
	if testing.Short() {
		t.Skip("a process and its sockets")
	}
	for _, kind := range []string{"--echo=true", "--echo=false"} {
		for i, source := range [][]string{{"--private-key-hex", secretKey}, nil} {
			more := []string{}
			if source == nil {
				more = []string{keyVariable + "=" + secretKey}
			}
			cmd := keyless(t, more, append([]string{"serve", kind, "--listen",
				"127.0.0.1:0", "--http", "127.0.0.1:0"}, source...)...)
			said, line := started(t, cmd, httpAddress)
			all := line
			at := httpAddress.FindString(line)
			for _, path := range []string{"/stats", "/v1/connect", "/debug/pprof/",
				"/debug/pprof/cmdline", "/debug/pprof/goroutine?debug=2", "/nothing"} {
				resp, err := http.Get(at + path)
				if err != nil {
					t.Fatal(err)
				}
				body, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if err != nil {
					t.Fatal(err)
				}
				all += string(body)
			}
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("%s %d: %v", kind, i, err)
			}
			all += said.String()
			raw := bytes.Repeat([]byte{0xc0, 0xff, 0xee, 0x00}, 2)
			if strings.Contains(all, secretKey[:16]) || strings.Contains(all, string(raw)) ||
				strings.Contains(all, base64.StdEncoding.EncodeToString(raw)[:8]) {
				t.Errorf("%s %d: the key is in what it shows:\n%s", kind, i, all)
			}
		}
	}
}

// httpAddress is the scheme, host and port in what serve prints.
var httpAddress = regexp.MustCompile(`http://[^/\s]+`)

// started starts a command and reads whole lines of what it prints, until they match.
func started(t *testing.T, cmd *exec.Cmd, until *regexp.Regexp) (errs *bytes.Buffer, lines string) {
	t.Helper()
	errs = &bytes.Buffer{}
	cmd.Stderr = errs
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for r := bufio.NewReader(stdout); !until.MatchString(lines); {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("%v: %s", err, errs)
		}
		lines += line
	}
	return errs, lines
}

// The first run makes a key file for its owner alone and says so; the second run uses it. A key
// file that others can read is warned of.
func TestKeyFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.key")
	var say bytes.Buffer
	k := keyFlags{file: path}
	t.Setenv(keyVariable, "")
	if _, err := k.read(failWithoutKey, &say); err == nil || !strings.Contains(err.Error(), path) ||
		!strings.Contains(err.Error(), "tickrate serve makes one") {
		t.Errorf("no file: %v", err)
	}
	first, err := k.read(makeKey, &say)
	if err != nil || !strings.Contains(say.String(), "made a new private key: "+path) {
		t.Fatalf("%v, %q", err, &say)
	}
	raw, err := os.ReadFile(path)
	if err != nil || len(raw) != 65 || raw[64] != '\n' {
		t.Fatalf("%d bytes, %v", len(raw), err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%v, %v: more than the key is left", left, err)
	}
	say.Reset()
	if again, err := k.read(makeKey, &say); err != nil || again != first || say.Len() != 0 {
		t.Errorf("the second run: %v, %q, the same key: %v", err, &say, again == first)
	}
	if err := makeKeyFile(path, &say); err != nil || say.Len() != 0 { // somebody else was faster
		t.Errorf("%v, %q", err, &say)
	}
	if again, err := k.read(makeKey, &say); err != nil || again != first {
		t.Errorf("the key was overwritten: %v", err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := k.read(makeKey, &say); err != nil || !strings.Contains(say.String(), "chmod 600 "+path) ||
		strings.Count(say.String(), "\n") != 1 {
		t.Errorf("%v, %q", err, &say)
	}
	other := keyFlags{file: filepath.Join(dir, "b.key")}
	if second, err := other.read(makeKey, io.Discard); err != nil || second == first {
		t.Errorf("two keys are one, or %v", err)
	}
	if _, err := (&keyFlags{file: filepath.Join(dir, "no", "c.key")}).read(makeKey, io.Discard); err == nil ||
		!strings.Contains(err.Error(), filepath.Join(dir, "no")) {
		t.Errorf("no folder: %v", err)
	}
}

// The flag comes before the environment, and that before the file.
func TestKeyPrecedence(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	digits := func(d string) string { return strings.Repeat(d, 64) }
	if err := os.WriteFile(path, []byte(digits("3")+"\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		flag, env string
		fileSet   bool
		want      byte
		said      string
	}{{digits("1"), digits("2"), false, 0x11, ""}, {"", digits("2"), false, 0x22, ""},
		{"", digits("2"), true, 0x22, "is not read"}, {"", "", true, 0x33, ""}, {"", "", false, 0x33, ""}} {
		t.Setenv(keyVariable, c.env)
		var say bytes.Buffer
		k := keyFlags{file: path, hex: c.flag, hexSet: c.flag != "", fileSet: c.fileSet}
		key, err := k.read(failWithoutKey, &say)
		if err != nil || key != (netcode.Key(bytes.Repeat([]byte{c.want}, netcode.KeySize))) ||
			(c.said == "") != (say.Len() == 0) || !strings.Contains(say.String(), c.said) {
			t.Errorf("%d: key of 0x%x, %v, %q", i, key[0], err, &say)
		}
	}
}

// A fleet key that others can read is warned of, in a server's log at level WARN.
func TestFleetKeyModeIsWarnedOf(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fleet.key")
	for mode, want := range map[os.FileMode]string{0o600: "", 0o640: "level=WARN", 0o602: "level=WARN"} {
		if err := os.WriteFile(path, []byte(secretKey), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		_, err := readFleetKey(path, warningWriter{slog.New(slog.NewTextHandler(&out, nil))})
		if text := out.String(); err != nil || (text == "") != (want == "") || !strings.Contains(text, want) ||
			want != "" && !strings.Contains(text, "fleet key; chmod 600 "+path) {
			t.Errorf("mode %o: %v, log %q", mode, err, text)
		}
	}
}
