package httpapi

import (
	"testing"
	"time"

	"github.com/tickrate/tickrate/bench/lobbysim"
	"github.com/tickrate/tickrate/bench/lobbysim/simtest"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
)

// The board has every player's name, team, score and ping, though each client is sent few of the
// others, and though the last one joins when the match has long begun.
func TestRow72TheBoardIsComplete(t *testing.T) {
	const players, late = 24, 23
	b, err := lobbysim.New(lobbysim.Config{Lobby: server.Config{Arena: simtest.Arena(),
		ArenaName: "arena-16", Players: players, ViewDistance: 8, Relevance: server.RelevanceGrid},
		Clients: players, Seed: 1, Link: impair.Profile{Delay: 20 * time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	simtest.Steps(t, b, 120)
	b.Leave(late)
	simtest.Steps(t, b, 1800)
	if err := b.Connect(late); err != nil {
		t.Fatal(err)
	}
	simtest.Steps(t, b, 120)
	names := map[string]bool{}
	for slot := range players {
		p, ok := b.Clients[late].Chat.Player(slot)
		if !ok || p.Name == "" || p.Team < 0 {
			t.Errorf("the late client has %+v in slot %d, want a name and a team", p, slot)
		}
		names[p.Name] = true
	}
	f := NewDashFeed(b.Lobby, func() string { return "normal" }, b.Now)
	defer f.Close()
	f.begin(b.Now())
	simtest.Steps(t, b, 15)
	f.addTick(0, time.Millisecond)
	f.finish(b.Now())
	if len(names) != players || len(f.frame.Players) != players {
		t.Fatalf("%d names with the late client, %d rows on the board, want %d", len(names),
			len(f.frame.Players), players)
	}
	ids := map[int]netid.ID{}
	for _, c := range b.Clients {
		ids[c.ID().Index()] = c.ID()
	}
	kills := 0
	for _, p := range f.frame.Players {
		v := b.Lobby.Match().Vital(ids[p.Slot])
		if !names[p.Name] || p.RTT < 40 || v == nil {
			t.Errorf("row %+v, want a name of the match and a ping of 40 ms or more", p)
			continue
		}
		if p.Team != int(v.Team) || p.Kills != int(v.Kills) || p.Deaths != int(v.Deaths) {
			t.Errorf("row %+v, want team %d, %d kills, %d deaths", p, v.Team, v.Kills, v.Deaths)
		}
		kills += p.Kills
	}
	if status := b.Lobby.Match().RoundStatus(); f.frame.Score != [2]int{int(status.Score[0]),
		int(status.Score[1])} {
		t.Errorf("score %v, want %v", f.frame.Score, status.Score)
	}
	if kills == 0 {
		t.Error("no kill in 34 s: the scores prove nothing")
	}
}
