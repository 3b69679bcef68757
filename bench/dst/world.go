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

// epoch is the wall clock at the beginning, in seconds.
const epoch = 1_800_000_000

// clean is the link of a client to which nothing happens.
var clean = impair.Profile{Delay: 15 * time.Millisecond, Jitter: 3 * time.Millisecond}

// world is a run under way.
type world struct {
	*lobbysim.Sim
	c      Case
	plan   Plan
	faults []fault
	rate   tick.Rate
	wall   int64 // by how much it is wrong, seconds
	how    how
	starts int // of servers

	souls    []soul
	crooks   []*crook
	captured captured
	journal  []byte
	cfg      server.Config

	twin  twin
	post  post
	shots shots
	sight sight
	kills []kill
	films films
	quiet quiet
	trace []uint64 // of the match, now and then

	players []netid.ID // in the match after the last tick
	played  tick.Tick  // the server's newest
	still   bool       // the server did not play the last tick
	breach  *Breach
}

// how is what of a world is left out.
type how struct {
	deaf bool // strangers are not there: see Isolation
	bare bool // nothing is looked at, played twice or recorded: only what happens, happens. See BenchmarkMinute
}

// arenas are read once.
var arenas = sync.OnceValues(func() (*arena.Arena, error) { return arena.Open("arena-16") })
var large = sync.OnceValues(func() (*arena.Arena, error) { return arena.Open("arena-64") })

// newWorld makes a run's world.
func newWorld(c Case, as how) (*world, error) {
	w := &world{c: c, plan: Draw(c.Seed), how: as}
	if c.Clients != 0 {
		w.plan.Clients = c.Clients
	}
	w.souls = make([]soul, w.plan.Clients)
	for i := range w.souls {
		w.souls[i].start, w.souls[i].settleAt = 1, settled
	}
	for i, f := range w.plan.Faults {
		if !slices.Contains(c.Without, i) && f.Client < w.plan.Clients {
			w.faults = append(w.faults, fault{Fault: f, dice: rand.New(rand.NewPCG(f.Seed, uint64(f.Kind)))})
		}
	}
	name, open := "arena-16", arenas
	if w.plan.Clients > 16 {
		name, open = "arena-64", large
	}
	ground, err := open()
	if err != nil {
		return nil, err
	}
	crooks := 0
	for i := range w.faults {
		if w.faults[i].Kind.crooked() {
			crooks++
		}
	}
	w.journal = make([]byte, 1024*netcode.JournalRecord)
	w.cfg = server.Config{Arena: ground, ArenaName: name, Players: w.plan.Clients + crooks + 1, Kbps: w.plan.Kbps, Relevance: w.plan.Relevance,
		Rules: sim.Rules{Seed: c.Seed, RespawnMillis: 2000, Mix: true}, ChecksumEvery: 5,
		Gate:  netcode.ServerConfig{Tokens: 1024, Journal: w.journal, Started: epoch, OpensPerSecond: 5000},
		Enter: w.entered, Record: w.film}
	if as.bare {
		w.cfg.Enter, w.cfg.Record = nil, nil
	}
	if w.plan.Walls {
		w.cfg.Cell, w.cfg.Far, w.cfg.Linger, w.cfg.Sight = 4, 30, 3, maze(ground, 4)
	}
	w.entropy(&w.cfg)
	w.Sim, err = lobbysim.New(lobbysim.Config{Clients: w.plan.Clients, Seed: c.Seed, Lobby: w.cfg, Link: clean,
		Client: func(n int, cfg *client.Config) {
			cfg.Thin = w.plan.Clients > 16 && n%4 != 0
		},
		Clock: w.clock, Wall: func(now time.Duration) int64 { return epoch + int64(now/time.Second) + w.wall },
		Heard: w.heard, Said: w.said, Around: w.around})
	if err != nil {
		return nil, err
	}
	w.rate = w.Lobby.Match().Rules().Rate
	w.post.init()
	w.sight.init(w)
	w.begin()
	return w, nil
}

// maze is a server.Config's Sight: walls part the map in blocks of 3 by 3 cells, and one sees along the row and the column of one's
// block.
func maze(a *arena.Arena, cell float32) func(from, to int) bool {
	wide := server.Cells(a, cell).Wide
	return func(from, to int) bool {
		return from%wide/3 == to%wide/3 || from/wide/3 == to/wide/3
	}
}

// entropy gives a server's start its randomness.
func (w *world) entropy(cfg *server.Config) {
	w.starts++
	d := rand.New(rand.NewPCG(w.c.Seed, uint64(w.starts)))
	for i := range cfg.Gate.Entropy {
		cfg.Gate.Entropy[i] = byte(d.Uint32())
	}
}

// begin looks at a server that has just started.
func (w *world) begin() {
	w.played = 0
	w.post.begin()
	if w.how.bare {
		return
	}
	w.twin.begin(w)
	w.shots = shots{}
	w.kills = w.kills[:0]
	w.films.begin(w)
	w.sight.begin()
}

// fail notes the first breach.
func (w *world) fail(i Invariant, format string, args ...any) {
	if w.breach == nil {
		w.breach = &Breach{Case: w.c, Invariant: i, At: w.Now(), What: fmt.Sprintf(format, args...)}
		w.breach.Case.Until = min(Length, w.Now()+w.rate.Period()).Truncate(time.Millisecond) + time.Millisecond
		if w.breach.Case.Until > Length {
			w.breach.Case.Until = 0
		}
	}
}

// run plays until the case's end, or a breach.
func (w *world) run() (breach *Breach) {
	defer func() {
		if r := recover(); r != nil {
			w.fail(Upright, "panic: %v\n%s", r, debug.Stack())
			breach = w.breach
		}
	}()
	until := w.c.Lasts()
	for w.Now() < until && w.breach == nil {
		w.happen()
		for _, k := range w.crooks {
			k.step(w)
		}
		if err := w.Step(); err != nil {
			w.fail(Upright, "%v", err)
		}
		w.check()
		if !w.how.bare {
			w.settle()
		}
	}
	if w.breach == nil && until == Length && !w.how.bare {
		w.checkLife()
		w.quiet.check(w)
		w.films.over(w)
	}
	return w.breach
}

// check looks at everything after a tick. What is not looked at but done comes first, and is done of a bare world, too.
func (w *world) check() {
	m := w.Lobby.Match()
	if w.still = m.Tick() == w.played; w.still {
		return
	}
	w.played = m.Tick()
	w.gather()
	w.live()
	if m.Tick()%6 == 0 {
		w.mark()
	}
	if w.how.bare {
		return
	}
	w.films.note(m)
	w.films.handed = false // what is handed over now is of the next tick
	w.checkInputs()
	w.checkMoves()
	w.twin.check(w)
	w.shots.check(w)
	w.checkKills()
	w.post.check(w)
	w.checkSeats()
	w.sight.look(w)
	for i := range w.souls {
		if c := w.client(i); c != nil {
			w.checkClient(i, c)
		}
	}
}

// gather finds out who is in the match.
func (w *world) gather() {
	m := w.Lobby.Match()
	w.players = w.players[:0]
	for _, p := range m.Poses() {
		if p.ID != 0 && m.Vital(netid.ID(p.ID)) != nil {
			w.players = append(w.players, netid.ID(p.ID))
		}
	}
}

// mark adds a fingerprint of the match to the trace.
func (w *world) mark() {
	m := w.Lobby.Match()
	h := fnv.New64a()
	poses := m.Poses()
	_, _ = h.Write(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(poses))), len(poses)*int(unsafe.Sizeof(rig.Pose{}))))
	for _, e := range m.Outcome().Events {
		_, _ = h.Write(e.Append(w.post.scratch[:0]))
	}
	for _, id := range w.players {
		v := m.Vital(id)
		_, _ = h.Write([]byte{byte(v.Health), byte(v.Health >> 8), byte(v.Kills), byte(v.Deaths)})
	}
	w.trace = append(w.trace, h.Sum64())
}

// nan reports whether any of the numbers is none.
func nan(all ...float32) bool {
	for _, v := range all {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return true
		}
	}
	return false
}

// lair is an address of an attacker.
func lair(n int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{172, 16, byte(n), 1}), 4000)
}
