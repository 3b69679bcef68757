package mode

import (
	"slices"
	"testing"

	"github.com/tickrate/tickrate/ecs/netid"
)

// game is a match with scripted input, and all of its announcements.
type game struct {
	t     *testing.T
	rules *Rules
	State
	in        Input
	out       Output
	now       int
	announced []Announcement
	awards    map[netid.ID]int
}

func newGame(t *testing.T, p Params) *game {
	r := p.MustCompile(60)
	return &game{t: t, rules: r, State: r.Start(), awards: map[netid.ID]int{}}
}

// tick plays one with some kills.
func (g *game) tick(kills ...Kill) {
	g.now++
	g.in.Kills = kills
	g.State = g.rules.Step(g.State, &g.in, &g.out)
	g.announced = append(g.announced, g.out.Announcements...)
	for _, id := range g.out.Awards {
		g.awards[id]++
	}
}

func (g *game) ticks(n int) {
	for range n {
		g.tick()
	}
}

// until plays to a phase, and returns after how many ticks it came.
func (g *game) until(p Phase) int {
	g.t.Helper()
	for n := 0; n <= 60*3600; n++ {
		if g.Phase == p {
			return n
		}
		g.tick()
	}
	g.t.Fatalf("phase %d never came", p)
	return 0
}

// heard is the number of announcements of a kind.
func (g *game) heard(what AnnouncementKind) (n int) {
	for _, a := range g.announced {
		if a.Kind == what {
			n++
		}
	}
	return n
}

func (g *game) want(what string, got, want int) {
	g.t.Helper()
	if got != want {
		g.t.Fatalf("tick %d: %s: %d, want %d", g.now, what, got, want)
	}
}

func kill(killer, victim netid.ID) Kill {
	return Kill{Killer: killer, Victim: victim, KillerTeam: uint8(killer % 2), VictimTeam: uint8(victim % 2)}
}

// Players of team 0 have even numbers here.
func TestRow56Deathmatch(t *testing.T) {
	g := newGame(t, DefaultDeathmatch())
	g.in.Players = [Teams]uint16{1, 0}
	g.ticks(1000)
	g.want("waits for a second player in phase", int(g.Phase), int(Countdown))
	g.want("announcements", len(g.announced), 0)
	g.in.Players = [Teams]uint16{1, 1}
	g.ticks(600)
	g.tick(kill(2, 3)) // a death in prematch is announced and does not count
	g.in.Players = [Teams]uint16{1, 0}
	g.tick()
	g.want("announced to wait", g.heard(WaitForPlayers), 1)
	g.in.Players = [Teams]uint16{1, 1}
	g.want("ticks of prematch", g.until(Active), 20*60)
	g.want("countdowns", g.heard(CountdownBegan), 2)
	g.want("clock", int(g.rules.Seconds(&g.State)), 420)

	g.tick(kill(2, 3), kill(2, 5), kill(3, 4)) // 2 to 1
	// a friend, oneself, the world; 3 to 1
	g.tick(kill(2, 4), kill(3, 3), Kill{Victim: 5, VictimTeam: 1}, kill(4, 7))
	g.want("score of 0", int(g.Score[0]), 3)
	g.want("score of 1", int(g.Score[1]), 1)
	g.want("points of player 2", g.awards[2], 2)
	g.want("points of player 3", g.awards[3], 1)
	g.want("killed", g.heard(PlayerKilled), 6)
	g.want("suicides", g.heard(PlayerSuicide), 1)
	g.want("died", g.heard(PlayerDied), 1)
	g.want("ticks of the round", g.until(Ended)+2, 420*60)
	if !g.out.KillAll {
		t.Error("the end of the round kills nobody")
	}
	g.want("winner", int(g.Winner), 0)
	if last := g.announced[len(g.announced)-1]; last != (Announcement{Kind: RoundWon}) {
		t.Errorf("announced %+v at the end", last)
	}
	g.tick(kill(3, 2))
	g.want("score after the end", int(g.Score[1]), 1)
	if g.out.KillAll {
		t.Error("everybody dies twice")
	}
	g.want("ticks of postmatch", g.until(Countdown)+1, 10*60)
	if !g.out.Restart {
		t.Error("no restart")
	}
	g.want("score of the next round", int(g.Score[0]+g.Score[1]), 0)
	g.want("winner of the next round", int(g.Winner), NoWinner)
	g.want("round", int(g.Round), 1)
	g.want("ticks of prematch", g.until(Active), 20*60)
}

func TestRow56TieAndLimit(t *testing.T) {
	g := newGame(t, DefaultDeathmatch())
	g.in.Players = [Teams]uint16{4, 4}
	g.until(Active)
	g.ticks(420*60 - 1)
	g.want("phase", int(g.Phase), int(Active))
	g.tick(kill(2, 3), kill(3, 2)) // both in the last tick: in time
	g.want("score", int(g.Score[0]), 1)
	g.want("winner", int(g.Winner), Tie)
	g.want("ties announced", g.heard(RoundTied), 1)

	p := DefaultDeathmatch()
	p.ScoreLimit = 2
	g = newGame(t, p)
	g.in.Players = [Teams]uint16{4, 4}
	g.until(Active)
	g.tick(kill(3, 2))
	g.want("phase", int(g.Phase), int(Active))
	g.tick(kill(5, 4))
	g.want("winner", int(g.Winner), 1)
	g.until(Countdown)
	g.until(Active)
	g.tick(kill(3, 2), kill(2, 3))
	g.tick(kill(3, 2), kill(2, 3))
	g.want("both at the limit", int(g.Winner), Tie)
}

func (g *game) zones(occupied ...Occupancy) { g.in.Zones = occupied }

func TestRow56AssaultAttackersWin(t *testing.T) {
	g := newGame(t, DefaultAssault())
	g.in.Players = [Teams]uint16{4, 4}
	g.want("ticks of prematch", g.until(Active), 10*60)
	g.zones(Occupancy{}, Occupancy{4, 0}, Occupancy{4, 0})
	g.ticks(100)
	g.want("progress out of order", int(g.Progress), 0)

	g.zones(Occupancy{1, 0})
	g.ticks(599)
	g.want("point", int(g.Point), 0)
	g.zones(Occupancy{3, 1})
	g.ticks(60)
	g.want("status", int(g.Status), int(Contested))
	g.zones(Occupancy{0, 4}) // takes two ticks' worth back each
	g.tick()
	g.want("status", int(g.Status), int(Recovering))
	g.zones()
	g.ticks(100)
	g.want("progress left alone", int(g.Progress), 597*captureUnit)
	g.zones(Occupancy{1, 0})
	g.ticks(2)
	g.want("point", int(g.Point), 0)
	g.tick()
	g.want("point", int(g.Point), 1)
	g.want("progress of the next", int(g.Progress), 0)

	g.zones(Occupancy{}, Occupancy{4, 0}) // twice as fast
	g.ticks(299)
	g.want("point", int(g.Point), 1)
	g.tick()
	g.want("point", int(g.Point), 2)
	g.zones(Occupancy{9, 0}, Occupancy{9, 0}, Occupancy{9, 0})
	g.want("ticks for the last point", g.until(Ended), 200)
	g.want("winner", int(g.Winner), Attackers)
	g.want("captures announced", g.heard(PointCaptured), 3)
	g.want("attacks announced", g.heard(PointAttacked), 3)
	g.want("score", int(g.Score[Attackers]), 3)
	g.until(Countdown)
	g.want("point of the next round", int(g.Point), 0)
}

func TestRow56AssaultDefendersWin(t *testing.T) {
	g := newGame(t, DefaultAssault())
	g.in.Players = [Teams]uint16{4, 4}
	g.until(Active)
	g.zones(Occupancy{1, 0}, Occupancy{1, 0}, Occupancy{4, 1})
	g.tick(kill(2, 3))
	g.want("ticks of the round", g.until(Ended)+1, 420*60)
	g.want("winner", int(g.Winner), Defenders)
	g.want("kills are the player's", g.awards[2], 1)
	g.want("score", int(g.Score[Attackers]), 2)

	// The last point in the last tick is in time.
	g.until(Active)
	g.zones(Occupancy{1, 0}, Occupancy{1, 0}, Occupancy{})
	g.ticks(419 * 60)
	g.ticks(50)
	g.zones(Occupancy{}, Occupancy{}, Occupancy{3600, 0})
	g.want("ticks", g.until(Ended), 10)
	g.want("winner", int(g.Winner), Attackers)
}

// State alone is enough for a client that joins in the middle of a round.
func TestRow56LateJoiner(t *testing.T) {
	g := newGame(t, DefaultAssault())
	g.in.Players = [Teams]uint16{3, 2}
	g.until(Active)
	g.zones(Occupancy{4, 0}, Occupancy{1, 0})
	g.ticks(450)
	late := *g
	late.in.Players[Assign(late.in.Players)]++
	late.announced, late.awards = nil, map[netid.ID]int{}
	g.in.Players = late.in.Players
	g.want("team of the smallest", int(g.in.Players[1]), 3)
	if !g.rules.MayRespawn(&g.State, 0, 450) {
		t.Error("a late joiner must wait")
	}
	g.want("base of an attacker", int(g.rules.Spawn(&g.State, Attackers).Base), 0)
	g.want("base of a defender", int(g.rules.Spawn(&g.State, Defenders).Base), 1)
	late.Turn = g.Turn
	for range 2000 {
		g.tick()
		late.tick()
		if g.State != late.State || !slices.Equal(g.out.Announcements, late.out.Announcements) {
			t.Fatalf("%+v, and a match that joined late has %+v", g.State, late.State)
		}
	}
	g.until(Ended)
	if g.rules.MayRespawn(&g.State, 0, 1) {
		t.Error("a player may spawn in a round that is over")
	}
}

func TestRow56SpawnsTakeTurns(t *testing.T) {
	g := newGame(t, DefaultDeathmatch())
	for turn := range uint16(5) {
		for team := range uint8(Teams) {
			if got := g.rules.Spawn(&g.State, team); got != (SpawnChoice{Base: -1, Turn: turn}) {
				t.Fatalf("team %d, turn %d: %+v", team, turn, got)
			}
		}
	}
	p := DefaultAssault()
	p.SpawnBehind = 1
	g = newGame(t, p)
	for point, want := range []struct{ attackers, defenders int8 }{{-1, 1}, {0, 2}, {1, -1}} {
		g.Point = uint8(point)
		a, d := g.rules.Spawn(&g.State, Attackers), g.rules.Spawn(&g.State, Defenders)
		if a.Base != want.attackers || d.Base != want.defenders {
			t.Errorf("point %d: attackers at %d, defenders at %d, want %+v", point, a.Base, d.Base, want)
		}
	}
}

func TestRow54RespawnDelay(t *testing.T) {
	r := DefaultDeathmatch().MustCompile(60)
	s := r.Start()
	for phase := range Phases {
		s.Phase = phase
		open := phase != Ended
		if got := r.MayRespawn(&s, 100, 100+599); got {
			t.Errorf("phase %d: stands up before 10 s", phase)
		}
		if got := r.MayRespawn(&s, 100, 100+600); got != open {
			t.Errorf("phase %d: after 10 s %v, want %v", phase, got, open)
		}
		if got := r.MayRespawn(&s, 0, 3); got != open {
			t.Errorf("phase %d: never died: %v, want %v", phase, got, open)
		}
	}
}

func TestRow54HeroChange(t *testing.T) {
	dm, as := DefaultDeathmatch().MustCompile(60), DefaultAssault().MustCompile(60)
	var s State
	s.Point = 1 // point 0 is captured
	for i, c := range []struct {
		rules *Rules
		team  uint8
		alive bool
		at    Location
		want  bool
	}{
		{dm, 0, true, Location{}, false},
		{dm, 0, true, Location{Home: true}, true},
		{dm, 1, true, Location{Points: 7}, false}, // a deathmatch has no bases
		{dm, 1, false, Location{}, true},
		{as, 0, true, Location{}, false},
		{as, 0, true, Location{Home: true}, true},
		{as, 0, true, Location{Points: 1 << 0}, true},
		{as, 0, true, Location{Points: 1 << 1}, false},
		{as, 0, true, Location{Points: 1 << 2}, false},
		{as, 1, true, Location{Points: 1 << 0}, false},
		{as, 1, true, Location{Points: 1 << 1}, true},
		{as, 1, true, Location{Points: 1 << 2}, true},
		{as, 1, true, Location{Points: 1 << 3}, false}, // no such point
		{as, 7, true, Location{Points: 7}, false},
	} {
		if got := !c.alive || c.rules.MayChangeHero(&s, c.team, c.at); got != c.want {
			t.Errorf("%d: %v, want %v", i, got, c.want)
		}
	}
}
