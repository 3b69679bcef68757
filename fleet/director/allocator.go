package director

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxAllocation is the longest answer of an allocator that is read, in bytes.
const maxAllocation = 1 << 20

// Allocator asks the allocator service of Agones for a game server.
type Allocator struct {
	URL       string // without /gameserverallocation
	Namespace string
	Fleet     string       // label agones.dev/fleet; "": any
	Client    *http.Client // with the certificates of mutual TLS
}

// counterChange raises a counter of the game server that is allocated.
type counterChange struct {
	Action string `json:"action"`
	Amount string `json:"amount"` // 64-bit integers are strings
}

// selector describes game servers.
type selector struct {
	MatchLabels     map[string]string            `json:"matchLabels,omitempty"`
	GameServerState string                       `json:"gameServerState"`
	Counters        map[string]map[string]string `json:"counters,omitempty"`
}

// allocation is the body of /gameserverallocation.
type allocation struct {
	Namespace string                       `json:"namespace"`
	Selectors []selector                   `json:"gameServerSelectors"`
	Counters  map[string]counterChange     `json:"counters"`
	Metadata  map[string]map[string]string `json:"metadata"`
}

// body asks for a game server that is allocated and has a room left, else for one that is ready.
func (a *Allocator) body(ask *Ask) allocation {
	var labels map[string]string
	if a.Fleet != "" {
		labels = map[string]string{"agones.dev/fleet": a.Fleet}
	}
	room := map[string]map[string]string{"rooms": {"minAvailable": "1"}}
	return allocation{
		Namespace: a.Namespace,
		Selectors: []selector{{labels, "Allocated", room}, {labels, "Ready", room}},
		Counters:  map[string]counterChange{"rooms": {"Increment", "1"}},
		Metadata: map[string]map[string]string{"annotations": {"tickrate/map": ask.Map,
			"tickrate/mode": ask.Mode, "tickrate/players": strconv.Itoa(ask.Players)}},
	}
}

// ask returns the name and the addresses of a game server.
func (a *Allocator) ask(ctx context.Context, ask *Ask) (name string, addresses []string, err error) {
	text, err := json.Marshal(a.body(ask))
	if err != nil {
		return "", nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost,
		strings.TrimSuffix(a.URL, "/")+"/gameserverallocation", bytes.NewReader(text))
	if err != nil {
		return "", nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := a.Client.Do(req)
	if err != nil {
		return "", nil, NoRoom(fmt.Sprintf("the allocator does not answer: %v", err))
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAllocation))
	if err != nil {
		return "", nil, NoRoom(fmt.Sprintf("the allocator does not answer: %v", err))
	}
	if resp.StatusCode != http.StatusOK {
		return "", nil, NoRoom(fmt.Sprintf("the allocator answers %d: %.200s", resp.StatusCode,
			bytes.TrimSpace(raw)))
	}
	var server struct {
		Name    string `json:"gameServerName"`
		Address string `json:"address"`
		Ports   []struct {
			Port int `json:"port"`
		} `json:"ports"`
	}
	if err := json.Unmarshal(raw, &server); err != nil || len(server.Ports) == 0 {
		return "", nil, fmt.Errorf("the allocator's answer has no address and port: %.200s", raw)
	}
	at, err := resolve(ctx, server.Address)
	if err != nil {
		return "", nil, fmt.Errorf("game server %s: %w", server.Name, err)
	}
	return server.Name, []string{net.JoinHostPort(at, strconv.Itoa(server.Ports[0].Port))}, nil
}

// resolve turns the address of a game server into an IP, as tokens need it.
func resolve(ctx context.Context, address string) (string, error) {
	if net.ParseIP(address) != nil {
		return address, nil
	}
	all, err := net.DefaultResolver.LookupHost(ctx, address)
	if err != nil || len(all) == 0 {
		return "", fmt.Errorf("address %.80q: %w", address, err)
	}
	return all[0], nil
}

// allocate claims the request before it asks, since each allocation takes a room: of several
// directors with one request only one asks. A claim that is too old is of a director that died.
func (d *Director) allocate(ctx context.Context, key string, ask Ask, old placement,
	revision uint64) (Answer, error) {
	now := d.cfg.Now()
	if old.Pending > now.UnixMilli() {
		return Answer{}, NoRoom("another director is at this request: ask again")
	}
	claim := placement{Ask: ask, Pending: now.Add(pendingFor).UnixMilli()}
	revision, err := d.store.write(ctx, d.store.requests, key, &claim, revision)
	if errors.Is(err, errConflict) {
		return Answer{}, NoRoom("another director is at this request: ask again")
	} else if err != nil {
		return Answer{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, pendingFor-time.Second)
	defer cancel()
	p := placement{Ask: ask}
	if p.Host, p.Addresses, err = d.cfg.Allocator.ask(ctx, &ask); err != nil {
		claim.Pending = 1 // the request may be made again at once
		_, _ = d.store.write(ctx, d.store.requests, key, &claim, revision)
		return Answer{}, err
	}
	return d.settle(ctx, key, p, revision)
}
