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

// reached is whether a reach hides anybody, and hides whether anything does.
func (f Facts) reached() bool {
	return f.bounded() && slices.ContainsFunc(f.Meets[:], func(m Meet) bool { return m.Told < 1 })
}

func (f Facts) hides() bool { return f.Walls || f.reached() }

// asked is whether it is asked whom each client is told of, hidden or not.
func asked(f Facts) float64 {
	if f.Walls && !f.bounded() {
		return WalledShare(f.Side)
	}
	return indicator(f.bounded())
}

// WalledShare is of which share of towns of a side, in metres, a server makes a table of sight: houses of small ones may hide next to nothing
// (server.WithWalls). No town is smaller than 34 m.
func WalledShare(side float64) float64 {
	switch {
	case side <= 34:
		return 0.53
	case side <= 36:
		return 0.7
	case side <= 40:
		return 0.95
	}
	return 1
}

// How package snapshot cuts rows into blocks: so many in one, and so many blocks at least where it is asked who is told of whom.
const (
	groupRows   = 16
	leastGroups = 4
	mostRuled   = (leastGroups - 1) * groupRows // slots that are never cut into blocks
)

// ruled is the share of players who are told row by row, in place of in blocks that clients share; where it was not played, the share of snapshots that do so.
func ruled(f Facts) float64 {
	if f.glanced() {
		return asked(f) * (1 - f.Played.Glances.Blocks)
	}
	return byRow(f, float64(f.PerLobby))
}

// ruledThings is the share of what flies that is told row by row. A block, of which half is in use at a time, goes whole to who is told of all that; where that was
// not looked at, a snapshot tells all or nothing row by row.
func ruledThings(f Facts) float64 {
	if !f.glanced() {
		return byRow(f, flightSlots(f))
	}
	// Flights come by chance, so slots do: by a standard deviation of the root of the flights. Where they are fewer than package snapshot makes blocks of, all goes row by row.
	few := math.Erfc((flightSlots(f)-mostRuled)/math.Sqrt(2*max(f.Flights, 1))) / 2
	return asked(f) * (few + (1-few)*(1-math.Pow(min(f.Played.Glances.Flights, 1), groupRows/2)))
}

// flightSlots is how many slots of what flies are in use: as many as flew at once lately, which is two standard deviations more than fly on average.
func flightSlots(f Facts) float64 { return f.Flights + 2*math.Sqrt(f.Flights) }

// byRow is the share of snapshots in which so many slots go row by row: where somebody is hidden, and where there are fewer groups than package snapshot makes
// blocks of for who is asked about.
func byRow(f Facts, slots float64) float64 {
	if slots <= mostRuled {
		return asked(f)
	}
	return hidden(f)
}

// glanced is whether it was played how the sets of those change whom clients see.
func (f Facts) glanced() bool { return f.Played.Glances.Snapshots > 0 }

// sighted is f with as many in sight of a client as were in matches by themselves, of any player: a lobby's clients that decode everything are its first, who come in
// elsewhere than the rest.
func (f Facts) sighted() Facts {
	if f.glanced() {
		f.Visible = f.Played.Visible
	}
	return f
}

// appear is how many others come in sight of a client a second, but for those who come in at all.
func appear(f Facts) float64 {
	return asked(f) * max(0, f.Played.Glances.Appear-f.Leaves/60*f.Visible)
}

// fresh is how many of those whom a client is told of came in sight so lately that it is not known yet that the client has them: they have other baselines than the
// rest.
func fresh(f Facts) float64 { return appear(f) * baseAge(f) }

// flightsNear is how many flights a client is told of, launchesNear how many a second that have just set out, and cameNear how many that come in sight later.
func flightsNear(f Facts) float64  { return f.Flights * seenShare(f, f.Played.Glances.Flights) }
func launchesNear(f Facts) float64 { return f.Launches * seenShare(f, f.Played.Glances.Launches) }
func cameNear(f Facts) float64     { return asked(f) * f.Played.Glances.Came }

// seenShare is share where somebody may be hidden; where that was not looked at, that of the players in sight.
func seenShare(f Facts, share float64) float64 {
	if !f.glanced() {
		return nearShare(f)
	}
	return 1 - asked(f)*(1-share)
}

// hidden is the share of snapshots that leave somebody out: then rows that have come in sight have other baselines than the rest.
func hidden(f Facts) float64 {
	if f.Walls || asked(f) == 0 {
		return asked(f)
	}
	told := 0.0
	for _, m := range f.Meets {
		told += m.Told / float64(len(f.Meets))
	}
	return 1 - math.Pow(told, float64(f.PerLobby)/2)
}

func indicator(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

func interval(f Facts) float64 { return float64(f.SendEvery) / float64(f.TickHz) }

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
	{"1", one},
	{"N", players},
	{"N·every", func(f Facts) float64 { return clients(f) * float64(f.SendEvery) }}, // frames of a window of snapshots, of all ticks
	{"every", func(f Facts) float64 { return float64(f.SendEvery) }},
	{"N·N", func(f Facts) float64 { return float64(f.PerLobby) * float64(f.PerLobby) }},
	{"m²", func(f Facts) float64 { return sq(f.Side) }},
	{"spectators", spectators},
}

// A client sends a package in each tick. Those of players have commands, and some of these have views.
var upFeatures = []feature{
	{"Hz", func(f Facts) float64 { return float64(f.TickHz) }},
	{"Hz (players)", func(f Facts) float64 { return float64(f.TickHz) * playing(f) }},
	{"commands·Hz", func(f Facts) float64 { return float64(f.TickHz) * commands(f) / clients(f) }},
	{"views·Hz", func(f Facts) float64 { return float64(f.TickHz) * views(f) / clients(f) }},
}
