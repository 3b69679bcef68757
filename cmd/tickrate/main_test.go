package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tickrate/tickrate/cmd/internal/serverapi"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/netstate"
)

// takenPorts returns two ports that are in use until the test ends.
func takenPorts(t *testing.T) (udp net.PacketConn, tcp net.Listener) {
	t.Helper()
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	tcp, err = net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { udp.Close(); tcp.Close() })
	return udp, tcp
}

// asCommand makes this test binary the command itself, so that exit codes, signals and the server
// process that plan starts are the real ones.
const asCommand = "TICKRATE_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) == "1" {
		os.Exit(run(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// testKey is the private key of all commands of these tests.
var testKey = strings.Repeat("0123456789abcdef", 4)

// command returns tickrate with these arguments and the test key, in a folder of its own; it is
// killed with the test.
func command(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), self, args...)
	c.Env = append(os.Environ(), asCommand+"=1", keyVariable+"="+testKey, serverapi.TokenVariable+"=")
	c.Dir = t.TempDir()
	c.WaitDelay = 5 * time.Second
	return c
}

// result runs a command to its end.
func result(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	c := command(t, args...)
	var o, e bytes.Buffer
	c.Stdout, c.Stderr = &o, &e
	if err := c.Run(); err != nil && c.ProcessState == nil {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), o.String(), e.String()
}

// Errors are one line that names the cause. Exit code 2 is a wrong command line, and 1 a failure.
func TestExitCodes(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	damaged := netstate.Trained().Append(nil)
	damaged[100] ^= 1
	udp, tcp := takenPorts(t)
	var (
		badMap   = file("bad.json", []byte(`{"format": "tickrate arena", "boxes": [[`))
		badModel = file("bad.tkm", damaged)
		badTrace = file("bad.csv", []byte("x,y\n1"))
		badZip   = file("bad.csv.gz", []byte("no gzip"))
		noBench  = file("bench.txt", []byte("nothing here\n"))
		missing  = filepath.Join(dir, "missing")
	)
	for i, c := range []struct {
		args string
		code int
		want string
	}{
		0:  {"--nonsense", 2, "--nonsense"},
		1:  {"nonsense", 2, `unknown command "nonsense"; see tickrate --help`},
		96: {"sevre", 2, `unknown command "sevre"; did you mean serve?`},
		2:  {"serve --nonsense", 2, "unknown flag: --nonsense; see tickrate serve --help"},
		3:  {"serve extra", 2, `unexpected argument "extra"; see tickrate serve --help`},
		4:  {"serve --rate fast", 2, `--rate "fast": expected a whole number; see`},
		5:  {"serve --rate 19", 2, "--rate 19: expected 20 to 144"},
		6:  {"serve --rate -60", 2, "--rate -60: expected 20 to 144"},
		7:  {"serve --rate 65596", 2, "--rate 65596: expected 20 to 144"},
		8:  {"serve --players 4097", 2, "4097 players: expected 1 to 4096"},
		9:  {"serve --send-interval 99", 2, "99 ticks: expected 1 to"},
		10: {"serve --socket tcp", 2, `"tcp": expected gnet or mmsg`},
		11: {"serve --map " + missing, 2, "arena " + missing},
		12: {"serve --map " + badMap, 2, "arena " + badMap},
		13: {"serve --map gen:1:1", 2, "gen:1:1"},
		87: {"plan --mode chess", 2, "only assault, deathmatch"},
		88: {"serve --mode chess", 2, "only assault, deathmatch"},
		89: {"serve --content " + missing, 2, "content pack " + missing},
		90: {"plan --mode assault --content " + missing, 2, "content pack " + missing},
		91: {"swarm --content " + missing, 2, "content pack " + missing},
		14: {"serve --model " + missing, 2, missing},
		15: {"serve --model " + badModel, 2, badModel},
		16: {"serve --http= --listen " + udp.LocalAddr().String(), 1, udp.LocalAddr().String()},
		17: {"serve --listen 127.0.0.1:0 --http " + tcp.Addr().String(), 1, tcp.Addr().String()},
		18: {"serve --http= --listen nowhere", 1, "nowhere"},
		19: {"swarm --players 0", 2, "0 players: expected 1 to 4096"},
		20: {"swarm --rate 500", 2, "--rate 500: expected 20 to 144 Hz"},
		21: {"swarm --server nowhere", 2, "nowhere"},
		22: {"swarm --trace " + missing, 2, missing},
		23: {"swarm --trace " + badTrace, 2, badTrace},
		24: {"swarm --trace " + badZip, 2, badZip},
		25: {"swarm --model " + badModel, 2, badModel},
		26: {"plan --trace " + missing, 2, missing},
		27: {"plan --trace " + badTrace, 2, badTrace},
		28: {"plan --model " + badModel, 2, badModel},
		29: {"plan --rate 10", 2, "--rate 10: expected 20 to 144 Hz"},
		30: {"plan --start 9 --max 8", 2, "--max 8: expected at least the size to begin with"},
		31: {"plan --max 5000", 2, "--max 5000: expected at most 4096 players"},
		32: {"plan --duration 100ms", 2, "--duration 100ms: expected 0.5s to 1h"},
		33: {"plan --duration 6", 2, `--duration "6": expected a time with its unit, such as 30s or 5m`},
		34: {"plan --warmup -1s", 2, "--warmup -1s: expected 0s to 1h"},
		35: {"plan --limit -5s", 2, "--limit -5s: expected a positive duration"},
		36: {"plan --interval 61", 2, "--interval 61: expected 1 to 20 ticks"},
		37: {"plan --interval 21", 2, "--interval 21: expected 1 to 20 ticks"},
		38: {"swarm --duration NaN", 2, "NaN"},
		39: {"swarm --duration -1s", 2, "--duration -1s"},
		40: {"plan --slo nonsense", 2, "unknown name nonsense"},
		41: {"plan --socket tcp", 2, `--socket tcp: expected "gnet" or "mmsg"`},
		42: {"map check", 2, "0 arguments: expected one map"},
		43: {"map check " + badMap, 2, badMap},
		44: {"map generate", 2, "--out"},
		45: {"map generate --players 0 --out x", 2, "expected 1 to 4096 players"},
		46: {"map generate --out " + missing + "/x", 1, missing},
		47: {"codec train", 2, "--out"},
		48: {"codec train --out x --players 1", 2, "--players 1: expected 2 to 256"},
		49: {"codec train --out x --duration 0s", 2, "--duration 0s"},
		50: {"bench compare a.json", 2, "expected two files"},
		51: {"bench compare " + missing + " x", 2, missing},
		52: {"bench compare " + noBench + " x", 2, noBench + ": expected a JSON file of bench record"},
		53: {"serve --public-addr nowhere", 2, "--public-addr"},
		54: {"serve --public-addr 0.0.0.0:7913", 2,
			`--public-addr "0.0.0.0:7913": expected host:port as players dial it`},
		55: {"serve --protocol-id 0", 2, "--protocol-id"},
		56: {"serve --protocol-id 0x1_0", 2, "--protocol-id"},
		57: {"serve --token-lifetime 0s", 2, "--token-lifetime 0s: expected whole seconds from 1s to 24h"},
		58: {"serve --session-timeout 0s", 2,
			"--session-timeout 0s: expected whole seconds from 1s to 24h, or -1s"},
		59: {"serve --http-token sécret", 2, "--http-token"},
		60: {"serve --echo --players 10001", 2, "--players 10001: expected 1 to 10000"},
		61: {"serve --echo --socket tcp", 2, `"tcp": expected gnet or mmsg`},
		62: {"serve --listen 127.0.0.1:0 --http= --journal " + noBench, 1,
			noBench + ": this is not a journal"},
		63: {"serve --listen 127.0.0.1:0 --http= --journal " + missing + "/x", 1, missing},
		64: {"swarm --http nonsense:x", 2, "nonsense:x"},
		65: {"swarm --http 127.0.0.1:1", 1, "no answer at http://127.0.0.1:1; is tickrate serve running?"},
		66: {"swarm --http 127.0.0.1:1 --key-file x", 2, "--http and a private key"},
		67: {"token --server nowhere", 2, "--server"},
		68: {"token --lifetime 0", 2, "--lifetime 0s"},
		69: {"token --session-timeout 0s", 2, "--session-timeout 0s"},
		70: {"token --client-id x", 2, "--client-id"},
		71: {"token --protocol-id x", 2, "--protocol-id"},
		72: {"token --user-data-hex 123", 2, "--user-data-hex"},
		73: {"token --user-data-hex " + strings.Repeat("00", 257), 2, "--user-data-hex"},
		74: {"serve --relevance some", 2, `relevance "some": expected auto, off, all or grid`},
		75: {"serve --view-distance -1", 2, "view distance of -1 m: expected 0 to 8000"},
		76: {"plan --relevance some", 2, `--relevance some: expected "auto", "grid", "all" or "off"`},
		77: {"plan --view-distance 1e9", 2, "--view-distance 1e+09: expected 0 (no limit) to 4096 metres"},
		78: {"serve --checksum -2", 2, "checksum every -2 snapshots: expected 1 to 65536"},
		79: {"query", 2, "0 arguments: expected one address"},
		80: {"query nowhere", 2, "nowhere"},
		81: {"query 127.0.0.1:9 --timeout 2m", 2, "--timeout 2m0s: expected more than 0s, at most 1m"},
		82: {"serve --echo --query 127.0.0.1:0", 2, "--query: an echo has no query port"},
		83: {"serve --http= --listen 127.0.0.1:0 --query " + udp.LocalAddr().String(), 1, "query port"},
		84: {"plan --map city", 2, `--map city: expected "gen" or "town"`},
		85: {"serve --map town:1:1", 2, "want town:PLAYERS:SEED"},
		86: {"plan --codec lzma", 2, `--codec lzma: expected "huffman"`},
		92: {"serve --idle-kick -1s", 2, "--idle-kick -1s: expected at most 24h0m0s, or 0 for never"},
		93: {"serve --echo --console", 2, "an echo has no console"},
		94: {"serve --http= --listen 127.0.0.1:0 --exec none.cfg", 1, "none.cfg"},
		95: {"swarm --chat-every -1s", 2, "--chat-every -1s: expected 0 to 1000h0m0s"},
		99: {"serve --echo --lobbies 1:2", 2, "--lobbies: an echo makes none on demand"},
		97: {"serve --echo --lobbies 8 --players 1251", 2, "--players 1251: expected 1 to 1250"},
		98: {"swarm --lobby -2", 2, "--lobby -2: expected a number of a lobby"},

		106: {"bench record --live 200 --count 2", 2, "--live 200 --count 2: expected one round"},
		107: {"bench record --live 1", 2, "--live 1: expected 2 to 4096 players"},
		100: {"bench compare --gate cycles a b", 2, `--gate "cycles": expected all, time or instructions`},
		101: {"swarm --link nonsense", 2, `--link: impair: profile "nonsense"`},
		102: {"client --link mobile,rebind=1s", 2, "--link mobile,rebind=1s: rebind needs"},
		103: {"plan --capture-when tick>1", 2, "--capture-when: expected a folder with --capture"},
		104: {"plan --capture x --capture-when tick>p98(tick)", 2, "column 6"},
		105: {"query --local 127.0.0.1:1", 2, "unexpected argument"},
	} {
		if c.args == "" {
			t.Fatalf("%d: no case", i)
		}
		code, out, errs := result(t, strings.Fields(c.args)...)
		line := strings.TrimSuffix(errs, "\n")
		if code != c.code || !strings.HasPrefix(line, "tickrate: ") ||
			!strings.Contains(line, c.want) || strings.Contains(line, "\n") || out != "" {
			t.Errorf("%d %s: code %d, said %q and printed %q; want code %d and one line with %q",
				i, c.args, code, errs, out, c.code, c.want)
		}
	}
}

func TestHelpAndVersion(t *testing.T) {
	for i, c := range []struct{ args, want string }{
		{"", "tickrate plan --quick"}, {"--help", "tickrate plan --quick"},
		{"serve --help", "--listen"}, {"plan --help", "--duration"}, {"--version", "dev"},
		{"map", "generate"}, {"codec", "train"},
	} {
		code, out, errs := result(t, strings.Fields(c.args)...)
		if code != 0 || !strings.Contains(out, c.want) || errs != "" {
			t.Errorf("%d %q: code %d, %q, %q", i, c.args, code, out, errs)
		}
	}
}

// Files that one command writes are read by another.
func TestRow73FilesFit(t *testing.T) {
	dir := t.TempDir()
	ground, models := filepath.Join(dir, "map.json"), filepath.Join(dir, "models.tkm")
	code, made, errs := result(t, "map", "generate", "--players", "8", "--seed", "3", "--out", ground)
	if code != 0 {
		t.Fatalf("generate: %d, %s", code, errs)
	}
	if code, checked, errs := result(t, "map", "check", ground); code != 0 || !strings.HasPrefix(checked, made) {
		t.Errorf("check: %d, %q %s; generate said %q", code, checked, errs, made)
	}
	town := filepath.Join(dir, "town.json")
	code, made, errs = result(t, "map", "generate", "--town", "--players", "8", "--seed", "3", "--out", town)
	if want := fmt.Sprintf("hash %x", arena.Town(8, 3).Hash()); code != 0 || !strings.Contains(made, want) {
		t.Errorf("generate a town: %d, %q %s, want %s", code, made, errs, want)
	}
	for _, name := range append(arena.Names(), town) {
		if code, out, errs := result(t, "map", "check", name); code != 0 ||
			!strings.HasPrefix(out, name+": ") {
			t.Errorf("check %s: %d, %q, %s", name, code, out, errs)
		}
	}
	code, out, errs := result(t, "codec", "train", "--players", "4", "--duration", "1s", "--out", models)
	if code != 0 || !strings.Contains(out, models) {
		t.Fatalf("train: %d, %q, %s", code, out, errs)
	}
	first, err := os.ReadFile(models)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := netstate.ParseModels(first); err != nil {
		t.Error(err)
	}
	if code, _, errs := result(t, "codec", "train", "--players", "4", "--duration",
		"1s", "--out", models); code != 0 {
		t.Fatalf("train again: %d, %s", code, errs)
	}
	if again, err := os.ReadFile(models); err != nil || !bytes.Equal(first, again) {
		t.Errorf("the same training gave another file (%v)", err)
	}
}
