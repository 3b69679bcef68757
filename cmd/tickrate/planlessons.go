package main

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/tickrate/tickrate/bench/scenario"
)

// lesson is one scenario of a calibration: a size and rates, and what is unlike the default scenario.
type lesson struct {
	players, hz, every int
	unlike             string // keys and values, such as "spread=4 far=25"
	held               bool   // no model is fitted to it
}

// lessons are sizes, rates, spreads, fire, sight, links, codecs and who looks on. What is held out lies between what is not: it has
// other sizes throughout, and most of it another rate, spread, fire or link than anything that is fitted.
func lessons() (all []lesson) {
	add := func(held bool, hz, every int, unlike string, sizes ...int) {
		for _, n := range sizes {
			all = append(all, lesson{n, hz, every, unlike, held})
		}
	}
	const fitted, held = false, true
	add(fitted, 60, 3, "", 10, 14, 16, 28, 32, 40, 56, 64, 72, 88, 112, 128, 160, 176, 224, 256, 300, 384)
	add(held, 60, 3, "", 12, 24, 36, 48, 96, 144, 192)
	add(held, 60, 3, "again=1", 48)
	add(fitted, 128, 2, "", 10, 32, 96, 144)
	add(held, 128, 2, "", 20, 64)
	add(fitted, 128, 3, "", 40)
	add(held, 128, 3, "", 28)
	add(held, 128, 4, "", 48)
	add(fitted, 128, 6, "", 32, 128)
	add(held, 128, 6, "", 80)
	add(fitted, 100, 2, "", 72)
	add(held, 100, 4, "spread=1.2", 40)
	add(fitted, 60, 1, "", 32, 88)
	add(fitted, 60, 2, "", 28)
	add(held, 60, 2, "", 48, 96)
	add(fitted, 30, 1, "", 16, 96)
	add(held, 30, 1, "", 48)
	add(fitted, 60, 6, "", 32, 128)
	add(held, 60, 6, "", 80)
	add(fitted, 60, 3, "spread=0.5", 32, 96)
	add(fitted, 60, 3, "spread=0.7", 64)
	add(held, 60, 3, "spread=0.8", 72)
	add(fitted, 60, 3, "spread=1.5", 18, 48, 112)
	add(held, 60, 3, "spread=2", 24, 96)
	add(fitted, 60, 3, "spread=2.5", 18, 32, 128)
	add(fitted, 60, 3, "spread=3", 56)
	add(fitted, 60, 3, "spread=4", 16, 64, 192)
	add(held, 60, 3, "spread=3 bursts=0.4", 128)
	add(held, 128, 2, "spread=2 bursts=0.5", 24)
	add(fitted, 60, 3, "bursts=0", 64)
	add(fitted, 60, 3, "bursts=0.3", 112)
	add(fitted, 60, 3, "bursts=0.7", 56)
	add(fitted, 60, 3, "bursts=1", 32, 128)
	add(fitted, 60, 3, "bursts=1 spread=2.5", 18)
	add(held, 60, 3, "bursts=0.5", 80)
	add(fitted, 60, 3, "throws=0", 64)
	add(fitted, 60, 3, "throws=0.25", 40)
	add(fitted, 60, 3, "throws=1.4", 32, 112)
	add(fitted, 60, 3, "throws=2", 64)
	add(held, 60, 3, "throws=1", 48)
	add(held, 60, 3, "throws=0.3 bursts=0.3", 88)
	add(fitted, 60, 3, "hot=0.3", 112)
	add(fitted, 60, 3, "hot=0.5", 64)
	add(fitted, 60, 3, "hot=1", 32, 56, 128)
	add(held, 60, 3, "hot=0.3", 36)
	add(held, 60, 3, "hot=0.7", 80)
	add(fitted, 60, 3, "far=25", 64, 192)
	add(fitted, 60, 3, "far=35", 112)
	add(fitted, 60, 3, "far=40", 128)
	add(fitted, 60, 3, "far=25 spread=3", 96)
	add(fitted, 60, 3, "far=45 spread=2", 96)
	add(fitted, 60, 3, "far=32 spread=1.5", 64)
	add(fitted, 60, 3, "far=35 spread=2.5", 160)
	add(fitted, 128, 6, "far=30", 96)
	add(held, 60, 3, "far=30", 96)
	add(held, 60, 3, "far=35 spread=2", 128)
	add(held, 60, 3, "far=28 spread=1.5", 80)
	add(fitted, 60, 3, "map=town", 16, 32, 48, 96)
	add(fitted, 60, 3, "map=town spread=4 far=60", 64)
	add(held, 60, 3, "map=town", 64)
	add(held, 60, 3, "map=town spread=1.5", 40)
	add(fitted, 60, 3, "link=loss=2%", 112)
	add(fitted, 60, 3, "link=loss=5%", 32, 96)
	add(fitted, 60, 3, "link=delay=20ms", 40)
	add(fitted, 60, 3, "link=delay=30ms", 96)
	add(fitted, 60, 3, "link=delay=60ms", 16, 64)
	add(fitted, 60, 3, "link=loss=3%,delay=30ms", 48)
	add(held, 60, 3, "link=loss=2%,delay=20ms", 64)
	add(held, 60, 3, "link=delay=40ms", 48)
	add(fitted, 60, 3, "codec=range", 32, 96)
	add(held, 60, 3, "codec=range", 64)
	add(fitted, 60, 3, "codec=stored", 32, 96)
	add(held, 60, 3, "codec=stored", 64)
	add(fitted, 60, 3, "leaves=2", 56)
	add(fitted, 60, 3, "leaves=4", 112)
	add(fitted, 60, 3, "leaves=6", 32, 96)
	add(held, 60, 3, "leaves=3", 64)
	add(fitted, 60, 3, "spectators=16", 16)
	add(fitted, 60, 3, "spectators=32", 64)
	add(held, 60, 3, "spectators=16", 48)
	// Where the first look at what was drawn found lessons thin: links with delay at high rates, towns that are unlike in something else, seldom snapshots of many ticks.
	add(fitted, 128, 3, "link=delay=30ms", 32)
	add(fitted, 128, 3, "link=delay=60ms,loss=2%", 72)
	add(fitted, 100, 2, "link=delay=50ms", 24)
	add(fitted, 100, 2, "link=delay=30ms,loss=3%", 56)
	add(fitted, 128, 10, "", 24, 64)
	add(fitted, 100, 4, "", 56)
	add(fitted, 30, 1, "leaves=5", 22)
	add(fitted, 128, 3, "map=town", 28)
	add(fitted, 60, 3, "map=town hot=1", 64)
	add(fitted, 30, 2, "hot=0.8", 96)
	// Where the laws, play known, missed what was drawn: codecs at other sizes and rates, towns and reaches told in every tick, reaches that span nearly all of a
	// map, few players with who looks on, churn below and above the size from which newcomers are told row by row, loss in large lobbies.
	add(fitted, 60, 1, "codec=stored", 18)
	add(fitted, 30, 1, "codec=stored", 44)
	add(fitted, 128, 4, "codec=stored", 70)
	add(fitted, 60, 3, "codec=range", 11)
	add(fitted, 128, 5, "codec=range", 18)
	add(fitted, 30, 2, "codec=range", 50)
	add(fitted, 30, 1, "map=town", 26, 84)
	add(fitted, 60, 3, "map=town", 150)
	add(fitted, 30, 2, "map=town hot=0.7", 104)
	add(fitted, 60, 3, "far=50", 46)
	add(fitted, 30, 1, "far=56", 68)
	add(fitted, 60, 2, "far=46", 34)
	add(fitted, 30, 1, "", 11)
	add(fitted, 30, 1, "spectators=5", 13)
	add(fitted, 30, 1, "leaves=3", 18)
	add(fitted, 60, 2, "leaves=4", 76)
	add(fitted, 30, 2, "leaves=2", 120)
	add(fitted, 30, 1, "link=delay=15ms,loss=4%", 130)
	// Where the laws' errors had a sign: around the size at which a processor's cache gives way, few players with who looks on, loss in large lobbies, and wherever somebody
	// is hidden.
	add(fitted, 60, 3, "", 76, 84, 100)
	add(fitted, 60, 6, "", 68, 94)
	add(fitted, 128, 2, "", 78)
	add(fitted, 128, 4, "", 98)
	add(fitted, 128, 6, "", 74, 86)
	add(fitted, 30, 1, "", 66)
	add(fitted, 60, 3, "hot=0.6", 76)
	add(fitted, 60, 3, "hot=0.8", 86)
	add(fitted, 30, 1, "throws=1 spectators=8", 17)
	add(fitted, 128, 10, "throws=1.4", 44)
	add(fitted, 60, 3, "link=loss=3%,delay=15ms", 70)
	add(fitted, 100, 2, "link=delay=10ms,loss=3%", 118)
	add(fitted, 30, 2, "link=delay=20ms,loss=4%", 142)
	add(fitted, 60, 3, "map=town", 41, 57, 77, 122)
	add(fitted, 60, 3, "map=town spread=0.8", 55)
	add(fitted, 60, 3, "map=town spread=1.3", 37)
	add(fitted, 60, 3, "map=town spread=1.7", 43, 73)
	add(fitted, 60, 3, "map=town spread=2.2", 87)
	add(fitted, 60, 2, "map=town", 59)
	add(fitted, 128, 6, "map=town", 65)
	add(fitted, 30, 1, "map=town", 47, 131)
	add(fitted, 30, 1, "map=town spread=0.7", 53, 71)
	add(fitted, 30, 2, "map=town", 75, 126)
	add(fitted, 30, 2, "map=town hot=0.9", 113, 137)
	add(fitted, 60, 3, "map=town link=delay=10ms,loss=3%", 45)
	add(fitted, 100, 2, "map=town spectators=6", 27)
	add(fitted, 60, 3, "far=30", 75, 115)
	add(fitted, 60, 3, "far=30 spread=1.5", 69, 93)
	add(fitted, 60, 3, "far=25 spread=1.6", 89)
	add(fitted, 60, 3, "far=35 spread=1.8", 109)
	add(fitted, 60, 3, "far=40 spread=2", 148)
	add(fitted, 30, 1, "far=28", 73)
	// Where codecs meet what hides, and what few lessons had: small lobbies with a reach or houses, churn at 30 Hz, seldom snapshots of around 80 players.
	add(fitted, 60, 3, "far=30 codec=stored", 60, 110)
	add(fitted, 30, 1, "far=40 codec=stored", 80)
	add(fitted, 128, 4, "far=28 codec=stored", 40)
	add(fitted, 60, 3, "far=35 codec=range", 70, 130)
	add(fitted, 60, 3, "map=town codec=range", 44, 90, 135)
	add(fitted, 60, 3, "map=town codec=stored", 50, 100)
	add(fitted, 30, 1, "far=30", 14, 25, 42)
	add(fitted, 100, 4, "map=town far=45", 21, 34, 62)
	add(fitted, 30, 1, "leaves=4", 26, 35)
	add(fitted, 128, 6, "", 70, 82, 92)
	// Where players who are spread wide, who run straight and seldom meet, have baselines that are old; and small lobbies with a reach.
	add(fitted, 60, 3, "spread=3 link=delay=30ms", 60)
	add(fitted, 60, 3, "spread=3.5 link=delay=50ms,loss=2%", 110)
	add(fitted, 128, 6, "spread=4 link=delay=25ms,loss=1%", 40)
	add(fitted, 30, 1, "spread=2.5 link=delay=40ms,loss=3%", 150)
	add(fitted, 60, 3, "spread=3.5", 30, 150)
	add(fitted, 100, 2, "spread=3", 80)
	add(fitted, 60, 3, "map=town spread=3.5 link=delay=20ms,loss=2%", 70)
	add(fitted, 30, 1, "map=town spread=3 link=delay=40ms", 44)
	add(fitted, 60, 3, "map=town spread=3 far=45 link=delay=15ms,loss=3%", 120)
	add(fitted, 60, 3, "map=town spread=4 far=50", 90)
	add(fitted, 60, 2, "spread=2.5 far=50 link=delay=30ms,loss=2%", 130)
	add(fitted, 30, 2, "far=32 link=delay=30ms,loss=3%", 16)
	add(fitted, 30, 2, "far=33", 18)
	add(fitted, 60, 3, "far=35 link=delay=20ms", 24)
	// Links that are as late as those of phones; ones that are later yet bend the laws of all others.
	add(fitted, 60, 3, "link=mobile", 64)
	add(held, 60, 3, "link=mobile", 32)
	add(held, 60, 3, "link=wifi", 48)
	// Links whose delay varies, at other rates and in towns.
	add(fitted, 60, 3, "link=wifi", 24, 80)
	add(fitted, 128, 4, "link=wifi", 40)
	add(fitted, 30, 1, "link=wifi", 16)
	add(fitted, 60, 3, "link=delay=10ms,jitter=5ms", 32)
	add(fitted, 60, 2, "link=delay=20ms,jitter=15ms,loss=2%", 20)
	add(fitted, 60, 3, "link=delay=30ms,jitter=20ms,loss=1%", 56)
	add(fitted, 100, 4, "link=delay=15ms,jitter=8ms", 64)
	add(fitted, 60, 3, "map=town link=wifi", 36)
	add(fitted, 60, 3, "far=35 link=delay=25ms,jitter=10ms,loss=1%", 48)
	add(held, 60, 3, "link=delay=25ms,jitter=12ms,loss=1%", 40)
	add(held, 100, 3, "link=wifi", 28)
	add(held, 30, 1, "link=delay=8ms,jitter=10ms,loss=0.5%", 60)
	add(held, 60, 3, "map=town link=delay=20ms,jitter=8ms", 50)
	// Where CPU times rested on little once all were known: towns in another codec at low rates, many players at 30 Hz, few with seldom snapshots or who looks on.
	add(fitted, 30, 1, "map=town codec=range", 60, 120)
	add(fitted, 30, 2, "", 180)
	add(fitted, 30, 2, "bursts=0.8", 150, 195)
	add(fitted, 30, 2, "hot=0.2", 160)
	add(fitted, 60, 4, "", 18)
	add(fitted, 30, 1, "throws=0.7 spectators=5", 13)
	// Where snapshots are seldom and players many, or come and go, and laws of CPU time rested on little.
	add(fitted, 30, 2, "leaves=4", 180)
	add(fitted, 128, 8, "leaves=4", 150)
	add(fitted, 60, 5, "leaves=4", 180)
	add(fitted, 128, 10, "leaves=3", 110)
	add(fitted, 30, 2, "bursts=0.7", 17, 60)
	add(fitted, 128, 10, "bursts=0.7", 17)
	add(fitted, 100, 8, "bursts=0.6", 110)
	add(fitted, 128, 11, "bursts=0.7", 180)
	add(fitted, 128, 10, "", 150)
	add(fitted, 60, 4, "", 14)
	add(fitted, 60, 5, "leaves=4 codec=stored", 70)
	draw := func(seed uint64, count int, held bool) {
		for _, l := range drawnLessons(seed, count, held) {
			if !slices.ContainsFunc(all, l.is) { // one was drawn that had been chosen
				all = append(all, l)
			}
		}
	}
	draw(10, 40, fitted) // of the whole space, so that laws are held to several things unlike at once
	draw(12, 60, fitted)
	draw(8, 24, held)
	draw(11, 12, held) // drawn when nearly all laws stood (0046)
	draw(13, 24, held) // and these later still (0047, 0048)
	add(fitted, 60, 3, "long=1", 48, 96)
	add(held, 60, 3, "long=1", 32, 64)
	add(held, 128, 2, "long=1", 10)
	for _, l := range append(drawnLessons(14, 24, fitted), drawnLessons(15, 16, held)...) { // the long run (0050), where that does not take too long
		if l.players*l.hz <= longMost {
			l.unlike = strings.TrimSpace(l.unlike + " long=1")
			all = append(all, l)
		}
	}
	return all
}

// longMost is the most commands a second of a lesson whose long run is measured: a minute of one match takes more than a minute for each 10,000 of them.
const longMost = 6000

// is reports whether o is the same scenario, held out or not.
func (l lesson) is(o lesson) bool {
	o.held = l.held
	return o == l
}

// drawnLessons are those that nobody chose: they are drawn at random, the same ones each time for a seed, of all that is measured. Players are 10 to 200
// and snapshots 12 to 60 a second, both evenly by logarithm. Anything else is unlike the default scenario once in five times, each by itself: spread 0.5 to 4, bursts
// 0 to 1, throws 0.1 to 2, a hot spot of 0.1 to 1 of all, 1 to 6 leaves a minute, up to half as many spectators as players, a reach of 25 to 60 m, houses, a
// link of 5 to 60 ms that may lose up to 5 %, and another codec.
func drawnLessons(seed uint64, count int, held bool) (all []lesson) {
	const unlike = 0.2
	d := rand.New(rand.NewPCG(38, seed))
	even := func(low, high float64) float64 { return math.Round(100*(low+(high-low)*d.Float64())) / 100 }
	byLog := func(low, high float64) float64 { return math.Round(100*low*math.Pow(high/low, d.Float64())) / 100 }
	for range count {
		l := lesson{players: int(byLog(10, 200)), hz: []int{30, 60, 100, 128}[d.IntN(4)], held: held}
		l.every = max(1, int(float64(l.hz)/byLog(12, 60)+0.5))
		var fields []string
		maybe := func(field string) {
			if d.Float64() < unlike {
				fields = append(fields, field)
			}
		}
		maybe(fmt.Sprintf("spread=%g", byLog(0.5, 4)))
		maybe(fmt.Sprintf("bursts=%g", even(0, 1)))
		maybe(fmt.Sprintf("throws=%g", even(0.1, 2)))
		maybe(fmt.Sprintf("hot=%g", even(0.1, 1)))
		maybe(fmt.Sprintf("leaves=%g", even(1, 6)))
		maybe(fmt.Sprintf("spectators=%d", 1+d.IntN(l.players/2)))
		maybe(fmt.Sprintf("far=%g", even(25, 60)))
		maybe("map=town")
		maybe(fmt.Sprintf("link=delay=%dms,loss=%g%%", 5+d.IntN(56), even(0, 5)))
		maybe("codec=" + []string{"range", "stored"}[d.IntN(2)])
		l.unlike = strings.Join(fields, " ")
		all = append(all, l)
	}
	return all
}

// heldSeed is where the seeds of what is held out begin; what is fitted has smaller ones, so no match is in both. Each lesson has lessonSeeds of
// its own, by its name: maps and dice that several lessons of one size shared would be off in all of them alike.
const (
	heldSeed    = 1 << 40
	lessonSeeds = 1000
)

// seedOf is a lesson's first seed.
func seedOf(name string, held bool) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	seed := 1 + h.Sum64()%(heldSeed/lessonSeeds-1)*lessonSeeds
	if held {
		seed += heldSeed
	}
	return seed
}

// scenario is a lesson as a scenario, of whose opening so many seconds are measured.
func (l lesson) scenario(seconds float64) scenario.Scenario {
	s := scenario.Default()
	s.Lobby.Players, s.Rates.TickHz, s.Rates.SendEvery = l.players, l.hz, l.every
	w := window{opening.warm, seconds}
	for _, field := range strings.Fields(l.unlike) {
		key, value, _ := strings.Cut(field, "=")
		var number float64
		_, _ = fmt.Sscan(value, &number)
		switch key {
		case "again": // the same once more, in other matches: how far two measurements of one scenario differ
		case "spread":
			s.Lobby.Spread = number
		case "far":
			s.Lobby.FarMetres = number
		case "map":
			s.Lobby.Map = value
		case "spectators":
			s.Lobby.Spectators = int(number)
		case "bursts":
			s.Play.Bursts = number
		case "throws":
			s.Play.Throws = number
		case "hot":
			s.Play.HotSpot = number
		case "leaves":
			s.Play.LeavesPerMinute = number
		case "link":
			s.Network.Link = value
		case "codec":
			s.Network.Codec = value
		case "long":
			w = longRun
		default:
			panic("lesson: " + l.unlike) // a test makes them all
		}
	}
	settle(&s, w)
	s.Name = strings.TrimSpace(fmt.Sprintf("n%d %dhz every%d %s", l.players, l.hz, l.every, l.unlike))
	s.Play.Seed = seedOf(s.Name, l.held)
	return s
}
