package dst

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
)

// Length is the virtual time of a run. Faults act until faultsEnd.
const (
	Length    = time.Minute
	faultsEnd = Length * 4 / 5
)

// schedule is when the parts of a run begin and end.
type schedule struct {
	end       time.Duration
	faultsEnd time.Duration // faults act until then
	settled   time.Duration // from then on honest clients must play normally
	chatEnds  time.Duration // the last chat line
}

// ofLobby is the schedule of a run of one lobby.
var ofLobby = schedule{end: Length, faultsEnd: faultsEnd, settled: settled, chatEnds: chatEnds}

// Kind is a kind of fault.
type Kind uint8

// The kinds of faults.
const (
	BadLink      Kind = iota // the client's link gets a drawn profile
	Congestion               // the client's datagrams are held back and arrive at once (lag switch)
	Blackhole                // no datagram passes to or from the client
	Rebind                   // the client's address changes
	ClientStall              // the client's machine stalls
	ClockDrift               // the client's clock runs at another speed from now on
	Leave                    // the client disconnects and comes back later
	Crash                    // the client vanishes without a disconnect and comes back later
	ServerStall              // the server stalls
	WallJump                 // the server's wall clock is set to another time
	Kill                     // the server is killed, and another starts with its journal
	Spoof                    // without a session: garbage, forged requests and source addresses
	Replay                   // without a session: repeats captured datagrams, from any address
	RequestFlood             // without a session: connection requests from many addresses
	Flooder                  // with a session: many packets a tick
	AckForger                // with a session: acks of packets never sent or never arrived
	SpeedHacker              // with a session: several commands a tick, and commands far ahead
	Backtracker              // with a session: shots at views far in the past
	Garbage                  // with a session: sealed random bytes
	TokenReuse               // with a session: disconnects and comes back with the same token
	DiskFull                 // the disk of the recording has little space left
	DiskError                // the disk of the recording fails
	numKinds                 // those of one lobby
)

// The kinds of faults of hosts with many lobbies, beside those of clients and of the server.
const (
	LobbyMade   Kind = numKinds + iota // one more lobby is made
	LobbyEnded                         // a lobby is ended, with a reason to its clients
	LobbyPanic                         // a lobby panics in its tick
	ChangeLobby                        // the client goes to another lobby, with or without a goodbye
	StrayToken                         // the client's token is for a lobby that is gone, full or elsewhere
	LobbyMoved                         // a lobby moves to the other worker
	allKinds
)

var kindNames = [allKinds]string{
	"bad link", "congestion", "blackhole", "rebind", "client stall", "clock drift", "leave", "crash",
	"server stall", "wall jump", "kill", "spoof", "replay", "request flood", "flooder", "ack forger",
	"speed hacker", "backtracker", "garbage", "token reuse", "disk full", "disk error",
	"lobby made", "lobby ended", "lobby panic", "change lobby", "stray token", "lobby moved"}

// String returns the name of the kind.
func (k Kind) String() string { return kindNames[k%allKinds] }

// outsider reports whether the kind is an attacker without a session, which the match must not
// notice.
func (k Kind) outsider() bool { return k >= Spoof && k <= RequestFlood }

// insider reports whether the kind is an attacker with a session.
func (k Kind) insider() bool { return k >= Flooder && k <= TokenReuse }

// Fault is one drawn failure or attack.
type Fault struct {
	Kind   Kind
	At     time.Duration  // virtual time of its start
	For    time.Duration  // length; faultsEnd may cut it short
	Client int            // index of the affected client, for kinds that affect one
	Lobby  int            // of a lobby's kinds: which of those that are there, modulo their number
	Amount float64        // ClockDrift: parts per second; WallJump: seconds; DiskFull: bytes
	Link   impair.Profile // for BadLink
	Seed   uint64         // of the random numbers that the fault draws while it acts
}

// String describes the fault in one line.
func (f *Fault) String() string {
	s := fmt.Sprintf("%v at %v for %v", f.Kind, f.At, f.For)
	if f.Kind <= Crash || f.Kind == ChangeLobby || f.Kind == StrayToken {
		s += fmt.Sprintf(", client %d", f.Client)
	}
	if f.Kind == BadLink {
		s += ": " + f.Link.String()
	}
	if f.Amount != 0 {
		s += fmt.Sprintf(": %g", f.Amount)
	}
	return s
}

// Scenario is what is generated from a seed.
type Scenario struct {
	Clients   int              // honest clients
	Kbps      int              // byte budget of a connection, kbit/s; 0 means none
	Relevance server.Relevance // what the server replicates to a connection
	Walls     bool             // walls hide some players from each other
	Nearest   int              // server.Config.NearestPlayers; 0: its default
	JoinBytes int              // server.Config.JoinBytes; 0: its default, which has room for all
	Faults    []Fault          // by kind; a case leaves faults out by their index
	Lobbies   []LobbyPlan      // of a host with many lobbies; else none
	Workers   int              // of a host, each with a port and lobbies of its own
}

// Seeds returns a function that draws a seed of all 64 bits. Equal bases draw equal seeds.
func Seeds(base uint64) func() uint64 { return rand.NewPCG(base, 0x7365656473).Uint64 } // "seeds"

// takesTurns reports whether a seed plays a lobby in which far players take turns.
func takesTurns(seed uint64) bool { return seed%20 == 4 }

// joinsInTurns reports whether a seed plays a lobby too large for one join snapshot, in which players
// and objects take turns in a join burst: one of 16 seeds of 64 bits. Smaller seeds, which tests name,
// never do.
func joinsInTurns(seed uint64) bool { return seed>>60 == 8 }

// Draw generates the scenario of a seed. Each kind of fault is absent in a third of the seeds, and
// present with a drawn strength in the others.
func Draw(seed uint64) Scenario {
	d := rand.New(rand.NewPCG(seed, 0x64726177)) // "draw"
	p := Scenario{Clients: 4 + d.IntN(7)}
	if seed%25 == 7 || joinsInTurns(seed) {
		p.Clients = 32
	}
	if takesTurns(seed) && !joinsInTurns(seed) { // two groups of slots, one for each turn
		p.Clients = 20
	}
	p.Relevance = [...]server.Relevance{server.RelevanceOff, server.RelevanceAll,
		server.RelevanceGrid, server.RelevanceGrid}[d.IntN(4)]
	p.Walls = p.Relevance == server.RelevanceGrid
	if p.Relevance != server.RelevanceOff && d.IntN(3) == 0 {
		p.Kbps = []int{16, 24, 48}[d.IntN(3)]
	}
	for k := range numKinds {
		n := 0
		if d.IntN(3) != 0 {
			n = 1 + d.IntN(maxFaults[k])
		}
		for range n {
			p.Faults = append(p.Faults, drawFault(d, k, p.Clients))
		}
	}
	if takesTurns(seed) {
		p.Relevance, p.Walls, p.Kbps, p.Nearest = server.RelevanceAll, false, 0, 1
	}
	if joinsInTurns(seed) {
		p.Relevance, p.Walls, p.Kbps, p.JoinBytes = server.RelevanceAll, false, 0, 1200
	}
	return p
}

// maxFaults is the largest number of faults of each kind.
var maxFaults = [numKinds]int{
	BadLink: 8, Congestion: 4, Blackhole: 4, Rebind: 4, ClientStall: 3, ClockDrift: 3, Leave: 3, Crash: 3,
	ServerStall: 2, WallJump: 2, Kill: 1, Spoof: 2, Replay: 2, RequestFlood: 1, Flooder: 1, AckForger: 1,
	SpeedHacker: 1, Backtracker: 1, Garbage: 1, TokenReuse: 1, DiskFull: 1, DiskError: 1}

// drawFault draws time, length and strength of a fault of kind k. Faults that take sessions away
// are drawn both shorter and longer than the timeout of a session.
func drawFault(d *rand.Rand, k Kind, clients int) Fault {
	between := func(lo, hi time.Duration) time.Duration { return lo + time.Duration(d.Int64N(int64(hi-lo))) }
	f := Fault{Kind: k, Client: d.IntN(clients), Seed: d.Uint64(), At: between(0, faultsEnd-time.Second)}
	f.For = between(time.Second, 20*time.Second)
	switch k {
	case BadLink:
		f.Link = drawLink(d)
	case Congestion:
		f.For = between(100*time.Millisecond, 900*time.Millisecond)
	case Blackhole:
		f.For = between(100*time.Millisecond, 4*time.Second)
		if d.IntN(4) == 0 { // longer than the timeout of a session
			f.For = between(11*time.Second, 14*time.Second)
		}
	case ClientStall:
		f.For = between(50*time.Millisecond, 3*time.Second)
	case ClockDrift:
		f.Amount = d.Float64()*0.02 - 0.01
	case Leave, Crash:
		f.For = between(500*time.Millisecond, 14*time.Second)
	case ServerStall:
		f.For = between(50*time.Millisecond, 3*time.Second)
	case WallJump:
		f.Amount = float64(d.IntN(7200) - 3600)
	case Kill:
		f.At = between(5*time.Second, 30*time.Second)
	case RequestFlood:
		f.For = between(time.Second, 4*time.Second)
	case Flooder:
		f.For = between(2*time.Second, 8*time.Second)
	case DiskFull:
		f.Amount = float64(d.IntN(60_000))
	}
	f.At, f.For = f.At.Truncate(time.Millisecond), f.For.Truncate(time.Millisecond)
	return f
}

// drawLink draws a link profile in the ranges of TigerBeetle's simulator (VOPR) and of the worst
// named profile.
func drawLink(d *rand.Rand) (p impair.Profile) {
	share := func(most float64) float64 {
		if d.IntN(2) == 0 {
			return 0
		}
		return float64(int(d.Float64()*most*1000)) / 1000
	}
	p.Delay = time.Duration(d.IntN(150)) * time.Millisecond
	p.Jitter = time.Duration(d.IntN(80)) * time.Millisecond
	p.Loss, p.Duplicate, p.Reorder, p.Corrupt = share(0.3), share(0.5), share(0.2), share(0.05)
	p.CorruptBytes, p.Truncate = share(0.02), share(0.02)
	if p.Reorder > 0 {
		p.ReorderBy = time.Duration(10+d.IntN(200)) * time.Millisecond
	}
	if d.IntN(3) == 0 {
		p.Burst, p.BurstLength, p.BurstMax = 0.01, 10, 500*time.Millisecond
	}
	return p
}
