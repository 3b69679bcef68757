package dst

import (
	"math/rand/v2"
	"time"

	"github.com/tickrate/tickrate/server"
)

// MaxLobbies is the largest number of lobbies that a host begins with.
const MaxLobbies = 5

// ofHost is the schedule of a run of a host. Its sessions time out after hostTimeoutSeconds.
var ofHost = schedule{end: 24 * time.Second, faultsEnd: 16 * time.Second,
	settled: 22 * time.Second, chatEnds: 21 * time.Second}

const hostTimeoutSeconds = 4

// LobbyPlan is one lobby of a host with many.
type LobbyPlan struct {
	Players   int // 0: all clients of the host have room
	Slow      bool
	Relevance server.Relevance
	Walls     bool
}

// drawLobby draws a lobby. The first of a host takes every client.
func drawLobby(d *rand.Rand, first bool) (p LobbyPlan) {
	p.Slow = d.IntN(4) == 0
	p.Relevance = [...]server.Relevance{server.RelevanceOff, server.RelevanceAll,
		server.RelevanceGrid}[d.IntN(3)]
	p.Walls = p.Relevance == server.RelevanceGrid
	if n := 1 + d.IntN(3); d.IntN(4) == 0 && !first {
		p.Players = n
	}
	return p
}

// mostHostFaults is the largest number of faults of each kind on a host with many lobbies.
var mostHostFaults = [allKinds]int{
	BadLink: 4, Congestion: 2, Blackhole: 2, Rebind: 2, ClientStall: 1, ClockDrift: 1, Leave: 2, Crash: 3,
	ServerStall: 1, WallJump: 1, Kill: 1, Spoof: 1, Replay: 1,
	LobbyMade: 2, LobbyEnded: 2, LobbyPanic: 2, ChangeLobby: 6, StrayToken: 4, LobbyMoved: 6}

// DrawHost generates the scenario of a host with many lobbies from a seed. It has nothing in common
// with that of Draw.
func DrawHost(seed uint64) Scenario {
	d := rand.New(rand.NewPCG(seed, 0x686f737473)) // "hosts"
	s := Scenario{Clients: 5 + d.IntN(7)}
	if d.IntN(4) == 0 {
		s.Kbps = []int{24, 48}[d.IntN(2)]
	}
	for n := range 2 + d.IntN(MaxLobbies-1) {
		s.Lobbies = append(s.Lobbies, drawLobby(d, n == 0))
	}
	for k := range allKinds {
		n := 0
		if most := mostHostFaults[k]; most > 0 && d.IntN(4) != 0 {
			n = 1 + d.IntN(most)
		}
		if k == Rebind && s.Kbps > 0 { // the datagrams of a move count against the budget, see alone
			n = 0
		}
		for range n {
			s.Faults = append(s.Faults, drawHostFault(d, k, s.Clients))
		}
	}
	s.Workers = 1 + d.IntN(2)
	return s
}

// drawHostFault draws time, length and strength of a fault of kind k.
func drawHostFault(d *rand.Rand, k Kind, clients int) Fault {
	f := drawFault(d, k, clients)
	span := ofHost.faultsEnd - 2*time.Second
	f.At = (time.Second + time.Duration(d.Int64N(int64(span)))).Truncate(time.Millisecond)
	switch k {
	case Kill:
		f.At = (5*time.Second + time.Duration(d.Int64N(int64(8*time.Second)))).Truncate(time.Millisecond)
	case ServerStall:
		f.For /= 2
	case Leave, Crash:
		f.For /= 3
	}
	f.Lobby = d.IntN(MaxLobbies)
	f.Amount = 0
	switch k {
	case ClockDrift:
		f.Amount = d.Float64()*0.02 - 0.01
	case WallJump:
		f.Amount = float64(d.IntN(7200) - 3600)
	}
	return f
}
