package netcode

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func addresses(n int) (all []netip.AddrPort) {
	for i := range n {
		all = append(all, netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, byte(1 + i)}), 40000))
	}
	return all
}

const ms = time.Millisecond

// trip is the round trip of one ping; never: no answer comes.
const lost = time.Hour

// choose plays pings with the given round trips, by address and round, in steps of a millisecond.
func choose(trips [][PingRounds]time.Duration) (n *Nearest, at time.Duration) {
	type answer struct {
		at            time.Duration
		server, round int
	}
	const begin = 7 * time.Second
	n = NewNearest(begin, addresses(len(trips)))
	var coming []answer
	for now := begin; ; now += ms {
		coming = slices.DeleteFunc(coming, func(a answer) bool {
			return a.at <= now && n.Answer(now, a.server, a.round)
		})
		if n.Decide(now) {
			return n, now - begin
		}
		if round, due := n.Round(now); due {
			for i := range trips {
				coming = append(coming, answer{now + trips[i][round], i, round})
			}
		}
	}
}

func TestNearestChooses(t *testing.T) {
	same := func(d time.Duration) [PingRounds]time.Duration { return [PingRounds]time.Duration{d, d, d} }
	for i, c := range []struct {
		trips []([PingRounds]time.Duration)
		order []int
		after time.Duration // PingEvery twice, and the best round trip, or PingWait
	}{
		0: {[][PingRounds]time.Duration{same(80 * ms), same(20 * ms), same(200 * ms)}, []int{1, 0, 2}, 230 * ms},
		1: {[][PingRounds]time.Duration{same(lost), same(20 * ms)}, []int{1, 0}, 230 * ms},
		2: {[][PingRounds]time.Duration{same(lost), same(lost), same(lost)}, []int{0, 1, 2}, PingWait},
		3: {[][PingRounds]time.Duration{same(50 * ms), same(40 * ms), same(50 * ms), same(40 * ms)},
			[]int{1, 3, 0, 2}, 250 * ms}, // ties by the token's order
		4: {[][PingRounds]time.Duration{{90 * ms, 90 * ms, 30 * ms}, {40 * ms, 40 * ms, 40 * ms}},
			[]int{0, 1}, 240 * ms}, // the best of three, not the mean
		5: {[][PingRounds]time.Duration{{lost, lost, 60 * ms}, same(100 * ms)}, []int{0, 1}, 270 * ms},
		6: {[][PingRounds]time.Duration{{lost, lost, 120 * ms}, same(100 * ms)}, []int{1, 0}, 310 * ms},
		7: {[][PingRounds]time.Duration{same(600 * ms), same(lost)}, []int{0, 1}, PingWait},
		8: {[][PingRounds]time.Duration{same(lost), same(450 * ms)}, []int{1, 0}, PingWait},
		9: {[][PingRounds]time.Duration{same(ms), same(10 * ms)}, []int{0, 1}, 211 * ms},
	} {
		n, after := choose(c.trips)
		if got := n.Order(); !slices.Equal(got, c.order) || after != c.after || n.Duration() != after {
			t.Errorf("%d: order %v after %v, want %v after %v", i, got, after, c.order, c.after)
		}
	}
}

// Answers to nothing that was asked, and second ones, change nothing. Late ones count, but the choice
// is made.
func TestNearestTakesOneAnswerAPing(t *testing.T) {
	n := NewNearest(0, addresses(2))
	for _, bad := range [][2]int{{0, 0}, {-1, 0}, {2, 0}, {0, -1}, {0, PingRounds}} {
		if n.Answer(0, bad[0], bad[1]) {
			t.Errorf("an answer to %v before any ping was taken", bad)
		}
	}
	n.Round(0)
	if _, due := n.Round(PingEvery - 1); due {
		t.Error("a round before its time")
	}
	if !n.Answer(30*ms, 0, 0) || n.Answer(31*ms, 0, 0) || n.Answer(31*ms, 0, 1) {
		t.Error("expected the first answer alone to be taken")
	}
	if !n.Decide(PingWait) || !n.Answer(PingWait+ms, 1, 0) {
		t.Fatal("a late answer was not taken")
	}
	want := []ServerPing{{addresses(2)[0], 1, 30 * ms}, {addresses(2)[1], 1, PingWait + ms}}
	if got := n.Pings(); !slices.Equal(got, want) || n.Duration() != PingWait {
		t.Errorf("%v after %v, want %v", got, n.Duration(), want)
	}
	if _, due := n.Round(time.Hour); due {
		t.Error("a round after the choice")
	}
}

// The first of the order is what waiting for every answer would have chosen among those of
// PingWait.
func TestNearestIsNotHasty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		trips := make([][PingRounds]time.Duration, rapid.IntRange(1, MaxServers).Draw(t, "addresses"))
		first, least := 0, time.Duration(lost)
		for i := range trips {
			for r := range trips[i] {
				trips[i][r] = time.Duration(rapid.IntRange(1, 700).Draw(t, fmt.Sprint(i, r))) * ms
				if rapid.IntRange(0, 3).Draw(t, "loss") == 0 {
					trips[i][r] = lost
				}
				if came := time.Duration(r)*PingEvery + trips[i][r]; came <= PingWait && trips[i][r] < least {
					first, least = i, trips[i][r]
				}
			}
		}
		n, after := choose(trips)
		if got := n.Order()[0]; got != first || after > PingWait {
			t.Errorf("%v after %v, want %d with %v", got, after, first, least)
		}
	})
}
