package swarm

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tickrate/tickrate/netio/impair"
)

// arrivals are the instants, in milliseconds, at which datagrams of players arrive that each send one
// a millisecond.
func arrivals(t *testing.T, cfg Config) (all [][]int) {
	t.Helper()
	k, err := newLinks(&cfg)
	if err != nil {
		t.Fatal(err)
	}
	all = make([][]int, cfg.Players)
	for ms := range 400 {
		now := time.Duration(ms) * time.Millisecond
		for i := range cfg.Players {
			k.up.push(now, i, []byte{byte(ms)}, 0)
			for at := k.up.next[i]; at <= int64(now); at = k.up.next[i] {
				if _, _, ok := k.up.pop(now, i); ok {
					all[i] = append(all[i], ms)
				}
			}
		}
	}
	return all
}

// Each player has a link of its own, which the seed and the player's number decide; the numbers of a
// swarm that plays a part of the players are those of the whole.
func TestRow59LinksOfPlayers(t *testing.T) {
	link := impair.Profile{Delay: 20 * time.Millisecond, Jitter: 10 * time.Millisecond, Loss: 0.1}
	all := arrivals(t, Config{Players: 4, Seed: 7, Link: link})
	if !slices.EqualFunc(all, arrivals(t, Config{Players: 4, Seed: 7, Link: link}), slices.Equal) {
		t.Error("the same seed has other links")
	}
	part := arrivals(t, Config{Players: 2, First: 2, Seed: 7, Link: link})
	if !slices.EqualFunc(all[2:], part, slices.Equal) {
		t.Error("a part of the players has other links than in the whole")
	}
	if slices.Equal(all[0], all[1]) || slices.Equal(all[0], arrivals(t, Config{Players: 1, Seed: 8, Link: link})[0]) {
		t.Error("two players, or two seeds, have one link")
	}
	for i, a := range all {
		if n := len(a); n < 300 || n > 370 || a[0] < 20 {
			t.Errorf("player %d: %d datagrams of 400 arrived, the first after %d ms", i, n, a[0])
		}
	}
}

func TestLinksAreChecked(t *testing.T) {
	if k, err := newLinks(&Config{Players: 3}); k != nil || err != nil {
		t.Errorf("perfect links: %v, %v", k, err)
	}
	for i, c := range []struct {
		link impair.Profile
		want string
	}{{impair.Profile{Rebind: time.Second}, "rebind"}, {impair.Profile{Loss: 2}, "loss"}} {
		if _, err := newLinks(&Config{Players: 1, Link: c.link}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d: %v, want %q", i, err, c.want)
		}
	}
	k := &links{}
	a, b := netip.MustParseAddrPort("127.0.0.1:1"), netip.MustParseAddrPort("127.0.0.1:2")
	if k.tag(a) != 0 || k.tag(b) != 1 || k.tag(a) != 0 {
		t.Error("an address has two tags")
	}
}
