package agones

import (
	"slices"
	"strconv"
	"testing"
	"time"
)

// listing is a record with a list of players.
func listing(capacity int, values ...string) *GameServer {
	return &GameServer{Status: Status{Lists: map[string]List{ListPlayers: {Capacity: Int64(capacity),
		Values: values}}}}
}

// The list is told once for each change of the players, again after a failure, and again where
// others have changed it, once nothing is under way.
func TestTheListFollowsThePlayers(t *testing.T) {
	p := players{settle: 3 * time.Second}
	told := func(at time.Duration, want []string, tells bool, ids ...string) {
		t.Helper()
		if values, tell := p.next(at*time.Second, ids); tell != tells || tell && !slices.Equal(values, want) {
			t.Fatalf("after %d s: %v, tell %v, want %v, %v", at, values, tell, want, tells)
		}
	}
	told(0, nil, false, "7") // no record
	p.observe(0, &GameServer{})
	told(0, nil, false, "7") // no such list
	p.observe(0, listing(3, "test0", "test1"))
	told(0, []string{"7"}, true, "7")
	p.done(0, []string{"7"}, false)
	told(1, []string{"7"}, true, "7")
	p.done(1*time.Second, []string{"7"}, true)
	told(2, nil, false, "7") // the record is still the old one
	told(2, []string{"7", "9"}, true, "7", "9")
	p.done(2*time.Second, []string{"7", "9"}, true)
	p.observe(3*time.Second, listing(3, "7"))
	told(4, nil, false, "7", "9")
	p.observe(4*time.Second, listing(3, "7", "9"))
	told(60, nil, false, "7", "9")
	p.observe(60*time.Second, listing(3, "7", "stranger"))
	told(62, nil, false, "7", "9")
	told(63, []string{"7", "9"}, true, "7", "9")
	p.done(63*time.Second, []string{"7", "9"}, true)
	p.observe(64*time.Second, listing(3, "7", "9"))
	told(65, []string{}, true)
	p.done(65*time.Second, []string{}, true)
	told(66, []string{"1", "2", "3"}, true, "1", "2", "3", "4") // as many as fit
	p.done(66*time.Second, []string{"1", "2", "3"}, true)
	p.observe(67*time.Second, listing(3, "1", "2", "3"))
	told(90, nil, false, "1", "2", "3", "5")
	p.observe(90*time.Second, &GameServer{Meta: Meta{ResourceVersion: strconv.Itoa(9)}})
	told(99, nil, false, "8")
}
