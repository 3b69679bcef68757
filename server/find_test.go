package server

import (
	"errors"
	"fmt"
	"testing"

	"github.com/tickrate/tickrate/ecs/netid"
)

// A client id names the player in the slot that it has now, not the slot that it had before: a
// client that leaves and comes back in one tick finds its old slot taken until the tick is over.
func TestFindPlayerInAnotherSlot(t *testing.T) {
	l := newTestLobby(t, Config{})
	gone, here := l.namedClient("Ann"), l.namedClient("Bob")
	l.playTicks(5)
	first, id := gone.id().Index(), here.id()
	gone.leave()
	l.playTicks(5)
	if first >= id.Index() || l.lobby.match.Vital(l.lobby.conns[first].id) != nil {
		t.Fatalf("slot %d is in use, before slot %d", first, id.Index())
	}
	l.lobby.conns[first].roster.user = here.user // as it was in that slot before
	for _, c := range []struct {
		word string
		want netid.ID
		err  error
	}{
		{fmt.Sprintf("client:%d", here.user), id, nil},
		{fmt.Sprintf("client:%d", gone.user), 0, errNoPlayer},
		{fmt.Sprintf("slot:%d", id.Index()), id, nil},
		{fmt.Sprintf("slot:%d", first), 0, errNoPlayer},
	} {
		if got, err := l.lobby.FindPlayer(c.word); got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: %v, %v; want %v, %v", c.word, got, err, c.want, c.err)
		}
	}
}
