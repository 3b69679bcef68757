package client

import (
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/replay"
)

// recordMatch returns a recording of a match of two idle players, of the given number of ticks.
func recordMatch(t *testing.T, ticks int) (*sim.Match, []byte) {
	t.Helper()
	a, err := arena.Open("arena-16")
	if err != nil {
		t.Fatal(err)
	}
	m := sim.New(8, sim.Rules{Seed: 9}, a)
	m.Step()
	h := replay.HeadOf(m, "arena-16", 30)
	rec, err := replay.NewRecorder(m, 30, 1)
	if err != nil {
		t.Fatal(err)
	}
	m.Join()
	m.JoinAsHero(1)
	file := h.Append(nil)
	for range ticks {
		m.Step()
		if c := rec.Tick(); c != nil {
			file = (*replay.Packer)(nil).Append(file, c.Encode())
		}
	}
	return m, file
}

// Any bytes as a killcam are played or refused, and the client is unaffected.
func TestHostileKillcams(t *testing.T) {
	m, good := recordMatch(t, 90)
	game, ground := m.Rules().Game, m.Scene().Arena
	k, err := newKillcam(good, game, ground, 8)
	if err != nil || k.From != 2 || k.To != 91 {
		t.Fatalf("%+v, %v", k, err)
	}
	for err == nil {
		err = k.Step()
	}
	if err != io.EOF || k.Match().Hash() != m.Hash() || k.Compared() != 2 {
		t.Fatalf("%v, %d compared", err, k.Compared())
	}
	if _, err := newKillcam(good, game, ground, 16); err == nil ||
		!strings.Contains(err.Error(), "of 8 players, the match has 16") {
		t.Error(err)
	}
	other := *game
	other.HeadScale++
	if _, err := newKillcam(good, &other, ground, 8); !errors.Is(err, replay.ErrRules) {
		t.Error(err)
	}
	head := 11 + int(binary.LittleEndian.Uint16(good[5:]))
	if _, err := newKillcam(good[:head], game, ground, 8); err == nil {
		t.Error("nothing is a killcam")
	}
	many := slices.Clone(good[:head])
	for range maxCamChunks + 1 {
		many = append(many, good[head:]...)
	}
	if _, err := newKillcam(many, game, ground, 8); err == nil ||
		!strings.Contains(err.Error(), "more than 16 chunks") {
		t.Error(err)
	}
	for n := 0; n < len(good); n += 1 + len(good)/100 {
		bad := slices.Clone(good)
		bad[n] ^= 0x55
		if k, err := newKillcam(bad, game, ground, 8); err == nil {
			t.Fatalf("byte %d is another, and it is a killcam: %+v", n, k)
		}
	}
	big := slices.Clone(good)
	copy(big[head+19:], []byte{0, 0, 0, 4}) // 64 MB of log are said to come
	if _, err := newKillcam(big, game, ground, 8); err == nil ||
		!strings.Contains(err.Error(), "expected at most 16777216 of all chunks") {
		t.Error(err)
	}
}

// A killcam without a request is refused, and so is a malformed one.
func TestKillcamNotAskedFor(t *testing.T) {
	c := &Client{}
	three := []byte{1, 2, 3}
	if err := c.killcam.take(&protocol.ContentTransfer{Content: protocol.ContentKillcam,
		Size: 3, Compressed: three}); err != packet.DropFragment {
		t.Error(err)
	}
	c.killcam.wanted = true
	for _, p := range []protocol.ContentTransfer{{Size: 4, Compressed: three},
		{Compression: 1, Size: 3, Compressed: three}} {
		if err := c.killcam.take(&p); err != packet.DropFragment {
			t.Error(err)
		}
	}
	if k, err := c.Killcam(); k != nil || err != nil {
		t.Error(k, err)
	}
	if err := c.killcam.take(&protocol.ContentTransfer{Size: 3, Compressed: three}); err != nil {
		t.Error(err)
	}
	if k, err := c.Killcam(); k != nil || !errors.Is(err, ErrKillcam) {
		t.Error(k, err)
	}
	if k, err := c.Killcam(); k != nil || err != nil {
		t.Error("shown twice:", k, err)
	}
}
