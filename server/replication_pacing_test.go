package server

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim"
)

// A small lobby keeps one frame of each interval. It stalls and plays batches of ticks, over loss,
// with clients of different snapshot rates and turns of different IDs: all snapshots decode, and
// clients show what the frames hold. Frames of ticks that are not sent replace none.
func TestSmallLobbyKeepsFramesByInterval(t *testing.T) {
	for _, interval := range []int{1, 2, 4, 7} {
		for id := range uint32(3) {
			t.Run(fmt.Sprintf("%d,%d", interval, id), func(t *testing.T) {
				playInBatches(t, Config{ID: id, SendInterval: interval, ChecksumEvery: 1})
			})
		}
	}
}

// playInBatches plays batches of 1 to MaxInterval ticks in a lobby of six clients.
func playInBatches(t *testing.T, cfg Config) {
	b := newClientLobby(t, 1, cfg)
	for _, every := range [...]int{1, 2, 3, 4, 8} {
		b.paced(every, 0)
	}
	rng := rand.New(rand.NewPCG(uint64(cfg.ID), uint64(cfg.SendInterval)))
	b.brain = func(int) client.Intent {
		return client.Intent{MoveMag: 255, Yaw: geom.Angle(rng.Uint32()), Buttons: sim.Buttons(rng.IntN(64))}
	}
	b.play(2)
	m, rows, objects := b.lobby.match, 0, 0
	for range fullOrShort(2000, 400) {
		n := 1
		if rng.IntN(3) == 0 {
			n += rng.IntN(MaxInterval)
		}
		b.now = b.lobby.cfg.Rules.Rate.At(m.Tick() + tick.Tick(n))
		if err := b.lobby.Ticks(b.now, b.unix(), b.conn, n); err != nil {
			t.Fatal(err)
		}
		b.checkBalance()
		if rng.IntN(4) == 0 {
			now := m.Tick()
			if f, o := b.lobby.Frame(now), b.lobby.ObjectFrame(now); f.Tick != now || o.Tick != now {
				t.Fatalf("frames of tick %d and %d, want %d", f.Tick, o.Tick, now)
			}
		}
		b.dropUplink = rng.IntN(8) == 0
		if rng.IntN(8) == 0 {
			for _, end := range b.endpoints {
				end.received() // lost
			}
		}
		b.exchange()
		rows += b.rowsMatch(0)
		objects += b.objectsMatch()
	}
	b.dropUplink = false
	b.play(1)
	for n, p := range b.players {
		if s := p.Stats(); s.Undecoded != 0 || s.Diverged != 0 || s.Snapshots < 20 {
			t.Errorf("client %d: %+v", n, s)
		}
	}
	if rows < 1000 || objects < 100 {
		t.Errorf("%d rows and %d objects compared", rows, objects)
	}
}
