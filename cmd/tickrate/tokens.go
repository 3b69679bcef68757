// Sources of connect tokens for a swarm: minted here with the server's key, or asked for at the
// HTTP port of a server, POST /v1/connect.

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/tickrate/tickrate/cmd/internal/serverapi"
	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/server/httpapi"
)

// tokenSource gives connect tokens of one lobby to a swarm, one for each session.
type tokenSource struct {
	next  func() ([]byte, error)
	first []byte         // taken early to learn at; nil once it was given out
	at    netip.AddrPort // address of the lobby, as its tokens name it
	terms string         // what the server must match, for errors
}

// Token returns a fresh token for player n.
func (t *tokenSource) Token(n int) ([]byte, error) {
	if raw := t.first; raw != nil {
		t.first = nil
		return raw, nil
	}
	raw, err := t.next()
	if err != nil {
		return nil, fmt.Errorf("player %d: %w", n, err)
	}
	return raw, nil
}

// newTokenSource takes the first token from next and reads the server's address from it.
func newTokenSource(next func() ([]byte, error)) (*tokenSource, error) {
	raw, err := next()
	if err != nil {
		return nil, err
	}
	var p netcode.PublicToken
	if err := p.Parse(raw); err != nil {
		return nil, fmt.Errorf("the token that came: %w", err)
	}
	return &tokenSource{next: next, first: raw, at: p.Servers[0]}, nil
}

// mintTokens returns a source that mints tokens like m with the server's key, each for a random
// client id.
func mintTokens(key netcode.Key, m netcode.Mint) (*tokenSource, error) {
	t, err := newTokenSource(func() ([]byte, error) {
		m.ClientID = randomID()
		return mintNow(&m, &key, httpapi.DefaultTokenLifetime)
	})
	if err == nil {
		t.terms = ", by this name, with this key and protocol id,"
	}
	return t, err
}

// tokenRequest is a request for a token to the HTTP port of a server.
type tokenRequest struct {
	addr   string // host:port or URL
	secret string // "" for none
	as     role
	lobby  int64 // -1: the server chooses
}

// body is the JSON of the request, nil for one that asks for nothing in particular.
func (r *tokenRequest) body() io.Reader {
	ask := map[string]any{}
	if r.as == asSpectator {
		ask["spectate"] = true
	}
	if r.lobby >= 0 {
		ask["lobby"] = strconv.FormatInt(r.lobby, 10)
	}
	if len(ask) == 0 {
		return nil
	}
	text, _ := json.Marshal(ask) // of a bool and a string
	return bytes.NewReader(text)
}

// requestTokens returns a source that asks a server for each token. A server that limits the rate
// is asked again after a second, at most ten times.
func requestTokens(ctx context.Context, r tokenRequest) (*tokenSource, error) {
	c := http.Client{
		Timeout:       5 * time.Second,
		Transport:     &http.Transport{MaxConnsPerHost: 1, IdleConnTimeout: time.Minute},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return newTokenSource(func() (raw []byte, err error) {
		for try := 0; ; try++ {
			var again bool
			raw, again, err = r.send(ctx, &c)
			if err == nil || !again || try == 10 {
				return raw, err
			}
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(time.Second): // Retry-After of the server
			}
		}
	})
}

// maxReply bounds the answer that is read, in bytes. Valid answers are shorter.
const maxReply = 16 << 10

// send asks once. again means that the same request may succeed a second later.
func (r *tokenRequest) send(ctx context.Context, c *http.Client) (raw []byte, again bool, err error) {
	base := serverapi.Base(r.addr)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/v1/connect", r.body())
	if err != nil {
		return nil, false, usage.Errorf("--http %s: expected host:port", r.addr)
	}
	if req.Body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if r.secret != "" {
		req.Header.Set("Authorization", "Bearer "+r.secret)
	}
	resp, err := c.Do(req)
	switch {
	case ctx.Err() != nil:
		return nil, false, ctx.Err()
	case errors.Is(err, syscall.ECONNREFUSED):
		return nil, false, fmt.Errorf("no answer at %s; is tickrate serve running? "+
			"--http says where", base)
	case err != nil:
		return nil, false, fmt.Errorf("ask for a token: %w", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxReply))
	if err != nil {
		return nil, false, fmt.Errorf("ask for a token: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, resp.StatusCode == http.StatusTooManyRequests, refused(base, resp.StatusCode, body)
	}
	var reply httpapi.ConnectReply
	if err := json.Unmarshal(body, &reply); err != nil || len(reply.Token) != netcode.TokenSize {
		return nil, false, fmt.Errorf("%s/v1/connect: the answer holds no token; "+
			"is this tickrate serve?", base)
	}
	return reply.Token, false, nil
}

// refused returns the error for a server that gives no token, with its reason if it has one.
func refused(base string, status int, body []byte) error {
	var reply struct {
		Error string `json:"error"`
	}
	_ = json.Unmarshal(body, &reply) // the answer of another server has no reason
	// The status tells whether a secret is missing; all else is in the server's own words.
	switch {
	case status == http.StatusUnauthorized:
		return fmt.Errorf("%s wants a secret for tokens: give the server's with --http-token or "+
			"%s", base, serverapi.TokenVariable)
	case reply.Error != "":
		return fmt.Errorf("%s gives no token: %s", base, strings.TrimSpace(reply.Error))
	}
	return fmt.Errorf("%s/v1/connect: status %d; is this tickrate serve?", base, status)
}
