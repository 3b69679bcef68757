package capacity

import "math"

// warmClients is of how many clients what the server keeps stays in a processor's cache from one tick to the next; cold is how many are beyond that.
const warmClients = 55

func cold(f Facts) float64 { return max(0, clients(f)-warmClients) }

// cool is how many clients' worth of that has left the cache between two ticks where a tick touches what it keeps of all of them in turn: none of few, all of many.
func cool(f Facts) float64 {
	const many = 80 // 63 % of what it keeps of so many
	return clients(f) * (1 - math.Exp(-sq(clients(f)/many)))
}

// repeated is how many commands of a client come again in one package: those of a round trip.
func repeated(f Facts) float64 { return trip(f) * float64(f.TickHz) }

// mostCommands is how many commands a package has at most (sim.MaxWindow).
const mostCommands = 32

// window is how many commands a package of a player has: those of a round trip, and those that wait at the client for the next package that says what has come. One that
// is lost is waited for once more.
func window(f Facts) float64 {
	every := float64(f.SendEvery)
	return min(mostCommands, repeated(f)+(every-1)/2+(every/(1-f.Loss)+1)*f.Loss)
}

// commands are those that come in a tick, and views those of them that say what the player saw, as shots do.
func commands(f Facts) float64 { return players(f) * window(f) }
func views(f Facts) float64    { return f.Shots * window(f) }

// codedRows is how many rows are coded in a tick: once for each baseline that anybody has to whom it is told.
func codedRows(f Facts) float64 {
	return players(f) * sets(f, 1-ruled(f)*(1-nearShare(f)))
}

// sets is baselines where a tick tells as few as a client or two: then most ticks have none that acts at some instant, rather than a part of one.
func sets(f Facts, share float64) float64 {
	if few := told(f); few < phases {
		f.PerLobby = phases*f.SendEvery - f.Spectators
		return baselines(f, share*few/phases)
	}
	return baselines(f, share)
}

// kilobytes and datagramsTick are what is sent in a tick.
func kilobytes(f Facts) float64     { return f.Bytes * clients(f) / float64(f.TickHz) / 1000 }
func datagramsTick(f Facts) float64 { return f.Datagrams * clients(f) / float64(f.TickHz) }

// comings is how many come in a tick for those who leave.
func comings(f Facts) float64 { return f.Leaves * players(f) / float64(f.TickHz) }

// Where more than one law has the same terms.
func one(Facts) float64             { return 1 }
func players(f Facts) float64       { return float64(f.PerLobby) }
func shots(f Facts) float64         { return f.Shots }
func flights(f Facts) float64       { return f.Flights }
func launchesTick(f Facts) float64  { return f.Launches / float64(f.TickHz) }
func spectators(f Facts) float64    { return float64(f.Spectators) }
func comingsN(f Facts) float64      { return comings(f) * players(f) }
func kilobytesCold(f Facts) float64 { return kilobytes(f) * cold(f) / clients(f) }
func toldCold(f Facts) float64      { return cold(f) / float64(f.SendEvery) }
func toldAsked(f Facts) float64     { return told(f) * asked(f) }
func pairsRuled(f Facts) float64    { return pairs(f) * ruled(f) }

// Stages of play have laws in terms of who plays, shoots and what flies.
var playFeatures = []feature{
	{"1", one},
	{"N", players},
	{"N·alive", func(f Facts) float64 { return players(f) * f.Alive }},
	{"N·s", func(f Facts) float64 { return players(f) / float64(f.TickHz) }},
	{"cold", cold},
	{"shots", shots},
	{"flights", flights},
	{"spectators", spectators},
	{"comings", comings},
}

// stageFeatures are those of the other stages, each in terms of the work that its code does.
var stageFeatures = map[string][]feature{
	// Datagrams of clients are opened, and what they acknowledge and command is taken in.
	"receive": {
		{"1", one},
		{"clients", clients},
		{"cold", cold},
		{"N·alive", func(f Facts) float64 { return players(f) * f.Alive }},
		{"told", told},
		{"cool", cool},
		{"told·cool", func(f Facts) float64 { return cool(f) / float64(f.SendEvery) }},
		{"told (chosen)", toldAsked},
		{"clients (chosen)", func(f Facts) float64 { return clients(f) * asked(f) }},
		{"cold (chosen)", func(f Facts) float64 { return cold(f) * asked(f) }},
		{"told·V (chosen)", func(f Facts) float64 { return pairs(f) * asked(f) }},
		{"kB", kilobytes},
		{"clients·repeated", func(f Facts) float64 { return clients(f) * repeated(f) }},
		{"clients·log", func(f Facts) float64 { return clients(f) * math.Log(clients(f)) }},
		{"kB of events", func(f Facts) float64 { return f.Parts.Events * clients(f) / float64(f.TickHz) / 1000 }},
		{"datagrams", datagramsTick},
		{"clients·interval", func(f Facts) float64 { return clients(f) * interval(f) }}, // commands that wait come again, too (window)
		{"told·loss", func(f Facts) float64 { return told(f) * f.Loss }},
		{"views", views},
		{"shots", shots},
		{"comings", comings},
		{"comings·N", comingsN},
	},
	"open": {
		{"1", one},
		{"clients", clients},
		{"cold", cold},
		{"told", told},
		{"clients (chosen)", func(f Facts) float64 { return clients(f) * asked(f) }},
		{"commands", commands},
		{"views", views},
		{"comings", comings},
	},
	"combat": {
		{"1", one},
		{"N", players},
		{"shots", shots},
		{"shots·N", func(f Facts) float64 { return f.Shots * players(f) }},
		{"shots·N (chosen)", func(f Facts) float64 { return f.Shots * players(f) * asked(f) }},
		{"shots (chosen)", func(f Facts) float64 { return f.Shots * asked(f) }},
		{"shots·N·loss", func(f Facts) float64 { return f.Shots * players(f) * f.Loss }},
		{"shots·repeated", func(f Facts) float64 { return f.Shots * repeated(f) }},
		{"flights", flights},
		{"comings", comings},
		{"comings·N", comingsN},
	},
	"projectiles": {
		{"1", one},
		{"shots", shots},
		{"flights", flights},
		{"flights·cold", func(f Facts) float64 { return f.Flights * cold(f) / clients(f) }},
		{"flights·N", func(f Facts) float64 { return f.Flights * players(f) }},
		{"flights·s", func(f Facts) float64 { return f.Flights / float64(f.TickHz) }},
		{"flights·N·s", func(f Facts) float64 { return f.Flights / float64(f.TickHz) * players(f) }},
		{"launches", launchesTick},
		{"launches·N", func(f Facts) float64 { return f.Launches / float64(f.TickHz) * players(f) }},
		{"launches·repeated", func(f Facts) float64 { return f.Launches / float64(f.TickHz) * repeated(f) }},
	},
	"capture": {
		{"1", one},
		{"N", players},
		{"N·alive", func(f Facts) float64 { return players(f) * f.Alive }},
		{"N·interval", func(f Facts) float64 { return players(f) * interval(f) }},
		{"cold", cold},
		{"flights", flights},
		{"launches", launchesTick},
		{"shots", shots},
		{"spectators", spectators},
		{"comings", comings},
		{"comings·N", comingsN},
	},
	"snapshot": {
		{"1", one},
		{"clients", clients},
		{"told", told},
		{"told·cold", toldCold},
		{"rows coded", codedRows},
		{"rows coded (chosen)", func(f Facts) float64 { return codedRows(f) * ruled(f) }},
		{"blocks changed", func(f Facts) float64 { return changedBlocks(f) * sets(f, 1) }}, // of what flies, each coded once for each baseline
		{"kB", kilobytes},
		{"told (chosen)", toldAsked},
		{"told·V (hidden)", func(f Facts) float64 { return pairs(f) * hidden(f) }},
		{"told·V (chosen)", pairsRuled},
		{"told·flights (chosen)", func(f Facts) float64 { return told(f) * flightsNear(f) * asked(f) }},
		{"blocks expected", expectedBlocks},
		{"told·V", pairs},
		{"baselines", func(f Facts) float64 { return sets(f, 1) / float64(f.SendEvery) }},
		{"flights (newcomers)", func(f Facts) float64 { return f.Flights * (1 - math.Exp(-told(f)*newcomer(f))) }}, // chosen one by one, and coded once for all of them
		{"comings·told·N", func(f Facts) float64 { return f.Leaves * baseAge(f) * told(f) * players(f) }},
		{"shots", shots},
		{"comings", comings},
		{"comings·N", comingsN},
	},
	"seal": {
		{"1", one},
		{"clients", clients},
		{"told", told},
		{"told·cold", toldCold},
		{"told·V", pairs},
		{"told·V (chosen)", pairsRuled},
		{"told·flights", func(f Facts) float64 { return told(f) * f.Flights }},
		{"kB", kilobytes},
		{"datagrams", datagramsTick},
		{"comings", comings},
	},
	"send": {
		{"1", one},
		{"told", told},
		{"told·cold", toldCold},
		{"kB", kilobytes},
		{"kB·cold", kilobytesCold},
		{"datagrams", datagramsTick},
	},
}

// featuresOf are those that a stage's law may have.
func featuresOf(stage string) []feature {
	if all, ok := stageFeatures[stage]; ok {
		return all
	}
	return playFeatures
}

// expectedBlocks is in how many blocks a tick works out what is expected of rows that have come in sight: once for each block and baseline, so more clients make no more of it from
// some number on. Baselines of up to freshest snapshots have older ones beside them; where one is all, nothing has to be worked out.
func expectedBlocks(f Facts) float64 {
	if f.Codec == storedCodec {
		return 0 // a stored row is expected from nothing
	}
	most := math.Ceil(players(f)/groupRows) * freshest
	return most * (1 - math.Exp(-told(f)*fresh(f)/most))
}
