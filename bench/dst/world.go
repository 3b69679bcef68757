package dst

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"net/netip"
	"runtime/debug"
	"slices"
	"sync"
	"time"
	"unsafe"

	"github.com/tickrate/tickrate/bench/lobbysim"
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
)

// epoch is the wall clock at the start, Unix seconds.
const epoch = 1_800_000_000

// cleanLink is the profile of a link without faults.
var cleanLink = impair.Profile{Delay: 15 * time.Millisecond, Jitter: 3 * time.Millisecond}

// world is one run of a Case: the lobby in virtual time, the actors, and the state of the checks.
type world struct {
	*lobbysim.Sim
	c     Case
	drawn Scenario // generated from the seed; Clients is the case's, if it has one
	rate  tick.Rate
	skip  skipped
	serverState
	actors
	checkState

	players   []netid.ID // in the match after the last tick
	played    tick.Tick  // newest tick of the server
	noTick    bool       // the server played no tick in the last step
	trace     []uint64   // hashes of the match, one each traceEvery ticks
	violation *Violation // the first; nil: none
}

// serverState is what survives a server crash (Kill).
type serverState struct {
	cfg      server.Config // of the next start
	journal  []byte        // used tokens, as on disk
	starts   int           // servers started so far
	wallJump int64         // offset of the server's wall clock, seconds
}

// actors are what acts on the lobby: faults, honest clients and attackers.
type actors struct {
	faults    []fault
	honest    []honest    // by client
	attackers []*attacker // with a session; also those that left
	captured  captures    // recent datagrams, which attackers without a session replay
}

// checkState is what the checks remember from tick to tick.
type checkState struct {
	shadow     shadow // a second match, played from the inputs of the first
	wire       traffic
	shots      shots
	visibility visibility
	kills      []kill // all kill messages of this start of the server
	recordings recordings
	allocs     allocCheck
}

// traceEvery is the interval, in ticks, at which a run keeps a hash of the match.
const traceEvery = 6

// skipped is what a run leaves out.
type skipped struct {
	outsiders bool // attackers without a session; see Isolation

	// Invariants, shadow match and recording. Faults, attackers, chat and the trace still run, and
	// a panic still fails the run; see BenchmarkMinute.
	checks bool
}

// The arenas are read once.
var arena16 = sync.OnceValues(func() (*arena.Arena, error) { return arena.Open("arena-16") })
var arena64 = sync.OnceValues(func() (*arena.Arena, error) { return arena.Open("arena-64") })

// newWorld prepares a run.
func newWorld(c Case, skip skipped) (*world, error) {
	w := &world{c: c, drawn: Draw(c.Seed), skip: skip}
	if c.Clients != 0 {
		w.drawn.Clients = c.Clients
	}
	w.honest = make([]honest, w.drawn.Clients)
	for i := range w.honest {
		w.honest[i].serverStart, w.honest[i].settleAt = 1, settled // see liveness.go
	}
	for i, f := range w.drawn.Faults {
		if !slices.Contains(c.Without, i) && f.Client < w.drawn.Clients {
			w.faults = append(w.faults, fault{Fault: f, rng: rand.New(rand.NewPCG(f.Seed, uint64(f.Kind)))})
		}
	}
	name, open := "arena-16", arena16
	if w.drawn.Clients > 16 {
		name, open = "arena-64", arena64
	}
	ground, err := open()
	if err != nil {
		return nil, err
	}
	attackers := 0
	for i := range w.faults {
		if w.faults[i].Kind.insider() {
			attackers++
		}
	}
	w.journal = make([]byte, 1024*netcode.JournalRecord)
	w.cfg = w.serverConfig(ground, name)
	w.cfg.Players = w.drawn.Clients + attackers + 1 // one to spare
	w.entropy(&w.cfg)
	w.Sim, err = lobbysim.New(lobbysim.Config{
		Clients: w.drawn.Clients, Seed: c.Seed, Lobby: w.cfg, Link: cleanLink,
		ChangeClient: func(n int, cfg *client.Config) {
			if w.drawn.Clients > 16 && n%4 != 0 { // to save time, one in four decodes everything
				cfg.Decode = client.DecodeOwn
			}
		},
		Clock: w.clock, WallClock: w.wallClock,
		OnReceive: w.onReceive, OnSend: w.onSend, WrapTick: w.aroundTick})
	if err != nil {
		return nil, err
	}
	w.rate = w.Lobby.Match().Rules().Rate
	w.wire.init()
	w.visibility.init(w)
	w.serverStarted()
	return w, nil
}

// serverConfig returns the configuration of the first server. The caller sets Players and
// Netcode.Entropy.
func (w *world) serverConfig(ground *arena.Arena, name string) server.Config {
	cfg := server.Config{Arena: ground, ArenaName: name,
		Kbps: w.drawn.Kbps, Relevance: w.drawn.Relevance, Codec: w.c.Codec,
		Rules: sim.Rules{Seed: w.c.Seed, RespawnMillis: 2000, Mix: true}, ChecksumEvery: 5,
		Netcode: netcode.ServerConfig{MaxTokens: 1024, Journal: w.journal, StartUnix: epoch,
			HandshakesPerSecond: 5000}}
	if !w.skip.checks {
		cfg.EnterStage, cfg.Record = w.onStage, w.onChunk
	}
	if w.drawn.Walls {
		cfg.CellSize, cfg.ViewDistance, cfg.Hysteresis = 4, 30, 3
		cfg.CellVisible = blockVisibility(ground, cfg.CellSize)
	}
	return cfg
}

// wallClock returns the server's wall clock at a virtual time, Unix seconds.
func (w *world) wallClock(now time.Duration) int64 {
	return epoch + int64(now/time.Second) + w.wallJump
}

// blockVisibility returns a server.Config's CellVisible with synthetic occlusion: the map is
// divided into blocks of 3 by 3 cells, and a viewer sees the blocks in its own row or column of
// blocks. The arena's solids play no part.
func blockVisibility(a *arena.Arena, cell float32) func(from, to int) bool {
	wide := server.GridConfig(a, cell).Wide
	return func(from, to int) bool {
		return from%wide/3 == to%wide/3 || from/wide/3 == to/wide/3
	}
}

// entropy sets Netcode.Entropy for the next start of the server, from the case's seed.
func (w *world) entropy(cfg *server.Config) {
	w.starts++
	d := rand.New(rand.NewPCG(w.c.Seed, uint64(w.starts)))
	for i := range cfg.Netcode.Entropy {
		cfg.Netcode.Entropy[i] = byte(d.Uint32())
	}
}

// serverStarted resets the checks for a server that has just started.
func (w *world) serverStarted() {
	w.played = 0
	w.wire.reset()
	if w.skip.checks {
		return
	}
	w.shadow.begin(w)
	w.shots = shots{}
	w.kills = w.kills[:0]
	w.recordings.begin(w)
	w.visibility.begin()
}

// fail keeps the first violation.
func (w *world) fail(i Invariant, format string, args ...any) {
	if w.violation == nil {
		w.violation = &Violation{Case: w.c, Invariant: i, At: w.Now(), What: fmt.Sprintf(format, args...)}
		end := min(Length, w.Now()+w.rate.Period()) // includes the tick that failed
		w.violation.Case.Until = end.Truncate(time.Millisecond) + time.Millisecond
		if w.violation.Case.Until > Length {
			w.violation.Case.Until = 0
		}
	}
}

// run plays to the end of the case, or to the first violation.
func (w *world) run() (violation *Violation) {
	defer func() {
		if r := recover(); r != nil {
			w.fail(NoPanic, "panic: %v\n%s", r, debug.Stack())
			violation = w.violation
		}
	}()
	until := w.c.Duration()
	for w.Now() < until && w.violation == nil {
		w.updateFaults()
		for _, k := range w.attackers {
			k.step(w)
		}
		if err := w.Step(); err != nil {
			w.fail(NoPanic, "%v", err) // doc.go lists errors of lobbysim under this invariant
		}
		w.afterStep()
		if !w.skip.checks {
			w.recordSettled()
		}
	}
	if w.violation == nil && until == Length && !w.skip.checks {
		w.checkLife()
		w.allocs.check(w)
		w.recordings.finish(w)
	}
	return w.violation
}

// afterStep lets the honest clients act after a tick and traces the match, also when checks are
// skipped, and then checks the invariants. It does nothing if the server played no tick.
func (w *world) afterStep() {
	m := w.Lobby.Match()
	if w.noTick = m.Tick() == w.played; w.noTick {
		return
	}
	w.played = m.Tick()
	w.listPlayers()
	w.playHonestClients()
	if m.Tick()%traceEvery == 0 {
		w.traceHash()
	}
	if !w.skip.checks {
		w.checkInvariants(m)
	}
}

// checkInvariants checks what must hold after every tick.
func (w *world) checkInvariants(m *sim.Match) {
	w.recordings.noteHash(m)
	w.recordings.chunkEnded = false // for the next tick
	w.checkInputs()
	w.checkMoves()
	w.shadow.check(w)
	w.shots.check(w)
	w.recordKills()
	w.wire.check(w)
	w.checkSessions()
	w.visibility.update(w)
	for i := range w.honest {
		if c := w.client(i); c != nil {
			w.checkClient(i, c)
		}
	}
}

// listPlayers lists the players in the match.
func (w *world) listPlayers() {
	m := w.Lobby.Match()
	w.players = w.players[:0]
	for _, p := range m.Poses() {
		if p.ID != 0 && m.Vital(netid.ID(p.ID)) != nil {
			w.players = append(w.players, netid.ID(p.ID))
		}
	}
}

// traceHash appends a hash of the match to the trace.
func (w *world) traceHash() {
	m := w.Lobby.Match()
	h := fnv.New64a()
	poses := m.Poses()
	first := (*byte)(unsafe.Pointer(unsafe.SliceData(poses)))
	_, _ = h.Write(unsafe.Slice(first, len(poses)*int(unsafe.Sizeof(rig.Pose{}))))
	for _, e := range m.Outcome().Events {
		_, _ = h.Write(e.Append(w.wire.scratch[:0]))
	}
	for _, id := range w.players {
		v := m.Vital(id)
		_, _ = h.Write([]byte{byte(v.Health), byte(v.Health >> 8), byte(v.Kills), byte(v.Deaths)})
	}
	w.trace = append(w.trace, h.Sum64())
}

// notFinite reports whether any number is NaN or infinite.
func notFinite(all ...float32) bool {
	for _, v := range all {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return true
		}
	}
	return false
}

// attackerAddr returns the address of attacker n.
func attackerAddr(n int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{172, 16, byte(n), 1}), 4000)
}
