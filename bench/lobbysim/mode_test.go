package lobbysim

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/content"
	"github.com/tickrate/tickrate/sim/mode"
)

// modeTest is a lobby that plays a mode of the built-in pack, and what its clients received.
type modeTest struct {
	*Sim
	t     *testing.T
	rows  map[tick.Tick]sim.RoundStatus
	news  []sim.RoundEvent
	heard [][]sim.RoundEvent // by client
	words []string           // what the first client's player reads of the round
	known []bool
}

// modeLobby is the lobby of a modeTest.
type modeLobby struct {
	arena   string // default arena-16
	mode    string
	players int
	link    impair.Profile
	brain   func(*modeTest, int) swarm.Brain // default swarm.NewBot
	change  func(*mode.Params)               // may shorten rounds
}

// open makes the lobby. Its clients know of the game what the Welcome says and the pack of their
// build.
func (l modeLobby) open(t *testing.T) *modeTest {
	t.Helper()
	on, players := cmp.Or(l.arena, "arena-16"), l.players
	game, err := sim.GameForArena(content.Default(), on, l.mode)
	if err != nil {
		t.Fatal(err)
	}
	l.change(&game.Mode)
	ground, err := arena.Open(on)
	if err != nil {
		t.Fatal(err)
	}
	s := &modeTest{t: t, rows: map[tick.Tick]sim.RoundStatus{}, heard: make([][]sim.RoundEvent, players),
		known: make([]bool, players)}
	s.Sim, err = New(Config{
		Clients: players, Seed: 5, Link: l.link,
		Lobby: server.Config{Arena: ground, ArenaName: on, Players: players,
			Rules: sim.Rules{Seed: 5, Mix: true, Game: game}},
		Brain: func(n int) swarm.Brain {
			if l.brain == nil {
				return swarm.NewBot(5, n)
			}
			return l.brain(s, n)
		},
		ChangeClient: func(_ int, cfg *client.Config) { cfg.Rules = sim.Rules{} },
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// staler is how old the round status of a client may be, in ticks: five seconds until the next is
// due, and delay by loss. stale is the same for a round that has changed.
const stale, staler = 90, 390

// play plays until done reports true, or fails after a time. The round status of each client must
// be that of a recent tick.
func (s *modeTest) play(most time.Duration, until func() bool) {
	s.t.Helper()
	m := s.Lobby.Match()
	for end := s.Now() + most; !until(); {
		if s.Now() > end {
			s.t.Fatalf("after %v: %+v", most, m.RoundStatus())
		}
		if err := s.Step(); err != nil {
			s.t.Fatal(err)
		}
		s.rows[m.Tick()] = m.RoundStatus()
		for i := range m.Outcome().Announcements {
			if a := &m.Outcome().Announcements[i]; sim.IsRoundEvent(a.Kind) {
				s.news = append(s.news, sim.RoundEventOf(m.Tick(), a))
			}
		}
		for i, c := range s.Clients {
			for n, ok := c.Round.NextEvent(); ok; n, ok = c.Round.NextEvent() {
				s.heard[i] = append(s.heard[i], n)
			}
			for l, ok := c.Chat.Next(); ok; l, ok = c.Chat.Next() {
				if i == 0 && l.Kind == client.LineRound {
					s.words = append(s.words, string(l.Append(nil, c.ID())))
				}
			}
			got, ok := c.Round.Status()
			if !ok {
				continue
			}
			s.known[i] = true
			if got != s.rows[got.Tick] {
				s.t.Fatalf("client %d: %+v, the match had %+v", i, got, s.rows[got.Tick])
			}
			now := s.rows[m.Tick()]
			old := m.Tick() - got.Tick
			if was, ok := s.rows[m.Tick()-stale]; ok && old > stale && (was.Phase != got.Phase ||
				was.Point != got.Point || was.Score != got.Score) {
				s.t.Fatalf("client %d: %+v, for long it was %+v, now %+v", i, got, was, now)
			}
			if old > staler {
				s.t.Fatalf("client %d got no status since tick %d, it is %d", i, got.Tick, m.Tick())
			}
		}
	}
}

// agree checks that all clients received the same events of a round, from its beginning on.
func (s *modeTest) agree() {
	s.t.Helper()
	from := func(all []sim.RoundEvent) []sim.RoundEvent {
		i := slices.IndexFunc(all, func(n sim.RoundEvent) bool { return n.What == mode.RoundBegan })
		return all[max(i, 0):]
	}
	want := from(s.news)
	for i := range s.Clients {
		if got := from(s.heard[i]); !slices.Equal(got, want) {
			s.t.Errorf("client %d heard\n%+v, the match said\n%+v", i, got, want)
		}
	}
}

// attacker is a brain that attacks the contested point; in the other team it goes home and does not
// defend.
type attacker struct {
	client func() *client.Client
	dice   uint32
	from   geom.Vec3
	check  tick.Tick
	round  tick.Tick // walks around an obstacle until then
	side   uint8
}

func (b *attacker) Decide(s *swarm.Observation) client.Intent {
	at, ok := b.client().Round.Status()
	pos, goal := s.Self.Motion.Pos, geom.Vec3{X: 13, Z: float32(int(b.dice%5)*4 - 8)}
	if !ok || s.Self.RespawnTicks > 0 {
		return client.Intent{}
	}
	if points := attackTarget(s.Self.Team, &at); points >= 0 {
		goal = places[points]
	}
	way := goal.Sub(pos)
	if way.Y = 0; way.LenSq() < 1 {
		return client.Intent{}
	}
	in := client.Intent{Yaw: geom.Atan2(way.X, way.Z), MoveMag: 255, Buttons: sim.Sprint}
	if s.Tick >= b.check {
		if b.check != 0 && pos.Sub(b.from).LenSq() < 0.5 {
			b.dice = b.dice*1664525 + 1013904223
			b.round, b.side = s.Tick+20+tick.Tick(b.dice>>26), uint8(64+b.dice>>16&128)
		}
		b.from, b.check = pos, s.Tick+30
	}
	if s.Tick < b.round {
		in.MoveYaw = b.side
		in.Buttons |= sim.Jump
	}
	return in
}

// places are the capture points of arena-16.
var places = func() (at []geom.Vec3) {
	game, err := sim.GameForArena(content.Default(), "arena-16", "assault")
	if err != nil {
		panic(err)
	}
	for _, z := range game.Layout.Points {
		at = append(at, z.Center)
	}
	return at
}()

// attackTarget is where a player of a team goes, -1: home.
func attackTarget(team uint8, at *sim.RoundStatus) int {
	if team == mode.Attackers && at.Phase == mode.Active && int(at.Point) < len(places) {
		return int(at.Point)
	}
	return -1
}

func newAttacker(s *modeTest, n int) swarm.Brain {
	return &attacker{client: func() *client.Client { return s.Clients[n] }, dice: uint32(n)}
}

// TestRow57AssaultAsClientsSeeIt plays an assault from its countdown to its result and into the
// next round, over a lossy link: every client gets every capture and the winner, in order and in
// words, and has the state of the round at any time. A late joiner has it as soon as it has joined.
func TestRow57AssaultAsClientsSeeIt(t *testing.T) {
	skipUnderRace(t)
	s := modeLobby{mode: "assault", players: 8, link: bad, brain: newAttacker, change: func(p *mode.Params) {
		p.PrematchMillis, p.PostmatchMillis = 4000, 2000
		p.RespawnMillis, p.CaptureMillis, p.RoundMillis = 1000, 2000, 120000
	}}.open(t)
	m := s.Lobby.Match()
	s.play(60*time.Second, func() bool { return m.Mode().Point == 1 })
	if at, _ := s.Clients[0].Round.Status(); at.Phase != mode.Active || at.Points != 3 {
		t.Errorf("after a capture client 0 knows %+v", at)
	}
	s.Leave(7)
	if err := s.Connect(7); err != nil {
		t.Fatal(err)
	}
	began, late := s.Now(), s.heard[7]
	s.known[7] = false
	s.play(5*time.Second, func() bool { return playing(s.Clients[7]) && s.known[7] })
	at, _ := s.Clients[7].Round.Status()
	if at.Phase != mode.Active || at.Point < 1 || s.Clients[7].SecondsLeft() == 0 {
		t.Errorf("a client that joined %v late knows %+v, %d s",
			s.Now()-began, at, s.Clients[7].SecondsLeft())
	}
	s.heard[7] = late
	s.play(120*time.Second, func() bool { return m.Mode().Phase == mode.Ended })
	if m.Mode().Winner != mode.Attackers {
		t.Fatalf("%+v", m.Mode())
	}
	s.play(10*time.Second, func() bool {
		return m.Mode().Round == 1 && m.Mode().Phase == mode.Countdown &&
			m.Mode().Left < 60
	})
	var captured []uint8
	for _, n := range s.heard[0] {
		if n.What == mode.PointCaptured {
			captured = append(captured, n.Point)
		}
	}
	if won := s.heard[0][len(s.heard[0])-2]; !slices.Equal(captured, []uint8{0, 1, 2}) ||
		won.What != mode.RoundWon || won.Team != mode.Attackers {
		t.Errorf("client 0 heard of %v; before the next countdown %+v", captured, won)
	}
	for _, want := range []string{
		"* the round has begun: 2:00", "* point A is attacked", "* point A is captured, 2 to go",
		"* point B is captured, 1 to go",
		"* point C is captured, 0 to go", "* team 1 has won the round", "* the round begins in 4 s",
	} {
		at := slices.Index(s.words, want)
		if at < 0 {
			t.Fatalf("client 0 did not get %q in order, only %q", want, s.words)
		}
		s.words = s.words[at+1:]
	}
	t.Logf("%v of play, %d news, %d states sent", s.Now(), len(s.news), len(s.rows))
	s.Clients, s.heard = s.Clients[:7], s.heard[:7] // the client that was away missed events
	s.agree()
}

// Without attackers time runs out, and the defenders win.
func TestAssaultDefended(t *testing.T) {
	skipUnderRace(t)
	idle := func(*modeTest, int) swarm.Brain {
		return &attacker{client: func() *client.Client { return new(client.Client) }}
	}
	s := modeLobby{mode: "assault", players: 4, brain: idle,
		link: impair.Profile{Loss: 0.2, Delay: 30 * time.Millisecond},
		change: func(p *mode.Params) {
			p.PrematchMillis, p.PostmatchMillis, p.RespawnMillis, p.RoundMillis = 3000, 3000, 1000, 4000
		}}.open(t)
	s.play(30*time.Second, func() bool {
		return s.Lobby.Match().Mode().Phase == mode.Ended &&
			s.Lobby.Match().Mode().Left < 60
	})
	for i, c := range s.Clients {
		if at, ok := c.Round.Status(); !ok || at.Winner != mode.Defenders || at.Phase != mode.Ended ||
			at.Point != 0 {
			t.Errorf("client %d: %+v, %v", i, at, ok)
		}
	}
	s.agree()
	if last := s.words[len(s.words)-1]; last != "* team 2 has won the round" {
		t.Errorf("client 0 reads %q last", last)
	}
}

// A deathmatch of the pack over a lossy link, to its result: every client knows the score, and the
// same winner.
func TestDeathmatchAsClientsSeeIt(t *testing.T) {
	skipUnderRace(t)
	s := modeLobby{mode: "deathmatch", players: 8, link: bad, change: func(p *mode.Params) {
		p.PrematchMillis, p.PostmatchMillis = 3000, 3000
		p.RespawnMillis, p.RoundMillis, p.ScoreLimit = 1000, 120000, 10
	}}.open(t)
	m := s.Lobby.Match()
	s.play(150*time.Second, func() bool { return m.Mode().Phase == mode.Ended && m.Mode().Left < 60 })
	won := *m.Mode()
	if max(won.Score[0], won.Score[1]) < 10 || won.Winner >= mode.Teams {
		t.Fatalf("%+v", won)
	}
	for i, c := range s.Clients {
		if at, ok := c.Round.Status(); !ok || at.Winner != won.Winner || at.Score != won.Score ||
			at.Points != 0 {
			t.Errorf("client %d: %+v, %v", i, at, ok)
		}
	}
	s.agree()
}

// With the pack's own numbers a client on a clean link predicts its player to the bit, whichever
// hero that is and whatever stands on the map.
func TestPackIsPredicted(t *testing.T) {
	skipUnderRace(t)
	for _, name := range []string{"deathmatch", "assault"} {
		s := modeLobby{mode: name, players: 8, link: impair.Profile{Delay: 20 * time.Millisecond},
			change: func(p *mode.Params) { p.PrematchMillis = 1000 }}.open(t)
		s.step(t, 40*time.Second)
		for i, c := range s.Clients {
			if p := c.Stats().Prediction; p.Mispredictions != 0 || p.Rows < 700 {
				t.Errorf("%s: client %d: %+v", name, i, p)
			}
		}
	}
}

// A late joiner has the state of the round with its first snapshot, at whatever moment between two
// updates it joins.
func TestLateJoinerKnowsTheRound(t *testing.T) {
	skipUnderRace(t)
	s := modeLobby{mode: "assault", players: 4, link: impair.Profile{Delay: 20 * time.Millisecond},
		change: func(p *mode.Params) { p.PrematchMillis = 1000 }}.open(t)
	s.step(t, 3*time.Second)
	for range 12 {
		s.Leave(2)
		s.step(t, 290*time.Millisecond)
		if err := s.Connect(2); err != nil {
			t.Fatal(err)
		}
		for end := s.Now() + 2*time.Second; !playing(s.Clients[2]) && s.Now() < end; {
			s.step(t, 10*time.Millisecond)
		}
		at, ok := s.Clients[2].Round.Status()
		if !playing(s.Clients[2]) || !ok || at.Phase != mode.Active || s.Clients[2].SecondsLeft() < 300 {
			t.Errorf("at %v: %+v, %v", s.Now(), at, ok)
		}
	}
}

// A status that changes often is sent four times a second at most, and one that does not change
// once in five seconds at least.
func TestRoundStatusIsSentSeldom(t *testing.T) {
	skipUnderRace(t)
	s := modeLobby{mode: "assault", players: 8, brain: newAttacker, change: func(p *mode.Params) {
		p.PrematchMillis, p.PostmatchMillis, p.RespawnMillis, p.CaptureMillis = 2000, 2000, 1000, 2000
	}}.open(t)
	updates, was, ticks := 0, sim.RoundStatus{}, 0
	s.play(60*time.Second, func() bool {
		ticks++
		if at, _ := s.Clients[0].Round.Status(); at != was {
			updates, was = updates+1, at
		}
		return s.Lobby.Match().Mode().Phase == mode.Ended
	})
	if most := ticks/15 + 10; updates > most || updates < ticks/300 {
		t.Errorf("%d times in %d ticks, want %d to %d", updates, ticks, ticks/300, most)
	}
}
