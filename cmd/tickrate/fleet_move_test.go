package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/fleet/announce"
	"github.com/tickrate/tickrate/fleet/bus"
	"github.com/tickrate/tickrate/fleet/handoff"
	"github.com/tickrate/tickrate/internal/textlog"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/host"
	"github.com/tickrate/tickrate/sim/arena"
)

// movingHost is a host of a fleet in this process.
type movingHost struct {
	*host.Host
	mover *handoff.Mover
	log   *lockedLog
	stop  func()
}

// lockedLog is a log that a test reads.
type lockedLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lockedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lockedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// movingKey is the private key of all hosts.
var movingKey = netcode.Key{5, 6, 7}

// startMovingHost starts a host that announces itself and moves its lobbies when it drains.
func startMovingHost(t testing.TB, b *bus.Bus, name string, ahead, players int) *movingHost {
	t.Helper()
	ground, err := arena.Open("arena-64")
	if err != nil {
		t.Fatal(err)
	}
	log := &lockedLog{}
	h, err := host.New(host.Config{
		Lobby: server.Config{Arena: ground, ArenaName: "arena-64", Players: players,
			Netcode: netcode.ServerConfig{PrivateKey: movingKey}},
		Lobbies: host.LobbiesConfig{Ahead: ahead, Most: 4}, DrainFor: time.Minute, MoveFirst: handoff.MoveFirst,
		UDP: host.UDPConfig{Listen: "127.0.0.1:0"}, Log: slog.New(textlog.New(log, "")),
		Maps: func(server.MapSpec) (server.LoadedMap, error) {
			return server.LoadedMap{Arena: ground, Name: "arena-64"}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	key := announce.Key{1, 2, 3}
	a, err := announce.NewAnnouncer(b.Conn, announce.HostConfig{Name: name, Key: key, Log: slog.New(slog.DiscardHandler),
		Figure: func() announce.Host { return figuresOf(h.Load()) }})
	if err != nil {
		t.Fatal(err)
	}
	m, err := handoff.NewMover(t.Context(), handoff.Config{Bus: b, Name: name, Key: key, Host: h, Log: slog.New(textlog.New(log, ""))})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = h.Run(ctx); cancel() })
	running.Go(func() { _ = a.Run(ctx) })
	running.Go(func() { _ = m.Run(ctx) })
	running.Go(func() { m.Drain(ctx, func() []uint32 { return busyLobbies(h) }) })
	return &movingHost{h, m, log, func() { cancel(); running.Wait() }}
}

// movingToken is a token for a lobby of a host.
func movingToken(at []netip.AddrPort, ref protocol.LobbyRef, user int) ([]byte, error) {
	now := uint64(time.Now().Unix())
	mint := netcode.Mint{ProtocolID: protocol.ProtocolID, ClientID: uint64(user), Create: now, Expire: now + 45,
		TimeoutSeconds: 10, Servers: at}
	ref.Mark(mint.UserData[:])
	return mint.Append(nil, &movingKey, rand.Reader)
}

// A host drains while 64 players play: their lobby goes on at another host, over real sockets, and
// nobody loses its session.
func TestRow81DrainMovesALobby(t *testing.T) {
	if testing.Short() {
		t.Skip("two hosts, 64 players and their sockets")
	}
	const players = 64
	setMinProcs(8) // two hosts and the swarm pace themselves; NATS must not wait for them
	b, err := bus.Open(bus.Config{Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	from, to := startMovingHost(t, b, "old", 1, players), startMovingHost(t, b, "new", 0, players)
	defer to.stop()
	defer from.stop()
	ref := protocol.LobbyRef{Host: from.Instance(), Lobby: 0}
	crowd, err := swarm.Open(swarm.Config{Server: from.Addresses()[0], Players: players, Seed: 3,
		Token: func(n int) ([]byte, error) { return movingToken(from.Addresses(), ref, n) }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = crowd.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), 4*waitLimit)
	defer cancel()
	fail := func(err error) {
		t.Helper()
		t.Fatalf("%v\nold host: %s\nnew host: %s", err, from.log, to.log)
	}
	if err := crowd.Run(ctx, waitLimit, func() bool { return crowd.Joined() == players }); err != nil {
		fail(err)
	}
	w := &moveWatch{crowd: crowd, newest: make([]tick.Tick, players), at: make([]time.Time, players)}
	if err := crowd.Run(ctx, 3*time.Second, w.look); err != nil {
		fail(err)
	}
	still := w.take()
	from.Drain()
	if err := crowd.Run(ctx, waitLimit, func() bool { return w.look() || w.moved() == players }); err != nil {
		fail(err)
	}
	if err := crowd.Run(ctx, 3*time.Second, w.look); err != nil {
		fail(err)
	}
	moving := w.take()
	if n := w.moved(); n != players {
		fail(fmt.Errorf("%d of %d players have moved", n, players))
	}
	for i := range players {
		if s, why := crowd.Client(i).State(); s != client.Joined {
			t.Errorf("player %d: %v, %v", i, s, why)
		}
	}
	l := to.Load().Lobbies
	if l[len(l)-1].Players != players {
		t.Errorf("the new host has %+v", l)
	}
	for line := range strings.Lines(from.log.String()) {
		if strings.Contains(line, "lobby moved") {
			t.Log(line)
		}
	}
	t.Logf("3 s before: %+v\nwith the move: %+v", still, moving)
}

// moveWatch sees for how long clients are without snapshots.
type moveWatch struct {
	crowd  *swarm.Swarm
	newest []tick.Tick
	at     []time.Time
	seen   moveSight
	before moveSight // counters when the watch began anew
}

// moveSight is what a moveWatch has seen.
type moveSight struct {
	gap                            time.Duration // longest without a snapshot, of any client
	missing, mispredicted, resyncs uint64
}

// look is called once a tick.
func (w *moveWatch) look() bool {
	now := time.Now()
	for i := range w.newest {
		if t := w.crowd.Client(i).Newest(); t != w.newest[i] {
			w.newest[i], w.at[i] = t, now
		} else if t > 0 {
			w.seen.gap = max(w.seen.gap, now.Sub(w.at[i]))
		}
	}
	return false
}

// take returns what was seen since the last call.
func (w *moveWatch) take() moveSight {
	s := moveSight{gap: w.seen.gap}
	for i := range w.newest {
		st := w.crowd.Client(i).Stats()
		s.missing += st.InputsMissing
		s.mispredicted += st.Prediction.Mispredictions
		s.resyncs += st.Resyncs
	}
	was := w.before
	w.before, w.seen = s, moveSight{}
	s.missing, s.mispredicted, s.resyncs = s.missing-was.missing, s.mispredicted-was.mispredicted, s.resyncs-was.resyncs
	return s
}

// moved counts the clients that have moved.
func (w *moveWatch) moved() (n int) {
	for i := range w.newest {
		if w.crowd.Client(i).Stats().Moves > 0 {
			n++
		}
	}
	return n
}
