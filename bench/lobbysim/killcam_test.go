package lobbysim

import (
	"io"
	"slices"
	"testing"
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/effect"
	"github.com/tickrate/tickrate/sim/replay"
)

// killcams says whether clients ask for killcams.
type killcams bool

const (
	withKillcams    killcams = true
	withoutKillcams killcams = false
)

// newKillcamLobby makes a lobby in which players die often.
func newKillcamLobby(t testing.TB, players int, lobby server.Config, link impair.Profile,
	cams killcams) *Sim {
	t.Helper()
	a, err := arena.Open("arena-16")
	if err != nil {
		t.Fatal(err)
	}
	game := sim.DefaultGame()
	game.Mode.PrematchMillis = 2000
	lobby.Arena, lobby.ArenaName, lobby.Players = a, "arena-16", players
	lobby.Rules = sim.Rules{Seed: 3, Mix: true, RespawnMillis: 2000, Game: game}
	b, err := New(Config{Clients: players, Seed: 3, Lobby: lobby, Link: link,
		ChangeClient: func(_ int, cfg *client.Config) { cfg.Killcam = bool(cams) }})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// hashes plays for a number of seconds and returns the match's hash after every tick.
func hashes(t testing.TB, b *Sim, seconds int, each func()) map[tick.Tick]uint64 {
	t.Helper()
	out := map[tick.Tick]uint64{}
	for end := time.Duration(seconds) * time.Second; b.Now() < end; {
		if err := b.Step(); err != nil {
			t.Fatal(err)
		}
		out[b.Lobby.Match().Tick()] = b.Lobby.Match().Hash()
		if each != nil {
			each()
		}
	}
	return out
}

// TestRow09KillcamWorld is row 9 of docs/features.md, and row 76's killcam: a killed
// player gets the last eight to twelve seconds over a lossy link and plays them in a second world.
// Its state equals the recorded one after every tick, while the live match goes on.
func TestRow09KillcamWorld(t *testing.T) {
	b := newKillcamLobby(t, 16, server.Config{}, impair.Profile{Loss: 0.02, Delay: 25 * time.Millisecond,
		Jitter: 8 * time.Millisecond}, withKillcams)
	type shown struct {
		k  *client.Killcam
		at map[tick.Tick]uint64
	}
	var all []shown
	long := 0
	live := hashes(t, b, 45, func() {
		for _, c := range b.Clients {
			k, err := c.Killcam()
			if err != nil {
				t.Fatal(err)
			}
			if k != nil && (len(all) < 6 || long < 3 && k.To-k.From >= 8*60) {
				all = append(all, shown{k, map[tick.Tick]uint64{}})
				if k.To-k.From >= 8*60 {
					long++
				}
			}
		}
		for _, s := range all { // both worlds go on side by side
			if s.k.Step() == nil {
				s.at[s.k.Match().Tick()] = s.k.Match().Hash()
			}
		}
	})
	if len(all) < 6 || long < 3 {
		t.Fatalf("%d killcams, %d of eight seconds and more", len(all), long)
	}
	for i, s := range all {
		err := error(nil)
		for err == nil {
			if err = s.k.Step(); err == nil {
				s.at[s.k.Match().Tick()] = s.k.Match().Hash()
			}
		}
		if n := int(s.k.To - s.k.From + 1); err != io.EOF || len(s.at) != n || n > 12*60 ||
			s.k.Compared() < n/replay.ChecksumEvery*2/3 {
			t.Fatalf("killcam %d, ticks %d to %d: %d played, %d fingerprints: %v",
				i, s.k.From, s.k.To, len(s.at), s.k.Compared(), err)
		}
		for at, hash := range s.at {
			if live[at] != hash {
				t.Fatalf("killcam %d: tick %d is another than it was live", i, at)
			}
		}
	}
	c := &b.Lobby.Stats.Count
	t.Logf("%d killcams begun, %d bytes of them", c[metrics.Killcams].Load(), c[metrics.ContentBytes].Load())
}

// TestRow76KillcamsShowEffects: a killcam presents the effects of the moment that it replays: in each
// tick those that the live match had, shots and steps as well as impacts, explosions and damage.
func TestRow76KillcamsShowEffects(t *testing.T) {
	b := newKillcamLobby(t, 16, server.Config{}, impair.Profile{Loss: 0.02, Delay: 25 * time.Millisecond},
		withKillcams)
	tracker := effect.NewMatchTracker(b.Lobby.Match())
	live := map[tick.Tick][]effect.Effect{}
	var cams []*client.Killcam
	hashes(t, b, 30, func() {
		live[b.Lobby.Match().Tick()] = tracker.Append(nil, b.Lobby.Match())
		for _, c := range b.Clients {
			if k, err := c.Killcam(); err != nil {
				t.Fatal(err)
			} else if k != nil {
				cams = append(cams, k)
			}
		}
	})
	var kinds [effect.Kinds]int
	deaths := 0 // killcams with one
	for i, k := range cams {
		dies := false
		for err := k.Step(); err != io.EOF; err = k.Step() {
			if err != nil {
				t.Fatal(err)
			}
			at := k.Match().Tick()
			if at == k.From && len(k.Effects) == 0 {
				continue
			}
			if !slices.Equal(k.Effects, live[at]) {
				t.Fatalf("killcam %d: tick %d: effects %+v, the match had %+v", i, at, k.Effects, live[at])
			}
			for _, e := range k.Effects {
				kinds[e.Kind]++
				dies = dies || e.Kind == effect.Death
			}
		}
		if dies {
			deaths++
		}
	}
	for _, kind := range []effect.Kind{effect.Shot, effect.Footstep, effect.Impact, effect.Explosion,
		effect.Damage, effect.Death} {
		if kinds[kind] < 10 {
			t.Errorf("%d effects of kind %v", kinds[kind], kind)
		}
	}
	if len(cams) < 6 || deaths < len(cams) {
		t.Errorf("%d killcams, %d of them show a death", len(cams), deaths)
	}
}

// TestRow76KillcamsChangeNothing: recorded or not, with killcams or without, the lobby plays the
// very same match; and what it recorded is that match.
func TestRow76KillcamsChangeNothing(t *testing.T) {
	var files [][]byte
	plain := hashes(t, newKillcamLobby(t, 8, server.Config{}, impair.Profile{}, withoutKillcams), 40, nil)
	b := newKillcamLobby(t, 8, server.Config{Record: recordInto(&files)}, impair.Profile{}, withoutKillcams)
	recorded := hashes(t, b, 40, nil)
	b.Lobby.FinishRecording()
	shown := hashes(t, newKillcamLobby(t, 8, server.Config{}, impair.Profile{}, withKillcams), 40, nil)
	for at, hash := range plain {
		if recorded[at] != hash || shown[at] != hash {
			t.Fatalf("tick %d is another match: recorded %v, with killcams %v",
				at, recorded[at] != hash, shown[at] != hash)
		}
	}
	var ticks []tick.Tick
	playFile(t, b, files[0], func(p *replay.Player) {
		if p.Match.Hash() != plain[p.Match.Tick()] {
			t.Fatalf("tick %d was recorded as another", p.Match.Tick())
		}
		ticks = append(ticks, p.Match.Tick())
	})
	if n := int(b.Lobby.Match().Tick()); len(files) != 1 || !slices.IsSorted(ticks) || len(ticks) != n {
		t.Errorf("%d ticks of %d in %d files", len(ticks), n, len(files))
	}
}

// A server that gives no killcams records nothing for them.
func TestKillcamOff(t *testing.T) {
	b := newKillcamLobby(t, 8, server.Config{Killcam: server.KillcamOff}, impair.Profile{}, withKillcams)
	hashes(t, b, 20, nil)
	c := &b.Lobby.Stats.Count
	if c[metrics.Killcams].Load() != 0 || c[metrics.Kills].Load() == 0 ||
		c[metrics.ContentRefused].Load() != 8 {
		t.Errorf("%d killcams, %d kills, %d refused", c[metrics.Killcams].Load(), c[metrics.Kills].Load(),
			c[metrics.ContentRefused].Load())
	}
}
