package playback

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/cmd/internal/assets"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/replay"
)

// faultAt panics in the sixth system of a tick.
func faultAt(at tick.Tick, value string) func(p *replay.Player) func(int) {
	return func(p *replay.Player) func(int) {
		return func(system int) {
			if system == 6 && p.Match.Tick() == at {
				panic(value)
			}
		}
	}
}

// writeDump plays a match of two players for 700 ticks and a part of the next, and writes what a server
// that panics then leaves. It returns the path without its ending.
func writeDump(t *testing.T) (stem string) {
	t.Helper()
	ground, err := arena.Open("arena-16")
	if err != nil {
		t.Fatal(err)
	}
	pack, err := assets.Content("")
	if err != nil {
		t.Fatal(err)
	}
	game, err := assets.Game(pack, "arena-16", "deathmatch")
	if err != nil {
		t.Fatal(err)
	}
	m := sim.New(4, sim.Rules{Seed: 5, Game: game}, ground)
	r := replay.NewFlightRecorder(m)
	if err := r.Start(m); err != nil {
		t.Fatal(err)
	}
	ids := []netid.ID{m.Join(), m.Join()}
	for n := tick.Tick(1); n <= 701; n++ {
		for _, id := range ids {
			if in := m.CommandBuffer(id); in != nil {
				in.Offer(sim.Command{Tick: n, MoveMag: 200, MoveYaw: uint8(n)})
			}
		}
		m.Begin()
		for i := range sim.Systems() {
			if n == 701 && i == 6 {
				break
			}
			m.Run(i)
		}
		if n < 701 {
			m.End()
			r.Tick()
		}
	}
	if !r.Close() {
		t.Fatal("no tick was interrupted")
	}
	stem = filepath.Join(t.TempDir(), "fault-1")
	head := replay.HeadOf(m, "arena-16", replay.MaxChunkTicks)
	data, packer := head.Append(nil), replay.NewPacker()
	for _, c := range r.Chunks() {
		data = packer.Append(data, c)
	}
	if err := os.WriteFile(stem+".tkr", data, 0o600); err != nil {
		t.Fatal(err)
	}
	text := "lobby      1\nfault      planted\nsecond line\ntick       701\n"
	if err := os.WriteFile(stem+".txt", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return stem
}

// A dump plays to the panic that its text names. Anything else is an error that says what was found.
func TestThreat32ReplayOfADump(t *testing.T) {
	stem := writeDump(t)
	for i, c := range []struct {
		path  string
		enter func(*replay.Player) func(int)
		want  string // in the error; "" for none
	}{
		{stem + ".txt", faultAt(701, "planted\nsecond line"), ""},
		{stem + ".tkr", faultAt(701, "planted\nsecond line"), ""},
		{stem, faultAt(701, "other"), `tick 701 panics with "other", in the server it was "planted"`},
		{stem, faultAt(300, "planted"), "tick 300 panics, and the server has played more ticks"},
		{stem, nil, `ticks 1 to 701 play without a panic: the fault, "planted", was between two ticks`},
		{stem + "2", nil, "text of the dump"},
	} {
		var out bytes.Buffer
		err := RunDump(t.Context(), &out, c.path, DumpOptions{JSON: true, Inputs: 3, enter: c.enter})
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%d: %v, expected %q", i, err, c.want)
			}
			continue
		}
		var got Dumped
		if err != nil || json.Unmarshal(out.Bytes(), &got) != nil {
			t.Fatalf("%d: %v, %s", i, err, out.String())
		}
		if !got.Same || got.From != 1 || got.To != 701 || got.Ticks != 701 || got.States != 1 ||
			!strings.Contains(got.Stack, "faultAt") || len(got.Inputs) != 6 ||
			!strings.HasPrefix(got.Inputs[5], "tick 701: 1.1 {Tick:701") {
			t.Errorf("%d: %+v", i, got)
		}
	}
	var out bytes.Buffer
	if err := RunDump(t.Context(), &out, stem, DumpOptions{enter: faultAt(701, "planted")}); err != nil {
		t.Fatal(err)
	}
	want := "701 ticks, 1 to 701, 1 saved states compared\ntick 701 panics again: planted\ngoroutine "
	if !strings.HasPrefix(out.String(), want) {
		t.Errorf("%s", out.String())
	}
}

// Files that are no dump are refused by name.
func TestDumpThatIsNone(t *testing.T) {
	stem := filepath.Join(t.TempDir(), "x")
	write := func(ending, text string) {
		if err := os.WriteFile(stem+ending, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(want string) {
		t.Helper()
		if err := RunDump(t.Context(), &bytes.Buffer{}, stem, DumpOptions{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %q", err, want)
		}
	}
	write(".txt", "hello")
	expect("x.txt: no dump of a lobby")
	write(".txt", "fault      boom\n")
	expect("recording: ")
	write(".tkr", "nonsense")
	expect("x.tkr: ")
}
