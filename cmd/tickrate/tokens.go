package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"github.com/tickrate/tickrate/cmd/internal/serverapi"
	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/server/httpapi"

	"github.com/tickrate/tickrate/netio/netcode"
)

// tokenSource gives connect tokens to a swarm, one for each session.
type tokenSource struct {
	next  func() ([]byte, error)
	first []byte         // taken early, to learn the server's address
	at    netip.AddrPort // the server in the tokens
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

// newTokenSource takes the first token, which has the server's address.
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

// mintTokens makes tokens with the server's key.
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

// requestTokens requests tokens for players, or for spectators.
func requestTokens(ctx context.Context, addr, secret string, spectator bool) (*tokenSource, error) {
	c := http.Client{
		Timeout:       5 * time.Second,
		Transport:     &http.Transport{MaxConnsPerHost: 1, IdleConnTimeout: time.Minute},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return newTokenSource(func() (raw []byte, err error) {
		for try := 0; ; try++ {
			var again bool
			raw, again, err = requestToken(ctx, &c, addr, secret, spectator)
			if err == nil || !again || try == 10 {
				return raw, err
			}
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(time.Second): // as the server asks
			}
		}
	})
}

// maxReply is more than the longest answer, in bytes.
const maxReply = 16 << 10

// requestToken sends one request. again means that it may succeed a second later.
func requestToken(ctx context.Context, c *http.Client, addr, secret string,
	spectator bool) (raw []byte, again bool, err error) {
	var ask io.Reader
	if spectator {
		ask = strings.NewReader(`{"spectate": true}`)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+addr+"/v1/connect", ask)
	if err != nil {
		return nil, false, usage.Errorf("--http %s: expected host:port", addr)
	}
	if secret != "" {
		req.Header.Set("Authorization", "Bearer "+secret)
	}
	resp, err := c.Do(req)
	switch {
	case ctx.Err() != nil:
		return nil, false, ctx.Err()
	case errors.Is(err, syscall.ECONNREFUSED):
		return nil, false, fmt.Errorf("no answer at http://%s; is tickrate serve running? --http "+
			"says where", addr)
	case err != nil:
		return nil, false, fmt.Errorf("ask for a token: %w", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxReply))
	if err != nil {
		return nil, false, fmt.Errorf("ask for a token: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, resp.StatusCode == http.StatusTooManyRequests, refused(addr, resp.StatusCode, body)
	}
	var reply httpapi.ConnectReply
	if err := json.Unmarshal(body, &reply); err != nil || len(reply.Token) != netcode.TokenSize {
		return nil, false, fmt.Errorf("http://%s/v1/connect: the answer holds no token; is this "+
			"tickrate serve?", addr)
	}
	return reply.Token, false, nil
}

// refused returns the server's reason for giving no token.
func refused(addr string, status int, body []byte) error {
	var said struct {
		Error string `json:"error"`
	}
	_ = json.Unmarshal(body, &said) // the answer of another server has no reason
	switch {
	case status == http.StatusUnauthorized:
		return fmt.Errorf("http://%s wants a secret for tokens: give the server's with --http-token or "+
			"%s", addr, serverapi.TokenVariable)
	case said.Error != "":
		return fmt.Errorf("http://%s gives no token: %s", addr, strings.TrimSpace(said.Error))
	}
	return fmt.Errorf("http://%s/v1/connect: status %d; is this tickrate serve?", addr, status)
}
