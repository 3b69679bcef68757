package sim

import (
	"bytes"
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp/rig"
)

// page reads the golden commands and events of PROTOCOL.md: a name at the margin, its bytes below
// it, indented.
func page(t *testing.T) map[string][]byte {
	t.Helper()
	text, err := os.ReadFile("../PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	all, name := map[string][]byte{}, ""
	for _, fence := range []string{"golden-commands", "golden-events"} {
		_, block, _ := strings.Cut(string(text), "```"+fence+"\n")
		block, _, found := strings.Cut(block, "```")
		if !found {
			t.Fatalf("PROTOCOL.md has no block %s", fence)
		}
		for line := range strings.Lines(block) {
			if line[0] != ' ' {
				name = strings.TrimSpace(line)
				continue
			}
			b, err := hex.DecodeString(strings.ReplaceAll(strings.TrimSpace(line), " ", ""))
			if err != nil {
				t.Fatal(err)
			}
			all[name] = append(all[name], b...)
		}
	}
	return all
}

// TestPage writes and reads what PROTOCOL.md shows.
func TestPage(t *testing.T) {
	doc := page(t)
	cmds := []Command{
		{Tick: 1000, Yaw: 0x1234, Pitch: 0x0080, MoveYaw: 0x40, MoveMag: 0xff, Buttons: Sprint},
		{Tick: 1001, Yaw: 0x1234, Pitch: 0x0080, MoveYaw: 0x40, MoveMag: 0xff, Buttons: Sprint},
		{Tick: 1002, Yaw: 0x1234, Pitch: 0x0080, MoveYaw: 0x40, MoveMag: 0xff, Buttons: Fire,
			View: tick.View{From: 990, To: 993, Frac: 0x80}},
	}
	if got, want := AppendCommands([]byte{2}, cmds), doc["commands"]; !bytes.Equal(got, want) {
		t.Errorf("commands: wrote\n%x, the page says\n%x", got, want)
	}
	if src := doc["commands"]; len(src) > 0 {
		var got [MaxWindow]Command
		n, rest, err := ParseCommands(src[1:], &got)
		if err != nil || n != 3 || len(rest) != 0 || got[0] != cmds[2] || got[1] != cmds[1] ||
			got[2] != cmds[0] {
			t.Errorf("commands: read %+v, %v", got[:n], err)
		}
	}
	events := map[string]Event{
		"hit":  {Kind: EventHit, Part: rig.PartHead, Amount: 14, Tick: 1002, Actor: 0x0201, Victim: 0x0501},
		"kill": {Kind: EventKill, Part: rig.PartHead, Amount: 7, Tick: 1002, Actor: 0x0201, Victim: 0x0501},
	}
	for name, e := range events {
		if got := e.Append(nil); !bytes.Equal(got, doc[name]) {
			t.Errorf("%s: wrote\n%x, the page says\n%x", name, got, doc[name])
		}
		if got, err := ParseEvent(doc[name]); err != nil || got != e {
			t.Errorf("%s: read %+v, %v", name, got, err)
		}
	}
	if !bytes.Equal(doc["resync"], []byte{AskResync}) {
		t.Errorf("resync: the page says %x", doc["resync"])
	}
	if got := AppendSnapshotRate(nil, 2, 200); !bytes.Equal(got, doc["pace"]) {
		t.Errorf("pace: wrote %x, the page says %x", got, doc["pace"])
	}
	if every, kbps, ok := ParseSnapshotRate(doc["pace"]); !ok || every != 2 || kbps != 200 {
		t.Errorf("pace: read %d, %d, %v", every, kbps, ok)
	}
	if got := AppendDiverged(nil, 312); !bytes.Equal(got, doc["diverged"]) {
		t.Errorf("diverged: wrote %x, the page says %x", got, doc["diverged"])
	}
	if at, ok := ParseDiverged(doc["diverged"]); !ok || at != 312 {
		t.Errorf("diverged: read %d, %v", at, ok)
	}
	if got := AppendMispredictions(nil, 7); !bytes.Equal(got, doc["missed"]) {
		t.Errorf("missed: wrote %x, the page says %x", got, doc["missed"])
	}
	if n, ok := ParseMispredictions(doc["missed"]); !ok || n != 7 {
		t.Errorf("missed: read %d, %v", n, ok)
	}
	for _, bad := range [][]byte{nil, {TagMispredictions}, {TagMispredictions, 1, 0, 0},
		{TagMispredictions, 1, 0, 0, 0, 0}, {AskHero, 1, 0, 0, 0}} {
		if _, ok := ParseMispredictions(bad); ok {
			t.Errorf("%x was taken for a count of mispredictions", bad)
		}
	}
	for _, bad := range [][]byte{nil, {AskDiverged}, {AskDiverged, 1, 0, 0}, {AskDiverged, 1, 0, 0, 0, 0},
		{AskDiverged, 0, 0, 0, 0}, {AskSnapshotRate, 1, 0, 0, 0}} {
		if _, ok := ParseDiverged(bad); ok {
			t.Errorf("%x was taken for one that tells of a divergence", bad)
		}
	}
	if got := AppendHero(nil, Robot); !bytes.Equal(got, doc["hero"]) {
		t.Errorf("hero: wrote %x, the page says %x", got, doc["hero"])
	}
	if hero, ok := ParseHero(doc["hero"]); !ok || hero != Robot {
		t.Errorf("hero: read %d, %v", hero, ok)
	}
	for _, bad := range [][]byte{nil, {AskHero}, {AskHero, 16}, {AskHero, 1, 0}, {AskResync, 1}} {
		if _, ok := ParseHero(bad); ok {
			t.Errorf("%x was taken for one that asks for a hero", bad)
		}
	}
	if len(doc) != 6+len(events) {
		t.Errorf("the page has %d examples, want %d", len(doc), 6+len(events))
	}
}
