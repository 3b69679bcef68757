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

// run is one play of a Case: the lobby in virtual time, the actors, and the state of the checks.
type run struct {
	*lobbysim.Sim
	pristine *arena.Arena // read by nothing that the server runs
	host     *host        // nil in a run of one lobby
	lobby    *hosted      // of a host; nil in the run of the host itself
	c        Case
	when     schedule
	drawn    Scenario // generated from the seed; Clients is the case's, if it has one
	rate     tick.Rate
	skip     skipped
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
var lifts = sync.OnceValues(func() (*arena.Arena, error) { return arena.Open("lifts") })

// mapOf is the map of a seed with a number of clients: of a quarter of all seeds of 64 bits, one with
// movers. Smaller seeds, which tests name, never have it.
func mapOf(seed uint64, clients int) (name string, open func() (*arena.Arena, error)) {
	switch {
	case clients > 16:
		return "arena-64", arena64
	case seed>>62 == 3:
		return "lifts", lifts
	}
	return "arena-16", arena16
}

// newRun prepares a run.
func newRun(c Case, skip skipped) (*run, error) {
	r := &run{c: c, when: ofLobby, drawn: Draw(c.Seed), skip: skip}
	if c.Clients != 0 {
		r.drawn.Clients = c.Clients
	}
	r.honest = make([]honest, r.drawn.Clients)
	for i := range r.honest {
		r.honest[i].serverStart, r.honest[i].settleAt = 1, settled // see liveness.go
	}
	for i, f := range r.drawn.Faults {
		if !slices.Contains(c.Without, i) && f.Client < r.drawn.Clients {
			r.faults = append(r.faults, fault{Fault: f, rng: rand.New(rand.NewPCG(f.Seed, uint64(f.Kind)))})
		}
	}
	name, open := mapOf(c.Seed, r.drawn.Clients)
	ground, err := open()
	if err != nil {
		return nil, err
	}
	attackers := 0
	for i := range r.faults {
		if r.faults[i].Kind.insider() {
			attackers++
		}
	}
	r.pristine = ground
	r.journal = make([]byte, 1024*netcode.JournalRecord)
	r.cfg = r.serverConfig(ground, name)
	r.cfg.Players = r.drawn.Clients + attackers + 1 // one to spare
	r.entropy(&r.cfg)
	r.Sim, err = lobbysim.New(lobbysim.Config{
		Clients: r.drawn.Clients, Seed: c.Seed, Lobby: r.cfg, Link: cleanLink,
		ChangeClient: func(n int, cfg *client.Config) {
			if r.drawn.Clients > 16 && n%4 != 0 { // to save time, one in four decodes everything
				cfg.Decode = client.DecodeOwn
			}
		},
		Clock: r.clock, WallClock: r.wallClock,
		OnReceive: r.onReceive, OnSend: r.onSend, WrapTick: r.aroundTick})
	if err != nil {
		return nil, err
	}
	r.rate = r.Lobby.Match().Rules().Rate
	r.wire.init()
	r.visibility.init(r)
	r.serverStarted()
	return r, nil
}

// serverConfig returns the configuration of the first server. The caller sets Players and
// Netcode.Entropy.
func (r *run) serverConfig(ground *arena.Arena, name string) server.Config {
	cfg := server.Config{Arena: ground, ArenaName: name,
		Kbps: r.drawn.Kbps, Relevance: r.drawn.Relevance, Codec: r.c.Codec,
		NearestPlayers: r.drawn.Nearest, JoinBytes: r.drawn.JoinBytes,
		Rules: sim.Rules{Seed: r.c.Seed, RespawnMillis: 2000, Mix: true}, ChecksumEvery: 5,
		Netcode: netcode.ServerConfig{MaxTokens: 1024, Journal: r.journal, StartUnix: epoch,
			HandshakesPerSecond: 5000}}
	if !r.skip.checks {
		cfg.EnterStage, cfg.Record = r.onStage, r.onChunk
	}
	if r.drawn.Walls {
		cfg.CellSize, cfg.ViewDistance, cfg.Hysteresis = 4, 30, 3
		cfg.CellVisible = blockVisibility(ground, cfg.CellSize)
	}
	return cfg
}

// wallClock returns the server's wall clock at a virtual time, Unix seconds.
func (r *run) wallClock(now time.Duration) int64 {
	return epoch + int64(now/time.Second) + r.wallJump
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
func (r *run) entropy(cfg *server.Config) {
	r.starts++
	d := rand.New(rand.NewPCG(r.c.Seed, uint64(r.starts)))
	for i := range cfg.Netcode.Entropy {
		cfg.Netcode.Entropy[i] = byte(d.Uint32())
	}
}

// serverStarted resets the checks for a server that has just started.
func (r *run) serverStarted() {
	r.played = 0
	r.wire.reset()
	if r.skip.checks {
		return
	}
	r.shadow.begin(r)
	r.shots = shots{}
	r.kills = r.kills[:0]
	r.recordings.begin(r)
	r.visibility.begin()
}

// fail keeps the first violation.
func (r *run) fail(i Invariant, format string, args ...any) {
	if r.violation == nil {
		r.violation = &Violation{Case: r.c, Invariant: i, At: r.Now(), What: fmt.Sprintf(format, args...)}
		end := min(r.when.end, r.Now()+r.rate.Period()) // includes the tick that failed
		r.violation.Case.Until = end.Truncate(time.Millisecond) + time.Millisecond
		if r.violation.Case.Until > r.when.end {
			r.violation.Case.Until = 0
		}
	}
}

// play plays to the end of the case, or to the first violation.
func (r *run) play() (violation *Violation) {
	defer func() {
		if cause := recover(); cause != nil {
			r.fail(NoPanic, "panic: %v\n%s", cause, debug.Stack())
			violation = r.violation
		}
	}()
	until := r.c.Duration()
	for r.Now() < until && r.violation == nil {
		r.updateFaults()
		for _, k := range r.attackers {
			k.step(r)
		}
		if err := r.Step(); err != nil {
			r.fail(NoPanic, "%v", err) // doc.go lists errors of lobbysim under this invariant
		}
		r.afterStep()
		if !r.skip.checks {
			r.recordSettled()
		}
	}
	if r.violation == nil && until == Length && !r.skip.checks {
		r.checkLife()
		r.allocs.check(r)
		r.recordings.finish(r)
	}
	return r.violation
}

// afterStep lets the honest clients act after a tick and traces the match, also when checks are
// skipped, and then checks the invariants. If the server played no tick, it only keeps what clients
// hold.
func (r *run) afterStep() {
	m := r.Lobby.Match()
	if !r.skip.checks {
		r.noteHeld()
	}
	if r.noTick = m.Tick() == r.played; r.noTick {
		return
	}
	r.played = m.Tick()
	r.listPlayers()
	r.playHonestClients()
	if m.Tick()%traceEvery == 0 {
		r.traceHash()
	}
	if !r.skip.checks {
		r.checkInvariants(m)
	}
}

// checkInvariants checks what must hold after every tick.
func (r *run) checkInvariants(m *sim.Match) {
	r.recordings.noteHash(m)
	r.recordings.chunkEnded = false // for the next tick
	r.checkInputs()
	r.checkMoves()
	r.shadow.check(r)
	r.shots.check(r)
	r.recordKills()
	if r.lobby == nil {
		r.wire.check(r)
		r.checkSessions()
	}
	r.checkPlayers()
	r.visibility.update(r)
	for i := range r.honest {
		if c := r.client(i); c != nil {
			r.checkClient(i, c)
		}
	}
}

// listPlayers lists the players in the match.
func (r *run) listPlayers() { r.players = appendPlayers(r.players[:0], r.Lobby.Match()) }

func appendPlayers(dst []netid.ID, m *sim.Match) []netid.ID {
	for _, p := range m.Poses() {
		if p.ID != 0 && m.Vital(netid.ID(p.ID)) != nil {
			dst = append(dst, netid.ID(p.ID))
		}
	}
	return dst
}

// traceHash appends a hash of the match to the trace.
func (r *run) traceHash() {
	r.trace = append(r.trace, traceHash(r.Lobby.Match(), r.players, r.wire.scratch[:0]))
}

func traceHash(m *sim.Match, players []netid.ID, scratch []byte) uint64 {
	h := fnv.New64a()
	poses := m.Poses()
	first := (*byte)(unsafe.Pointer(unsafe.SliceData(poses)))
	_, _ = h.Write(unsafe.Slice(first, len(poses)*int(unsafe.Sizeof(rig.Pose{}))))
	for _, e := range m.Outcome().Events {
		_, _ = h.Write(e.Append(scratch))
	}
	for _, id := range players {
		v := m.Vital(id)
		_, _ = h.Write([]byte{byte(v.Health), byte(v.Health >> 8), byte(v.Kills), byte(v.Deaths)})
	}
	return h.Sum64()
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
