//go:build linux

package main

import (
	"errors"
	"flag"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	self := "-binary=" + os.Args[0]
	p, err := parse([]string{self, "-sizes", "16,64", "-turns", "2", "-window", "4s", "-only", "DDNet", "-socket", "mmsg"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(p.sizes, []int{16, 64}) || p.turns != 2 || p.window != 4*time.Second || p.warmup != 2*time.Second || p.socket != "mmsg" {
		t.Errorf("%+v", p)
	}
	if got := labels(p.chosen()); got != "DDNet 50/25" {
		t.Errorf("-only DDNet measures %s", got)
	}
	if p, err = parse([]string{self}, io.Discard); err != nil || !slices.Equal(p.sizes, []int{16, 32, 64}) || p.turns != 3 ||
		len(p.chosen()) != len(sides) {
		t.Errorf("no flags: %+v, %v", p, err)
	}
	for _, c := range []struct{ arg, want string }{
		{"-sizes=", "expected different numbers"}, {"-sizes=1", "expected different numbers"},
		{"-sizes=16,65", "expected different numbers"}, {"-sizes=16,16", "expected different numbers"},
		{"-sizes=16;32", "expected different numbers"}, {"-turns=0", "-turns of at least 1"},
		{"-turns=x", "invalid value"}, {"-window=999ms", "-window of at least 1s"}, {"-warmup=-1s", "no negative -warmup"},
		{"-socket=tcp", "expected gnet or mmsg"}, {"-only=Doom", "DDNet 50/25, tickrate 50/25"},
		{"-binary=/no/such/file", "make build"}, {"-unknown", "not defined"}, {"64", "expected flags alone"},
	} {
		if _, err := parse([]string{self, c.arg}, io.Discard); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, expected %q in it", c.arg, err, c.want)
		}
	}
	var help strings.Builder
	if _, err := parse([]string{"-help"}, &help); !errors.Is(err, flag.ErrHelp) || !strings.Contains(help.String(), "-sizes") {
		t.Errorf("-help: %v, %q", err, help.String())
	}
}

// The table compares each peer with ours at its rates and at 60 ticks, and all use loopback alone.
func TestSides(t *testing.T) {
	p := &plan{binary: "tickrate", socket: "mmsg"}
	var tables []string
	for _, s := range sides {
		tables = append(tables, s.beside+": "+s.label())
		args := s.command(p, 4321, 16)
		line := strings.Join(args, " ")
		if !strings.Contains(line, "127.0.0.1") || !strings.Contains(line, "4321") || strings.Contains(line, "0.0.0.0 ") {
			t.Errorf("%s: %s", s.label(), line)
		}
		want := map[string][]string{
			"OpenArena": {"+set sv_fps 20", "+set vm_game 0", "+set dedicated 1 ", "+map wrackdm17"},
			"DDNet":     {"sv_register 0", "sv_map dm1", "sv_show_all_default 1", "sv_high_bandwidth 0"},
			"tickrate":  {"--players 16", "--relevance all", "--socket mmsg"},
		}[s.name]
		for _, w := range want {
			if !strings.Contains(line, w) {
				t.Errorf("%s: %s: expected %q", s.label(), line, w)
			}
		}
		if (s.client == nil) != (s.name == "tickrate") {
			t.Errorf("%s: clients of this process are of peers alone", s.label())
		}
		if s.client != nil {
			if period := s.client(1).Period(); period != time.Second/60 && period != time.Second/50 {
				t.Errorf("%s: a command every %v", s.label(), period)
			}
		} else if s.tick%s.snapshots != 0 {
			t.Errorf("%s: ticks are no multiple of snapshots", s.label())
		}
	}
	if want := []string{
		"OpenArena: OpenArena 20/20", "OpenArena: tickrate 20/20", "OpenArena: tickrate 60/20",
		"DDNet: DDNet 50/25", "DDNet: tickrate 50/25", "DDNet: tickrate 60/30",
	}; !slices.Equal(tables, want) {
		t.Errorf("%q", tables)
	}
}
