// Connect tokens for a swarm from a director of a fleet, POST /v1/match: each names the hosts that
// have a place for its player.

package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/spf13/pflag"

	"github.com/tickrate/tickrate/cmd/internal/serverapi"
	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/fleet/director"
	"github.com/tickrate/tickrate/netio/netcode"
)

// matchRequest is what a swarm asks a director for.
type matchRequest struct {
	director string // host:port or URL; "" for no director
	secret   string // "" for none
	mapName  string
	mode     string
	hosts    int // that a token names
}

// register adds the flags of these requests to fl.
func (r *matchRequest) register(fl *pflag.FlagSet) {
	fl.StringVar(&r.director, "director", "",
		"HTTP `host:port` of a tickrate fleet director, which gives tokens; default none")
	fl.StringVar(&r.mapName, "map", "arena-64", "`name` of the map, for --director")
	fl.StringVar(&r.mode, "mode", "deathmatch", "`name` of the mode, for --director")
	fl.IntVar(&r.hosts, "hosts", 1, fmt.Sprintf("`number` of hosts that a token of --director names, 1 to %d; each "+
		"player joins the nearest", director.MaxHosts))
}

// maxMatch is the longest answer of a director that is read, in bytes: of one player.
const maxMatch = 64 << 10

// matchTokens returns a source that asks a director for a place for each player. One that has no
// room now is asked again after a second, at most ten times.
func matchTokens(ctx context.Context, r matchRequest) (*tokenSource, error) {
	c := http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{IdleConnTimeout: time.Minute}}
	t, err := newTokenSource(func() (raw []byte, err error) {
		ask := director.Ask{RequestID: "swarm-" + rand.Text(), Players: 1, Map: r.mapName, Mode: r.mode, Hosts: r.hosts}
		for try := 0; ; try++ {
			var again bool
			raw, again, err = r.send(ctx, &c, ask)
			if err == nil || !again || try == 10 {
				return raw, err
			}
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(time.Second): // Retry-After of the director
			}
		}
	})
	if err == nil {
		t.terms = ", at the director's hosts,"
	}
	return t, err
}

// send asks once. again means that the same request may succeed a second later.
func (r *matchRequest) send(ctx context.Context, c *http.Client, ask director.Ask) (raw []byte, again bool,
	err error) {
	text, err := json.Marshal(ask)
	if err != nil {
		return nil, false, err
	}
	base := serverapi.Base(r.director)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/v1/match", bytes.NewReader(text))
	if err != nil {
		return nil, false, usage.Errorf("--director %s: expected host:port", r.director)
	}
	req.Header.Set("Content-Type", "application/json")
	if r.secret != "" {
		req.Header.Set("Authorization", "Bearer "+r.secret)
	}
	resp, err := c.Do(req)
	if err != nil {
		return nil, false, fmt.Errorf("ask the director for a place: %w", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxMatch))
	if err != nil {
		return nil, false, fmt.Errorf("ask the director for a place: %w", err)
	}
	var reply struct {
		director.Answer
		Error string `json:"error"`
	}
	_ = json.Unmarshal(body, &reply) // another server's answer has neither
	switch {
	case resp.StatusCode == http.StatusOK && len(reply.Tokens) == 1 && len(reply.Tokens[0].Token) == netcode.TokenSize:
		return reply.Tokens[0].Token, false, nil
	case resp.StatusCode == http.StatusServiceUnavailable && reply.Error != "":
		return nil, true, fmt.Errorf("%s has no place: %s", base, reply.Error)
	case reply.Error != "":
		return nil, false, fmt.Errorf("%s gives no place: %s", base, reply.Error)
	}
	return nil, false, fmt.Errorf("%s/v1/match: status %d; is this tickrate fleet director?", base,
		resp.StatusCode)
}
