package host

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/query"
)

// queryPort answers server browsers on a UDP port of its own, so that they never delay a player.
// It sees only what the tick published last.
type queryPort struct {
	conn  *net.UDPConn
	score atomic.Pointer[scoreboard] // read-only once it is here
	done  chan struct{}

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

// serve answers on a goroutine until close. report holds the constant part of the answers.
func (q *queryPort) serve(report *query.Report) {
	go func() {
		defer close(q.done)
		q.answer(report)
	}()
}

func (q *queryPort) answer(report *query.Report) {
	var (
		start   = time.Now()
		buffer  [query.RequestSize + 1]byte // a longer datagram is no request
		encoded query.EncodedReport
		shown   *scoreboard // in encoded
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
		if s := q.score.Load(); s != shown {
			s.fill(report)
			encoded.Fill(report)
			shown = s
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
	h.publishScore(0, h.initial())
	q.serve(h.queryReport(cfg))
	return nil
}

// scoreboard is what the tick publishes for server browsers, once a second: some bytes for each
// player.
type scoreboard struct {
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

// publishScore publishes the scoreboard of a lobby if it is the first. It belongs to the goroutine of
// that lobby.
func (h *Host) publishScore(now time.Duration, x *hosted) {
	if list := *h.list.Load(); h.query != nil && len(list) > 0 && list[0] == x {
		h.query.score.Store(scoreOf(now, x.lobby))
	}
}

// clearScore publishes an empty scoreboard: all lobbies have ended.
func (h *Host) clearScore() {
	if h.query != nil && len(*h.list.Load()) == 0 {
		h.query.score.Store(&scoreboard{name: h.cfg.Name})
	}
}

// scoreOf returns the scoreboard of a lobby.
func scoreOf(now time.Duration, lobby *server.Lobby) *scoreboard {
	status, match := lobby.Status(), lobby.Match()
	points, members := match.Mode().Score, match.Score().Members
	s := &scoreboard{
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

// queryReport is the part of a report that stays the same while the lobby runs.
func (h *Host) queryReport(cfg *Config) *query.Report {
	c := h.initial().lobby.Config()
	return &query.Report{
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
}

// fill completes a report with the scoreboard.
func (s *scoreboard) fill(r *query.Report) {
	r.Info.Players, r.Info.Name, r.Info.Map, r.Info.Game = uint16(len(s.players)), s.name, s.arena, s.mode
	r.Teams.Rows, r.Players.Rows = r.Teams.Rows[:0], r.Players.Rows[:0]
	for team, n := range s.members {
		r.Teams.Rows = append(r.Teams.Rows, []query.Value{query.Number(team), query.Number(int(n)),
			query.Number(int(s.kills[team]))})
	}
	for _, p := range s.players {
		r.Players.Rows = append(r.Players.Rows, []query.Value{
			query.Words(p.name), query.Number(int(p.team)), query.Number(int(p.kills)),
			query.Number(int(p.deaths)), query.Number(int(p.seconds)), query.Number(int(p.pingMillis)),
		})
	}
}
