package console

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"pgregory.net/rapid"
)

var operator = Caller{Name: "stdin", Rank: Operator}

// disk is a directory in memory.
type disk struct{ fstest.MapFS }

func (d disk) write(name string, text []byte) error {
	d.MapFS[name] = &fstest.MapFile{Data: bytes.Clone(text)}
	return nil
}

func (d disk) put(name string, lines ...string) {
	_ = d.write(name, []byte(strings.Join(lines, "\n")))
}

// newConsole returns a console with a variable of every kind, and a command that prints its
// arguments.
func newConsole() (*Console, disk) {
	d := disk{fstest.MapFS{}}
	c := New(Config{Files: d, Write: d.write})
	c.Add(
		NewBool(Entry{Name: "net.stats", Help: "show figures", Flags: Save}, false),
		NewInt(Entry{Name: "server.tickrate", Help: "ticks a second", Flags: Save | ServerInfo}, 60, 20, 144),
		NewFloat(Entry{Name: "net.chokesendinterval", Help: "seconds", Flags: Save | Remote}, 0.3, 0, 10),
		NewDuration(Entry{Name: "game.respawndelay", Help: "until the dead are back",
			Flags: Save | ServerInfo | Remote, Needs: Moderator}, 10*time.Second, 0, time.Minute),
		NewText(Entry{Name: "server.servername", Help: "for browsers", Flags: Save | ServerInfo | Remote},
			"a server", 32),
		NewEnum(Entry{Name: "game.modename", Help: "what is played", Flags: Save | ServerInfo},
			"assault", "deathmatch"),
		NewFloat(Entry{Name: "sim.gravity", Help: "m/s2", Flags: Cheat | ServerInfo}, 18, 0, 100),
		NewText(Entry{Name: "server.secret", Help: "not for remote eyes"}, "hush", 32),
	)
	c.AddCommand(Command{Entry{Name: "say", Help: "say it", Flags: Remote, Needs: Guest},
		"WORD...", 0, 8, func(call *Call) error {
			call.Say("%s: %s", call.Caller.Name, strings.Join(call.Args, "|"))
			return nil
		}})
	c.AddCommand(Command{Entry{Name: "quit", Help: "end the server"}, "", 0, 0, func(call *Call) error {
		call.Say("bye")
		return nil
	}})
	return c, d
}

// state returns everything that lines could change.
func state(c *Console) string {
	var b strings.Builder
	for v := range c.vars() {
		fmt.Fprintf(&b, "%s=%s %v\n", v.name, v, v.dirty)
	}
	fmt.Fprint(&b, c.Pending(), c.queue.wait)
	return b.String()
}

// Row 58: each kind is set within its range and refused outside, with the name and what was
// expected. A refused line changes nothing.
func TestRow58VariablesOfEveryKind(t *testing.T) {
	for i, c := range []struct{ line, want string }{ // want: the value after it, or the error
		0: {"net.stats 1", "net.stats true (default false)"},
		1: {"net.stats off", "net.stats false"},
		2: {"net.stats yes", `net.stats "yes": expected true or false`},
		3: {"server.tickrate 128", "server.tickrate 128 (default 60)"},
		4: {"server.tickrate 145", `server.tickrate "145": expected an integer, 20 to 144`},
		5: {"server.tickrate abc", `server.tickrate "abc": expected an integer, 20 to 144`},
		6: {"server.tickrate 99999999999999999999",
			`server.tickrate "99999999999999999999": expected an integer, 20 to 144`},
		7:  {"server.tickrate 30 40", "server.tickrate: 2 values: expected one, in quotes if it has spaces"},
		8:  {"net.chokesendinterval 1e-1", "net.chokesendinterval 0.1 (default 0.3)"},
		9:  {"net.chokesendinterval NaN", `net.chokesendinterval "NaN": expected a number, 0 to 10`},
		10: {"net.chokesendinterval inf", `net.chokesendinterval "inf": expected a number, 0 to 10`},
		11: {"net.chokesendinterval -0", "net.chokesendinterval 0 (default 0.3)"},
		12: {"game.respawndelay 2.5s", "game.respawndelay 2.5s (default 10s)"},
		13: {"game.respawndelay 3", `game.respawndelay "3": expected a time, 0s to 1m0s`},
		14: {"game.respawndelay 2m", `game.respawndelay "2m": expected a time, 0s to 1m0s`},
		15: {`server.servername "my \"own\" \\ server"`,
			`server.servername "my \"own\" \\ server" (default "a server")`},
		16: {"server.servername " + strings.Repeat("x", 33), `server.servername "` +
			strings.Repeat("x", 33) + `": expected printable text of at most 32 bytes`},
		17: {"server.servername \"\"", `server.servername "" (default "a server")`},
		18: {"game.modename deathmatch", "game.modename deathmatch (default assault)"},
		19: {"game.modename tag", `game.modename "tag": expected one of assault, deathmatch`},
		20: {"sim.gravity 5", `sim.gravity "5": expected the default, 18, while cheats is false`},
		21: {"sim.gravity 18", "sim.gravity 18"},
		22: {"set server.tickrate 30", "server.tickrate 30 (default 60)"},
		23: {"set nothing 30", `"nothing": expected a variable; see vars`},
		24: {"nothing", `"nothing": expected a variable or command; see help`},
		25: {"reset quit", `reset "quit": expected a variable; see vars`},
		26: {"help nothing", `help "nothing": expected a variable or command`},
		27: {"quit now", "quit: 1 arguments: expected quit"},
		28: {"server.tickrate \x1b[2J", ErrLineText.Error()},
		29: {strings.Repeat("x", MaxLine+1), ErrLineLong.Error()},
		30: {"say " + strings.Repeat("x ", MaxWords), ErrLineWords.Error()},
		31: {`say "open`, ErrQuoteOpen.Error()},
		32: {`say a"b"`, ErrQuoteWord.Error()},
		33: {`say "a"b`, ErrQuoteWord.Error()},
		34: {`say "\n"`, ErrEscape.Error()},
		35: {"wait 0", `wait "0": expected 1 to 1000000 ticks`},
		36: {"wait forever", `wait "forever": expected 1 to 1000000 ticks`},
	} {
		con, _ := newConsole()
		before := state(con)
		_, err := con.Execute(nil, c.line, operator)
		if err != nil {
			if err.Error() != c.want {
				t.Errorf("%d: got  %v\nwant %s", i, err, c.want)
			}
			if after := state(con); after != before {
				t.Errorf("%d: a refused line changed\n%s\nto\n%s", i, before, after)
			}
			continue
		}
		name, _, _ := strings.Cut(c.want, " ")
		out, err := con.Execute(nil, name, operator)
		if err != nil || len(out) != 1 || out[0] != c.want {
			t.Errorf("%d: got  %q %v\nwant %s", i, out, err, c.want)
		}
	}
}

// Row 58: remote callers run what their rank and an entry's flags allow, and nothing else. Rank
// Nobody runs nothing.
func TestRow58RemoteNeedsPermission(t *testing.T) {
	all := []Rank{Nobody, Guest, Moderator, Admin, Operator, Operator + 1, 255}
	for i, c := range []struct {
		line string
		may  []Rank
	}{
		0:  {"quit", []Rank{Operator}},
		1:  {"say hello", []Rank{Guest, Moderator, Admin, Operator}},
		2:  {"server.tickrate", []Rank{Guest, Moderator, Admin, Operator}}, // everybody is told it anyway
		3:  {"server.tickrate 30", []Rank{Operator}},
		4:  {"set server.tickrate 30", []Rank{Operator}},
		5:  {"reset server.tickrate", []Rank{Operator}},
		6:  {"game.respawndelay 1s", []Rank{Moderator, Admin, Operator}},
		7:  {"server.servername x", []Rank{Admin, Operator}},
		8:  {"net.chokesendinterval", []Rank{Admin, Operator}},
		9:  {"server.secret", []Rank{Operator}},
		10: {"help server.secret", []Rank{Operator}},
		11: {"cheats 1", []Rank{Admin, Operator}},
		12: {"exec a.cfg", []Rank{Operator}},
		13: {"exec -s nothing.cfg", []Rank{Operator}},
		14: {"saveconfig", []Rank{Operator}},
		15: {"loadconfig a.cfg", []Rank{Operator}},
		16: {"wait 5", []Rank{Operator}},
	} {
		for _, rank := range all {
			con, d := newConsole()
			d.put("a.cfg", "server.tickrate 40")
			before, files := state(con), len(d.MapFS)
			out, err := con.Execute(nil, c.line, Caller{"eve", rank})
			if want := slices.Contains(c.may, rank); (err == nil) != want {
				t.Errorf("%d: %s by rank %d: %v", i, c.line, rank, err)
			}
			if err != nil && (state(con) != before || len(out) != 0 || len(d.MapFS) != files) {
				t.Errorf("%d: %s was refused rank %d and did something", i, c.line, rank)
			}
		}
	}
	con, _ := newConsole()
	out, err := con.Execute(nil, "vars", Caller{"eve", Guest})
	if text := strings.Join(out, "\n"); err != nil || strings.Contains(text, "hush") ||
		!strings.Contains(text, "server.tickrate 60") || strings.Contains(text, "choke") {
		t.Errorf("a guest's list: %v\n%s", err, text)
	}
	if _, words := con.Complete("", Caller{"eve", Guest}); slices.Contains(words, "quit") ||
		slices.Contains(words, "server.secret") {
		t.Errorf("a guest is offered %v", words)
	}
}

// Row 58: saveconfig writes the variables that are saved and changed, and loadconfig takes all of a
// file or nothing.
func TestRow58ConfigIsSavedAndLoaded(t *testing.T) {
	con, d := newConsole()
	for _, line := range []string{"cheats 1", "sim.gravity 3",
		`server.servername "a \"b\" # // c"`, "server.tickrate 30", "net.stats 1", "net.stats 0",
		"game.modename deathmatch", "server.secret x", "saveconfig my.cfg"} {
		if _, err := con.Execute(nil, line, operator); err != nil {
			t.Fatal(err)
		}
	}
	want := "// Variables that differ from their defaults. saveconfig writes this file anew.\n" +
		"game.modename deathmatch\nserver.servername \"a \\\"b\\\" # // c\"\nserver.tickrate 30\n"
	if got := string(d.MapFS["my.cfg"].Data); got != want {
		t.Errorf("wrote\n%s", got)
	}
	for range con.Dirty(Save) {
		t.Error("what was saved is still to be saved")
	}
	other, _ := newConsole()
	other.cfg.Files = d
	if _, err := other.Execute(nil, "loadconfig my.cfg", operator); err != nil {
		t.Fatal(err)
	}
	if other.Var("server.servername").Text() != `a "b" # // c` ||
		other.Var("server.tickrate").Int() != 30 || other.Var("game.modename").Choice() != 1 {
		t.Errorf("read\n%s", state(other))
	}
	const notSaved = ": expected a variable that is saved, and its value; nothing was changed"
	for bad, want := range map[string]string{
		"server.tickrate 50\nserver.tickrate 500": `line 2: server.tickrate "500": expected an integer, ` +
			`20 to 144; nothing was changed`,
		"server.tickrate 50\nquit":                         `line 2: "quit"` + notSaved,
		"server.tickrate 50\nserver.secret x":              `line 2: "server.secret"` + notSaved,
		"server.tickrate 50\n\"":                           "line 2: " + ErrQuoteOpen.Error(),
		"server.tickrate 50\n\xff":                         "line 2: " + ErrLineText.Error(),
		strings.Repeat("server.tickrate 50\n", MaxFile/10): "file too long: expected at most 65536 bytes",
	} {
		d.put("bad.cfg", bad)
		before := state(other)
		if _, err := other.Execute(nil, "loadconfig bad.cfg", operator); err == nil ||
			err.Error() != `loadconfig "bad.cfg": `+want || state(other) != before {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for _, name := range []string{"../x.cfg", "/x.cfg", "a/x.cfg", "x.key", ".", ""} {
		if _, err := con.Execute(nil, "saveconfig "+Quote(name), operator); err == nil {
			t.Errorf("wrote to %q", name)
		}
	}
	con.cfg.Write = func(string, []byte) error { return errors.New("disk full") }
	if _, err := con.Execute(nil, "server.tickrate 31", operator); err != nil {
		t.Fatal(err)
	}
	if _, err := con.Execute(nil, "saveconfig", operator); err == nil ||
		err.Error() != `saveconfig "user.cfg": disk full` {
		t.Error(err)
	}
	for range con.Dirty(Save) {
		return
	}
	t.Error("what was not written counts as saved")
}

// Row 58: files run line by line. A wait lets ticks pass, and errors name file and line.
func TestRow58ExecFiles(t *testing.T) {
	con, d := newConsole()
	d.put("boot.cfg", "// comment", "say 1", "", "exec inner.cfg", "wait 2",
		"say 4", "nothing", "say 5 # end")
	d.put("inner.cfg", "say 2\r", "say 3")
	if _, err := con.Execute(nil, "exec boot.cfg", operator); err != nil {
		t.Fatal(err)
	}
	var got [][]string
	for range 4 {
		got = append(got, con.Step(nil))
	}
	want := [][]string{{"stdin: 1", "stdin: 2", "stdin: 3"}, nil,
		{"stdin: 4", `boot.cfg:7: "nothing": expected a variable or command; see help`, "stdin: 5"}, nil}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	for i, c := range []struct{ line, want string }{
		0: {"exec -s missing.cfg", ""},
		1: {"exec missing.cfg", `exec "missing.cfg": file does not exist`},
		2: {"exec -x boot.cfg", `exec "-x": expected -s, or one file`},
		3: {"exec ../secret", `exec "../secret": expected a path within the configuration's directory`},
		4: {"exec -s /etc/passwd",
			`exec "/etc/passwd": expected a path within the configuration's directory`},
		5: {"exec long.cfg", `exec "long.cfg": 129 lines would wait: expected at most 128`},
		6: {"exec bad.cfg", `exec "bad.cfg": line 2: ` + ErrQuoteOpen.Error()},
	} {
		d.put("long.cfg", strings.Repeat("say x\n", 129))
		d.put("bad.cfg", "say x", `say "x`)
		_, err := con.Execute(nil, c.line, operator)
		if (err == nil) != (c.want == "") || err != nil && err.Error() != c.want || con.Pending() != 0 {
			t.Errorf("%d: %v, %d pending, want %s", i, err, con.Pending(), c.want)
		}
	}
}

// Files that run one another end: by depth, by pending lines, and by lines run.
func TestRow58FilesThatRunThemselvesEnd(t *testing.T) {
	for _, lines := range []int{1, 2, 3, 15, 100, 128} {
		con, d := newConsole()
		d.put("a.cfg", slices.Repeat([]string{"exec b.cfg"}, lines)...)
		d.put("b.cfg", slices.Repeat([]string{"exec a.cfg"}, lines)...)
		if _, err := con.Execute(nil, "exec a.cfg", operator); err != nil {
			t.Fatal(err)
		}
		steps, most := 0, 0
		for ; con.Pending() > 0; steps++ {
			most = max(most, con.Pending())
			if out := con.Step(nil); len(out) > MaxPending+1 {
				t.Fatalf("%d lines: %d lines shown in a step", lines, len(out))
			}
			if steps > maxRun/MaxPending+1 {
				t.Fatalf("%d lines: no end", lines)
			}
		}
		if most > MaxPending {
			t.Errorf("%d lines: %d waited", lines, most)
		}
		d.put("c.cfg", "say done")
		_, err := con.Execute(nil, "exec c.cfg", operator)
		if out := con.Step(nil); err != nil || len(out) != 1 {
			t.Errorf("%d lines: afterwards %v %q", lines, err, out)
		}
	}
}

// A file that runs itself at its end is run eight times.
func TestRow58ExecDepth(t *testing.T) {
	con, d := newConsole()
	d.put("a.cfg", "say again", "exec a.cfg")
	if _, err := con.Execute(nil, "exec a.cfg", operator); err != nil {
		t.Fatal(err)
	}
	want := append(slices.Repeat([]string{"stdin: again"}, maxDepth),
		`a.cfg:2: exec "a.cfg": files that run one another: expected at most 8`)
	if out := con.Step(nil); !slices.Equal(out, want) {
		t.Errorf("%q", out)
	}
}

// Row 58: each observer of a flag gets a change once. Setting the present value is no change.
// Cheats are reset with cheats.
func TestRow58DirtyFlags(t *testing.T) {
	con, _ := newConsole()
	dirty := func(f Flags) (names string) {
		for v := range con.Dirty(f) {
			names += v.Name() + " "
		}
		return names
	}
	run := func(lines ...string) {
		t.Helper()
		for _, line := range lines {
			if _, err := con.Execute(nil, line, operator); err != nil {
				t.Fatal(err)
			}
		}
	}
	run("server.tickrate 60", "game.modename assault")
	if got := dirty(ServerInfo | Save); got != "" {
		t.Errorf("nothing was changed, but told: %s", got)
	}
	run("server.tickrate 30", "net.stats 1", "cheats on", "sim.gravity 3")
	if got := dirty(ServerInfo); got != "cheats server.tickrate sim.gravity " {
		t.Errorf("told %s", got)
	}
	if got := dirty(Save); got != "net.stats server.tickrate " {
		t.Errorf("to be saved: %s", got)
	}
	run("cheats off")
	if got := dirty(ServerInfo); got != "cheats sim.gravity " || con.Var("sim.gravity").Float() != 18 {
		t.Errorf("told %s, gravity %v", got, con.Var("sim.gravity"))
	}
	run("server.tickrate 40", "reset server.tickrate")
	if v := con.Var("server.tickrate"); v.Int() != 60 || v.Changed() {
		t.Errorf("reset to %v", v)
	}
}

func TestRow58ListsAndHelp(t *testing.T) {
	con, _ := newConsole()
	for i, c := range []struct{ line, want string }{
		0: {"vars net.", "net.chokesendinterval 0.3/net.stats false"},
		1: {"vars -c", ""},
		2: {"server.tickrate 30", ""},
		3: {"vars -c server", "server.tickrate 30 (default 60)"},
		4: {"help say", "say WORD...: say it"},
		5: {"help server.tickrate",
			"server.tickrate 30 (default 60): ticks a second/an integer, 20 to 144; save serverinfo"},
		6: {"# nothing", ""},
		7: {"  say\t\"a b\"  c // d", "stdin: a b|c"},
	} {
		out, err := con.Execute(nil, c.line, operator)
		if got := strings.Join(out, "/"); err != nil || got != c.want {
			t.Errorf("%d: %q %v, want %q", i, got, err, c.want)
		}
	}
	if out, err := con.Execute(nil, "help", operator); err != nil || len(out) != 10 {
		t.Errorf("%d commands: %q %v", len(out), out, err)
	}
	con.AddCommand(Command{Entry{Name: "chatter"}, "", 0, 0, func(call *Call) error {
		for range 5000 {
			call.Say("x")
		}
		return nil
	}})
	if out, _ := con.Execute(nil, "chatter", operator); len(out) != maxOutput+1 || out[maxOutput] != "..." {
		t.Errorf("%d lines of output", len(out))
	}
}

func TestRow58Completion(t *testing.T) {
	con, _ := newConsole()
	for i, c := range []struct {
		line, longer string
		words        int
	}{
		0: {"se", "se", 4}, // server.secret, server.servername, server.tickrate, set
		1: {"server.t", "server.tickrate ", 1},
		2: {"server.", "server.", 3},
		3: {"server.se", "server.se", 2},
		4: {"zzz", "zzz", 0},
		5: {"game.modename d", "game.modename deathmatch ", 1},
		6: {"set game.modename a", "set game.modename assault ", 1},
		7: {"set net.s", "set net.stats ", 1},
		8: {"net.stats ", "net.stats ", 2},
		9: {"help q", "help quit ", 1},
	} {
		longer, words := con.Complete(c.line, operator)
		if longer != c.longer || len(words) != c.words {
			t.Errorf("%d: %q %q, want %q and %d", i, longer, words, c.longer, c.words)
		}
	}
}

// Invalid entries are bugs and panic.
func TestBadEntriesPanic(t *testing.T) {
	for i, f := range []func(*Console){
		0: func(c *Console) { NewInt(Entry{Name: "Big"}, 0, 0, 1) },
		1: func(c *Console) { NewInt(Entry{Name: "a"}, 5, 0, 1) },
		2: func(c *Console) { NewText(Entry{Name: "a"}, "\n", 5) },
		3: func(c *Console) { NewText(Entry{Name: "a"}, "", 5000) },
		4: func(c *Console) { NewEnum(Entry{Name: "a"}) },
		5: func(c *Console) { NewBool(Entry{Name: "a", Flags: Save | Cheat}, false) },
		6: func(c *Console) { c.Add(NewBool(Entry{Name: "quit"}, false)) },
		7: func(c *Console) { c.AddCommand(Command{Entry: Entry{Name: "a"}}) },
		8: func(c *Console) { c.Var("net.stats").Int() },
		9: func(c *Console) { NewFloat(Entry{Name: "a"}, 0, 0, math.Inf(1)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%d is taken", i)
				}
			}()
			con, _ := newConsole()
			f(con)
		}()
	}
}

func TestNamesAreTheReferences(t *testing.T) {
	pattern := regexp.MustCompile(`^[a-z_+-][a-z0-9_+.-]*$`)
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringOfN(rapid.RuneFrom([]rune("az09_+-.A ß\n\x00")), 0, 6, -1).Draw(t, "name")
		if ValidName(name) != pattern.MatchString(name) {
			t.Errorf("%q", name)
		}
	})
	if ValidName(strings.Repeat("a", MaxName+1)) {
		t.Error("a long name")
	}
}

func FuzzSplit(f *testing.F) {
	for _, s := range []string{`a "b c" d`, `"\\\""`, "a\tb // c", `""`, "a#b", "\xff", "\u202e"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		words, err := Split(line)
		if err != nil {
			return
		}
		var again []string
		for _, w := range words {
			again = append(again, Quote(w))
		}
		back, err := Split(strings.Join(again, " "))
		if len(line) < MaxLine/3 && (err != nil || !slices.Equal(back, words)) {
			t.Errorf("%q became %q, %v", words, back, err)
		}
	})
}

// For any line, a guest changes nothing, and what an operator's line changes can be saved and
// loaded to the same values.
func FuzzExecute(f *testing.F) {
	for _, s := range []string{"server.tickrate 30", `server.servername "x y"`,
		"exec a.cfg", "saveconfig", "cheats 1", "set net.stats on", "vars -c", "help help", "wait 3",
		"net.chokesendinterval 1e-300", "game.respawndelay 1h"} {
		f.Add(s, uint8(Guest))
		f.Add(s, uint8(Operator))
	}
	f.Fuzz(func(t *testing.T, line string, rank uint8) {
		con, d := newConsole()
		d.put("a.cfg", "exec a.cfg", "server.tickrate 25")
		before, files := state(con), len(d.MapFS)
		_, err := con.Execute(nil, line, Caller{"x", Rank(rank)})
		if (err != nil || Rank(rank) <= Guest || Rank(rank) > Operator) &&
			(state(con) != before || len(d.MapFS) != files) {
			t.Errorf("%q by rank %d: %v, and something changed", line, rank, err)
		}
		for range 20 {
			con.Step(nil)
		}
		text := con.AppendConfig(nil)
		other, d := newConsole()
		_ = d.write("saved.cfg", text)
		if _, err := other.Execute(nil, "loadconfig saved.cfg", operator); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if again := other.AppendConfig(nil); !bytes.Equal(again, text) {
			t.Errorf("%s\nbecame\n%s", text, again)
		}
	})
}
