package server

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/protocol"
)

// Defaults of ConnectConfig.
const (
	DefaultTokenSeconds   = 45
	DefaultTimeoutSeconds = 10
)

// maxConnectBody is the longest request body, in bytes.
const maxConnectBody = 4096

// ConnectConfig describes a Connect. Zero fields mean the defaults named.
type ConnectConfig struct {
	Key            netcode.Key
	ProtocolID     uint64
	Servers        []netip.AddrPort // that tokens name
	TokenSeconds   int              // of a token's life; default DefaultTokenSeconds
	TimeoutSeconds int              // of silence that end a session; negative never; default DefaultTimeoutSeconds
	Bearer         string           // secret that a request must bring; default none, then only a private port gives tokens
	Private        bool             // the port can be reached from this machine only
	PerSecond      int              // tokens a second; default 5000
	Burst          int              // of them at once; default PerSecond
	Now            func() time.Time // default time.Now
	Random         io.Reader        // of keys and client ids; default crypto/rand
}

// Connect gives a client what it needs to come in, in one request, as a matchmaker would:
//
//	POST {"client_id": "123"}, or nothing for a client id at random
//	200  {"client_id": "123", "protocol_id": "...", "expires": unix seconds, "servers": ["host:port"], "token": base64 of 2048 B}
//	else {"error": "..."}
//
// Without a secret it serves this machine only, and no web page of others: neither one that calls from a browser here, nor one
// whose name leads here.
type Connect struct {
	cfg  ConnectConfig
	door door

	mu    sync.Mutex // of what follows
	spent float64    // tokens of the burst
	at    time.Time
}

// NewConnect returns a handler.
func NewConnect(cfg ConnectConfig) *Connect {
	cfg.TokenSeconds = or(cfg.TokenSeconds, DefaultTokenSeconds)
	cfg.TimeoutSeconds = or(cfg.TimeoutSeconds, DefaultTimeoutSeconds)
	cfg.PerSecond = or(cfg.PerSecond, 5000)
	cfg.Burst = or(cfg.Burst, cfg.PerSecond)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Random == nil {
		cfg.Random = rand.Reader
	}
	return &Connect{cfg: cfg, door: newDoor(cfg.Private && cfg.Bearer == "", cfg.Bearer), at: cfg.Now()}
}

// ConnectReply is what a Connect answers.
type ConnectReply struct {
	ClientID   string   `json:"client_id"`   // decimal
	ProtocolID string   `json:"protocol_id"` // decimal
	Expires    int64    `json:"expires"`     // Unix seconds
	Servers    []string `json:"servers"`     // to dial
	Token      []byte   `json:"token"`       // netcode.TokenSize bytes
}

// ServeHTTP answers one request.
func (c *Connect) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	no := c.stranger(w, r)
	var who wish
	if no == nil {
		who, no = c.read(w, r)
	}
	if no == nil && !c.take() {
		w.Header().Set("Retry-After", "1")
		no = &refusal{http.StatusTooManyRequests, "too many tokens asked for; try again in a second"}
	}
	var reply ConnectReply
	if no == nil {
		reply, no = c.mint(who)
	}
	if no != nil {
		w.WriteHeader(no.status)
		_ = json.NewEncoder(w).Encode(map[string]string{"error": no.text}) // the reader has gone: nothing to do
		return
	}
	_ = json.NewEncoder(w).Encode(reply)
}

// stranger refuses who may not ask.
func (c *Connect) stranger(w http.ResponseWriter, r *http.Request) *refusal {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return &refusal{http.StatusMethodNotAllowed, "expected POST"}
	}
	if no := foreign(r); no != nil {
		return no
	}
	return c.door.stranger(w, r, ", so tokens need a secret")
}

// local says whether a Host header names this machine without asking a name server, whose answer others choose.
func local(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	at, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || err == nil && at.Unmap().IsLoopback()
}

// wish is for whom a token is asked.
type wish struct {
	id       uint64 // of the client
	spectate bool   // it only looks on
}

// read returns for whom a request asks for a token; without a client id, a random one.
func (c *Connect) read(w http.ResponseWriter, r *http.Request) (who wish, no *refusal) {
	// A body that never ends holds nothing up. A test's recorder has no deadline.
	_ = http.NewResponseController(w).SetReadDeadline(c.cfg.Now().Add(5 * time.Second))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxConnectBody))
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		return who, &refusal{http.StatusRequestEntityTooLarge, fmt.Sprintf("body: longer than %d bytes", maxConnectBody)}
	case err != nil:
		return who, &refusal{http.StatusBadRequest, "body: not readable"}
	}
	var asked struct {
		ClientID *string `json:"client_id"`
		Spectate bool    `json:"spectate"`
	}
	if len(bytes.TrimSpace(body)) > 0 {
		if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
			return who, &refusal{http.StatusUnsupportedMediaType, "expected Content-Type: application/json, or no body"}
		}
		d := json.NewDecoder(bytes.NewReader(body))
		d.DisallowUnknownFields()
		if d.Decode(&asked) != nil || d.Decode(new(any)) != io.EOF {
			return who, &refusal{http.StatusBadRequest, `body: expected {"client_id": "123"}, {"spectate": true}, both or nothing`}
		}
	}
	who.spectate = asked.Spectate
	if asked.ClientID == nil {
		var b [8]byte
		if _, err := io.ReadFull(c.cfg.Random, b[:]); err != nil {
			return who, &refusal{http.StatusInternalServerError, "no random numbers"}
		}
		who.id = binary.LittleEndian.Uint64(b[:])
		return who, nil
	}
	if who.id, err = strconv.ParseUint(*asked.ClientID, 10, 64); err != nil {
		return who, &refusal{http.StatusBadRequest, "client_id: expected a decimal number of 64 bits, in quotes"}
	}
	return who, nil
}

// take spends one token of the budget.
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

func (c *Connect) mint(who wish) (ConnectReply, *refusal) {
	now := c.cfg.Now().Unix()
	m := netcode.Mint{ProtocolID: c.cfg.ProtocolID, ClientID: who.id, Create: uint64(now), Expire: uint64(now + int64(c.cfg.TokenSeconds)),
		TimeoutSeconds: int32(c.cfg.TimeoutSeconds), Servers: c.cfg.Servers}
	if who.spectate {
		protocol.MarkSpectator(m.UserData[:])
	}
	token, err := m.Append(nil, &c.cfg.Key, c.cfg.Random)
	if err != nil {
		return ConnectReply{}, &refusal{http.StatusInternalServerError, "no token could be made"}
	}
	reply := ConnectReply{ClientID: strconv.FormatUint(who.id, 10), ProtocolID: strconv.FormatUint(c.cfg.ProtocolID, 10),
		Expires: int64(m.Expire), Token: token}
	for _, a := range c.cfg.Servers {
		reply.Servers = append(reply.Servers, a.String())
	}
	return reply, nil
}
