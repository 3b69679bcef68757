package capacity

import (
	"math"
	"slices"
)

// told is how many clients a snapshot goes to in a tick, and pairs how many rows those are asked about.
func told(f Facts) float64  { return clients(f) / float64(f.SendEvery) }
func pairs(f Facts) float64 { return told(f) * f.Visible }

// bounded is whether a reach ends within the map: one beyond its diagonal hides nobody, and nobody asks (server.RelevanceAuto).
func (f Facts) bounded() bool { return f.Far > 0 && f.Far < f.Side*math.Sqrt2 }

// reached is whether a reach hides anybody.
func (f Facts) reached() bool {
	return f.bounded() && slices.ContainsFunc(f.Meets[:], func(m Meet) bool { return m.Told < 1 })
}

// ruled is whether rows are chosen for each client, in place of shared blocks: where a reach spans every fight the same ones are, and are shared
// again.
func ruled(f Facts) float64 { return indicator(f.Walls || f.reached()) }

// asked is whether it is asked whom each client is told of, hidden or not.
func asked(f Facts) float64 { return indicator(f.Walls || f.bounded()) }

func indicator(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

func interval(f Facts) float64 { return float64(f.SendEvery) / float64(f.TickHz) }

// stageFeatures are the a, b, c, d of a stage, and what else a tick does. Work of snapshots is done for the clients whose turn it is.
var stageFeatures = []feature{
	{"1", func(Facts) float64 { return 1 }},
	{"N", func(f Facts) float64 { return float64(f.PerLobby) }},
	{"N·alive", func(f Facts) float64 { return float64(f.PerLobby) * f.Alive }},
	{"N·Hz", func(f Facts) float64 { return float64(f.PerLobby) * float64(f.TickHz) / 100 }},
	{"N/every", told},
	{"N·V/every", func(f Facts) float64 { return pairs(f) * (1 - ruled(f)) }},
	{"N·V/every (chosen)", func(f Facts) float64 { return pairs(f) * ruled(f) }},
	{"N/every (chosen)", func(f Facts) float64 { return told(f) * asked(f) }},
	{"N·N/every (chosen)", func(f Facts) float64 { return told(f) * float64(f.PerLobby) * asked(f) }},
	{"shots", func(f Facts) float64 { return f.Shots }},
	{"flights", func(f Facts) float64 { return f.Flights }},
	{"N·flights/every", func(f Facts) float64 { return told(f) * f.Flights }},
	{"kB", func(f Facts) float64 { return f.Bytes * clients(f) / float64(f.TickHz) / 1000 }},
	{"datagrams", func(f Facts) float64 { return f.Datagrams * clients(f) / float64(f.TickHz) }},
	{"spectators", func(f Facts) float64 { return float64(f.Spectators) }},
	{"comings", func(f Facts) float64 { return f.Leaves * float64(f.PerLobby) / float64(f.TickHz) }},
	{"N·window", func(f Facts) float64 { return float64(f.PerLobby) * trip(f) * float64(f.TickHz) }}, // a package repeats the commands of a round trip
	{"N·baselines", func(f Facts) float64 { return float64(f.PerLobby) * (baselines(f) - 1) }},
	{"N·V·loss/every", func(f Facts) float64 { return pairs(f) * f.Loss }}, // who lost another snapshot holds another baseline
	{"N·V/every (stale)", func(f Facts) float64 { return pairs(f) * stale(f) }},
}

// keepAlive is after how many seconds without a datagram a session sends one of its own (package netcode).
const keepAlive = 0.1

// parcels is how many datagrams a client is sent for each snapshot, before any is too long for one: those that keep the session alive go out in between, where
// snapshots are as seldom as that.
func parcels(f Facts) float64 {
	const least = 1e-6 // of a tick
	return 1 + math.Floor(float64(f.SendEvery)/math.Ceil(keepAlive*float64(f.TickHz)-least))
}

// parcelBytes is about what one datagram of a snapshot holds.
const parcelBytes = 1180

var snapshotFeatures = []feature{
	{"datagrams", parcels},
	{"V", func(f Facts) float64 { return f.Visible }},
	{"V·s", func(f Facts) float64 { return f.Visible * interval(f) }},
	{"V·Hz", func(f Facts) float64 { return f.Visible / interval(f) / 100 }},
	{"V·Hz²", func(f Facts) float64 { return f.Visible / sq(interval(f)*100) }}, // acked rows are more snapshots old
	{"V (chosen)", func(f Facts) float64 { return f.Visible * ruled(f) }},
	{"V·log m", func(f Facts) float64 { return f.Visible * math.Log2(max(f.Side, 2)) }},
	{"shots·interval", func(f Facts) float64 { return f.Shots * float64(f.SendEvery) }},
	{"1 (chosen)", ruled},
	{"unseen (chosen)", func(f Facts) float64 { return ruled(f) * (float64(f.PerLobby-1) - f.Visible) }},
}

var parcelFeatures = []feature{{"datagrams", parcels}}

var memoryFeatures = []feature{
	{"1", func(Facts) float64 { return 1 }},
	{"N", func(f Facts) float64 { return float64(f.PerLobby) }},
	{"N·N", func(f Facts) float64 { return float64(f.PerLobby) * float64(f.PerLobby) }},
	{"m²", func(f Facts) float64 { return sq(f.Side) }},
	{"spectators", func(f Facts) float64 { return float64(f.Spectators) }},
}

var upFeatures = []feature{
	{"1", func(Facts) float64 { return 1 }},
	{"Hz", func(f Facts) float64 { return float64(f.TickHz) }},
}
