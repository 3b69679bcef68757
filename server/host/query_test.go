package host

import (
	"errors"
	"net"
	"os"
	"testing"
	"time"

	"github.com/tickrate/tickrate/bench/lobbysim/simtest"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/query"
)

// queried asks a query port for all chunks. sent is the number of its datagrams: a request without
// an answer is repeated.
func queried(t *testing.T, addr string) (r query.Report, sent uint64) {
	t.Helper()
	conn, err := net.Dial("udp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	c, start := query.NewClient(query.AllChunks), time.Now()
	buffer := make([]byte, query.MaxPacket)
	for !c.Done() && time.Since(start) < waitLimit {
		if d := c.Send(time.Since(start)); d != nil {
			if _, err := conn.Write(d); err != nil {
				t.Fatal(err)
			}
			sent++
		}
		if err := conn.SetReadDeadline(time.Now().Add(20 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		n, err := conn.Read(buffer)
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal(err)
		}
		if err == nil {
			_ = c.Receive(time.Since(start), buffer[:n])
		}
	}
	r, err = c.Report()
	if err != nil {
		t.Fatal(err)
	}
	return r, sent
}

// Row 61: a host answers on its query port, during and after a flood of junk, forged tokens and
// challenges. Every datagram is counted once.
func TestRow61HostAnswersQueries(t *testing.T) {
	t.Parallel() // it waits
	cfg := hostConfig("gnet")
	cfg.Query.Listen, cfg.Name, cfg.Query.Build = "127.0.0.1:0", "here", "1.2.3"
	h, stop := running(t, cfg)
	flood, err := net.Dial("udp", h.QueryAddr())
	if err != nil {
		t.Fatal(err)
	}
	defer flood.Close()
	sizes := []int{0, 1, 5, 8, 9, 1472}
	for i := range 3000 {
		d := make([]byte, sizes[i%len(sizes)])
		if len(d) > 0 {
			d[0] = byte(i/len(sizes)) % 3
		}
		if _, err := flood.Write(d); err != nil {
			t.Fatal(err)
		}
	}
	r, sent := queried(t, h.QueryAddr())
	if want := (query.Info{MaxPlayers: 4, Name: "here", Game: "deathmatch",
		Build: "1.2.3", Map: "arena-16", Port: h.Addr().Port()}); r.Info != want {
		t.Errorf("got %+v, want %+v", r.Info, want)
	}
	if len(r.Rules) != 5 || len(r.Teams.Rows) != 2 || len(r.Players.Rows) != 0 {
		t.Errorf("%d rules, %d teams, %d players", len(r.Rules), len(r.Teams.Rows), len(r.Players.Rows))
	}
	c := h.query.counters()
	sum := c["challenges"] + c["answers"]
	for i := query.DropNone + 1; i < query.NumDrops; i++ {
		sum += c[i.String()]
	}
	if c["rx_datagrams"] != sum || c["answers"] < 1 || c["answers"] >= sent || c["query_size"] == 0 ||
		c["query_token"] == 0 || c["query_type"] == 0 {
		t.Errorf("counted %v", c)
	}
	stop() // and nothing of the port is left: TestMain looks
}

// The scoreboard has the players with a session, and their score.
func TestRow61ScoreboardShowsThePlayers(t *testing.T) {
	s := simtest.New(t, server.Config{Players: 4}, 3)
	simtest.Steps(t, s, 60)
	v := s.Lobby.Match().Vital(s.Clients[0].ID())
	v.Kills, v.Deaths = 7, 2
	var r query.Report
	scoreOf(s.Now()+3*time.Second, s.Lobby).fill(&r)
	if r.Info.Players != 3 || len(r.Players.Rows) != 3 || len(r.Teams.Rows) != 2 {
		t.Fatalf("%+v", r)
	}
	row := r.Players.Rows[s.Clients[0].ID().Index()]
	if row[1].Number != uint64(v.Team) || row[2].Number != 7 || row[3].Number != 2 || row[4].Number < 3 {
		t.Errorf("%+v", row)
	}
	if n := r.Teams.Rows[0][1].Number + r.Teams.Rows[1][1].Number; n != 3 {
		t.Errorf("%d players in teams", n)
	}
}

// A host with several lobbies answers with totals, a rule for each lobby, and teams and players by
// lobby.
func TestHostAnswersQueriesForAllLobbies(t *testing.T) {
	t.Parallel() // it waits
	cfg, _ := lobbiesConfig("mmsg", 3, 4)
	cfg.Name, cfg.Query.Listen = "many", "127.0.0.1:0"
	cfg.Maps = openMap
	h, stop := running(t, cfg)
	defer stop()
	if status, body := postJSON(t, "http://"+h.HTTPAddr()+"/v1/lobbies", `{"map": "arena-64",
		"players": 2}`); status != 201 {
		t.Fatalf("%d %s", status, body)
	}
	c := dialHost(t, h.Addr(), inLobby(1, protocol.LobbyRef{Lobby: 2}))
	c.until("a welcome", c.welcomed)
	defer c.Close()
	var r query.Report
	eventually(t, "a player", func() bool { r, _ = queried(t, h.QueryAddr()); return r.Info.Players == 1 })
	want := query.Info{Players: 1, MaxPlayers: 14, Name: "many", Game: "deathmatch", Map: "2 maps",
		Port: h.Addr().Port()}
	if r.Info != want {
		t.Errorf("got %+v, want %+v", r.Info, want)
	}
	rules := map[string]string{}
	for _, rule := range r.Rules {
		rules[rule.Name] = rule.Value.String()
	}
	if rules["lobbies"] != "4" || rules["lobbies_max"] != "4" || rules["lobby_2"] != "1/4 deathmatch arena-16" ||
		rules["lobby_3"] != "0/2 deathmatch arena-64" {
		t.Errorf("%v", rules)
	}
	if len(r.Teams.Rows) != 8 || len(r.Players.Rows) != 1 || r.Players.Fields[0].Name != "lobby" ||
		r.Players.Rows[0][0].Number != 2 {
		t.Errorf("%+v %+v", r.Teams, r.Players)
	}
}

// The answer of a thousand full lobbies has all rules and teams, and fits.
func TestQueriesOfAThousandLobbies(t *testing.T) {
	var scores []*scoreboard
	for i := range MaxLobbies {
		s := &scoreboard{lobby: uint32(i), slots: 10, arena: "arena-16", mode: "deathmatch"}
		for range 10 {
			s.players = append(s.players, scoreRow{name: "player of a name"})
		}
		scores = append(scores, s)
	}
	r := query.Report{Players: query.Table{Fields: make([]query.Field, 7)},
		Teams: query.Table{Fields: make([]query.Field, 4)}}
	r.Players.Fields[1].Type = query.Text
	var encoded query.EncodedReport
	fillHost(&r, "many", scores, MaxLobbies)
	encoded.Fill(&r)
	var got query.Report
	responder, now := query.NewResponder([4]uint64{1, 2, 3, 4}, query.Limits{}), time.Duration(0)
	client := query.NewClient(query.AllChunks)
	for !client.Done() && now < time.Minute {
		if d := client.Send(now); d != nil {
			responder.Answer(now, publicAddrs[0], d, &encoded, func(d []byte) { _ = client.Receive(now, d) })
		}
		now += 10 * time.Millisecond
	}
	got, err := client.Report()
	if err != nil || got.Info.Players != 10*MaxLobbies || len(got.Rules) != MaxLobbies+2 ||
		len(got.Teams.Rows) != 2*MaxLobbies || len(got.Players.Rows) < 3000 {
		t.Errorf("%v: %+v, %d rules, %d teams, %d players", err, got.Info, len(got.Rules), len(got.Teams.Rows),
			len(got.Players.Rows))
	}
}

// A query port in use is an error that names it, and no socket stays open.
func TestQueryPortInUse(t *testing.T) {
	taken, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	cfg := hostConfig("mmsg")
	cfg.Query.Listen = taken.LocalAddr().String()
	if _, err := New(cfg); err == nil {
		t.Error("two on one port")
	}
}

// At most 100 datagrams in 10 ms are read, and fewer cause no pause.
func TestQueryPace(t *testing.T) {
	for _, c := range []struct{ gap, span, most time.Duration }{
		{time.Microsecond, time.Second, 10_000},
		{200 * time.Microsecond, time.Second, 5000},
	} {
		var p queryLimit
		n, rested := time.Duration(0), time.Duration(0)
		for now := time.Duration(0); now < c.span; n++ {
			rest := p.take(now)
			rested += rest
			now += c.gap + rest
		}
		if n > c.most || n < c.most-c.most/20 || c.gap > 100*time.Microsecond && rested != 0 {
			t.Errorf("every %v: %d in a second, %v of rest", c.gap, n, rested)
		}
	}
}
