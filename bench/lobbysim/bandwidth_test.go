package lobbysim

import (
	"testing"

	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
)

// balanced checks that the bandwidth account equals the bytes sent, and returns it.
func balanced(t *testing.T, b *Sim) metrics.Bandwidth {
	t.Helper()
	b.Lobby.Publish()
	l := b.Lobby.Summary().Bandwidth
	sum, sampled := uint64(0), uint64(0)
	bits := map[string]uint64{}
	for i, n := range l.Sections {
		sum += n
		sampled += l.SampledSections[i]
	}
	for _, c := range l.Cells {
		bits[c.Component] += c.Bits
	}
	if s := &b.Lobby.Stats; sum != l.Bytes || l.Bytes != s.Count[metrics.BytesOut].Load() ||
		l.Datagrams != s.Count[metrics.Sent].Load() {
		t.Fatalf("tick %d: sections of %d bytes, %d datagrams of %d; %d of %d left",
			b.Lobby.Match().Tick(), sum, l.Datagrams, l.Bytes,
			s.Count[metrics.Sent].Load(), s.Count[metrics.BytesOut].Load())
	}
	if sampled != l.SampledBytes {
		t.Fatalf("tick %d: sampled sections of %d bytes of %d",
			b.Lobby.Match().Tick(), sampled, l.SampledBytes)
	}
	for i, n := range l.SampledSections {
		if name := metrics.Section(i).String(); bits[name] != 8*n {
			t.Fatalf("tick %d: cells of %s have %d bits, want %d", b.Lobby.Match().Tick(), name, bits[name],
				8*n)
		} else {
			delete(bits, name)
		}
	}
	if len(bits) != 0 {
		t.Fatalf("tick %d: cells of no section: %v", b.Lobby.Match().Tick(), bits)
	}
	return l
}

// Every bit of every datagram of whole lobbies is in the bandwidth account once, after each tick:
// with each codec, by blocks and by rows, within budgets, in a town, with players that join, leave,
// time out and rebind, and clients that fetch map and model. Sampling changes no section, and its
// cells add up to the sampled datagrams.
func TestBandwidthIsTheDatagrams(t *testing.T) {
	skipUnderRace(t)
	town := arena.Town(32, 5)
	seen := map[string]bool{}
	for _, c := range []struct {
		name string
		cfg  server.Config
		link impair.Profile
		lack bool // clients have no map of their own
		yard bool // objects of every kind
	}{
		{name: "off", cfg: server.Config{Relevance: server.RelevanceOff, ChecksumEvery: -1}},
		{name: "all", cfg: server.Config{}, link: bad},
		{name: "range", cfg: server.Config{Codec: schema.Range}, link: bad},
		{name: "stored", cfg: server.Config{Codec: schema.Stored}},
		{name: "zstd", cfg: server.Config{Codec: schema.Zstd}, link: bad},
		{name: "budget", cfg: server.Config{Kbps: 24}, link: bad},
		{name: "sampled budget", cfg: server.Config{Kbps: 24, SampleEvery: 7}, link: bad},
		{name: "town", cfg: server.Config{Arena: town, PVS: walls(t, town)}, link: bad, lack: true},
		{name: "town, range, budget", cfg: server.Config{Arena: town, PVS: walls(t, town),
			Codec: schema.Range, Kbps: 48}, link: bad},
		{name: "objects", link: bad, yard: true},
		{name: "objects, off", cfg: server.Config{Relevance: server.RelevanceOff}, yard: true},
		{name: "objects, zstd", cfg: server.Config{Codec: schema.Zstd}, link: bad, yard: true, lack: true},
		{name: "objects, huffman-zstd, budget", cfg: server.Config{Codec: schema.HuffmanZstd, Kbps: 48},
			link: bad,
			yard: true},
		{name: "objects, range, budget", cfg: server.Config{Codec: schema.Range, Kbps: 48}, link: bad,
			yard: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := c.cfg
			if c.yard {
				var err error
				if cfg.Arena, err = arena.Open("arena-16"); err != nil {
					t.Fatal(err)
				}
			}
			if cfg.Arena == nil {
				cfg.Arena = arena.Generate(32, 5)
			}
			if cfg.SampleEvery == 0 {
				cfg.SampleEvery = 1
			}
			cfg.ArenaName, cfg.Players, cfg.Rules = "test", 32, sim.Rules{Seed: 5, RespawnMillis: 1000}
			all := Config{Clients: 32, Seed: 5, Lobby: cfg, Link: c.link, Decode: client.DecodeOwn}
			if c.yard {
				all.Lobby.Rules.Game = gameWithObjects()
				all.Brain = func(n int) swarm.Brain {
					return &thrower{Brain: swarm.NewBot(9, n),
						every: 37 + 5*n}
				}
			}
			if c.lack {
				all.ChangeClient = func(_ int, cc *client.Config) { cc.Arena, cc.Fetch = client.Known, true }
			}
			b, err := New(all)
			if err != nil {
				t.Fatal(err)
			}
			b.Lobby.PackContent()
			for n := range 60 * 6 {
				if err := b.Step(); err != nil {
					t.Fatal(err)
				}
				switch i := n / 20 % 32; n % 60 {
				case 19:
					b.Leave(i)
				case 39:
					if b.Clients[i] == nil {
						if err := b.Connect(i); err != nil {
							t.Fatal(err)
						}
					}
					b.Rebind(31 - i)
				}
				balanced(t, b)
			}
			if err := b.Lobby.Close(b.Now(), &b.wire, 1); err != nil {
				t.Fatal(err)
			}
			l := balanced(t, b)
			for _, cell := range l.Cells {
				seen[cell.Component] = true
			}
			if cfg.SampleEvery == 1 && (l.Sampled != l.Datagrams || l.SampledBytes != l.Bytes) {
				t.Errorf("%d of %d datagrams sampled", l.Sampled, l.Datagrams)
			}
			if share := float64(l.Sampled) * float64(cfg.SampleEvery) / float64(l.Datagrams); share < 0.8 ||
				share > 1.2 {
				t.Errorf("%d of %d datagrams sampled, expected one in %d",
					l.Sampled, l.Datagrams, cfg.SampleEvery)
			}
			t.Logf("%d datagrams, %d bytes: %v", l.Datagrams, l.Bytes, l.Sections)
		})
	}
	for i := range metrics.NumSections {
		if name := i.String(); !seen[name] && name != "unreliable" { // a lobby sends none yet
			t.Errorf("nothing of %s was sent: nothing tested", name)
		}
	}
}

// Over a lossless link the bandwidth account of the lobby equals, cell by cell, that of its
// clients, which decode the same bytes.
func TestRow60BytesAreTheClientsAccount(t *testing.T) {
	for _, codec := range []schema.Codec{schema.Huffman, schema.Range, schema.Zstd, schema.HuffmanZstd} {
		ground, err := arena.Open("arena-16")
		if err != nil {
			t.Fatal(err)
		}
		account := client.NewMeter()
		b, err := New(Config{Clients: 16, Seed: 9, Lobby: server.Config{Arena: ground, ArenaName: "test",
			Players: 16, Codec: codec,
			SampleEvery: 1,
			Rules:       sim.Rules{Seed: 9, Mix: true, RespawnMillis: 1000, Game: gameWithObjects()}},
			Brain: func(n int) swarm.Brain { return &thrower{Brain: swarm.NewBot(9, n), every: 37 + 5*n} }})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range b.Clients {
			c.Meter = account
		}
		for range 60 * 8 {
			if err := b.Step(); err != nil {
				t.Fatal(err)
			}
		}
		for range parts { // all take what the last tick sent
			for i := range b.Clients {
				b.play(i)
			}
		}
		l := balanced(t, b)
		got, want := map[metrics.Cell]bool{}, 0
		for _, c := range l.Cells {
			got[c] = true
		}
		for _, c := range account.Cells(nil) {
			want++
			cell := metrics.Cell{Component: c.Component, Field: c.Field, Reason: c.Reason, Bits: c.Bits}
			if !got[cell] {
				t.Errorf("%v: clients account for %+v, the lobby does not", codec, cell)
			}
		}
		if want != len(got) || want < 40 || account.Bytes != l.Bytes {
			t.Errorf("%v: %d cells of %d bytes, clients %d of %d",
				codec, len(got), l.Bytes, want, account.Bytes)
		}
	}
}
