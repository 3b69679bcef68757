package server

import (
	"testing"
	"time"

	"github.com/tickrate/tickrate/netio/netcode"
)

// A lobby whose ticks take too long for a second climbs a rung, and another for another second; ten seconds of peace give
// one back.
func TestThreat33Overload(t *testing.T) {
	var o Overload
	const period = time.Second / 60
	took := map[bool]time.Duration{true: period + 1, false: period / 2}
	climb := func(overran bool, ticks int, want Shed) {
		t.Helper()
		for i := range ticks {
			rung, changed := o.Tick(took[overran], period)
			if last := i == ticks-1; changed != last || changed && rung != want {
				t.Fatalf("tick %d of %d: rung %v, changed %v, want %v at the end", i, ticks, rung, changed, want)
			}
		}
	}
	climb(true, 60, ShedHalf)
	for range 59 {
		o.Tick(took[true], period)
	}
	o.Tick(took[false], period) // not in a row
	for rung := ShedQuarter; rung < NumSheds; rung++ {
		climb(true, 60, rung)
	}
	for range 1000 {
		if rung, changed := o.Tick(took[true], period); rung != ShedTime || changed {
			t.Fatalf("above the last rung: %v, %v", rung, changed)
		}
	}
	for range 3000 { // what the rungs save must not be what takes them off
		if rung, changed := o.Tick(period*6/8, period); rung != ShedTime || changed {
			t.Fatalf("with little to spare: %v, %v", rung, changed)
		}
	}
	for rung := ShedDoor; ; rung-- {
		climb(false, 600, rung)
		if rung == ShedNothing {
			break
		}
	}
	climb(true, 60, ShedHalf) // soon after it came down: it waits twice as long
	climb(false, 1200, ShedNothing)
	for range maxWait*recoverAfter + 2 { // and after a long peace no longer than ever
		o.Tick(took[false], period)
	}
	climb(true, 60, ShedHalf)
	climb(false, 600, ShedNothing)
}

// What a lobby sheds are snapshots, evenly, and then newcomers; commands and those who are in go on.
func TestThreat33Shed(t *testing.T) {
	b := newTable(t, 4, Config{})
	b.play(3)
	for i, c := range []struct {
		rung Shed
		want uint64 // snapshots in 6 s for 4 clients
	}{{ShedNothing, 480}, {ShedHalf, 240}, {ShedQuarter, 120}, {ShedDoor, 120}, {ShedNothing, 480}} {
		b.lobby.Shed(c.rung)
		b.play(2)
		before, missing := b.count(Snapshots), b.count(InputsMissing)
		b.play(6)
		if got := b.count(Snapshots) - before; got+8 < c.want || got > c.want+8 || b.count(InputsMissing) != missing {
			t.Errorf("%d, %v shed: %d snapshots of %d, %d inputs missing", i, c.rung, got, c.want, b.count(InputsMissing)-missing)
		}
		if c.rung == ShedDoor {
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
	b.joined().unharmed()
}
