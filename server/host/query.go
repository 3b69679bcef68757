package host

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/query"
)

// queryPort answers server browsers on a UDP port of its own, so that they never delay a player.
// It sees only what the tick published last.
type queryPort struct {
	conn *net.UDPConn
	done chan struct{}

	mu        sync.Mutex // guards responder
	responder *query.Responder
}

// A flood is left to the kernel: at most queryBurst datagrams are read in queryWindow.
const (
	queryBurst  = 100
	queryWindow = 10 * time.Millisecond
)

// queryLimit counts the datagrams of a window.
type queryLimit struct {
	count int
	began time.Duration
}

// take counts a datagram and returns how long to pause after it: to the end of the window when that
// is full.
func (p *queryLimit) take(now time.Duration) time.Duration {
	if now-p.began >= queryWindow {
		p.count, p.began = 0, now
	}
	if p.count++; p.count < queryBurst {
		return 0
	}
	return queryWindow - (now - p.began)
}

// listenQuery opens the port; serve begins to answer.
func listenQuery(addr string) (*queryPort, error) {
	at, err := net.ResolveUDPAddr("udp", addr)
	if err != nil {
		return nil, fmt.Errorf("query port: %w", err)
	}
	conn, err := net.ListenUDP("udp", at)
	if err != nil {
		return nil, fmt.Errorf("query port: %w", err)
	}
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // never fails: it ends the program
	var key [4]uint64
	for i := range key {
		key[i] = binary.LittleEndian.Uint64(secret[8*i:])
	}
	return &queryPort{conn: conn, done: make(chan struct{}), responder: query.NewResponder(key,
		query.Limits{})}, nil
}

// serve answers on a goroutine until close. fill encodes what the lobbies have published last; it is
// called at most once in queryFresh.
func (q *queryPort) serve(fill func(*query.EncodedReport)) {
	go func() {
		defer close(q.done)
		q.answer(fill)
	}()
}

// queryFresh is how long an answer is used again: lobbies publish once a second.
const queryFresh = 250 * time.Millisecond

func (q *queryPort) answer(fill func(*query.EncodedReport)) {
	var (
		start   = time.Now()
		buffer  [query.RequestSize + 1]byte // a longer datagram is no request
		encoded query.EncodedReport
		fresh   time.Duration // until when encoded is used
		limit   queryLimit
	)
	for {
		n, from, err := q.conn.ReadFromUDPAddrPort(buffer[:])
		if errors.Is(err, net.ErrClosed) {
			return
		}
		now := time.Since(start)
		pause := limit.take(now)
		if err != nil { // of an earlier answer
			time.Sleep(pause)
			continue
		}
		if now >= fresh {
			fill(&encoded)
			fresh = now + queryFresh
		}
		q.mu.Lock()
		q.responder.Answer(now, from, buffer[:n], &encoded, func(d []byte) {
			_, _ = q.conn.WriteToUDPAddrPort(d, from) // an answer that cannot be sent is lost
		})
		q.mu.Unlock()
		time.Sleep(pause)
	}
}

// counters returns the results of all datagrams so far, by name; nil without a port.
func (q *queryPort) counters() map[string]uint64 {
	if q == nil {
		return nil
	}
	q.mu.Lock()
	c := q.responder.Counters()
	q.mu.Unlock()
	m := map[string]uint64{
		"rx_datagrams": c.Received, "rx_bytes": c.BytesIn, "challenges": c.Challenges, "answers": c.Answers,
		"tx_datagrams": c.Packets, "tx_bytes": c.BytesOut,
	}
	for i, n := range c.Drops {
		if n > 0 {
			m[query.Drop(i).String()] = n
		}
	}
	return m
}

// close ends the port, if there is one.
func (q *queryPort) close() error {
	if q == nil {
		return nil
	}
	err := q.conn.Close()
	<-q.done
	return err
}

// QueryAddr is the address of the query port, "" if there is none.
func (h *Host) QueryAddr() string {
	if h.query == nil {
		return ""
	}
	return h.query.conn.LocalAddr().String()
}

// openQuery opens the query port, if one is configured.
func (h *Host) openQuery(cfg *Config) error {
	if cfg.Query.Listen == "" {
		return nil
	}
	q, err := listenQuery(cfg.Query.Listen)
	if err != nil {
		return err
	}
	h.query = q
	for _, x := range *h.list.Load() {
		h.publishScore(0, x)
	}
	report := h.queryReport(cfg)
	own := len(report.Rules)
	q.serve(func(encoded *query.EncodedReport) {
		var scores []*scoreboard
		for _, x := range *h.list.Load() {
			if s := x.score.Load(); s != nil {
				scores = append(scores, s)
			}
		}
		report.Rules = report.Rules[:own]
		if h.alone() {
			scores[0].fill(report)
		} else {
			fillHost(report, cfg.Name, scores, h.cfg.Lobbies.most())
		}
		encoded.Fill(report)
	})
	return nil
}

// scoreboard is what the tick publishes for server browsers, once a second: some bytes for each
// player.
type scoreboard struct {
	lobby          uint32
	slots          int       // for players
	kills, members [2]uint32 // by team
	name           string    // of the server
	arena, mode    string
	players        []scoreRow
}

// scoreRow is one player.
type scoreRow struct {
	name                string
	seconds, pingMillis int32
	kills, deaths       uint16
	team                uint8
}

// publishScore publishes the scoreboard of a lobby. It belongs to the goroutine of that lobby.
func (h *Host) publishScore(now time.Duration, x *hosted) {
	if h.query != nil {
		x.score.Store(scoreOf(now, x.lobby))
	}
}

// scoreOf returns the scoreboard of a lobby.
func scoreOf(now time.Duration, lobby *server.Lobby) *scoreboard {
	status, match := lobby.Status(), lobby.Match()
	points, members := match.Mode().Score, match.Score().Members
	s := &scoreboard{
		lobby: lobby.ID(), slots: lobby.Summary().Census.PlayerSlots,
		name: status.Name, arena: status.Map, mode: status.Mode,
		kills:   [2]uint32{uint32(points[0]), uint32(points[1])},
		members: [2]uint32{uint32(members[0]), uint32(members[1])},
	}
	for _, v := range lobby.AppendPlayerViews(nil) {
		if !v.Connected || v.Vital == nil || v.Spectates {
			continue
		}
		name := v.Name
		if name == "" {
			name = "player " + strconv.Itoa(v.Slot)
		}
		s.players = append(s.players, scoreRow{
			name: name, seconds: int32((now - v.Conn.Since) / time.Second),
			pingMillis: int32(v.Conn.RTT / time.Millisecond),
			kills:      v.Vital.Kills, deaths: v.Vital.Deaths, team: v.Vital.Team,
		})
	}
	return s
}

// queryReport is the part of a report that stays the same while the host runs.
func (h *Host) queryReport(cfg *Config) *query.Report {
	c := h.initial().lobby.Config()
	r := &query.Report{
		Info: query.Info{
			MaxPlayers: uint16(c.Players - c.Spectators), Name: cfg.Name, Game: c.Rules.Game.Mode.Name,
			Build: cfg.Query.Build, Map: c.ArenaName, Port: h.Addr().Port(),
		},
		Rules: []query.Rule{
			{Name: "rate_hz", Value: query.Number(int(c.Rules.Rate))},
			{Name: "interval_ticks", Value: query.Number(c.SendInterval)},
			{Name: "respawn_millis", Value: query.Number(int(c.Rules.RespawnMillis))},
			{Name: "rewind_millis", Value: query.Number(int(c.Rules.RewindMillis))},
			{Name: "protocol", Value: query.Words(fmt.Sprintf("%#x", c.Netcode.ProtocolID))},
		},
		Players: query.Table{Fields: []query.Field{
			{Name: "name", Type: query.Text}, {Name: "team", Type: query.Byte}, {Name: "kills",
				Type: query.Ushort},
			{Name: "deaths", Type: query.Ushort}, {Name: "seconds",
				Type: query.Uint}, {Name: "ping_ms", Type: query.Ushort},
		}},
		Teams: query.Table{Fields: []query.Field{
			{Name: "team", Type: query.Byte}, {Name: "players", Type: query.Ushort}, {Name: "kills",
				Type: query.Uint},
		}},
	}
	if !h.alone() {
		lobby := []query.Field{{Name: "lobby", Type: query.Uint}}
		r.Players.Fields = append(lobby, r.Players.Fields...)
		r.Teams.Fields = append(slices.Clone(lobby), r.Teams.Fields...)
	}
	return r
}

// fill completes the report of a lobby alone.
func (s *scoreboard) fill(r *query.Report) {
	r.Info.Players, r.Info.Name, r.Info.Map, r.Info.Game = uint16(len(s.players)), s.name, s.arena, s.mode
	r.Teams.Rows, r.Players.Rows = r.Teams.Rows[:0], r.Players.Rows[:0]
	s.appendRows(r, nil)
}

// fillHost completes the report of a host with several lobbies: totals, a rule for each lobby, and
// all teams and players below the number of their lobby. Of a thousand full lobbies the last
// players find no room.
func fillHost(r *query.Report, name string, scores []*scoreboard, most int) {
	r.Info.Players, r.Info.MaxPlayers, r.Info.Name = 0, 0, name
	r.Teams.Rows, r.Players.Rows = r.Teams.Rows[:0], r.Players.Rows[:0]
	r.Rules = append(r.Rules, query.Rule{Name: "lobbies", Value: query.Number(len(scores))},
		query.Rule{Name: "lobbies_max", Value: query.Number(most)})
	maps, modes := map[string]bool{}, map[string]bool{}
	for _, s := range scores {
		r.Info.Players += uint16(len(s.players))
		r.Info.MaxPlayers += uint16(min(s.slots, math.MaxUint16-int(r.Info.MaxPlayers)))
		maps[s.arena], modes[s.mode] = true, true
		r.Rules = append(r.Rules, query.Rule{Name: "lobby_" + lobbyName(s.lobby), Value: query.Words(fmt.Sprintf(
			"%d/%d %s %s", len(s.players), s.slots, s.mode, s.arena))})
		s.appendRows(r, []query.Value{query.Number(int(s.lobby))})
	}
	r.Info.Map, r.Info.Game = oneOf(maps, "maps"), oneOf(modes, "modes")
}

// oneOf is the only name of a set, or else their number.
func oneOf(names map[string]bool, what string) string {
	if len(names) > 1 {
		return fmt.Sprintf("%d %s", len(names), what)
	}
	for name := range names {
		return name
	}
	return ""
}

// appendRows adds the teams and the players, with values before those of each row.
func (s *scoreboard) appendRows(r *query.Report, before []query.Value) {
	row := func(values ...query.Value) []query.Value { return append(slices.Clone(before), values...) }
	for team, n := range s.members {
		r.Teams.Rows = append(r.Teams.Rows, row(query.Number(team), query.Number(int(n)),
			query.Number(int(s.kills[team]))))
	}
	for _, p := range s.players {
		r.Players.Rows = append(r.Players.Rows, row(
			query.Words(p.name), query.Number(int(p.team)), query.Number(int(p.kills)),
			query.Number(int(p.deaths)), query.Number(int(p.seconds)), query.Number(int(p.pingMillis)),
		))
	}
}
