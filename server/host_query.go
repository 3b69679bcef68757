package server

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tickrate/tickrate/server/query"
)

// queryPort answers server browsers on a UDP port of its own, so that they never stand in a player's way. It knows of the lobby
// only what the tick last wrote on the board.
type queryPort struct {
	conn  *net.UDPConn
	board atomic.Pointer[board] // nobody writes into what hangs there
	ended chan struct{}

	mu        sync.Mutex // held while a datagram is answered, and by who reads the counters
	responder *query.Responder
}

// A flood is left to the kernel: no more than queryBurst datagrams are looked at in queryWindow.
const (
	queryBurst  = 100
	queryWindow = 10 * time.Millisecond
)

// queryPace counts datagrams of the window.
type queryPace struct {
	seen  int
	began time.Duration
}

// take counts a datagram and returns how long to rest after it: to the window's end, if it was one too many.
func (p *queryPace) take(now time.Duration) time.Duration {
	if now-p.began >= queryWindow {
		p.seen, p.began = 0, now
	}
	if p.seen++; p.seen < queryBurst {
		return 0
	}
	return queryWindow - (now - p.began)
}

// openQuery opens the port; serve begins to answer.
func openQuery(addr string) (*queryPort, error) {
	at, err := net.ResolveUDPAddr("udp", addr)
	if err != nil {
		return nil, fmt.Errorf("query port: %w", err)
	}
	conn, err := net.ListenUDP("udp", at)
	if err != nil {
		return nil, fmt.Errorf("query port: %w", err)
	}
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // does not fail: it stops the program
	var key [4]uint64
	for i := range key {
		key[i] = binary.LittleEndian.Uint64(secret[8*i:])
	}
	return &queryPort{conn: conn, ended: make(chan struct{}), responder: query.NewResponder(key, query.Limits{})}, nil
}

// serve answers until close.
func (q *queryPort) serve(report *query.Report) {
	go func() {
		defer close(q.ended)
		q.answer(report)
	}()
}

// answer answers until the socket is closed. Of the report it keeps the constant part.
func (q *queryPort) answer(report *query.Report) {
	var (
		start  = time.Now()
		buffer [query.RequestSize + 1]byte // what is longer is no request
		sheet  query.Sheet
		shown  *board // on the sheet
		pace   queryPace
	)
	for {
		n, from, err := q.conn.ReadFromUDPAddrPort(buffer[:])
		if errors.Is(err, net.ErrClosed) {
			return
		}
		now := time.Since(start)
		rest := pace.take(now)
		if err != nil { // of some earlier answer
			time.Sleep(rest)
			continue
		}
		if b := q.board.Load(); b != shown {
			b.show(report)
			sheet.Fill(report)
			shown = b
		}
		q.mu.Lock()
		q.responder.Answer(now, from, buffer[:n], &sheet, func(d []byte) {
			_, _ = q.conn.WriteToUDPAddrPort(d, from) // what cannot be sent is lost
		})
		q.mu.Unlock()
		time.Sleep(rest)
	}
}

// counters are what has become of datagrams so far, by name.
func (q *queryPort) counters() map[string]uint64 {
	if q == nil {
		return nil
	}
	q.mu.Lock()
	c := q.responder.Counters()
	q.mu.Unlock()
	m := map[string]uint64{"rx_datagrams": c.Received, "rx_bytes": c.BytesIn, "challenges": c.Challenges, "answers": c.Answers,
		"tx_datagrams": c.Packets, "tx_bytes": c.BytesOut}
	for i, n := range c.Drops {
		if n > 0 {
			m[query.Drop(i).String()] = n
		}
	}
	return m
}

// close ends it. There may be none.
func (q *queryPort) close() error {
	if q == nil {
		return nil
	}
	err := q.conn.Close()
	<-q.ended
	return err
}

// QueryAddr is the address of the query port, "" if there is none.
func (h *Host) QueryAddr() string {
	if h.query == nil {
		return ""
	}
	return h.query.conn.LocalAddr().String()
}

// startQuery opens the query port, if one is asked for. Call it when the lobby is there.
func (h *Host) startQuery(cfg HostConfig) (err error) {
	if cfg.Query == "" {
		return nil
	}
	if h.query, err = openQuery(cfg.Query); err != nil {
		return err
	}
	h.publish(0)
	h.query.serve(h.constant(cfg))
	return nil
}

// board is what the tick tells of the lobby. It is few bytes, and made in one go: the tick has other things to do.
type board struct {
	kills, members [2]uint32 // by team
	name           string    // of the server
	arena, mode    string    // what is played
	players        []boardRow
}

// boardRow is one player.
type boardRow struct {
	name                string
	seconds, pingMillis int32
	kills, deaths       uint16
	team                uint8
}

// publish hangs up a new board. It is for the goroutine that plays the ticks, once a second.
func (h *Host) publish(now time.Duration) {
	if h.query == nil {
		return
	}
	l := h.lobby
	points, members := l.match.Mode().Score, l.match.Score().Members
	b := &board{arena: l.cfg.ArenaName, mode: l.cfg.Rules.Game.Mode.Name, name: l.console.vars.name.Text(), kills: [2]uint32{uint32(points[0]), uint32(points[1])}, members: [2]uint32{uint32(members[0]), uint32(members[1])}, players: make([]boardRow, 0, len(l.live))}
	for _, slot := range l.live {
		c := &l.conns[slot]
		v := l.match.Vital(c.id)
		if v == nil || v.Spectator {
			continue
		}
		b.players = append(b.players, boardRow{name: l.roster.name(slot), seconds: int32((now - c.session.since) / time.Second),
			pingMillis: int32(c.session.peer.RTT().Smoothed / time.Millisecond), kills: v.Kills, deaths: v.Deaths, team: v.Team})
	}
	h.query.board.Store(b)
}

// constant is the part of a report that does not change while the lobby runs.
func (h *Host) constant(cfg HostConfig) *query.Report {
	c := &h.lobby.cfg
	return &query.Report{
		Info: query.Info{MaxPlayers: uint16(c.Players - c.Spectators), Name: cfg.Name, Game: c.Rules.Game.Mode.Name, Build: cfg.Build, Map: c.ArenaName, Port: h.Addr().Port()},
		Rules: []query.Rule{
			{Name: "rate_hz", Value: query.Number(int(c.Rules.Rate))},
			{Name: "interval_ticks", Value: query.Number(c.SendInterval)},
			{Name: "respawn_millis", Value: query.Number(int(c.Rules.RespawnMillis))},
			{Name: "rewind_millis", Value: query.Number(int(c.Rules.RewindMillis))},
			{Name: "protocol", Value: query.Words(fmt.Sprintf("%#x", c.Netcode.ProtocolID))},
		},
		Players: query.Table{Fields: []query.Field{{Name: "name", Type: query.Text}, {Name: "team", Type: query.Byte}, {Name: "kills", Type: query.Ushort},
			{Name: "deaths", Type: query.Ushort}, {Name: "seconds", Type: query.Uint}, {Name: "ping_ms", Type: query.Ushort}}},
		Teams: query.Table{Fields: []query.Field{{Name: "team", Type: query.Byte}, {Name: "players", Type: query.Ushort}, {Name: "kills", Type: query.Uint}}},
	}
}

// show completes a report with what is on a board.
func (b *board) show(r *query.Report) {
	r.Info.Players, r.Info.Name, r.Info.Map, r.Info.Game = uint16(len(b.players)), b.name, b.arena, b.mode
	r.Teams.Rows, r.Players.Rows = r.Teams.Rows[:0], r.Players.Rows[:0]
	for team, n := range b.members {
		r.Teams.Rows = append(r.Teams.Rows, []query.Value{query.Number(team), query.Number(int(n)), query.Number(int(b.kills[team]))})
	}
	for _, p := range b.players {
		r.Players.Rows = append(r.Players.Rows, []query.Value{query.Words(p.name), query.Number(int(p.team)),
			query.Number(int(p.kills)), query.Number(int(p.deaths)), query.Number(int(p.seconds)), query.Number(int(p.pingMillis))})
	}
}
