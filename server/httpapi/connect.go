package httpapi

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/protocol"
)

// Defaults of ConnectConfig.
const (
	DefaultTokenLifetime  = 45 * time.Second
	DefaultSessionTimeout = 10 * time.Second
)

// maxConnectBody is the longest request body, in bytes.
const maxConnectBody = 4096

// ConnectConfig describes a Connect. Zero fields mean the defaults named.
type ConnectConfig struct {
	Key           netcode.Key      // private key shared with Servers
	ProtocolID    uint64           // that Servers accept
	Servers       []netip.AddrPort // addresses in the tokens
	TokenLifetime time.Duration    // in whole seconds; default DefaultTokenLifetime
	// silence that ends a session, in whole seconds; negative: never; default DefaultSessionTimeout
	SessionTimeout time.Duration
	Access         Access           // without a secret only a loopback port gives tokens
	PerSecond      int              // tokens a second; default 5000
	Burst          int              // tokens at once; default PerSecond
	Now            func() time.Time // default time.Now
	Random         io.Reader        // of keys and client ids; default crypto/rand

	// Lobby reports whether a lobby plays, which a request may name; default none may be named.
	// Host is the one of its protocol.LobbyRef.
	Lobby func(id uint32) bool
	Host  uint32

	// Draining reports whether the server ends soon: then it gives no token. Default never.
	Draining func() bool
}

// Connect makes a connect token in one request, as a matchmaker does:
//
//	POST {"client_id": "123", "lobby": "4"}, or nothing for a random client id and any lobby
//	200  {"client_id": "123", "protocol_id": "...", "expires": unix seconds,
//	      "servers": ["host:port"], "token": base64 of 2048 B}
//	else {"error": "..."}
//
// Without a secret it serves this machine only, and rejects web pages of other sites and foreign
// Host headers.
type Connect struct {
	cfg  ConnectConfig
	auth auth

	mu    sync.Mutex // guards the fields below
	spent float64    // tokens of the burst
	at    time.Time
}

// NewConnect returns a handler for any number of goroutines. With a secret, requests from loopback
// need it too.
func NewConnect(cfg ConnectConfig) *Connect {
	cfg.TokenLifetime = cmp.Or(cfg.TokenLifetime, DefaultTokenLifetime)
	cfg.SessionTimeout = cmp.Or(cfg.SessionTimeout, DefaultSessionTimeout)
	cfg.PerSecond = cmp.Or(cfg.PerSecond, 5000)
	cfg.Burst = cmp.Or(cfg.Burst, cfg.PerSecond)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Random == nil {
		cfg.Random = rand.Reader
	}
	cfg.Access.Loopback = cfg.Access.Loopback && cfg.Access.Secret == ""
	return &Connect{cfg: cfg, auth: newAuth(cfg.Access), at: cfg.Now()}
}

// ConnectReply is the answer of a Connect.
type ConnectReply struct {
	Version    int      `json:"version"`
	ClientID   string   `json:"client_id"`       // decimal
	ProtocolID string   `json:"protocol_id"`     // decimal
	Expires    int64    `json:"expires"`         // Unix seconds
	Servers    []string `json:"servers"`         // to dial
	Lobby      string   `json:"lobby,omitempty"` // if the request named one
	Token      []byte   `json:"token"`           // netcode.TokenSize bytes
}

// ServeHTTP answers one request.
func (c *Connect) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	reply, no := c.serve(w, r)
	if no != nil {
		writeJSONStatus(w, no.status, map[string]string{"error": no.text})
		return
	}
	writeJSON(w, reply)
}

// serve makes the token of a request, or returns why there is none.
func (c *Connect) serve(w http.ResponseWriter, r *http.Request) (reply ConnectReply, no *refusal) {
	if no := c.check(w, r); no != nil {
		return reply, no
	}
	req, no := c.read(w, r)
	if no != nil {
		return reply, no
	}
	if c.cfg.Draining != nil && c.cfg.Draining() {
		return reply, &refusal{http.StatusServiceUnavailable, "this server drains: it takes no new player"}
	}
	if !c.take() {
		w.Header().Set("Retry-After", "1")
		return reply, &refusal{http.StatusTooManyRequests, "too many tokens asked for; try again in a second"}
	}
	return c.mint(req)
}

// check rejects requests that may not ask.
func (c *Connect) check(w http.ResponseWriter, r *http.Request) *refusal {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return &refusal{http.StatusMethodNotAllowed, "expected POST"}
	}
	if no := checkSite(r); no != nil {
		return no
	}
	return c.auth.check(w, r, ", so tokens need a secret")
}

// tokenRequest is what a request asks for.
type tokenRequest struct {
	clientID  uint64
	spectator bool   // takes a spectator's slot
	lobby     string // "" for the best with room
	lobbyID   uint32
}

// read parses a request; without a client id it draws a random one.
func (c *Connect) read(w http.ResponseWriter, r *http.Request) (req tokenRequest, no *refusal) {
	// A body that never ends holds nothing up. The recorder of a test has no deadline.
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxConnectBody))
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		return req, &refusal{http.StatusRequestEntityTooLarge,
			fmt.Sprintf("body: longer than %d bytes", maxConnectBody)}
	case err != nil:
		return req, &refusal{http.StatusBadRequest, "body: not readable"}
	}
	var asked struct {
		ClientID *string `json:"client_id"`
		Spectate bool    `json:"spectate"`
		Lobby    string  `json:"lobby"`
	}
	if len(bytes.TrimSpace(body)) > 0 {
		if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil ||
			kind != "application/json" {
			return req, &refusal{http.StatusUnsupportedMediaType,
				"expected Content-Type: application/json, or no body"}
		}
		d := json.NewDecoder(bytes.NewReader(body))
		d.DisallowUnknownFields()
		if d.Decode(&asked) != nil || d.Decode(new(any)) != io.EOF {
			return req, &refusal{http.StatusBadRequest,
				`body: expected {"client_id": "123", "spectate": true, "lobby": "4"}, some of them or nothing`}
		}
	}
	req.spectator = asked.Spectate
	if no := c.readLobby(&req, asked.Lobby); no != nil {
		return req, no
	}
	if asked.ClientID == nil {
		var b [8]byte
		if _, err := io.ReadFull(c.cfg.Random, b[:]); err != nil {
			return req, &refusal{http.StatusInternalServerError, "no random numbers"}
		}
		req.clientID = binary.LittleEndian.Uint64(b[:])
		return req, nil
	}
	if req.clientID, err = strconv.ParseUint(*asked.ClientID, 10, 64); err != nil {
		return req, &refusal{http.StatusBadRequest, "client_id: expected a decimal number of 64 bits, " +
			"in quotes"}
	}
	return req, nil
}

// readLobby finds the lobby that a request names.
func (c *Connect) readLobby(req *tokenRequest, name string) *refusal {
	if name == "" {
		return nil
	}
	id, err := strconv.ParseUint(name, 10, 32)
	if err != nil || c.cfg.Lobby == nil || !c.cfg.Lobby(uint32(id)) {
		return &refusal{http.StatusNotFound, "lobby: " + ErrNoLobby.Error()}
	}
	req.lobby, req.lobbyID = name, uint32(id)
	return nil
}

// take spends one token of the rate limit.
func (c *Connect) take() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.cfg.Now()
	c.spent = max(0, c.spent-max(0, now.Sub(c.at).Seconds())*float64(c.cfg.PerSecond))
	c.at = now
	if c.spent+1 > float64(c.cfg.Burst) {
		return false
	}
	c.spent++
	return true
}

// mint makes the token. Its keys come from the configuration's Random.
func (c *Connect) mint(req tokenRequest) (ConnectReply, *refusal) {
	now := c.cfg.Now().Unix()
	m := netcode.Mint{
		ProtocolID: c.cfg.ProtocolID, ClientID: req.clientID, Servers: c.cfg.Servers,
		Create: uint64(now), Expire: uint64(now + int64(c.cfg.TokenLifetime/time.Second)),
		TimeoutSeconds: TimeoutSeconds(c.cfg.SessionTimeout),
	}
	if req.spectator {
		protocol.MarkSpectator(m.UserData[:])
	}
	if req.lobby != "" {
		protocol.LobbyRef{Host: c.cfg.Host, Lobby: req.lobbyID}.Mark(m.UserData[:])
	}
	token, err := m.Append(nil, &c.cfg.Key, c.cfg.Random)
	if err != nil {
		return ConnectReply{}, &refusal{http.StatusInternalServerError, "no token could be made"}
	}
	reply := ConnectReply{
		Version:  Version,
		ClientID: strconv.FormatUint(req.clientID, 10), ProtocolID: strconv.FormatUint(c.cfg.ProtocolID, 10),
		Expires: int64(m.Expire), Token: token, Lobby: req.lobby,
	}
	for _, a := range c.cfg.Servers {
		reply.Servers = append(reply.Servers, a.String())
	}
	return reply, nil
}

// TimeoutSeconds is a session timeout as tokens hold it: whole seconds, -1 for never.
func TimeoutSeconds(d time.Duration) int32 {
	if d < 0 {
		return -1
	}
	return int32(d / time.Second)
}
