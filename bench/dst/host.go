package dst

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"time"
	"weak"

	"github.com/tickrate/tickrate/bench/lobbysim"
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
)

// host is one play of a Case with many lobbies: the ports of its workers in virtual time, the
// clients of all lobbies, and a run of each lobby, which checks it.
type host struct {
	*run // of the host: clients, links, faults, and what passes on the wire
	workers
	lobbies []*hosted // those that have not ended, in the order of their making
	nextID  uint32
	past    past
	players []player // by client
	alone   aloneLog
	repeats bool         // the case has been played; each lobby has been compared with itself alone
	shared  *arena.Arena // the map of all lobbies
}

// workers are the server's part of a host.
type workers struct {
	ports     []*server.Port // by worker
	portStats []metrics.Stats
	timers    []metrics.TickTimer
	steering  *server.Steering // of several workers; nil: there is one
	serving   int              // worker whose port is at work
	due       []server.Due     // of that worker, in the step
	conn      netio.Conn       // of the network
}

// past is what stays of the lobbies that have ended.
type past struct {
	counts   counts                       // of this start of the host
	lastWhy  packet.Reason                // of the newest end
	lobbies  []weak.Pointer[server.Lobby] // all that were made
	digest   []uint64
	compared int           // lobbies that were compared with the same one alone
	played   time.Duration // sum over all lobbies
}

// hosted is a lobby of a host. Its run has the lobby's clients, by their index on the host.
type hosted struct {
	*run
	id    uint32
	plan  LobbyPlan
	cfg   server.Config // without the hooks of the checks
	mark  string        // ends every chat line of its clients
	born  int           // step before which it was added
	place place
	order joinOrder

	panics bool          // in its next tick
	stage  metrics.Stage // in which it does
	hash   uint64        // of the match then
	why    packet.Reason // of its end; 0 while it plays, and after a kill
}

// place is which worker has a lobby.
type place struct {
	worker  int
	moving  *server.Moving // on the way to the other worker from this one; nil: it plays
	arrives int            // step after which it does
	history []int8         // workers by step; -1 less the worker while it moves
}

// joinOrder tells whether all that happens to the sessions of a lobby is known with its order.
type joinOrder struct {
	unknown bool
	newest  int  // step in which the lobby got its newest session
	unnamed bool // one of those had a token that names no lobby
}

// hostID names the host in tokens.
const hostID = 7

// runHost plays a case of a host with many lobbies, twice for seeds with remainder 1 by 5.
func runHost(c Case) (Result, error) {
	h, err := newHost(c)
	if err != nil {
		return Result{}, err
	}
	result := Result{Violation: h.play(), Hash: h.hash(), Played: h.past.played}
	if result.Violation != nil || c.Seed%5 != 1 {
		return result, nil
	}
	again, err := newHost(c)
	if err != nil {
		return Result{}, err
	}
	again.repeats = true
	if result.Violation = again.play(); result.Violation == nil && again.hash() != result.Hash {
		again.fail(Determinism, "the lobbies differ when their seed is played again")
		result.Violation = again.violation
		result.Violation.Case.Until = 0
	}
	return result, nil
}

// newHost prepares a run.
func newHost(c Case) (*host, error) {
	h := &host{nextID: 1}
	r := &run{host: h, c: c, when: ofHost, drawn: DrawHost(c.Seed), rate: 60}
	h.run = r
	if c.Clients != 0 {
		r.drawn.Clients = c.Clients
	}
	if len(r.drawn.Lobbies) > c.Lobbies {
		r.drawn.Lobbies = r.drawn.Lobbies[:c.Lobbies]
	}
	r.honest = make([]honest, r.drawn.Clients)
	h.players = make([]player, r.drawn.Clients)
	for i := range h.players {
		h.players[i].rng = rand.New(rand.NewPCG(c.Seed, 0x77697368^uint64(i)<<32)) // "wish"
	}
	for i, f := range r.drawn.Faults {
		if !slices.Contains(c.Without, i) && f.Client < r.drawn.Clients {
			r.faults = append(r.faults, fault{Fault: f, rng: rand.New(rand.NewPCG(f.Seed, uint64(f.Kind)))})
		}
	}
	r.journal = make([]byte, 1024*netcode.JournalRecord)
	cfg := server.Config{Rules: sim.Rules{Rate: r.rate},
		Netcode: netcode.ServerConfig{Clients: 64, MaxTokens: 1024, Journal: r.journal, StartUnix: epoch,
			HandshakesPerSecond: 5000}}
	r.cfg = cfg
	r.cfg.Players = 64
	r.entropy(&cfg)
	r.wire.init()
	for _, p := range r.drawn.Lobbies { // before the clients, which choose among them
		h.lobbies = append(h.lobbies, &hosted{id: h.nextID, plan: p})
		h.nextID++
	}
	var err error
	if h.shared, err = arena.Open("arena-16"); err != nil {
		return nil, err
	}
	r.Sim, err = lobbysim.New(lobbysim.Config{
		Clients: r.drawn.Clients, Seed: c.Seed, Lobby: cfg, Link: cleanLink, Serve: h.serve,
		Clock: r.clock, WallClock: r.wallClock, ChangeToken: h.changeToken,
		ChangeClient: func(_ int, cfg *client.Config) {
			cfg.Decode = client.DecodeFull
			cfg.Arena = func(string, [32]byte) (*arena.Arena, error) { return arena16() }
		},
		OnArrival: h.onArrival, OnReceive: r.onReceive, OnSend: r.onSend})
	if err != nil {
		return nil, err
	}
	return h, h.start(r.Sim.Netcode())
}

// start makes the port and the lobbies that h.lobbies plans.
func (h *host) start(cfg netcode.ServerConfig) (err error) {
	h.alone.begin(h, cfg)
	n := h.drawn.Workers
	h.ports, h.portStats, h.timers = nil, make([]metrics.Stats, n), make([]metrics.TickTimer, n)
	h.steering, h.serving = nil, 0
	if n > 1 {
		if h.steering, cfg.Tokens, err = newSteering(n, cfg); err != nil {
			return err
		}
	}
	for i := range n {
		h.portStats[i].Histograms, h.timers[i] = metrics.NewHistograms(false), newTimer()
		port, err := server.NewPort(server.PortConfig{Netcode: cfg, Host: hostID,
			Stats: &h.portStats[i], Timer: &h.timers[i], Steering: h.steering, Worker: i})
		if err != nil {
			return err
		}
		h.ports = append(h.ports, port)
	}
	h.wire.reset()
	h.past.counts = counts{}
	for i := range h.lobbies {
		if h.lobbies[i], err = h.add(h.lobbies[i].id, h.lobbies[i].plan); err != nil {
			return err
		}
	}
	return nil
}

// newSteering returns what the ports of several workers share.
func newSteering(n int, cfg netcode.ServerConfig) (*server.Steering, *netcode.UsedTokens, error) {
	tokens, err := netcode.NewUsedTokens(cfg)
	return server.NewSteering(n, cfg.Clients), tokens, err
}

// newTimer returns the timer of a port without clocks.
func newTimer() metrics.TickTimer {
	return metrics.NewTickTimer(func() time.Duration { return 0 }, nil, func(metrics.Stage) {})
}

// add makes a lobby.
func (h *host) add(id uint32, plan LobbyPlan) (*hosted, error) {
	pristine, err := arena16()
	if err != nil {
		return nil, err
	}
	l := &hosted{id: id, plan: plan, mark: fmt.Sprintf(" in %d", id), born: h.alone.step}
	r := &run{host: h, lobby: l, c: h.c, when: h.when, drawn: h.drawn, pristine: pristine}
	l.run = r
	r.drawn.Relevance, r.drawn.Walls = plan.Relevance, plan.Walls
	if plan.Relevance == server.RelevanceOff {
		r.drawn.Kbps = 0
	}
	r.starts = 1
	r.honest = make([]honest, len(h.honest))
	r.cfg = r.serverConfig(h.shared, "arena-16")
	r.cfg.Netcode = netcode.ServerConfig{}
	l.place.worker = int(id) % len(h.ports)
	r.cfg.Port, r.cfg.ID = h.ports[l.place.worker], id
	r.cfg.Rules.Seed, r.cfg.Rules.Rate = h.c.Seed<<8|uint64(id), 60
	if plan.Slow {
		r.cfg.Rules.Rate = 30
	}
	r.cfg.FlightRecorder = true
	r.cfg.Players = plan.Players
	if plan.Players == 0 {
		r.cfg.Players = len(h.honest) + 1
	}
	l.cfg = r.cfg
	l.cfg.EnterStage, l.cfg.Record, l.cfg.Port = nil, nil, nil
	r.cfg.EnterStage = func(s metrics.Stage) {
		r.onStage(s)
		l.plant(s)
	}
	lobby, err := server.NewLobby(r.cfg)
	if err != nil {
		return nil, err
	}
	r.Sim = h.Sim.Beside(lobby)
	r.rate = r.cfg.Rules.Rate
	r.wire.init()
	r.visibility.init(r)
	r.serverStarted()
	h.ports[l.place.worker].Add(lobby)
	h.past.lobbies = append(h.past.lobbies, weak.Make(lobby))
	return l, nil
}

// plantedPanic is the value of the panics that are faults of a run.
const plantedPanic = "planted by a fault of the run"

// serve plays the server's part of a step: that of each worker in turn.
func (h *host) serve(now time.Duration, unix int64, conn netio.Conn) (err error) {
	h.conn = conn
	h.alone.beginStep(h, now, unix)
	for i, p := range h.ports {
		h.serving = i
		h.due = h.due[:0]
		for _, l := range h.lobbies {
			if l.place.worker == i && h.alone.isDue(l) {
				h.due = append(h.due, server.Due{Lobby: l.Lobby, Ticks: 1})
			}
		}
		err = errors.Join(err, p.Ticks(now, unix, workerConn{conn, &h.alone, i}, h.due))
	}
	h.alone.endStep(h)
	h.takeFaults()
	clear(h.due[:cap(h.due)]) // they keep no lobby that has ended
	return err
}

// takeFaults ends the lobbies that have panicked.
func (h *host) takeFaults() {
	var faults []server.Fault
	for _, p := range h.ports {
		faults = append(faults, p.TakeFaults()...)
	}
	for _, f := range faults {
		i := slices.IndexFunc(h.lobbies, func(l *hosted) bool { return l.Lobby == f.Lobby })
		switch {
		case i < 0:
			h.fail(NoPanic, "a lobby that had ended panics: %v\n%s", f.Value, f.Stack)
		case f.Value != any(plantedPanic):
			h.fail(NoPanic, "lobby %d panics: %v\n%s", h.lobbies[i].id, f.Value, f.Stack)
		default:
			h.checkFlight(h.lobbies[i])
			h.finish(h.lobbies[i], packet.ReasonFault)
		}
	}
}

// play plays to the end of the case, or to the first violation.
func (h *host) play() (violation *Violation) {
	defer func() {
		if cause := recover(); cause != nil {
			h.fail(NoPanic, "panic: %v\n%s", cause, debug.Stack())
			violation = h.violation
		}
	}()
	until := h.c.Duration()
	for h.Now() < until && h.violation == nil {
		h.endMoves(false)
		h.updateFaults()
		if err := h.Step(); err != nil {
			h.fail(NoPanic, "%v", err)
		}
		h.afterStep()
	}
	if h.violation == nil {
		h.atEnd(until == h.when.end)
	}
	return h.violation
}

// afterStep checks the host and each of its lobbies.
func (h *host) afterStep() {
	h.noTick = !h.alone.served
	h.alone.served = false
	h.followClients()
	for _, l := range h.lobbies {
		due := !h.noTick && h.alone.isDue(l)
		l.afterStep()
		if due == l.noTick {
			l.fail(Liveness, "its tick is %d, and a tick was due: %v", l.played, due)
		}
		h.adopt(l)
	}
	h.checkHost()
}

// adopt makes the first violation of a lobby that of the host.
func (h *host) adopt(l *hosted) {
	if v := l.violation; v != nil && h.violation == nil {
		v.What = fmt.Sprintf("lobby %d: %s", l.id, v.What)
		h.violation = v
	}
}

// finish ends the run of a lobby that has ended for the reason why: its match is that of a lobby
// that plays alone with the same datagrams.
func (h *host) finish(l *hosted, why packet.Reason) {
	i := slices.Index(h.lobbies, l)
	h.lobbies = slices.Delete(h.lobbies, i, i+1)
	if l.recordings.file != nil && why != 0 && l.recordings.last <= l.played { // else the last tick panicked
		l.recordings.serverKilled(l.run)
	}
	h.past.counts.add(&l.Lobby.Stats)
	h.past.played += time.Duration(h.alone.step-l.born) * h.rate.Period()
	last := h.alone.step
	if why == packet.ReasonFault {
		last-- // it has no state after its last
	}
	h.alone.compare(h, l, last, why == packet.ReasonFault)
	h.adopt(l)
	h.past.digest = append(h.past.digest, uint64(l.id), uint64(len(l.trace)))
	if n := len(l.trace); n > 0 {
		h.past.digest = append(h.past.digest, l.trace[n-1])
	}
	h.lobbyEnded(l, why)
	l.run, l.place.moving = &run{}, nil // nothing keeps the lobby
}

// kill stops the server at once and starts another with lobbies of the same names.
func (h *host) kill() {
	h.DropInjected()
	h.captured.serverKilled(func(t netcode.TokenTag) bool { return h.wire.windows[t] != nil })
	var next []*hosted
	for _, l := range slices.Clone(h.lobbies) {
		next = append(next, &hosted{id: l.id, plan: l.plan})
		h.finish(l, 0)
	}
	h.lobbies = next
	cfg := h.Sim.Netcode()
	lobby := server.Config{Netcode: cfg}
	h.entropy(&lobby)
	lobby.Netcode.StartUnix = h.wallClock(h.Now())
	if err := h.start(lobby.Netcode); err != nil {
		h.fail(NoPanic, "the server does not restart: %v", err)
	}
}

// hash is that of everything that the lobbies played.
func (h *host) hash() uint64 {
	sum := fnv.New64a()
	fmt.Fprint(sum, h.past.digest)
	return sum.Sum64()
}

// atEnd checks what must hold at the end. whole: the run was not cut short.
func (h *host) atEnd(whole bool) {
	h.endMoves(true)
	if whole {
		h.checkHostLife()
	}
	for _, l := range slices.Clone(h.lobbies) {
		if l.recordings.finish(l.run); whole {
			h.adopt(l)
		}
		h.serving = l.place.worker
		h.ports[l.place.worker].Remove(h.Now(), l.Lobby, packet.ReasonClosing)
		h.finish(l, 0)
	}
	h.drain()
	h.checkShared()
	h.checkGone()
}

// drain has the workers take in what they have handed to each other, and checks that nothing is left.
func (h *host) drain() {
	if h.violation != nil {
		return
	}
	for range 2 {
		for i, p := range h.ports {
			h.serving = i
			conn := workerConn{h.conn, &h.alone, i}
			if err := p.Ticks(h.Now(), h.wallClock(h.Now()), conn, nil); err != nil {
				h.fail(NoPanic, "%v", err)
			}
		}
	}
	h.checkAccounts(true)
	for _, p := range h.ports {
		if n := p.Netcode().Connected(); n != 0 {
			h.fail(Sessions, "%d sessions without a lobby", n)
		}
	}
}

// checkGone checks that nothing keeps the memory of a lobby that has ended while others play.
func (h *host) checkGone() {
	kept := 0
	for range 3 {
		runtime.GC()
		kept = 0
		for _, p := range h.past.lobbies {
			if p.Value() != nil {
				kept++
			}
		}
		if kept == 0 {
			return
		}
	}
	if h.violation != nil { // its lobbies still play
		return
	}
	h.fail(Bounds, "of %d lobbies that have ended, %d are still in memory", len(h.past.lobbies), kept)
}

// counts are sums of figures over lobbies.
type counts struct{ accounted, received, sent, unbalanced uint64 }

func (c *counts) add(s *metrics.Stats) {
	c.received += s.Count[metrics.Received].Load()
	c.accounted += s.Count[metrics.Accepted].Load()
	for i := range s.AuthDrops {
		c.accounted += s.AuthDrops[i].Load()
	}
	for i := range s.PacketDrops {
		c.accounted += s.PacketDrops[i].Load()
	}
	c.sent += s.Count[metrics.Sent].Load()
	c.unbalanced += s.Count[metrics.UnbalancedTicks].Load()
}

// due reports whether a lobby plays a tick in a step.
func (p *LobbyPlan) due(step int, id uint32) bool { return !p.Slow || (step+int(id))%2 == 0 }
