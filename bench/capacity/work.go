package capacity

import (
	"cmp"
	"fmt"
	"strconv"
)

// workFact is one of the facts that tell one work from another.
type workFact struct {
	name  string // as in the file
	value string
	late  bool // files of before it was told hold 0 or nothing, and are taken to be the same in it
}

// work are those facts, in the order of Facts. How players meet and what they come to do is not among them: that follows from these, and from the build.
func (f *Facts) work() []workFact {
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) } // which leaves the last bits of what was worked out aside
	return []workFact{
		{"plays", strconv.Itoa(f.Plays), true},
		{"lobbies", strconv.Itoa(f.Lobbies), false},
		{"players_per_lobby", strconv.Itoa(f.PerLobby), false},
		{"spectators", strconv.Itoa(f.Spectators), false},
		{"tick_hz", strconv.Itoa(f.TickHz), false},
		{"send_every_ticks", strconv.Itoa(f.SendEvery), false},
		{"side_m", number(f.Side), true},
		{"far_m", number(f.Far), false},
		{"walls_hide", strconv.FormatBool(f.Walls), false},
		{"crowd", number(f.Crowd), false},
		{"bursts_hz", number(f.Bursts), false},
		{"throws_hz", number(f.Throws), false},
		{"leaves_minute", number(f.Leaves), false},
		{"delay_s", number(f.Delay), false},
		{"jitter_s", number(f.Jitter), true},
		{"loss", number(f.Loss), false},
		{"codec", f.Codec, true},
		{"mode", cmp.Or(f.Mode, "deathmatch"), false},
		{"cap_bytes", number(f.Cap), false},
		{"long_run", strconv.FormatBool(f.LongRun), false},
		{"match_seconds", number(f.Seconds), true},
	}
}

// differs is the first fact in which two works differ, as it is in both; ok is false where there is none.
func (f *Facts) differs(g *Facts) (a, b workFact, ok bool) {
	theirs := g.work()
	for i, a := range f.work() {
		b := theirs[i]
		unknown := func(w workFact) bool { return w.late && (w.value == "" || w.value == "0") }
		if a.value != b.value && !unknown(a) && !unknown(b) {
			return a, b, true
		}
	}
	return a, b, false
}

// SameWork says in what a step of a baseline is other work than one of now that has its name and its size: scenarios of one name need not be the same.
func SameWork(old, now *Facts) error {
	if old.Virtual != now.Virtual {
		return fmt.Errorf("%s to be measured in the same way on both sides: one is live", now.GateKey())
	}
	if a, b, ok := old.differs(now); ok {
		return fmt.Errorf("%s to be the same scenario on both sides: %s is %s in the baseline and %s now", now.GateKey(), a.name, a.value, b.value)
	}
	return nil
}

// sameRounds says in what rounds of one key are not of one work, on both sides and on each.
func sameRounds(old, now []Step) error {
	if err := SameWork(old[0].Facts, now[0].Facts); err != nil {
		return err
	}
	for _, side := range [][]Step{old, now} {
		for _, s := range side {
			if a, b, ok := side[0].Facts.differs(s.Facts); ok {
				return fmt.Errorf("all rounds of %s to be of one scenario: %s is %s in one and %s in another", s.Facts.GateKey(), a.name, a.value, b.value)
			}
		}
	}
	return nil
}
