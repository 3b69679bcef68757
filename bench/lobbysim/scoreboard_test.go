package lobbysim

import (
	"testing"
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
)

// boardWait is how long a change may take until every board has it: a second until the server looks
// at the slot, one until the next message, and what losses take.
const boardWait = 4 * time.Second

// TestRow72ScoreBoardIsComplete: under interest, loss and late joiners every full client's board has
// each player's name, team, kills and deaths as the server had them at most boardWait before, and
// each player's ping and loss within their steps; and the teams' score.
func TestRow72ScoreBoardIsComplete(t *testing.T) {
	const players, full = 72, 6
	link := impair.Profile{Delay: 30 * time.Millisecond, Loss: 0.05}
	cfg := Config{
		Clients: players, Seed: 4, Link: link, Decode: client.DecodeOwn,
		Lobby: server.Config{Players: players, Relevance: server.RelevanceGrid, ViewDistance: 12,
			Arena: boardArena(t, "arena-64"), ArenaName: "arena-64", Rules: sim.Rules{Seed: 4}},
		ChangeClient: func(n int, c *client.Config) {
			if n < full {
				c.Decode = client.DecodeFull
			}
		},
	}
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for i := 1; i < full; i++ {
		s.Crash(i) // joins late
	}
	step := func(d time.Duration) {
		t.Helper()
		for end := s.Now() + d; s.Now() < end; {
			if err := s.Step(); err != nil {
				t.Fatal(err)
			}
		}
	}
	past := &boardPast{}
	for second := 1; second <= 20; second++ {
		step(time.Second)
		past.keep(s)
		if late := second - 6; late > 0 && late < full {
			if err := s.Connect(late); err != nil {
				t.Fatal(err)
			}
		}
	}
	hidden := 0
	for i := range full {
		board := s.Clients[i].Board.Append(nil)
		if len(board) != players {
			t.Errorf("client %d: %d lines, want %d", i, len(board), players)
		}
		for _, line := range board {
			past.check(t, s, i, line)
			switch s.Lobby.Explain(s.Clients[i].ID(), line.ID).Reason {
			case server.ReasonRange, server.ReasonOccluded:
				hidden++
			}
		}
		status, known := s.Clients[i].Round.Status()
		if !known || status.Score != past.score[len(past.score)-1] && status.Score != past.score[len(past.score)-2] {
			t.Errorf("client %d: teams at %v (known %v), the server's are at %v", i, status.Score, known,
				s.Lobby.Match().RoundStatus().Score)
		}
	}
	kills := s.Lobby.Stats.Count[metrics.Kills].Load()
	if kills < 30 || hidden < players/2 {
		t.Errorf("too little happened: %d kills, %d lines of players out of sight", kills, hidden)
	}
}

func boardArena(t *testing.T, name string) *arena.Arena {
	t.Helper()
	a, err := arena.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// boardPast is what the server's match said each second.
type boardPast struct {
	vitals []map[int]sim.Vital
	score  [][2]int32
}

// keep notes the state of now.
func (p *boardPast) keep(s *Sim) {
	m, now := s.Lobby.Match(), map[int]sim.Vital{}
	for _, v := range s.Lobby.AppendPlayerViews(nil) {
		now[v.Slot] = *v.Vital
	}
	p.vitals = append(p.vitals, now)
	p.score = append(p.score, m.RoundStatus().Score)
}

// check holds a line of client i's board against what the server said within boardWait.
func (p *boardPast) check(t *testing.T, s *Sim, i int, line client.Score) {
	t.Helper()
	slot, is := line.ID.Index(), false
	for back := range int(boardWait / time.Second) {
		if v, ok := p.vitals[len(p.vitals)-1-back][slot]; ok && v.Kills == line.Kills && v.Deaths == line.Deaths {
			is = true
		}
	}
	now := p.vitals[len(p.vitals)-1][slot]
	if !line.Known || !is || line.Name == "" || int(line.Team) != int(now.Team) {
		t.Errorf("client %d, slot %d: %+v, the server has %+v", i, slot, line, now)
	}
	if line.Away || line.Ping < 50*time.Millisecond || line.Ping > 120*time.Millisecond ||
		line.Loss < 0.005 || line.Loss > 0.15 {
		t.Errorf("client %d, slot %d: ping %v, loss %.2f, away %v", i, slot, line.Ping, line.Loss, line.Away)
	}
}

// TestRow72ScoreBoardIsCheap: on links that stay as they are, the board costs a client few bytes a
// second, and a client that has all of it gets nothing while nothing changes.
func TestRow72ScoreBoardIsCheap(t *testing.T) {
	const players, seconds = 64, 20
	s, err := New(Config{
		Clients: players, Seed: 2, Decode: client.DecodeOwn,
		Link: impair.Profile{Delay: 30 * time.Millisecond, Jitter: 8 * time.Millisecond, Loss: 0.01},
		Lobby: server.Config{Players: players, Arena: boardArena(t, "arena-16"), ArenaName: "arena-16",
			Rules: sim.Rules{Seed: 2}},
	})
	if err != nil {
		t.Fatal(err)
	}
	before, count := uint64(0), func(c metrics.Count) uint64 { return s.Lobby.Stats.Count[c].Load() }
	for end := seconds * time.Second; s.Now() < end; {
		if err := s.Step(); err != nil {
			t.Fatal(err)
		}
		if s.Now() < 5*time.Second {
			before = count(metrics.ScoreBytes)
		}
	}
	cost := float64(count(metrics.ScoreBytes)-before) / players / (seconds - 5)
	t.Logf("%d players: %.0f bytes a second for each, with %d kills in %d s", players, cost,
		count(metrics.Kills), seconds)
	if cost < 5 || cost > 200 {
		t.Errorf("the board costs %.0f bytes a second and client", cost)
	}
}
