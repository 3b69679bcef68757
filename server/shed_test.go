package server

import (
	"testing"
	"time"

	"github.com/tickrate/tickrate/netio/netcode"
)

// A lobby whose ticks take too long for a second climbs a rung, and another for another second; ten seconds of peace give
// one back.
func TestThreat33Overload(t *testing.T) {
	var o overload.Controller
	const period = time.Second / 60
	took := map[bool]time.Duration{true: period + 1, false: period / 2}
	climb := func(overran bool, ticks int, want overload.Level) {
		t.Helper()
		for i := range ticks {
			rung, changed := o.Tick(took[overran], period)
			if last := i == ticks-1; changed != last || changed && rung != want {
				t.Fatalf("tick %d of %d: rung %v, changed %v, want %v at the end", i, ticks, rung, changed, want)
			}
		}
	}
	climb(true, 60, overload.HalfRate)
	for range 59 {
		o.Tick(took[true], period)
	}
	o.Tick(took[false], period) // not in a row
	for rung := overload.QuarterRate; rung < overload.NumLevels; rung++ {
		climb(true, 60, rung)
	}
	for range 1000 {
		if rung, changed := o.Tick(took[true], period); rung != overload.SlowMotion || changed {
			t.Fatalf("above the last rung: %v, %v", rung, changed)
		}
	}
	for range 3000 { // what the rungs save must not be what takes them off
		if rung, changed := o.Tick(period*6/8, period); rung != overload.SlowMotion || changed {
			t.Fatalf("with little to spare: %v, %v", rung, changed)
		}
	}
	for rung := overload.NoNewPlayers; ; rung-- {
		climb(false, 600, rung)
		if rung == overload.Normal {
			break
		}
	}
	climb(true, 60, overload.HalfRate) // soon after it came down: it waits twice as long
	climb(false, 1200, overload.Normal)
	for range maxWait*recoverAfter + 2 { // and after a long peace no longer than ever
		o.Tick(took[false], period)
	}
	climb(true, 60, overload.HalfRate)
	climb(false, 600, overload.Normal)
}

// What a lobby sheds are snapshots, evenly, and then newcomers; commands and those who are in go on.
func TestThreat33Shed(t *testing.T) {
	b := newTable(t, 4, Config{})
	b.play(3)
	for i, c := range []struct {
		rung overload.Level
		want uint64 // snapshots in 6 s for 4 clients
	}{{overload.Normal, 480}, {overload.HalfRate, 240}, {overload.QuarterRate, 120}, {overload.NoNewPlayers, 120}, {overload.Normal, 480}} {
		b.lobby.SetLoadLevel(c.rung)
		b.play(2)
		before, missing := b.count(metrics.Snapshots), b.count(metrics.InputsMissing)
		b.play(6)
		if got := b.count(metrics.Snapshots) - before; got+8 < c.want || got > c.want+8 || b.count(metrics.InputsMissing) != missing {
			t.Errorf("%d, %v shed: %d snapshots of %d, %d inputs missing", i, c.rung, got, c.want, b.count(metrics.InputsMissing)-missing)
		}
		if c.rung == overload.NoNewPlayers {
			who := b.caller("")
			who.ask(nil)
			if who.knock() || who.dial.State() != netcode.ConnectionDenied || b.refused(netcode.DropClosing) == 0 {
				t.Errorf("%d: a newcomer is %v", i, who.dial.State())
			}
		}
	}
	for n, p := range b.players {
		if s := p.Stats(); s.Undecoded != 0 || s.Resyncs != 0 || s.Prediction.Mispredictions != 0 {
			t.Errorf("client %d: %+v", n, s)
		}
	}
	b.guest().unharmed()
}
