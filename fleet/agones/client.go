// Package agones tells Agones, which runs game servers in Kubernetes, what this game server does,
// and learns what it is to do. Figures of the host go in; requests for lobbies and the order to
// drain come out. Command serve uses it; a lobby never does. It speaks REST to the SDK server that
// runs beside each game server.
package agones

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"
)

// PortVariable is the environment variable with the port of the SDK server, and DefaultPort the one
// without it.
const (
	PortVariable = "AGONES_SDK_HTTP_PORT"
	DefaultPort  = "9358"
)

const (
	callTimeout = 2 * time.Second
	syncEvery   = 250 * time.Millisecond // most often that figures are compared with the counter
	retryLeast  = 100 * time.Millisecond // pause after a watch that broke
	retryMost   = 5 * time.Second
	settle      = 3 * time.Second // see state
	listEvery   = time.Second     // most often that the list of players is told
	readyAgain  = 5 * time.Second // until /ready is repeated, if the record does not show it
	maxRecord   = 1 << 20         // bytes of a record
)

// Config describes a Client. All fields are required. Its functions are called by one goroutine.
type Config struct {
	URL     string // of the SDK server, such as http://localhost:9358
	Figures func() Figures
	Open    func(ctx context.Context, a Allocation) error // makes a lobby for an allocation
	Drain   func()                                        // may be called more than once
	Log     *slog.Logger
}

// Client is the game server's side of the SDK server.
type Client struct {
	cfg   Config
	http  http.Client
	began time.Time
	state state
	list  players
}

// NewClient returns a client that Run starts.
func NewClient(cfg Config) *Client {
	return &Client{cfg: cfg, http: http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 2}},
		began: time.Now(), state: state{settle: settle}, list: players{settle: settle}}
}

// Run keeps the SDK server informed until ctx ends, then asks it to remove the game server. The SDK
// server may come late, fail, and repeat or reorder what it says.
func (c *Client) Run(ctx context.Context) {
	defer c.http.CloseIdleConnections()
	records, watching := make(chan *GameServer), make(chan struct{})
	go func() {
		defer close(watching)
		c.watch(ctx, records)
	}()
	c.serve(ctx, records)
	<-watching
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	if err := c.call(last, "POST", "/shutdown", struct{}{}); err != nil {
		c.cfg.Log.Warn("agones: shutdown", "err", err)
	}
}

// serve is the loop of calls.
func (c *Client) serve(ctx context.Context, records <-chan *GameServer) {
	s := &c.state
	sync, health := time.NewTicker(syncEvery), time.NewTimer(0)
	defer sync.Stop()
	defer health.Stop()
	var asked, listed time.Time // when /ready was last accepted, and the players were told
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case g := <-records:
			c.observe(ctx, g)
		case <-health.C:
			err := c.call(ctx, "POST", "/health", struct{}{})
			if (err != nil) != failing && ctx.Err() == nil {
				failing = err != nil
				if failing {
					c.cfg.Log.Warn("agones: the SDK server does not answer", "err", err)
				} else {
					c.cfg.Log.Info("agones: the SDK server answers")
				}
			}
			health.Reset(s.healthEvery())
		case now := <-sync.C:
			f, since := c.cfg.Figures(), now.Sub(c.began)
			for range s.missed(since) {
				c.open(ctx, s.newest)
			}
			if s.seen && s.unready() && !f.Draining && now.Sub(asked) > readyAgain && s.known &&
				c.call(ctx, "POST", "/ready", struct{}{}) == nil {
				asked = now
			}
			if ch := s.next(since, f); s.seen && ch != nil {
				s.done(since, ch, c.call(ctx, "PATCH", "/v1beta1/counters/"+CounterRooms, ch) == nil)
			}
			if values, tell := c.list.next(since, f.Players); tell && now.Sub(listed) >= listEvery {
				listed = now
				c.list.done(since, values, c.call(ctx, "PATCH", "/v1beta1/lists/"+ListPlayers,
					map[string][]string{"values": append([]string{}, values...)}) == nil)
			}
		}
	}
}

// observe takes a record, and does what it asks for.
func (c *Client) observe(ctx context.Context, g *GameServer) {
	now := time.Since(c.began)
	a, asked, fresh := c.state.observe(now, g)
	if fresh {
		c.list.observe(now, g)
	}
	if asked {
		c.open(ctx, a)
	}
	if c.state.drained {
		c.cfg.Drain()
	}
}

// open makes a lobby for an allocation. If it cannot, the counter is lowered again by the figures.
func (c *Client) open(ctx context.Context, a Allocation) {
	if err := c.cfg.Open(ctx, a); err != nil {
		c.cfg.Log.Error("agones: no lobby for an allocation", "err", err)
	}
}

// watch hands on records until ctx ends.
func (c *Client) watch(ctx context.Context, to chan<- *GameServer) {
	for pause := retryLeast; ctx.Err() == nil; pause = min(2*pause, retryMost) {
		if c.watchOnce(ctx, to) {
			pause = retryLeast
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// watchOnce reads one stream of records to its end, and reports whether any came.
func (c *Client) watchOnce(ctx context.Context, to chan<- *GameServer) (any bool) {
	req, err := http.NewRequestWithContext(ctx, "GET", c.cfg.URL+"/watch/gameserver", nil)
	if err != nil {
		return false
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return false
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, maxRecord)
	for lines.Scan() {
		var line struct{ Result *GameServer }
		if json.Unmarshal(lines.Bytes(), &line) != nil || line.Result == nil {
			continue
		}
		any = true
		select {
		case to <- line.Result:
		case <-ctx.Done():
			return any
		}
	}
	return any
}

// call makes one request. Its error names the path.
func (c *Client) call(ctx context.Context, method, path string, body any) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	b, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, method, c.cfg.URL+path, bytes.NewReader(b))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("SDK server: %w", err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxRecord))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = errors.New("status " + resp.Status)
		var why struct{ Message string }
		if json.Unmarshal(answer, &why) == nil && why.Message != "" {
			err = fmt.Errorf("%w: %.200q", err, why.Message)
		}
	}
	if err != nil {
		return fmt.Errorf("SDK server: %s: %w", path, err)
	}
	return nil
}
