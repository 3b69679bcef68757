package server

import (
	"testing"
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/server/overload"
)

// pacedClock is the schedule of ticks at a timescale.
type pacedClock struct {
	due, period time.Duration
	timescale   uint16
}

// next returns the time of the next tick.
func (c *pacedClock) next() time.Duration {
	c.due += c.period * protocol.FullTimescale / time.Duration(c.timescale)
	return c.due
}

// Batches of ticks with one read of the socket are equal to single ticks for clients: no command
// is missed and nothing is mispredicted.
func TestRow66Batches(t *testing.T) {
	b := newClientLobby(t, 6, Config{})
	b.play(3)
	snapshots := b.count(metrics.Snapshots)
	before := b.lobby.match.Tick()
	for frame := range 90 { // a machine that always plays two, three or four at once
		n := 2 + frame%3
		b.now = b.lobby.cfg.Rules.Rate.At(b.lobby.match.Tick() + tick.Tick(n))
		if err := b.lobby.Ticks(b.now, b.unix(), b.conn, n); err != nil {
			t.Fatal(err)
		}
		b.checkBalance()
		b.exchange()
	}
	played := uint64(b.lobby.match.Tick() - before)
	if got := b.count(metrics.Snapshots) - snapshots; played != 270 ||
		got < played*6/3*6/10 || got > played*6/3 {
		t.Errorf("%d snapshots in %d ticks", got, played)
	}
	for n, p := range b.players {
		if s := p.Stats(); s.Undecoded != 0 || s.Diverged != 0 || s.Prediction.Mispredictions != 0 {
			t.Errorf("client %d: %+v", n, s)
		}
	}
	b.rowsMatch(100)
	aimed := uint64(0)
	for slot := range b.lobby.conns {
		aimed += uint64(b.lobby.rewind.aim.Features(slot).Shots)
	}
	if shots := b.count(metrics.Shots); aimed != shots || shots == 0 {
		t.Errorf("%d shots, %d of them in the features of aim", shots, aimed)
	}
}

// Each load level acts on a real lobby: fewer snapshots, then half of the players in each, then no
// spectators, no new players, and a slower match that clients follow. Recovery undoes all of it. No
// player is kicked, and no command is dropped.
func TestRow66LoadLevelsAct(t *testing.T) {
	alone(t)
	{
		n, seconds := fullOrShort(60, 32), fullOrShort(4, 2)
		b := newClientLobby(t, n, Config{Players: 64, Spectators: 2})
		b.brain = func(n int) client.Intent { // the same at all times, so that bytes can be compared
			return client.Intent{MoveMag: 255,
				Yaw: geom.Angle(uint32(b.lobby.match.Tick())*90 + uint32(n)*4000)}
		}
		b.addClient(client.Config{}, spectator)
		b.play(6)
		clock := pacedClock{due: b.now, period: b.lobby.cfg.Rules.Rate.Period(),
			timescale: protocol.FullTimescale}
		type figures struct{ snapshots, bytes uint64 }
		run := func(seconds int) (f figures) {
			was := figures{b.count(metrics.Snapshots), b.count(metrics.BytesOut)}
			from := b.now
			for b.now < from+time.Duration(seconds)*time.Second {
				b.now = clock.next()
				if err := b.lobby.Tick(b.now, b.unix(), b.conn); err != nil {
					t.Fatal(err)
				}
				b.checkBalance()
				b.exchange()
			}
			return figures{b.count(metrics.Snapshots) - was.snapshots, b.count(metrics.BytesOut) - was.bytes}
		}
		var at [overload.NumLevels]figures
		missing := uint64(0)
		for level := overload.Normal; level < overload.NumLevels; level++ {
			b.lobby.SetLoadLevel(level)
			clock.timescale = level.Timescale()
			run(fullOrShort(3, 2))
			if level == overload.Normal {
				missing = b.count(metrics.InputsMissing)
			}
			before := b.lobby.match.Tick()
			at[level] = run(seconds)
			ticks := b.lobby.match.Tick() - before
			if want := tick.Tick(seconds * 60); level < overload.SlowMotion && ticks+2 < want ||
				level == overload.SlowMotion && (ticks < want*4/5-2 || ticks > want*4/5+2) {
				t.Errorf("%v: %d ticks in %d s", level, ticks, seconds)
			}
			shed := level >= overload.NoSpectators
			if state, why := b.players[n].State(); (state == client.Joined) == shed ||
				shed && why != packet.ReasonOverload {
				t.Errorf("%v: the spectator is %v, %v", level, state, why)
			}
			if b.lobby.Stats.LoadLevel[level].Load() < uint64(60*seconds) {
				t.Errorf("%v: %d ticks counted", level, b.lobby.Stats.LoadLevel[level].Load())
			}
			b.rowsMatch(20)
		}
		t.Logf("snapshots and bytes in 4 s by level: %v", at)
		ratio := func(a, b uint64) float64 { return float64(a) / float64(b) }
		for i, r := range []struct{ got, least, most float64 }{
			{ratio(at[overload.HalfRate].snapshots, at[overload.Normal].snapshots), 0.48, 0.52},
			{ratio(at[overload.QuarterRate].snapshots, at[overload.HalfRate].snapshots), 0.48, 0.52},
			{ratio(at[overload.LowDetail].snapshots, at[overload.QuarterRate].snapshots), 0.98, 1.02},
			{ratio(at[overload.LowDetail].bytes, at[overload.QuarterRate].bytes), 0.5, 0.9},
			{ratio(at[overload.SlowMotion].snapshots, at[overload.NoNewPlayers].snapshots), 0.76, 0.84},
		} {
			if r.got < r.least || r.got > r.most {
				t.Errorf("relation %d is %.2f, want %.2f to %.2f: %+v", i, r.got, r.least, r.most, at)
			}
		}
		for n, p := range b.players[:n] {
			if s := p.Stats(); s.Undecoded != 0 || s.Diverged != 0 || s.Prediction.Mispredictions != 0 ||
				s.HardResets != 0 || p.Stats().Timescale != overload.SlowMotion.Timescale() {
				t.Errorf("client %d at timescale %d: %+v", n, p.Stats().Timescale, s)
			}
		}
		if n := b.count(metrics.InputsMissing) - missing; n > 60 ||
			b.count(metrics.Disconnected) != 1 || b.count(metrics.SpectatorsShed) != 1 {
			t.Errorf("%d commands missing, %d dismissed, %d spectators shed", n,
				b.count(metrics.Disconnected), b.count(metrics.SpectatorsShed))
		}
		b.lobby.SetLoadLevel(overload.Normal)
		clock.timescale = protocol.FullTimescale
		run(3)
		if f := run(seconds); ratio(f.snapshots, at[overload.Normal].snapshots) < 0.93 ||
			b.players[0].Stats().Timescale != protocol.FullTimescale {
			t.Errorf("afterwards %+v, before %+v, timescale %d", f, at[overload.Normal],
				b.players[0].Stats().Timescale)
		}
		b.addClient(client.Config{}, spectator) // is welcome again
		run(1)
		if state, _ := b.players[n+1].State(); state != client.Joined {
			t.Errorf("the next spectator is %v", state)
		}
	}
}
