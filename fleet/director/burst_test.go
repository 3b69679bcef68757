package director

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/tickrate/tickrate/fleet/announce"
	"github.com/tickrate/tickrate/internal/textlog"
)

// Parties that come at once all have places while the host has lobbies to make, each in a lobby of its
// own, and the host makes no more than that.
func TestBurstOfPartiesFillsAHost(t *testing.T) {
	const lobbies, parties = 20, 10
	b := testBus(t)
	d := testDirector(t, b, nil)
	defer d.Close()
	var mu sync.Mutex
	state := *testHost(0, 8) // with a full lobby
	state.MostRooms = 1 + lobbies
	a, err := announce.NewAnnouncer(b.Conn, announce.HostConfig{Name: state.Name, Key: fleetKey,
		Log: slog.New(textlog.New(t.Output(), "")),
		Figure: func() announce.Host {
			mu.Lock()
			defer mu.Unlock()
			return state
		},
		Make: func(_ context.Context, mapName, mode string, _ int) (uint32, error) {
			time.Sleep(5 * time.Millisecond) // the other parties wait for this one
			mu.Lock()
			defer mu.Unlock()
			id := uint32(len(state.Rooms))
			state.Rooms = append(state.Rooms[:id:id], announce.Room{ID: id, Map: mapName, Mode: mode, Slots: 8,
				Open: true})
			return id, nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	ctx := heard(t, d, a)
	given := map[string]string{}
	var racing sync.WaitGroup
	for n := range parties {
		racing.Go(func() {
			id := fmt.Sprint("party-", n)
			got, err := d.Match(ctx, Ask{id, 8, "a", "m", 0})
			mu.Lock()
			defer mu.Unlock()
			if err != nil || len(got.Tokens) != 8 {
				t.Errorf("%s: %d tokens, %v", id, len(got.Tokens), err)
			} else if other, taken := given[got.Lobby]; taken {
				t.Errorf("%s and %s share lobby %s of 8 slots", id, other, got.Lobby)
			}
			given[got.Lobby] = id
		})
	}
	racing.Wait()
	if made := d.Stats().Made; made != parties {
		t.Errorf("%d lobbies made for %d parties that fill one each", made, parties)
	}
}
